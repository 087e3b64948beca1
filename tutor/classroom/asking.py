"""Asking to look again at a score: a note of it in the lesson's state folder, then the request in the class inbox."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from tutor.classroom.exchange import ClassFolder, ExchangeError, drop, secret_name
from tutor.classroom.handed_in import alone, asked, myself
from tutor.classroom.look_again import LookAgain, pack
from tutor.classroom.returned import Feedback
from tutor.learner.line_file import write_whole
from tutor.model import Lesson, Message
from tutor.paths import why


def ask(state: Path, found: Feedback, lesson: Lesson, question: str, text: str) -> list[Message]:
    """Ask to look again at a question of a hand-in, once. Returns what the learner should know of the inbox. Raises
    ExchangeError, submission.Unacceptable.

    As for a hand-in, the note is on the disk before the request is in the inbox.
    """
    receipt = found.receipt
    raw = pack(LookAgain(myself(), lesson.id, receipt.sha256, question, text))
    folder = ClassFolder.open(Path(receipt.folder))
    if folder.id != receipt.class_id:
        raise ExchangeError("handin.other-class", path=receipt.folder)
    kept = state / "handed-in"
    with alone(kept):
        found._replace(asked=frozenset(asked(state, receipt))).check_again(question)
        return _ask(kept / f"{receipt.number:04}.{question}.asking", folder, raw)


def _ask(note: Path, folder: ClassFolder, raw: bytes) -> list[Message]:
    name = secret_name()
    try:
        write_whole(note.with_suffix(".text"), raw)
        write_whole(note, name.encode())
    except OSError as error:
        raise ExchangeError("handin.not-kept", path=str(note.parent), why=why(error)) from error
    try:
        notices = drop(folder, name, raw)
    except ExchangeError:
        with suppress(OSError):  # a note that stays behind names a file that is not there, and counts for nothing
            note.unlink()
        raise
    with suppress(OSError):  # a note of a request that is in the inbox is as good as one that it was asked
        note.rename(note.with_suffix(".asked"))
    return notices
