"""What goes back to a learner: a file in the class folder under a name that only their own hand-in holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tutor import submission
from tutor.exchange import FILE_MODE, ClassFolder, ExchangeError, Receipt, Unreadable, read_stranger
from tutor.grades import Grade, grades
from tutor.intake import iso, questions_of
from tutor.line_file import write_whole
from tutor.model import Lesson
from tutor.paths import why
from tutor.submission import Submission, Unacceptable, unseal

if TYPE_CHECKING:
    from tutor.gradebook.book import Gradebook

KIND = "torch-compile-tutor/feedback"


def publish(folder: ClassFolder, book: Gradebook, lesson: Lesson) -> dict[str, bool]:
    """Write the feedback of every learner who has any; by login, whether it is final. Raises ExchangeError,
    GradebookError."""
    written: dict[str, bool] = {}
    for grade in grades(book):
        number = grade.row.submission
        if number is None or not (grade.result or any(scores for _, scores in grade.items.values())):
            continue
        read = submission.read(book.raw(number))
        path = folder.feedback / f"{read.reply}.json"
        try:
            write_whole(path, _sealed(folder, read, grade, lesson))
            path.chmod(FILE_MODE)
        except OSError as error:
            raise ExchangeError("class.unusable", path=str(folder.feedback), why=why(error)) from error
        written[grade.row.learner.login] = grade.is_final
    return written


def _sealed(folder: ClassFolder, read: Submission, grade: Grade, lesson: Lesson) -> bytes:
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
        "questions": {name: _question(grade, name, of) for name, of in questions_of(lesson).items()},
    }
    return submission.seal(body)


def _question(grade: Grade, name: str, of: int) -> dict[str, Any]:
    """A question as its learner may see it: not who graded it, and nothing while two graders differ."""
    if grade.points(name) is None:
        return {"points": None, "of": of}
    _, scores = grade.items[name]
    last = scores[-1]
    told = {"veto": last.veto, "comment": last.comment, "slots": dict(last.slots), "at": iso(last.at)}
    return {"points": last.points, "of": of, **told}


def fetch(folder: ClassFolder, receipt: Receipt) -> dict[str, Any] | None:
    """The feedback to a hand-in, None as long as there is none. Raises ExchangeError when what is there is not the
    instructor's, or not to this hand-in."""
    path = folder.feedback / f"{receipt.reply}.json"
    if not path.exists():
        return None
    try:
        raw, info = read_stranger(str(path).encode(), submission.SIZE_MAX)
        body: dict[str, Any] = unseal(raw)["body"]
    except (Unreadable, Unacceptable):
        raise ExchangeError("class.feedback-damaged", path=str(path)) from None
    if info.st_uid != folder.owner or body.get("kind") != KIND or body.get("submission") != receipt.sha256:
        raise ExchangeError("class.feedback-damaged", path=str(path))
    return body
