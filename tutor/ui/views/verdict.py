"""A check's verdict as lines: one word, one sentence, then call, got, expected and the first difference."""

from __future__ import annotations

from rich.cells import cell_len

from tutor.language import Lang
from tutor.lines import Line, Part, Role, line, wrap
from tutor.literals import safe_text
from tutor.model import CaseResult, CheckReport, Ending, Lesson
from tutor.strings import say, text

WORDS: dict[Ending, Role] = {
    Ending.PASSED: "good",
    Ending.FAILED: "bad",
    Ending.LIMIT: "bad",
    Ending.REFUSED: "bad",
    Ending.BROKE: "caution",
}


def word(ending: Ending, lang: Lang) -> Part:
    """PASS, FAIL, LIMIT, REFUSED or TOOL-BROKE, with its colour."""
    return text(lang, f"ui.word_{ending}"), WORDS[ending]


def verdict_lines(lesson: Lesson, report: CheckReport, lang: Lang, width: int, *, stale: bool) -> list[Line]:
    """The verdict for the code pane; `stale` heads it when the code was edited after it was given."""
    out: list[Line] = []
    if stale:
        out += wrap([(text(lang, "ui.earlier_text"), "caution")], width)
    out += _head(report, lang, width)
    for case in report.cases:
        if case.ending is not Ending.PASSED and case.same_as is None:
            out += _case(lesson, case, lang, width)
            break
    if report.output:
        out.append(line((text(lang, "ui.printed"), "muted")))
        for row in report.output.splitlines()[:3]:
            out += wrap([(safe_text(row), "plain")], width, first="  ", rest="  ")[:2]
    if report.ending is Ending.BROKE:
        out += wrap([(text(lang, "ui.broke_costs_nothing"), "plain")], width)
        if report.log:
            out += wrap([(safe_text(report.log), "muted")], width)[:3]
    elif report.ending is Ending.PASSED:
        out += wrap([(text(lang, "ui.passed_next", points=report.normal), "plain")], width)
    else:
        out += wrap([(text(lang, "ui.points_try_again", points=report.normal), "plain")], width)
    return out


def _head(report: CheckReport, lang: Lang, width: int) -> list[Line]:
    return wrap([word(report.ending, lang), ("  ", "plain"), (say(lang, report.message), "plain")], width, rest="  ")


def _case(lesson: Lesson, case: CaseResult, lang: Lang, width: int) -> list[Line]:
    labels = [text(lang, f"ui.label_{name}") for name in ("call", "got", "expected", "think")]
    column = max(cell_len(label) for label in labels) + 4

    def row(label: str, words: str, role: Role = "plain") -> list[Line]:
        lead = "  " + label + " " * (column - 2 - cell_len(label))
        return wrap([(words, role)], width, first=lead, rest=" " * column)

    out = row(labels[0], case.call)
    if case.got is not None:
        out += row(labels[1], case.got)
    if case.expected is not None:
        out += row(labels[2], case.expected)
        fits = column + cell_len(case.expected) <= width
        if case.at is not None and fits:
            start, end = case.at
            arrows = " " * (column + cell_len(case.expected[:start])) + "^" * max(1, end - start)
            out += wrap([(say(lang, case.message), "plain")], width, first=arrows + " ", rest=" " * column)
            return out + _think(lesson, case, lang, row, labels[3])
    out += wrap([(say(lang, case.message), "plain")], width, first="  ", rest="  ")
    return out + _think(lesson, case, lang, row, labels[3])


def _think(lesson: Lesson, case: CaseResult, lang: Lang, row, label: str) -> list[Line]:  # type: ignore[no-untyped-def]
    for given in lesson.exercise.given:
        if given.id == case.id:
            return row(label, given.hint.get(lang))  # type: ignore[no-any-return]
    return []
