"""What goes back to a learner: a file in the class folder under a name that only their own hand-in holds."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tutor.classroom import submission
from tutor.classroom.class_criteria import class_criteria, rubric_of
from tutor.classroom.criteria import Criteria
from tutor.classroom.exchange import FILE_MODE, ClassFolder, ExchangeError
from tutor.classroom.grades import Grade, grades
from tutor.classroom.handed_in import login_of
from tutor.classroom.intake import iso, questions_of
from tutor.classroom.returned import KIND
from tutor.classroom.submission import Submission
from tutor.learner.line_file import write_whole
from tutor.model import Lesson
from tutor.paths import why
from tutor.rubric.model import Kind

if TYPE_CHECKING:
    from tutor.gradebook.book import Gradebook
    from tutor.gradebook.scores import Score


class Published(NamedTuple):
    """What one learner was told: whether everything is final, and whether it differs from what they were told last."""

    final: bool
    changed: bool


def publish(folder: ClassFolder, book: Gradebook, lesson: Lesson, *, really: bool = True) -> dict[str, Published]:
    """Write the feedback of every learner who has any; by login, what they were told. Not `really`: what they would be
    told. Raises ExchangeError, GradebookError."""
    if os.geteuid() not in (0, folder.owner):
        raise ExchangeError("class.feedback-owner", owner=login_of(folder.owner))
    latest, criteria = book.scores.latest(), class_criteria(book, lesson)
    written: dict[str, Published] = {}
    scores: list[int] = []
    for grade in grades(book):
        number = grade.row.submission
        told = [each for each in grade.items.values() if grade.points(each.question) is not None]
        if number is None or not (grade.result or told):
            continue
        if really:
            read = submission.read(book.raw(number))
            path = folder.feedback / f"{read.reply}.json"
            try:
                sealed = _sealed(folder, read, grade, latest, criteria, lesson)
                write_whole(path, sealed, mode=FILE_MODE, owner=folder.owner)
            except OSError as error:
                raise ExchangeError("class.unusable", path=str(folder.feedback), why=why(error)) from error
            scores += [each.score for each in told if each.score is not None and not each.is_published]
        changed = any(not each.is_published for each in told)
        written[grade.row.learner.login] = Published(grade.is_final, changed)
    book.scores.publish(scores, time.time())
    return written


def _sealed(
    folder: ClassFolder,
    read: Submission,
    grade: Grade,
    latest: Mapping[int, Score],
    criteria: Mapping[str, Criteria],
    lesson: Lesson,
) -> bytes:
    questions: dict[str, Any] = {}
    for name, of in questions_of(lesson).items():
        questions[name] = {"points": None, "of": of}
        if grade.points(name) is not None:  # nothing while two graders differ or somebody is unsure
            questions[name] = _question(latest[grade.items[name].item], of, criteria[name], lesson)
    body = {
        "kind": KIND,
        "schema": 1,
        "class": folder.id,
        "lesson": lesson.id,
        "submission": read.sha256,
        "final": grade.is_final,
        "total": grade.total,
        "vetoes": grade.vetoes,
        "machine": {"normal": grade.result.normal, "edge": grade.result.edge} if grade.result else None,
        "questions": questions,
    }
    return submission.seal(body)


def _question(last: Score, of: int, criteria: Criteria, lesson: Lesson) -> dict[str, Any]:
    """A question as its learner may see it: not who graded it. Slots are those that existed when it was scored; the
    labels of an instructor's own go along, the lesson's are at the learner's.

    Points that were given without ticking anything say by themselves what the answer has: some make a chain, all of
    them a boundary and a trade-off too.
    """
    rubric = rubric_of(lesson, criteria.question)
    ticks = frozenset(name for name, ticked in last.slots.items() if ticked)
    kinds = {slot.kind for slot in rubric.slots if slot.id in ticks}
    bare = not ticks
    return {
        "points": last.points,
        "of": of,
        "veto": last.veto,
        "comment": last.comment,
        "slots": dict(last.slots),
        "labels": {name: criteria.slots[name]._asdict() for name in criteria.added if name in last.slots},
        "chain": last.points > 0 if bare else rubric.chain(ticks),
        "boundary": last.points == of if bare else Kind.BOUNDARY in kinds,
        "tradeoff": last.points == of if bare else Kind.TRADEOFF in kinds,
        "at": iso(last.at),
    }
