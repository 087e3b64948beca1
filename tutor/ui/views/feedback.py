"""What came back from the class, as lines under the parts of the score."""

from __future__ import annotations

from tutor.classroom import feedback_text
from tutor.classroom.exchange import Receipt
from tutor.classroom.returned import Feedback
from tutor.language import Lang
from tutor.lines import Line, Part, Role, wrap
from tutor.literals import safe_text
from tutor.model import Lesson
from tutor.strings import say

_ROLES: dict[feedback_text.Kind, Role] = {
    "head": "title",
    "old": "caution",
    "machine": "plain",
    "open": "muted",
    "part": "strong",
    "full": "good",
    "slot": "plain",
    "veto": "bad",
    "comment": "plain",
    "asked": "muted",
}


def waiting_lines(receipt: Receipt, lang: Lang, width: int) -> list[Line]:
    """The last hand-in, while none has any feedback."""
    return wrap([(safe_text(say(lang, feedback_text.waiting(receipt)), 4_000), "plain")], width)


def feedback_lines(lesson: Lesson, found: Feedback, lang: Lang, width: int) -> list[Line]:
    """Each question with its points, ticked slots, vetoes and comment."""
    out: list[Line] = []
    for row in feedback_text.rows(lesson, found, lang):
        parts: list[Part] = [("[x] ", "good")] if row.kind == "slot" else []
        first = "  " * row.depth
        rest = first + "    " if row.depth else ""
        out += wrap([*parts, (safe_text(row.words, 80_000), _ROLES[row.kind])], width, first=first, rest=rest)
    return out
