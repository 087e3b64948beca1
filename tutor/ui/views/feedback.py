"""What came back from the class, as lines under the parts of the score."""

from __future__ import annotations

from collections.abc import Collection

from tutor.literals import safe_text
from tutor.model import Lang, Lesson
from tutor.returned import Feedback, Marked
from tutor.scoring import VETOES
from tutor.strings import text
from tutor.ui.lines import Line, wrap

_INDENT = " " * 4


def feedback_lines(lesson: Lesson, found: Feedback, asked: Collection[str], lang: Lang, width: int) -> list[Line]:
    """Each question with its points, ticked slots, vetoes and comment. `asked` are the questions that the learner has
    asked to look at again."""
    number = found.receipt.number
    if found.final and found.total is not None:
        head = text(lang, "handin.head-final", number=number, total=found.total)
    else:
        head = text(lang, "handin.head-open", number=number)
    out = wrap([(head, "title")], width)
    if found.is_old:
        out += wrap([(text(lang, "handin.old", number=number, newest=found.newest), "caution")], width)
    if found.machine is not None:
        words = text(lang, "handin.machine", normal=found.machine[0], edge=found.machine[1])
        out += wrap([(words, "plain")], width, first="  ", rest=_INDENT)
    for name, one in found.questions.items():
        out += _question(lesson, name, one, lang, width)
        if name in asked:
            out += wrap([(text(lang, "handin.asked"), "muted")], width, first=_INDENT, rest=_INDENT)
    return out


def _question(lesson: Lesson, name: str, one: Marked, lang: Lang, width: int) -> list[Line]:
    known = name == "explanation" or any(question.id == name for question in lesson.questions)
    shown = text(lang, f"scoring.part-{name}") if known else safe_text(name, 40)
    if one.points is None:
        return wrap([(text(lang, "handin.row-open", question=shown), "muted")], width, first="  ", rest=_INDENT)
    words = text(lang, "handin.row", question=shown, points=one.points, of=one.of, at=safe_text(one.at, 40))
    out = wrap([(words, "good" if one.points == one.of else "strong")], width, first="  ", rest=_INDENT)
    for slot in (slot for slot, ticked in one.slots.items() if ticked):
        label = safe_text(_label(lesson, name, one, slot, lang), 400)
        out += wrap([("[x] ", "good"), (label, "plain")], width, first=_INDENT, rest=_INDENT * 2)
    for veto in one.vetoes:
        label = text(lang, f"answer.veto-{veto}") if veto in VETOES else safe_text(veto, 100)
        out += wrap([(text(lang, "handin.vetoes", vetoes=label), "bad")], width, first=_INDENT, rest=_INDENT * 2)
    for row in filter(str.strip, one.comment.split("\n")):
        words = text(lang, "handin.comment", words=safe_text(row, 80_000))
        out += wrap([(words, "plain")], width, first=_INDENT, rest=_INDENT)
    return out


def _label(lesson: Lesson, name: str, one: Marked, slot: str, lang: Lang) -> str:
    """A slot in the reader's words: an instructor's own, one of the lesson's, or its id where this lesson has none."""
    if slot in one.labels:
        return one.labels[slot][lang]
    rubric = lesson.rubric.questions.get("edge" if name == "explanation" else name)
    return next((each.label.get(lang) for each in rubric.slots if each.id == slot), slot) if rubric else slot
