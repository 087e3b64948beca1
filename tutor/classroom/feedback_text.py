"""What came back from the class as sentences, for the screen and the command line (pure)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from tutor.classroom.exchange import Receipt
from tutor.classroom.returned import Feedback, Marked
from tutor.language import Lang
from tutor.learner.scoring import VETOES, when_words
from tutor.model import Lesson, Message
from tutor.strings import text

#: The parts of the score that are no questions of their own.
CODE_PARTS = ("normal", "edge", "explanation")

Kind = Literal["head", "old", "machine", "open", "part", "full", "slot", "veto", "comment", "asked"]


class Row(NamedTuple):
    """A sentence, how deep it stands below the first one, and what it is about: `full` is a question with all its
    points, `part` one with fewer, `open` one without a score. A comment's words are anybody's."""

    kind: Kind
    depth: int
    words: str


def rows(lesson: Lesson, found: Feedback, lang: Lang) -> Iterator[Row]:
    """Each question with its points, ticked slots, vetoes and comment; the lesson may be a later version of the one
    that was scored."""
    number = found.receipt.number
    if found.is_old:
        yield Row("old", 0, text(lang, "handin.old", number=number, newest=found.newest))
    if found.final and found.total is not None:
        yield Row("head", 0, text(lang, "handin.head-final", number=number, total=found.total))
    else:
        yield Row("head", 0, text(lang, "handin.head-open", number=number))
    if found.machine is not None:
        normal, edge = found.machine
        yield Row("machine", 1, text(lang, "handin.machine", normal=normal, edge=edge))
    for name, one in found.questions.items():
        yield from _question(lesson, name, one, lang)
        if name in found.asked:
            yield Row("asked", 2, text(lang, "handin.asked"))


def waiting(receipt: Receipt) -> Message:
    """Of the last hand-in, while none has any feedback."""
    fields: dict[str, str | int] = {"number": receipt.number, "at": when_words(receipt.made), "path": receipt.folder}
    return Message("handin.handed", fields)


def _question(lesson: Lesson, name: str, one: Marked, lang: Lang) -> Iterator[Row]:
    shown = question_words(lesson, name, lang)
    if one.points is None:
        yield Row("open", 1, text(lang, "handin.row-open", question=shown))
        return
    words = text(lang, "handin.row", question=shown, points=one.points, of=one.of, at=when_words(one.at))
    yield Row("full" if one.points == one.of else "part", 1, words)
    for slot in (slot for slot, ticked in one.slots.items() if ticked):
        yield Row("slot", 2, _slot_words(lesson, name, one, slot, lang))
    for veto in one.vetoes:
        label = text(lang, f"answer.veto-{veto}") if veto in VETOES else veto
        yield Row("veto", 2, text(lang, "handin.vetoes", vetoes=label))
    for words in filter(str.strip, one.comment.split("\n")):
        yield Row("comment", 2, text(lang, "handin.comment", words=words))


def question_words(lesson: Lesson, name: str, lang: Lang) -> str:
    """A part of the score as the learner knows it; one that this lesson does not have keeps its id."""
    known = name in CODE_PARTS or any(question.id == name for question in lesson.questions)
    return text(lang, f"scoring.part-{name}") if known else name


def of_question(message: Message, lesson: Lesson, lang: Lang) -> Message:
    """A message about a question, which it has by its id, with the question's words in place of that."""
    if "question" not in message.args:
        return message
    return Message(
        message.key, {**message.args, "question": question_words(lesson, str(message.args["question"]), lang)}
    )


def _slot_words(lesson: Lesson, name: str, one: Marked, slot: str, lang: Lang) -> str:
    """A slot in the reader's words: an instructor's own, one of the lesson's, or its id where this lesson has none."""
    if slot in one.labels:
        return one.labels[slot][lang]
    rubric = lesson.rubric.questions.get("edge" if name == "explanation" else name)
    return next((each.label.get(lang) for each in rubric.slots if each.id == slot), slot) if rubric else slot
