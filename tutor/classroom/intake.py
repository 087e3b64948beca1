"""From the inbox into the gradebook: every file is hostile, and a bad one never stops the rest.

Nothing in the inbox is moved or removed: a file that is not taken stays where it is and is listed with its reason, and
one that is taken is copied, so that what its owner does to it afterwards changes nothing.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote_from_bytes, unquote_to_bytes

from tutor.classroom import look_again, submission
from tutor.classroom.exchange import ClassFolder, Dropped, Unreadable, dropped, read_stranger
from tutor.classroom.handed_in import login_of
from tutor.classroom.look_again import LookAgain
from tutor.classroom.submission import Submission, Unacceptable
from tutor.literals import safe_text
from tutor.model import Lesson, Message

if TYPE_CHECKING:
    from tutor.gradebook.book import Arrival, Gradebook, Refused

#: Files that go into the gradebook together.
BATCH = 200

#: New files of one owner that one intake looks at, the newest ones: nobody can keep it busy for ever.
OWNER_MAX = 100

#: How far ahead of ours a learner's clock may be before it is remarked on, seconds.
AHEAD_S = 600

#: What an instructor gives points for: the explanation of the edge inputs, and the lesson's questions.
EXPLANATION = "explanation"


class Taken(NamedTuple):
    """What one intake did: files taken for the first time, files refused, and files that were seen before."""

    new: int
    refused: int
    before: int


def questions_of(lesson: Lesson) -> dict[str, int]:
    """What people score, with the most points for each."""
    return {EXPLANATION: 1, **{question.id: question.points for question in lesson.questions}}


def shown_name(quoted: str) -> str:
    """A file's name as the gradebook keeps it, for people."""
    return safe_text(os.fsdecode(unquote_to_bytes(quoted)))


def folded(refused: Iterable[Refused]) -> list[tuple[Refused, int]]:
    """One file for each owner and reason, the first one, and how many there are: nobody buries the others in a list."""
    first: dict[tuple[str, str, str], Refused] = {}
    many: Counter[tuple[str, str, str]] = Counter()
    for each in refused:
        key = each.owner, each.reason.key, repr(sorted(each.reason.args.items()))
        first.setdefault(key, each)
        many[key] += 1
    return [(each, many[key]) for key, each in first.items()]


def take_in(
    folder: ClassFolder, book: Gradebook, lesson: Lesson, owner: Callable[[Dropped], str] | None = None
) -> Taken:
    """Look at every file that is new or has changed. `owner` names the learner of a file: the login of its owner, but
    for a generated class. Raises ExchangeError, GradebookError."""
    seen, allowed = book.seen(), book.may_hand_in()
    named = owner or _owner(allowed)
    files = dropped(folder)
    new = [each for each in files if (_quoted(each), each.stamp) not in seen]
    left: dict[int, int] = {}
    for each in new:
        left[each.owner] = left.get(each.owner, 0) + 1
    taken = refused = 0
    for start in range(0, len(new), BATCH):
        good: list[Arrival] = []
        bad: list[tuple[str, str, str, Message]] = []
        asks: list[tuple[Dropped, str, LookAgain]] = []
        for each in new[start : start + BATCH]:
            login = named(each)
            left[each.owner] -= 1
            try:
                if owner is None and left[each.owner] >= OWNER_MAX:
                    raise Unreadable("class.refuse-many", most=OWNER_MAX)
                read = _read(folder, each, login, allowed, lesson, checked=owner is None)
                if isinstance(read, LookAgain):
                    asks.append((each, login, read))
                else:
                    good.append(read)
            except (Unreadable, Unacceptable) as reason:
                bad.append((_quoted(each), each.stamp, login, reason.message))
        if good:
            taken += book.take(good, tuple(questions_of(lesson)))
        heard: list[tuple[str, str, str]] = []
        for each, login, asked in asks:  # after the hand-ins: it is about one of them
            refusal = book.queue.ask(login, asked.question, asked.text, each.arrived, asked.submission)
            if refusal is None:
                taken += 1
            elif not _heard(book, each, login, asked):
                bad.append((_quoted(each), each.stamp, login, Message(refusal)))
                continue
            heard.append((_quoted(each), each.stamp, login))
        book.looked_at(heard)
        book.refuse(bad)
        refused += len(bad)
    return Taken(taken, refused, len(files) - len(new))


def _heard(book: Gradebook, each: Dropped, login: str, asked: LookAgain) -> bool:
    """Whether this very request was taken before, by an intake that was cut off before it said so."""
    item = book.queue.find(login, asked.question)
    known = book.queue.asked(item.id) if item is not None else None
    return known is not None and (known.at, known.text) == (each.arrived, asked.text)


def _owner(allowed: Collection[str] | None) -> Callable[[Dropped], str]:
    """What the learner of a file is called: by login; by number where the roster has that one."""
    names: dict[int, str] = {}

    def name(each: Dropped) -> str:
        if each.owner not in names:
            login, number = login_of(each.owner), str(each.owner)
            names[each.owner] = number if allowed and number in allowed and login not in allowed else login
        return names[each.owner]

    return name


def _quoted(each: Dropped) -> str:
    return quote_from_bytes(each.name, safe="")


def _read(
    folder: ClassFolder, each: Dropped, login: str, allowed: Collection[str] | None, lesson: Lesson, *, checked: bool
) -> Arrival | LookAgain:
    """What a file is, of the two kinds that there are. Raises Unreadable, Unacceptable."""
    from tutor.gradebook.book import Arrival

    path = os.fsencode(folder.inbox) + b"/" + each.name
    raw, info = read_stranger(path, submission.SIZE_MAX)
    document = submission.unseal(raw)
    read: Submission | LookAgain
    if document["body"].get("kind") == look_again.KIND:
        if len(raw) > look_again.SIZE_MAX:
            raise Unacceptable("class.refuse-large", size=len(raw), most=look_again.SIZE_MAX)
        read = look_again.read(document["body"])
    else:
        read = submission.hand_in_of(document)
    if checked and (info.st_uid != each.owner or read.author.uid != info.st_uid):
        raise Unacceptable("class.refuse-author", owner=login, said=safe_text(read.author.login, 40))
    if read.lesson != folder.lesson:
        raise Unacceptable("class.refuse-lesson", lesson=safe_text(read.lesson, 60), wanted=folder.lesson)
    if allowed is not None and login not in allowed:
        raise Unacceptable("class.refuse-roster", login=login)
    if isinstance(read, LookAgain):
        if read.question not in questions_of(lesson):
            raise Unacceptable("class.refuse-shape", where="question")
        return read
    notes = []
    ahead = _seconds_ahead(read.made, each.arrived)
    if ahead > AHEAD_S:
        notes.append(Message("class.note-clock", {"made": read.made}))
    if each.arrived > time.time() + AHEAD_S:
        notes.append(Message("class.note-server-clock"))
    if (str(read.body["lesson"]["version"]), read.checks) != lesson.versions:
        notes.append(Message("class.note-version"))
    versions = {key: str(read.body["lesson"][key]) for key in ("version", "checks_version", "rubric_version")}
    return Arrival(_quoted(each), each.stamp, login, each.arrived, read.made, read.sha256, versions, notes, raw)


def _seconds_ahead(made: str, arrived: float) -> float:
    """How much later than its arrival a file says that it was made."""
    try:
        return datetime.fromisoformat(made.replace("Z", "+00:00")).timestamp() - arrived
    except (ValueError, OverflowError):  # such as the 31st of February
        raise Unacceptable("class.refuse-shape", where="made") from None


def iso(seconds: float) -> str:
    """Seconds since 1970 as UTC, ISO 8601."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
