"""The patterns of a rubric: phrases with alternatives and gaps, and small regular expressions that cannot run long.

* `不满足` any place in Chinese text; `guard` a whole word; `guard*` a word that begins so.
* `(cannot|can't) be traced` alternatives; `split*..graph` a gap of at most GAP characters in one clause.
* `re:` a regular expression of literals, classes, `(?:a|b)`, `?` and bounded `{m,n}` only. What it may try is counted
  when it is read, and more than TRIES is refused: no text makes it slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import product
from typing import NamedTuple

#: The widest gap that `..` stands for, in characters.
GAP = 18
#: Phrases are looked up by so many first characters, or fewer when they are shorter.
START = 4
#: How many phrases one pattern may stand for.
PHRASES = 800
#: How many ways a regular expression may try at one place.
TRIES = 64
#: The longest text of a regular expression, and the most times a thing may repeat in it.
LENGTH, REPEAT = 80, 20

#: A space between a Chinese and another character.
MIXED = re.compile(r" (?:(?<=[一-鿿] )(?=[a-z0-9`.])|(?<=[a-z0-9`.)] )(?=[一-鿿]))")
_BEGINNING = re.compile(r"[a-z0-9_]+|[^a-z0-9_\s]")
_CHOICE = re.compile(r"\(([^()]*)\)")
_QUANTITY = re.compile(r"\{(\d{1,3})(?:,(\d{1,3}))?\}")
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_ESCAPES = "dwsb.()[]{}|?*+^$\\/%<>=-"


class PatternError(ValueError):
    """A pattern that is not of this notation; the text says what is wrong with it."""


class Span(NamedTuple):
    """Where a pattern was found in folded text."""

    start: int
    end: int


class Phrase(NamedTuple):
    """One wording: `begins` and `ends` say whether its first and last characters must be the ends of words."""

    text: str
    begins: bool
    ends: bool

    def stands(self, folded: str, at: int) -> bool:
        """Whether it stands at a place."""
        stop = at + len(self.text)
        return (
            folded.startswith(self.text, at)
            and not (self.begins and at > 0 and _is_word(folded[at - 1]))
            and not (self.ends and stop < len(folded) and _is_word(folded[stop]))
        )

    def find(self, folded: str, start: int, end: int) -> int:
        """The first place between `start` and `end`, -1 when there is none."""
        at = folded.find(self.text, start, end)
        while at >= 0 and not self.stands(folded, at):
            at = folded.find(self.text, at + 1, end)
        return at


class Pattern(NamedTuple):
    """Parts with gaps between them, each one of several phrases; or one regular expression."""

    parts: tuple[tuple[Phrase, ...], ...]
    regex: re.Pattern[str] | None = None

    @property
    def wording(self) -> str:
        """One wording of it, without what would fill its gaps; empty for a regular expression."""
        return "".join(part[0].text for part in self.parts)


#: What begins alike; and by first characters, the beginnings of each length.
_Group = list[tuple[str, Pattern, Phrase]]
_Walk = dict[str, tuple[tuple[int, dict[str, _Group]], ...]]


class Index:
    """Patterns by name, looked up by how their first wordings begin: one walk over a text finds all of them."""

    def __init__(self, patterns: Mapping[str, Iterable[Pattern]]) -> None:
        starts: dict[str, _Group] = {}
        self._regexes: list[tuple[str, re.Pattern[str]]] = []
        for name, group in patterns.items():
            for pattern in group:
                if pattern.regex is not None:
                    self._regexes.append((name, pattern.regex))
                    continue
                for phrase in pattern.parts[0]:
                    starts.setdefault(phrase.text[:START], []).append((name, pattern, phrase))
        self._names = tuple(patterns)
        single = {start: group for start, group in starts.items() if len(start) == 1}
        longer = {start: group for start, group in starts.items() if len(start) > 1}
        self._walks = ((1, _grouped(single)), (2, _grouped(longer)))

    def find(self, folded: str, most: int) -> dict[str, list[Span]]:
        """Where each name stands in `folded`, in order; each pattern is tried at most `most` times."""
        found: dict[str, list[Span]] = {name: [] for name in self._names}
        tried: dict[int, int] = {}
        # No wording begins inside a word.
        places = [one.start() for one in _BEGINNING.finditer(folded)]
        for shortest, walk in self._walks:
            for at in places if walk else ():
                for size, starts in walk.get(folded[at : at + shortest], ()):
                    for name, pattern, phrase in starts.get(folded[at : at + size], ()):
                        if not phrase.stands(folded, at) or tried.get(id(pattern), 0) >= most:
                            continue
                        tried[id(pattern)] = tried.get(id(pattern), 0) + 1
                        end = _rest(pattern.parts, 1, folded, at + len(phrase.text))
                        if end is not None:
                            found[name].append(Span(at, end))
        for name, regex in self._regexes:
            for count, one in enumerate(regex.finditer(folded)):
                if count >= most or one.start() == one.end():
                    break
                found[name].append(Span(*one.span()))
        for spans in found.values():
            spans.sort()
        return found


def _grouped(starts: Mapping[str, _Group]) -> _Walk:
    """Beginnings of one length or more, by their first one or two characters: most places of a text fail there."""
    out: dict[str, dict[int, dict[str, _Group]]] = {}
    for start, group in starts.items():
        out.setdefault(start[:2], {}).setdefault(len(start), {})[start] = group
    return {first: tuple(sizes.items()) for first, sizes in out.items()}


def _rest(parts: tuple[tuple[Phrase, ...], ...], part: int, folded: str, after: int) -> int | None:
    """Where the parts from `part` on end, each in reach of the one before; None when one is not."""
    if part == len(parts):
        return after
    # A gap does not lead from one item of a row to another, nor far.
    near = folded[after : after + GAP + 40]
    row = near.find("、")
    room = min(GAP, row if row >= 0 else GAP)
    best: int | None = None
    for phrase in parts[part]:
        text = phrase.text
        if text not in near:
            continue
        at = phrase.find(folded, after, min(len(folded), after + room + len(text)))
        if at < 0:
            continue
        end = _rest(parts, part + 1, folded, at + len(text))
        if end is not None and (best is None or end < best):
            best = end
    return best


def spaced(text: str) -> str:
    """Without the spaces between Chinese and other characters: some write them, some do not."""
    return MIXED.sub("", text)


def _is_word(char: str) -> bool:
    return char in _WORD


def compile_pattern(source: str) -> Pattern:
    """Raises PatternError."""
    if not source.strip():
        raise PatternError("empty")
    if source.startswith("re:"):
        return Pattern((), bounded_regex(source[3:]))
    # A stem inside a part ends a word, and what follows it is another part.
    parts = re.split(r"\s*\.\.\s*|(?<=\*) ", source.lower())
    return Pattern(tuple(tuple(map(_phrase, _wordings(part.strip()))) for part in parts))


def _wordings(part: str) -> list[str]:
    pieces: list[list[str]] = []
    at = 0
    for choice in _CHOICE.finditer(part):
        if "|" not in choice.group(1):
            continue
        pieces += [[part[at : choice.start()]], choice.group(1).split("|")]
        at = choice.end()
    pieces.append([part[at:]])
    count = 1
    for piece in pieces:
        count *= len(piece)
    if count > PHRASES:
        raise PatternError(f"stands for {count} phrases; {PHRASES} at most")
    return [spaced(" ".join("".join(words).split())) for words in product(*pieces)]


def _phrase(words: str) -> Phrase:
    stem = words.endswith("*")
    words = words.rstrip("*")
    if not words or "*" in words or "|" in words:
        raise PatternError("a part is empty, or has a * or | in a wrong place")
    return Phrase(words, _is_word(words[0]), not stem and _is_word(words[-1]))


def bounded_regex(source: str) -> re.Pattern[str]:
    """A regular expression that tries at most TRIES ways at a place. Raises PatternError."""
    if len(source) > LENGTH:
        raise PatternError(f"longer than {LENGTH} characters")
    tries, at, depth = 1, 0, 0
    quantifiable = False
    while at < len(source):
        char = source[at]
        width = 1
        if char == "\\":
            if source[at + 1 : at + 2] not in tuple(_ESCAPES):
                raise PatternError(f"the escape {source[at : at + 2]} is not known here")
            width, quantifiable = 2, source[at + 1] != "b"
        elif char == "[":
            end = source.find("]", at + 2)
            if end < 0:
                raise PatternError("a [ without its ]")
            width, quantifiable = end + 1 - at, True
        elif char == "(":
            if source[at : at + 3] != "(?:":
                raise PatternError("groups are written (?:...)")
            width, quantifiable, depth = 3, False, depth + 1
        elif char == ")":
            depth -= 1
            follows = source[at + 1 : at + 2]
            if follows and follows in "{*+":
                raise PatternError("a group may not repeat")
            quantifiable = True
        elif char == "|":
            tries, quantifiable = 2 * tries, False
        elif char in "*+":
            raise PatternError(f"{char} has no bound: write {{0,{REPEAT}}} or less")
        elif char in "?{":
            if not quantifiable:
                raise PatternError(f"{char} follows nothing that it could repeat")
            width, ways = _ways(source, at)
            tries, quantifiable = tries * ways, False
        elif char in "^$":
            quantifiable = False
        else:
            quantifiable = True
        if tries > TRIES:
            raise PatternError(f"tries more than {TRIES} ways at one place")
        at += width
    if depth:
        raise PatternError("a ( without its )")
    try:
        return re.compile(source)
    except re.error as error:
        raise PatternError(str(error)) from error


def _ways(source: str, at: int) -> tuple[int, int]:
    """The width of the quantifier at `at`, and how many counts it allows."""
    if source[at] == "?":
        return 1, 2
    found = _QUANTITY.match(source, at)
    if found is None:
        raise PatternError("write {m} or {m,n}")
    low, high = int(found.group(1)), int(found.group(2) or found.group(1))
    if not low <= high <= REPEAT:
        raise PatternError(f"repeats more than {REPEAT} times, or less than it must")
    return len(found.group()), high - low + 1
