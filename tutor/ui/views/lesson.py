"""A step of the lesson as lines, with the state of each claim beside its mark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tutor.language import Lang
from tutor.lesson import text as lesson_text
from tutor.lines import BLANK, Line, Part, Role, crop, line, wrap
from tutor.model import Claim, Figure, Lesson, Source, Step, Verdict
from tutor.strings import text

MARKS: Mapping[Verdict | None, tuple[str, Role]] = {
    None: ("[ ]", "plain"),
    Verdict.HOLDS: ("[=]", "good"),
    Verdict.CONDITIONAL: ("[~]", "caution"),
    Verdict.DIFFERS: ("[!]", "caution"),
    Verdict.UNAVAILABLE: ("[-]", "plain"),
    Verdict.BROKE: ("[ ]", "plain"),
}
#: The drawings of a figure are for these widths, in cells.
FIGURE_WIDE = 76


class Seen(NamedTuple):
    """What this learner's machine said of a claim: the verdict, its evidence id, and where the numbers come from."""

    verdict: Verdict
    evidence: str
    source: Source


class LessonState(NamedTuple):
    """What a step's lines depend on besides its text: verdicts by claim, whether torch is here, the figure's step."""

    seen: Mapping[str, Seen]
    can_run: bool
    figure_step: int = -1


def step_lines(lesson: Lesson, step: Step, lang: Lang, width: int, state: LessonState) -> list[Line]:
    """The whole step at `width` cells. Claim marks are items named `claim:ID`, figures `figure:ID`."""
    out: list[Line] = [line((step.title.get(lang), "title")), BLANK]
    for block in lesson_text.blocks(step.text.get(lang)):
        rows = _block(lesson, block, lang, width, state)
        joined = isinstance(block, lesson_text.Item | lesson_text.ClaimMark) and out[-1] == BLANK
        if joined and (isinstance(block, lesson_text.ClaimMark) or _after_item(out)):
            out.pop()
        out.extend(rows)
        out.append(BLANK)
    while out[-1] == BLANK:
        out.pop()
    return out


def _after_item(out: list[Line]) -> bool:
    before = out[-2].text if len(out) > 1 else ""
    return before.startswith(("- ", "  "))


def _block(lesson: Lesson, block: lesson_text.Block, lang: Lang, width: int, state: LessonState) -> list[Line]:
    match block:
        case lesson_text.Heading(spans=found):
            return wrap([(span.text, "title") for span in found], width)
        case lesson_text.Paragraph(spans=found):
            return wrap(_inline(found), width)
        case lesson_text.Item(spans=found):
            return wrap(_inline(found), width, first="- ", rest="  ")
        case lesson_text.Fence(language=language, lines=rows):
            role: Role = "code" if language else "plain"
            return [line((row, role)) for row in rows]
        case lesson_text.ClaimMark(claim=name):
            return [claim_line(lesson.claims[name], lang, width, state)]
        case lesson_text.FigureMark(figure=name):
            return figure_lines(lesson.figures[name], lang, width, state.figure_step)


def _inline(found: tuple[lesson_text.Span, ...]) -> list[Part]:
    roles: dict[lesson_text.SpanKind, Role] = {"plain": "plain", "code": "code", "strong": "strong"}
    return [(span.text, roles[span.kind]) for span in found]


def prose(words: str, plain: Role = "plain") -> list[Part]:
    """A sentence of the lesson's files with its code and emphasis as parts, `plain` for the rest."""
    return [(part, plain if role == "plain" else role) for part, role in _inline(lesson_text.spans(words))]


def claim_line(claim: Claim, lang: Lang, width: int, state: LessonState) -> Line:
    """`[=] name: holds [E3 here]`: the claim's mark, its id and what this machine or a recorded one said of it."""
    verdict, words, label = claim_state(claim, lang, state)
    mark, role = MARKS[verdict]
    parts: list[Part] = [(mark, role), (f" {claim.id}: ", "plain"), (words, "plain")]
    if label[0]:
        parts += [(" ", "plain"), label]
    return Line(crop(parts, width), item=f"claim:{claim.id}")


def claim_state(claim: Claim, lang: Lang, state: LessonState) -> tuple[Verdict | None, str, Part]:
    """The verdict to mark, the words for it, and its source label as a part ("" when there is no number behind it)."""
    seen = state.seen.get(claim.id)
    if seen is not None:
        here = seen.source is Source.MEASURED
        label: Part = (
            (text(lang, "ui.evidence_here", id=seen.evidence), "measured")
            if here
            else (text(lang, "ui.evidence_recorded", id=seen.evidence), "recorded")
        )
        return seen.verdict, verdict_word(seen.verdict, lang), label
    if claim.demo is not None and state.can_run:
        return None, text(lang, "ui.claim_untried"), ("", "plain")
    recorded: Part = (record_label(claim, lang), "recorded") if claim.records else ("", "plain")
    if claim.demo is not None:
        return Verdict.UNAVAILABLE, text(lang, "ui.claim_cannot"), recorded
    if claim.records:
        # Machines may disagree: here stands what the lesson concludes from all records, on the claim's page each.
        return claim.says, verdict_word(claim.says, lang), recorded
    return None, text(lang, "ui.claim_unrecorded"), recorded


def record_label(claim: Claim, lang: Lang) -> str:
    """Where and when the first record of a claim was made: `[rec H200 2026-11]`."""
    record = claim.records[0]
    return text(lang, "ui.recorded", where=record.where.partition(",")[0], when=record.when)


def verdict_word(verdict: Verdict, lang: Lang) -> str:
    return text(lang, f"ui.verdict_{verdict}")


def figure_lines(figure: Figure, lang: Lang, width: int, at: int) -> list[Line]:
    """The drawing that fits, the labels of step `at` lit, and that step's sentence under it."""
    step = figure.steps[at] if 0 <= at < len(figure.steps) else None
    first, *rest = drawing_lines(figure, width, step.lit if step else ())
    out = [Line(first.parts, item=f"figure:{figure.id}"), *rest]
    if step is None:
        return [*out, *wrap([(text(lang, "ui.figure_step"), "muted")], width)]
    count = f"{at + 1}/{len(figure.steps)} "
    return [*out, *wrap([(count, "muted"), (step.text.get(lang), "strong")], width)]


def drawing_lines(figure: Figure, width: int, lit: tuple[str, ...]) -> list[Line]:
    """The drawing for `width` cells with these labels lit."""
    drawing = figure.narrow if width >= FIGURE_WIDE else figure.wide
    return [Line(tuple(_lit(row, lit))) for row in drawing]


def _lit(row: str, labels: tuple[str, ...]) -> list[Part]:
    parts: list[Part] = []
    found = sorted((row.find(label), label) for label in labels if label in row)
    at = 0
    for start, label in found:
        parts += [(row[at:start], "plain"), (label, "lit")]
        at = start + len(label)
    parts.append((row[at:], "plain"))
    return [part for part in parts if part[0]]
