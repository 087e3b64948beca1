"""What a learner's free text gives evidence of: exact quotes for the slots of a rubric, never a score (pure).

Nothing here says that a slot is missing or an answer complete. A quote is shown only when a phrase of the slot stands
in an argument of its own, of the right subject, not negated, and not taken back elsewhere; when in doubt there is none.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from tutor.model import Bilingual
from tutor.rubric_pattern import Index, Pattern, Span
from tutor.rubric_text import READ_MAX, Text, folded

__all__ = ["READ_MAX", "Findings", "Kind", "Quote", "Rubric", "RubricQuestion", "Slot", "examine"]

#: How often one pattern is looked for in one text.
HITS = 24
#: How many quotes a slot shows.
QUOTES = 2
#: The longest quote, in characters of the text: longer clauses are cut to what was recognised.
QUOTE_MAX = 70
#: A shorter one takes the clause before it along, in characters.
SHORT = 6
#: All concepts of one piece of evidence stand within this many characters.
REACH = 70
#: Two subjects closer than this are named together, and what follows is said of neither.
TOGETHER = 10
#: Concepts that every text is searched for: talk that is no argument, and talk to a grader.
_ALWAYS = {"empty_talk", "to_grader"}
_SUBJECT = "subject "
_AND = ("", "和", "与", "跟", "及", "以及", ",", "、", "/", "and", "and a", "and the", "vs", "vs.", "or", "或")
#: As much of a reference, word for word, is the reference and not the learner.
COPIED = 18


_STATED = re.compile(r"[^。！？!?\n;；]{1,4000}")
_CITED = re.compile(r"\[(E\d{1,6})\b[^\]]{0,20}\]")
_SOURCE = re.compile(r"\[(?:E\d|rec|quoted|录|引用)")
_QUANTITY = re.compile(
    r"(?<![\w.])\d{1,9}(?:\.\d{1,9})? ?(?:ms|us|µs|ns|s|x|倍|%|％|毫秒|微秒|秒|times)(?![A-Za-z0-9])"
)


class Kind(StrEnum):
    """Which link of the argument a slot is."""

    CAUSE = "cause"
    MECHANISM = "mechanism"
    EFFECT = "effect"
    OBSERVE = "observe"
    BOUNDARY = "boundary"
    TRADEOFF = "tradeoff"


class Evidence(NamedTuple):
    """Concepts that must stand together; `sentence` lets them stand in one sentence, else it is one clause. `bare`
    evidence forbids, and its own words of negation do not negate it."""

    concepts: tuple[str, ...]
    sentence: bool = False
    bare: bool = False


class Slot(NamedTuple):
    """One thing that a good answer says. `core` counts for points; `shared` is asked once over all three answers.
    `about` is the subject that it must be said of, None when it does not matter."""

    id: str
    kind: Kind
    core: bool
    shared: bool
    about: str | None
    label: Bilingual
    prompts: tuple[Bilingual, ...]
    evidence: tuple[Evidence, ...]
    claim: str | None = None
    """The claim that the reference rests on here: who doubts it is shown its measurement."""


class Doubt(NamedTuple):
    """A likely misconception (or, among the vetoes, a likely veto): asked as a question, never counted. The slots that
    it `silences` show no quote while it stands."""

    id: str
    about: str | None
    question: Bilingual
    evidence: tuple[Evidence, ...]
    silences: tuple[str, ...] = ()


class Need(NamedTuple):
    """Ticks that earn points: every one of `every`, and `least` of `some`."""

    every: tuple[str, ...]
    some: tuple[str, ...]
    least: int

    def met(self, ticks: frozenset[str]) -> bool:
        return ticks.issuperset(self.every) and len(ticks.intersection(self.some)) >= self.least


@dataclass(frozen=True, slots=True)
class RubricQuestion:
    """The rubric of one free text. `points` maps a number of points to what earns it, any one of the needs."""

    id: str
    slots: tuple[Slot, ...]
    misconceptions: tuple[Doubt, ...]
    points: Mapping[int, tuple[Need, ...]]

    def slot(self, name: str) -> Slot:
        """Raises StopIteration for a name that is not in the rubric."""
        return next(slot for slot in self.slots if slot.id == name)

    def earned(self, ticks: frozenset[str]) -> int:
        """The points that a person's ticks come to; the arithmetic of whoever ticked, not a judgement."""
        return max((points for points, needs in self.points.items() if any(n.met(ticks) for n in needs)), default=0)

    def chain(self, ticks: frozenset[str]) -> bool:
        """Whether the ticks make a causal chain: a cause or a mechanism, and another link."""
        kinds = {slot.kind for slot in self.slots if slot.id in ticks}
        links = kinds - {Kind.BOUNDARY, Kind.TRADEOFF}
        return len(links) >= 2 and bool(links & {Kind.CAUSE, Kind.MECHANISM})


@dataclass(frozen=True, slots=True)
class Rubric:
    """A lesson's rubric: its version, what it asks everybody, and the questions by id."""

    version: str
    ladder: tuple[Bilingual, ...]
    questions: Mapping[str, RubricQuestion]
    vetoes: tuple[Doubt, ...]
    subjects: Mapping[str, tuple[Pattern, ...]]
    concepts: Mapping[str, tuple[Pattern, ...]]
    common: frozenset[str]
    changes: tuple[Change, ...]
    indexes: dict[str, Index] = field(default_factory=dict)
    """By question, what its texts are searched for; made when one is first read."""

    def index(self, question: str) -> Index:
        """Raises KeyError for an unknown question."""
        if question not in self.indexes:
            about = self.questions[question]
            evidence = [one for slot in about.slots for one in slot.evidence]
            evidence += [one for doubt in (*about.misconceptions, *self.vetoes) for one in doubt.evidence]
            names = {name for one in evidence for name in one.concepts}
            wanted = {name: self.concepts[name] for name in (names | _ALWAYS) & self.concepts.keys()}
            self.indexes[question] = Index({**wanted, **{_SUBJECT + n: p for n, p in self.subjects.items()}})
        return self.indexes[question]


class Change(NamedTuple):
    """A scale or a failure condition that is changed, for arguing again; `demo` shows it where one can."""

    id: str
    text: Bilingual
    demo: str | None


class Quote(NamedTuple):
    """The learner's own words: `text` is `answer[start:end]`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Findings:
    """What was recognised: quotes by slot, by misconception and by veto; nothing for what was not. `notes` are ids of
    sentences in `tutor/text/*/rubric.toml`."""

    slots: Mapping[str, tuple[Quote, ...]]
    misconceptions: Mapping[str, tuple[Quote, ...]] = field(default_factory=dict)
    vetoes: Mapping[str, tuple[Quote, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    uncited: tuple[Quote, ...] = ()
    """Measured quantities in sentences that cite nothing."""


def examine(rubric: Rubric, question: str, answer: str, reference: str = "") -> Findings:
    """Look for evidence in the first READ_MAX characters of `answer`. Raises KeyError for an unknown question.

    `reference` is the question's reference answer where there is one: words taken from it are no evidence.
    """
    about = rubric.questions[question]
    reading = _Reading(rubric.index(question), Text(answer), folded(reference))
    notes = reading.notes()
    if "to-grader" in notes:
        return Findings({}, notes=notes)
    misconceptions = {d.id: quotes for d in about.misconceptions if (quotes := reading.quotes(d.evidence, d.about))}
    silenced = {name for d in about.misconceptions if d.id in misconceptions for name in d.silences}
    slots = {}
    for slot in about.slots:
        if slot.id not in silenced and (found := reading.quotes(slot.evidence, slot.about)):
            slots[slot.id] = found
    vetoes = {d.id: quotes for d in rubric.vetoes if (quotes := reading.quotes(d.evidence, None))}
    return Findings(slots, misconceptions, vetoes, notes, uncited(answer))


def uncited(answer: str) -> tuple[Quote, ...]:
    """Times, factors and percentages in sentences without a citation or a source."""
    found = []
    for sentence in _STATED.finditer(answer[:READ_MAX]):
        if not _SOURCE.search(sentence.group()):
            for number in _QUANTITY.finditer(sentence.group()):
                start = sentence.start() + number.start()
                found.append(Quote(start, start + len(number.group()), number.group()))
    return tuple(found[:QUOTES])


def citations(answer: str) -> tuple[str, ...]:
    """The ids of the evidence that an answer cites, each once."""
    return tuple(dict.fromkeys(_CITED.findall(answer)))


def stands(rubric: Rubric, concept: str, text: str) -> bool:
    """Whether a concept stands anywhere in a text, whatever is said of it."""
    return bool(_Reading(Index({concept: rubric.concepts[concept]}), Text(text), "").hits(concept))


class _Reading:
    """One text with the concepts that were found in it so far."""

    def __init__(self, index: Index, text: Text, reference: str) -> None:
        self.text = text
        self._reference = reference
        found = index.find(text.folded, HITS)
        self._hits = {name: [span for span in spans if self._in_one_clause(span)] for name, spans in found.items()}

    def notes(self) -> tuple[str, ...]:
        notes = []
        if len(self.text.raw) > READ_MAX:
            notes.append("too-long")
        if self.hits("to_grader"):
            notes.append("to-grader")
        said = [mute for mute, (a, b) in zip(self.text.mute, self.text.sentences, strict=True) if self._words(a, b)]
        if said and all(said):
            notes.append("no-argument")
        if self._copied:
            notes.append("copied")
        if self.text.raw.strip() and not any(c.isalpha() for c in self.text.folded):
            notes.append("no-words")
        return tuple(notes)

    def _words(self, start: int, end: int) -> bool:
        return not self.text.folded[start:end].isspace()

    def _mute(self, sentence: int) -> bool:
        """Whether a sentence is no argument of the learner's: a question, a row of words, talk that would fit any
        question, or a piece of the reference."""
        start, end = self.text.sentences[sentence]
        talk = self.hits("empty_talk")
        if self.text.mute[sentence] or any(start <= hit.start < end for hit in talk):
            return True
        return any(start <= a < end for a, _ in self._copied)

    def hits(self, concept: str) -> list[Span]:
        """Where a concept stands, first places first."""
        return self._hits.get(concept, [])

    def _in_one_clause(self, span: Span) -> bool:
        return self.text.clause_at(span.start) == self.text.clause_at(span.end - 1)

    def quotes(self, evidence: tuple[Evidence, ...], about: str | None) -> tuple[Quote, ...]:
        """The quotes for any of `evidence`; none when the text also says the opposite."""
        found: list[list[Span]] = []
        for one in evidence:
            for spans in self._together(one):
                if about is not None and self.subject(spans) != about:
                    continue
                if self._negated(spans, one.bare):
                    return ()
                found.append(spans)
        found.sort()
        quotes = sorted(set(map(self._quote, found[: 3 * QUOTES])))
        # Of two where one holds the other, the shorter one says it.
        short = [one for one in quotes if not any(_holds(one, other) for other in quotes if other != one)]
        return tuple(short[:QUOTES])

    def _together(self, one: Evidence) -> Iterator[list[Span]]:
        """For each place of the first concept, the nearest places of the others."""
        first, *others = (self.hits(name) for name in one.concepts)
        where = self.text.sentence_at if one.sentence else self.text.clause_at
        for span in first[:HITS]:
            if self._mute(self.text.sentence_at(span.start)):
                continue
            spans = [span]
            for hits in others:
                near = [h for h in hits if where(h.start) == where(span.start) and not _overlap(h, span)]
                best = min(near, key=lambda h: abs(h.start - span.start), default=None)
                if best is None or abs(best.start - span.start) > REACH:
                    break
                spans.append(best)
            else:
                yield spans

    def _negated(self, spans: list[Span], bare: bool) -> bool:
        """Whether a word of negation stands in a clause of `spans` before their end, and in none of them."""
        end = max(span.end for span in spans)
        first = min(self.text.clauses[self.text.clause_at(span.start)][0] for span in spans)
        clauses = {self.text.clause_at(span.start) for span in spans}
        for start, stop, reach in self.text.negations:
            if start >= end:
                break
            if start < first or self.text.clause_at(start) not in clauses:
                continue
            if not any(start < span.end and span.start < reach for span in spans):
                continue
            inside = any(span.start <= start and stop <= span.end for span in spans)
            if not inside and not bare:
                return True
            if bare and not inside and stop <= min(span.start for span in spans):
                return True
        return False

    # --- of whom it is said ------------------------------------------------------------------------------------------

    @cached_property
    def _mentions(self) -> list[tuple[int, int, str]]:
        """Every mention of a subject as (start, end, name), in order; `both` where two are named in one breath."""
        found = sorted(
            (*span, name.removeprefix(_SUBJECT))
            for name, spans in self._hits.items()
            if name.startswith(_SUBJECT)
            for span in spans
        )
        names = list(dict.fromkeys(name for _, _, name in found if name not in ("former", "latter")))
        out: list[tuple[int, int, str]] = []
        for start, end, name in found:
            if name in ("former", "latter"):
                if len(names) < 2:
                    continue
                name = names[0] if name == "former" else names[1]
            if out and start - out[-1][1] < TOGETHER and out[-1][2] != name and self._one_breath(out[-1][1], start):
                out[-1] = (out[-1][0], end, "both")
            elif not out or start >= out[-1][1]:
                out.append((start, end, name))
        return out

    def _one_breath(self, start: int, end: int) -> bool:
        between = self.text.folded[start:end].strip(" `'\"")
        return between in _AND

    def subject(self, spans: list[Span]) -> str | None:
        """Of what it is said: the last subject named before in the sentence, else the next one in it, else the last one
        named in the sentence before."""
        start, end = min(s.start for s in spans), max(s.end for s in spans)
        number = self.text.sentence_at(start)
        inside = self._named.get(number, [])
        before = [name for a, name in inside if a <= start] or [name for a, name in inside if a < end]
        if before:
            return before[-1]
        if inside:
            return inside[0][1]
        earlier = bisect_left(self._mention_starts, self.text.sentences[number][0])
        return self._mentions[earlier - 1][2] if earlier else None

    @cached_property
    def _named(self) -> dict[int, list[tuple[int, str]]]:
        """By sentence, the subjects that it names and where."""
        out: dict[int, list[tuple[int, str]]] = {}
        for start, _, name in self._mentions:
            out.setdefault(self.text.sentence_at(start), []).append((start, name))
        return out

    @cached_property
    def _mention_starts(self) -> list[int]:
        return [start for start, _, _ in self._mentions]

    # --- quotes -----------------------------------------------------------------------------------------------------

    def _quote(self, spans: list[Span]) -> Quote:
        """The clauses that hold the evidence where they are short, else the evidence itself."""
        start, end = min(s.start for s in spans), max(s.end for s in spans)
        clause, sentence = self.text.clause_at(start), self.text.sentence_at(start)
        first = self.text.clauses[clause][0]
        if end - first < SHORT and clause and self.text.sentence_at(self.text.clauses[clause - 1][0]) == sentence:
            first = self.text.clauses[clause - 1][0]
        last = self.text.clauses[self.text.clause_at(end - 1)][1]
        if last - first <= QUOTE_MAX:
            start, end = first, last
        start, end = self.text.original(start, end)
        raw = self.text.raw
        while start < end and not (raw[start].isalnum() or raw[start] in "`.[「(（"):
            start += 1
        while end > start and not (raw[end - 1].isalnum() or raw[end - 1] in "`]」)）%"):
            end -= 1
        return Quote(start, end, raw[start:end])

    @cached_property
    def _copied(self) -> list[tuple[int, int]]:
        """The clauses and sentences that stand word for word in the reference."""
        spans = [*self.text.clauses, *self.text.sentences] if self._reference else []
        return [span for span in spans if self._is_copied(*span)]

    def _is_copied(self, start: int, end: int) -> bool:
        clause = self.text.folded[start:end].strip(" ,，:：。.;；")
        # A Chinese character carries about as much as two others.
        size = len(clause) + (0 if clause.isascii() else len(clause) // 2)
        return size >= COPIED and clause in self._reference


def _holds(one: Quote, other: Quote) -> bool:
    return one.start <= other.start and other.end <= one.end


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end
