"""What a learner keeps of their hand-ins: the file as it was sent and a receipt, in the lesson's state folder."""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from tutor import __version__, look_again
from tutor.exchange import ClassFolder, ExchangeError, Receipt, drop, secret_name
from tutor.line_file import write_whole
from tutor.model import Lesson, Message
from tutor.paths import make_private, why
from tutor.progress import Progress
from tutor.session_lock import UNSUPPORTED
from tutor.submission import Author, body_of, read, seal


def myself() -> Author:
    """This process's user."""
    return Author(os.geteuid(), login_of(os.geteuid()))


def login_of(uid: int) -> str:
    """The name of a user of this machine, `uid-<number>` for one that it does not know."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid-{uid}"


def receipts(state: Path) -> list[Receipt]:
    """The receipts in the lesson's folder `state`, oldest first. Raises ExchangeError for one that cannot be read.

    A note of a hand-in that was cut off while it was sent counts as one when the file did get into the inbox.
    """
    kept = state / "handed-in"
    found = [_receipt(path) for path in kept.glob("*.receipt.json")]
    sending = [_receipt(path) for path in kept.glob("*.sending.json")]
    found += [each for each in sending if os.path.lexists(Path(each.folder) / "inbox" / each.file)]
    return sorted(found, key=lambda each: each.number)


def _receipt(path: Path) -> Receipt:
    try:
        table = json.loads(path.read_bytes())
        return Receipt(**{name: table[name] for name in Receipt._fields})
    except OSError as error:
        raise ExchangeError("class.unusable", path=str(path), why=why(error)) from error
    except (ValueError, KeyError, TypeError):
        raise ExchangeError("class.damaged", path=str(path)) from None


class Parcel(NamedTuple):
    """What would be handed in now: how many answers and pieces of evidence, and about how many bytes."""

    answers: int
    evidence: int
    size: int


def parcel(progress: Progress, lesson: Lesson) -> Parcel:
    """Raises submission.Unacceptable when it is too large."""
    body = body_of(progress, lesson, myself(), made="", number=1, reply="", tutor=__version__)
    answers = sum(bool(answer["text"].strip()) for answer in body["answers"].values())
    return Parcel(answers, len(body["evidence"]), len(seal(body)))


def is_for(folder: ClassFolder, lesson: Lesson) -> None:
    """Raises ExchangeError when the class is about another lesson."""
    if folder.lesson != lesson.id:
        raise ExchangeError("class.submit-lesson", wanted=folder.lesson, lesson=lesson.id)


def submit(progress: Progress, lesson: Lesson, state: Path, folder: ClassFolder) -> tuple[Receipt, list[Message]]:
    """Hand in what there is, and keep a receipt. Raises ExchangeError, submission.Unacceptable, paths.StateError.

    The receipt is on the disk, as a note of what is being sent, before the file is in the inbox: whoever is cut off
    between the two finds out by the file's name whether it got there.
    """
    is_for(folder, lesson)
    make_private(state / "handed-in")
    with _alone(state / "handed-in"):
        return _submit(progress, lesson, state, folder)


@contextmanager
def _alone(kept: Path) -> Iterator[None]:
    """One hand-in at a time: two would take the same number. Raises ExchangeError while another one is under way."""
    try:
        fd = os.open(kept / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ExchangeError("class.unusable", path=str(kept), why=why(error)) from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise ExchangeError("handin.busy") from None
    except OSError as error:
        if error.errno not in UNSUPPORTED:  # where there are no locks, it goes on without, as the session's does
            os.close(fd)
            raise ExchangeError("class.unusable", path=str(kept), why=why(error)) from error
    try:
        yield
    finally:
        os.close(fd)


def _submit(progress: Progress, lesson: Lesson, state: Path, folder: ClassFolder) -> tuple[Receipt, list[Message]]:
    number = 1 + max((receipt.number for receipt in receipts(state)), default=0)
    made = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    reply = secrets.token_hex(16)
    raw = seal(body_of(progress, lesson, myself(), made=made, number=number, reply=reply, tutor=__version__))
    digest = read(raw).sha256  # our own file has to pass our own reader, before anybody relies on it
    receipt = Receipt(str(folder.path), folder.id, secret_name(), digest, number, made, reply)
    kept = state / "handed-in"
    note = kept / f"{number:04}.sending.json"
    try:
        write_whole(kept / f"{number:04}.json", raw)
        write_whole(note, json.dumps(receipt.to_data(), indent=1).encode())
    except OSError as error:
        raise ExchangeError("class.unusable", path=str(kept), why=why(error)) from error
    try:
        notices = drop(folder, receipt.file, raw)
    except ExchangeError:
        with suppress(OSError):  # a note that stays behind names a file that is not there, and counts for nothing
            note.unlink()
        raise
    with suppress(OSError):  # a note of a file that is in the inbox is as good as the receipt
        note.rename(kept / f"{number:04}.receipt.json")
    return receipt, notices


def asked(state: Path, receipt: Receipt) -> set[str]:
    """The questions of a hand-in of which the learner has asked to look again."""
    notes = [*(state / "handed-in").glob(f"{receipt.number:04}.*.asked"), *_arrived(state, receipt)]
    return {path.name.split(".")[1] for path in notes}


def _arrived(state: Path, receipt: Receipt) -> list[Path]:
    """Notes of requests that were cut off while they were sent, and did get into the inbox."""
    inbox = Path(receipt.folder) / "inbox"
    notes = (state / "handed-in").glob(f"{receipt.number:04}.*.asking")
    return [path for path in notes if os.path.lexists(inbox / path.read_text("ascii", "replace"))]


def ask(state: Path, receipt: Receipt, lesson: Lesson, question: str, text: str) -> list[Message]:
    """Ask to look again at a question of a hand-in, once. Returns what the learner should know of the inbox. Raises
    ExchangeError, submission.Unacceptable."""
    raw = look_again.pack(look_again.LookAgain(myself(), lesson.id, receipt.sha256, question, text))
    folder = ClassFolder.open(Path(receipt.folder))
    if folder.id != receipt.class_id:
        raise ExchangeError("handin.other-class", path=receipt.folder)
    kept = state / "handed-in"
    note = kept / f"{receipt.number:04}.{question}.asking"
    name = secret_name()
    try:
        if question in asked(state, receipt):
            raise ExchangeError("handin.ask-twice", question=question)
        write_whole(note.with_suffix(".text"), raw)
        write_whole(note, name.encode())
    except OSError as error:
        raise ExchangeError("class.unusable", path=str(kept), why=why(error)) from error
    try:
        notices = drop(folder, name, raw)
    except ExchangeError:
        with suppress(OSError):  # as for a hand-in
            note.unlink()
        raise
    with suppress(OSError):
        note.rename(note.with_suffix(".asked"))
    return notices
