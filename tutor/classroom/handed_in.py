"""What a learner keeps of their hand-ins: the file as it was sent and a receipt, in the lesson's state folder."""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from tutor import __version__
from tutor.classroom.exchange import ClassFolder, ExchangeError, Receipt, Unreadable, drop, read_regular, secret_name
from tutor.classroom.submission import Author, body_of, read, seal
from tutor.learner.line_file import write_whole
from tutor.learner.progress import Progress
from tutor.learner.session_lock import UNSUPPORTED
from tutor.model import Lesson, Message
from tutor.paths import make_private, why

#: The largest note or receipt that is read, bytes.
NOTE_MAX = 16 << 10
#: What a receipt's fields look like; its number is a count from 1.
_FIELDS = {
    "folder": re.compile(r"/[^\0]*\Z", re.DOTALL),
    "class_id": re.compile(r".{1,100}\Z", re.DOTALL),
    "file": re.compile(r"[0-9a-f]{32}\.json\Z"),
    "sha256": re.compile(r"[0-9a-f]{64}\Z"),
    "made": re.compile(r"[0-9TZ.:-]{1,40}\Z"),
    "reply": re.compile(r"[0-9a-f]{32}\Z"),
}
NUMBER_MAX = 10**6
_NAME = re.compile(r"(\d{4,7})\.(receipt|sending)\.json\Z")


def myself() -> Author:
    """This process's user."""
    return Author(os.geteuid(), login_of(os.geteuid()))


def login_of(uid: int) -> str:
    """The name of a user of this machine, `uid-<number>` for one that it does not know."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid-{uid}"


def is_user(login: str) -> bool:
    """Whether this machine knows a user of that name."""
    try:
        pwd.getpwnam(login)
    except KeyError:
        return False
    return True


class Kept(NamedTuple):
    """What is kept of the hand-ins: receipts, oldest first, and those that cannot be read."""

    receipts: list[Receipt]
    damaged: list[Path]

    @property
    def last(self) -> int:
        """The largest number that was given, a damaged receipt's by its name; 0 before the first."""
        damaged = (int(each.name.partition(".")[0]) for each in self.damaged)
        return max((*(each.number for each in self.receipts), *damaged), default=0)

    @property
    def notices(self) -> list[Message]:
        """What the learner should know of what is kept."""
        return [Message("handin.receipt-damaged", {"path": str(path)}) for path in self.damaged]


def kept_in(state: Path) -> Kept:
    """What the lesson's folder `state` has. A receipt that cannot be read hides no other, and costs no hand-in.

    A note of a hand-in that was cut off while it was sent counts as a receipt when the file did get into the inbox.
    Raises ExchangeError when they cannot be listed: that is not the same as none.
    """
    kept, folder = Kept([], []), state / "handed-in"
    try:
        notes = sorted(path for path in folder.iterdir() if _NAME.match(path.name))
    except FileNotFoundError:
        return kept
    except OSError as error:
        raise ExchangeError("class.unusable", path=str(folder), why=why(error)) from error
    for path in notes:
        receipt = _receipt(path)
        if receipt is None:
            kept.damaged.append(path)
        elif path.name.endswith(".receipt.json") or os.path.lexists(Path(receipt.folder) / "inbox" / receipt.file):
            kept.receipts.append(receipt)
    kept.receipts.sort(key=lambda each: each.number)
    return kept


def receipts(state: Path) -> list[Receipt]:
    """The receipts in the lesson's folder `state`, oldest first. Raises ExchangeError."""
    return kept_in(state).receipts


def _receipt(path: Path) -> Receipt | None:
    """A receipt, None for anything else: the file may be damaged, or have been edited."""
    try:
        table = json.loads(read_regular(os.fsencode(path), NOTE_MAX)[0])
        receipt = Receipt(**{name: table[name] for name in Receipt._fields})
    except (Unreadable, ValueError, KeyError, TypeError, RecursionError):
        return None
    for name, form in _FIELDS.items():
        value = getattr(receipt, name)
        if not isinstance(value, str) or not form.match(value):
            return None
    return receipt if type(receipt.number) is int and 0 < receipt.number <= NUMBER_MAX else None


def unnoted(kept: Sequence[Receipt], progress: Progress) -> Iterator[tuple[str, dict[str, Any]]]:
    """The last hand-in as an event, where the journal does not know it: whoever sent it was cut off before that."""
    if kept and kept[-1].number > progress.handed_in:
        yield "handed_in", {"number": kept[-1].number, "sha256": kept[-1].sha256}


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


def class_path(typed: str) -> Path:
    """A class folder as somebody typed it; a `~` that names nobody stays as it is."""
    return Path(os.path.expanduser(typed))  # noqa: PTH111  Path.expanduser raises for such a name.


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
    with alone(state / "handed-in"):
        return _submit(progress, lesson, state, folder)


@contextmanager
def alone(kept: Path) -> Iterator[None]:
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
    number = 1 + kept_in(state).last
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
        raise ExchangeError("handin.not-kept", path=str(kept), why=why(error)) from error
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
    found = []
    for path in (state / "handed-in").glob(f"{receipt.number:04}.*.asking"):
        with suppress(Unreadable):  # no note of ours: it says nothing of what arrived
            name = read_regular(os.fsencode(path), NOTE_MAX)[0].decode("ascii", "replace")
            if _FIELDS["file"].match(name) and os.path.lexists(inbox / name):
                found.append(path)
    return found
