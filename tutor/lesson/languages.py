"""Whether the two languages of a lesson's step carry the same facts, each in the lesson's form (pure)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tutor.language import LANGS, Lang
from tutor.lesson import text as lesson_text
from tutor.model import Message, Step

FENCE_CELLS = 72

_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_CODE = re.compile(r"`([^`]+)`")
#: A measured quantity: a number with a unit of time, or a factor.
_QUANTITY = re.compile(r"\d ?(?:[mun]?s|x)(?![A-Za-z0-9])")
_RANGE = re.compile(r"((?:\d+(?:\.\d+)?-)?\d+(?:\.\d+)?) ?(?:[mun]?s|x)(?![A-Za-z0-9])")
_SHORT_TIME = re.compile(r"\d ?[mun]s(?![A-Za-z0-9])")
_SECONDS = re.compile(r"\d ?s(?![A-Za-z0-9])")
_PERCENTILE = re.compile(r"\bp(?:50|95|99)(?!\d)|\bmax\b")
_SINGLE: Mapping[Lang, str] = {"zh": "单次", "en": "single run"}
_LABEL: Mapping[Lang, re.Pattern[str]] = {
    "zh": re.compile(r"\[(?:(录) ([^\]]+)|(引用)|E\d+ 本机)\]"),
    "en": re.compile(r"\[(?:(rec) ([^\]]+)|(quoted)|E\d+ here)\]"),
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What a text states that no language may change. `unnamed` lists what its numbers lack: "percentile"."""

    numbers: Counter[str]
    code: frozenset[str]
    sources: tuple[str, ...]
    unnamed: tuple[str, ...]


def cells(text: str) -> int:
    """Width on a terminal: wide and full-width characters take two cells, combining ones none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def facts(text: str, lang: Lang) -> Facts:
    """The numbers, inline code and source labels of a text, and whether its timings say what they are."""
    plain = _CODE.sub("", text)
    labels = _LABEL[lang].finditer(text)
    sources = tuple(f"rec {label[2]}" if label[1] else "quoted" if label[3] else "here" for label in labels)
    named = _PERCENTILE.search(plain) is not None
    missing = _SHORT_TIME.search(plain) and not named
    missing = missing or (_SECONDS.search(plain) and not named and _SINGLE[lang] not in plain)
    return Facts(
        numbers=Counter(_NUMBER.findall(text)),
        code=frozenset(_CODE.findall(text)),
        sources=sources,
        unnamed=("percentile",) if missing else (),
    )


def recorded_quantities(text: str, lang: Lang) -> set[str]:
    """The measured numbers of the paragraphs and items that carry a label "recorded"."""
    found: set[str] = set()
    for block in lesson_text.blocks(text):
        if isinstance(block, lesson_text.Paragraph | lesson_text.Item):
            said = "".join(span.text for span in block.spans if span.kind != "code")
            if any(label[1] for label in _LABEL[lang].finditer(said)):
                found.update(number for quantity in _RANGE.findall(said) for number in quantity.split("-"))
    return found


def text_problems(step: Step) -> Iterator[tuple[str, Message]]:
    """Where the step's two texts disagree, or leave the form that every text of a lesson has."""
    for lang in LANGS:
        yield from _form(step, lang)
    where = f"{step.id}.md"
    zh, en = facts(step.text.zh, "zh"), facts(step.text.en, "en")
    if zh.numbers != en.numbers:
        only = {"zh": zh.numbers - en.numbers, "en": en.numbers - zh.numbers}
        yield where, _message("numbers", **{lang: ", ".join(sorted(left.elements())) for lang, left in only.items()})
    zh_blocks, en_blocks = lesson_text.blocks(step.text.zh), lesson_text.blocks(step.text.en)
    zh_code, en_code = _inline_code(zh_blocks), _inline_code(en_blocks)
    if zh_code != en_code:
        left = {"zh": zh_code - en_code, "en": en_code - zh_code}
        yield where, _message("code", **{lang: ", ".join(sorted(found)) for lang, found in left.items()})
    if _fences(zh_blocks) != _fences(en_blocks):
        yield where, _message("fences")
    if _marks(zh_blocks) != _marks(en_blocks):
        yield where, _message("marks", zh=", ".join(_marks(zh_blocks)), en=", ".join(_marks(en_blocks)))
    if zh.sources != en.sources:
        yield where, _message("sources", zh=", ".join(zh.sources), en=", ".join(en.sources))


def _message(key: str, **args: str | int) -> Message:
    return Message(f"lesson.{key}", args)


def _form(step: Step, lang: Lang) -> Iterator[tuple[str, Message]]:
    where, text = f"{lang}/{step.id}.md", step.text.get(lang)
    # Lines, arrows, middle dots, curly quotes: one cell on some terminals, two on others.
    for char in sorted({char for char in text if unicodedata.east_asian_width(char) == "A"}):
        yield where, _message("ambiguous", char=char, code=f"U+{ord(char):04X}")
    yield from _paragraphs(where, text)
    intro = ""
    for block in lesson_text.blocks(text):
        match block:
            case lesson_text.Fence(lines=lines):
                if (widest := max(map(cells, lines), default=0)) > FENCE_CELLS:
                    yield where, _message("fence_width", cells=widest, most=FENCE_CELLS)
            case lesson_text.Paragraph(spans=spans) | lesson_text.Item(spans=spans):
                said = "".join(span.text for span in spans if span.kind != "code")
                if isinstance(block, lesson_text.Paragraph):
                    intro = said
                if not (number := _QUANTITY.search(said)):
                    continue
                if not _LABEL[lang].search(said):
                    yield where, _message("unsourced", text=said[:40], number=number[0])
                # What introduces a list may name the percentile for all of its items.
                if facts(f"{intro} {said}", lang).unnamed:
                    yield where, _message("percentile", text=said[:40])


def _paragraphs(where: str, text: str) -> Iterator[tuple[str, Message]]:
    """A paragraph stands on one line: a line of text right under another would be joined to it with a space."""
    fenced, running = False, False
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("```"):
            fenced, running = not fenced, False
            continue
        plain = not fenced and bool(line.strip()) and line[0] not in "#-@"
        if plain and running:
            yield where, _message("broken_paragraph", line=number)
        running = not fenced and (plain or line.startswith("- "))


def _inline_code(blocks: tuple[lesson_text.Block, ...]) -> set[str]:
    return {
        span.text
        for block in blocks
        if isinstance(block, lesson_text.Heading | lesson_text.Paragraph | lesson_text.Item)
        for span in block.spans
        if span.kind == "code"
    }


def _fences(blocks: tuple[lesson_text.Block, ...]) -> list[lesson_text.Fence]:
    return [block for block in blocks if isinstance(block, lesson_text.Fence)]


def _marks(blocks: tuple[lesson_text.Block, ...]) -> list[str]:
    found: list[str] = []
    for block in blocks:
        match block:
            case lesson_text.ClaimMark(claim=name) | lesson_text.FigureMark(figure=name):
                found.append(name)
    return found
