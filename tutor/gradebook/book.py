"""Who handed in what: learners, hand-ins and the files that were seen. Scores and results are rooms of their own."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from tutor.gradebook.database import Database, GradebookError, insert_new
from tutor.gradebook.queue import Queue
from tutor.gradebook.results import Results
from tutor.gradebook.roster import Enrolled
from tutor.gradebook.rules import Rules
from tutor.gradebook.scores import Scores
from tutor.gradebook.tables import about, inbox, item, learner, score, submission
from tutor.model import Message

__all__ = ["Gradebook", "GradebookError", "Learner", "Refused", "Row"]


class Learner(NamedTuple):
    """A learner; `blind` is the name that a grader sees."""

    id: int
    login: str
    name: str
    blind: str
    enrolled: bool


class Row(NamedTuple):
    """A learner in the list with the hand-in that counts, None before there is one."""

    learner: Learner
    submission: int | None
    arrived: float | None
    versions: Mapping[str, str]
    notes: Sequence[Message]
    handed_in: int


class Refused(NamedTuple):
    """A file in the inbox that was not taken, and why. `name` is URL-quoted: any bytes can be one."""

    name: str
    owner: str
    seen: float
    reason: Message


class Arrival(NamedTuple):
    """A hand-in that may be taken."""

    name: str
    stamp: str
    owner: str
    arrived: float
    made: str
    sha256: str
    versions: Mapping[str, str]
    notes: Sequence[Message]
    raw: bytes


class Gradebook:
    """The gradebook of one class. Every method raises GradebookError when the database cannot be used."""

    def __init__(self, database: Database, class_id: str) -> None:
        """Raises GradebookError when the database is another class's: then it is closed."""
        self.database = database
        self.class_id = class_id
        self.queue = Queue(database)
        self.scores = Scores(database)
        self.rules = Rules(database)
        self.results = Results(database)
        try:
            if self._owner() is None:
                with database.write() as connection:
                    connection.execute(insert_new(connection, about), {"name": "class", "value": class_id})
            if self._owner() != class_id:
                raise GradebookError("class.db-other", db=database.shown)
        except BaseException:
            database.close()
            raise

    def _owner(self) -> str | None:
        with self.database.read() as connection:
            return connection.execute(sa.select(about.c.value).where(about.c.name == "class")).scalar()

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()

    # --- learners -----------------------------------------------------------------------------------------------------

    def enroll(self, roster: Iterable[Enrolled]) -> int:
        """Make this the roster; who is no longer on it keeps all that they have. Files that were refused because their
        owner was not on it will be looked at again. Returns how many learners there are."""
        wanted = {enrolled.login: enrolled for enrolled in roster}
        with self.database.write(alone=True) as connection:
            known = set(connection.execute(sa.select(learner.c.login)).scalars())
            connection.execute(sa.update(learner).values(enrolled=False))
            for enrolled in wanted.values():
                if enrolled.login in known:
                    change = sa.update(learner).where(learner.c.login == enrolled.login)
                    connection.execute(change.values(name=enrolled.name, enrolled=True))
            _add_learners(connection, [each for each in wanted.values() if each.login not in known], enrolled=True)
            connection.execute(sa.delete(about).where(about.c.name == "roster"))
            connection.execute(sa.insert(about).values(name="roster", value=str(len(wanted))))
            connection.execute(sa.delete(inbox).where(inbox.c.reason.contains("class.refuse-roster")))
        return len(wanted)

    def may_hand_in(self) -> Collection[str] | None:
        """The logins on the roster; None when there is no roster, and everybody may."""
        with self.database.read() as connection:
            if connection.execute(sa.select(about.c.value).where(about.c.name == "roster")).scalar() is None:
                return None
            return set(connection.execute(sa.select(learner.c.login).where(learner.c.enrolled)).scalars())

    # --- the inbox ----------------------------------------------------------------------------------------------------

    def seen(self) -> set[tuple[str, str]]:
        """Name and stamp of every file that was looked at."""
        with self.database.read() as connection:
            return {(name, stamp) for name, stamp in connection.execute(sa.select(inbox.c.name, inbox.c.stamp))}

    def refuse(self, refused: Iterable[tuple[str, str, str, Message]]) -> None:
        """Record files that were not taken: name, stamp, owner, reason."""
        rows = [
            {"name": name, "stamp": stamp, "owner": owner, "seen": time.time(), "reason": _dump(_plain([reason])[0])}
            for name, stamp, owner, reason in refused
        ]
        if rows:
            with self.database.write() as connection:
                connection.execute(insert_new(connection, inbox), rows)

    def take(self, arrivals: Sequence[Arrival], questions: Sequence[str]) -> int:
        """Take hand-ins, oldest first; the newest of a learner is the one that counts. One that was taken before is
        not taken twice. Returns how many were new."""
        with self.database.write(alone=True) as connection:
            logins = {arrival.owner for arrival in arrivals}
            known = set(connection.execute(sa.select(learner.c.login)).scalars())
            _add_learners(connection, [Enrolled(login, "") for login in sorted(logins - known)], enrolled=False)
            ids = {}
            for login, number in connection.execute(sa.select(learner.c.login, learner.c.id)):
                ids[login] = number
            new, superseded = _sorted_out(connection, arrivals, ids)
            _add_hand_ins(connection, new, superseded, ids, questions, self.class_id)
            _looked_at(connection, [(each.name, each.stamp, each.owner) for each in arrivals])
        return len(new)

    def looked_at(self, files: Sequence[tuple[str, str, str]]) -> None:
        """Record files that are no hand-ins and were taken: name, stamp, owner."""
        if files:
            with self.database.write() as connection:
                _looked_at(connection, files)

    # --- looking ------------------------------------------------------------------------------------------------------

    def rows(self) -> list[Row]:
        """Every learner who is enrolled or has handed in, by login."""
        table = submission.c
        hand_ins = sa.select(table.learner_id, table.id, table.arrived, table.versions, table.notes)
        counts = sa.select(table.learner_id, sa.func.count().label("many")).group_by(table.learner_id)
        # Put together here: SQLite may join them by the index on is_current, which is every hand-in for each learner.
        with self.database.read() as connection:
            learners = connection.execute(sa.select(learner).order_by(learner.c.login)).fetchall()
            current = {who: more for who, *more in connection.execute(hand_ins.where(table.is_current)).fetchall()}
            count = {who: int(many) for who, many in connection.execute(counts).fetchall()}
        read: dict[str, Any] = {}  # most of a class have the same versions, and no notes

        def loaded(text: str) -> Any:
            if text not in read:
                read[text] = json.loads(text)
            return read[text]

        found = []
        for each in map(Learner._make, learners):
            if each.id in current:
                hand_in, arrived, versions, notes = current[each.id]
                said = _messages(loaded(notes)) if notes != "[]" else []
                found.append(Row(each, hand_in, arrived, loaded(versions), said, count[each.id]))
            elif each.enrolled:
                found.append(Row(each, None, None, {}, [], count.get(each.id, 0)))
        return found

    def refused(self) -> list[Refused]:
        """Every file that was not taken, in the order in which they were seen."""
        wanted = sa.select(inbox).where(inbox.c.reason.is_not(None)).order_by(inbox.c.seen, inbox.c.name)
        with self.database.read() as connection:
            return [
                Refused(row.name, row.owner, row.seen, _messages([_load(row.reason)])[0])
                for row in connection.execute(wanted)
            ]

    def raw(self, number: int) -> bytes:
        """The bytes of a hand-in."""
        with self.database.read() as connection:
            return bytes(connection.execute(sa.select(submission.c.raw).where(submission.c.id == number)).scalar_one())

    def learner_of(self, number: int) -> Learner:
        """Whose hand-in it is."""
        wanted = sa.select(learner).join(submission, submission.c.learner_id == learner.c.id)
        with self.database.read() as connection:
            return Learner(*connection.execute(wanted.where(submission.c.id == number)).one())

    def score_count(self) -> int:
        """How many scores were ever given: it only grows, so a smaller one tells of an old copy."""
        with self.database.read() as connection:
            return int(connection.execute(sa.select(sa.func.coalesce(sa.func.max(score.c.id), 0))).scalar_one())


def _looked_at(connection: sa.Connection, files: Sequence[tuple[str, str, str]]) -> None:
    now = time.time()
    rows = [{"name": name, "stamp": stamp, "owner": owner, "seen": now, "reason": None} for name, stamp, owner in files]
    if rows:
        connection.execute(insert_new(connection, inbox), rows)


#: What databases take in one statement, at the least.
_PARAMETERS = 500


def _sorted_out(
    connection: sa.Connection, arrivals: Sequence[Arrival], ids: Mapping[str, int]
) -> tuple[list[tuple[Arrival, bool]], list[int]]:
    """The arrivals that are new, each with whether it is the one that counts; and the hand-ins that no longer do."""
    owners = sorted({ids[arrival.owner] for arrival in arrivals})
    have: dict[int, set[str]] = {}
    newest: dict[int, float] = {}
    counting: dict[int, list[int]] = {}
    table = submission.c
    columns = (table.learner_id, table.sha256, table.arrived, table.id, table.is_current)
    for start in range(0, len(owners), _PARAMETERS):
        some = owners[start : start + _PARAMETERS]
        for owner, sha256, arrived, number, counts in connection.execute(
            sa.select(*columns).where(submission.c.learner_id.in_(some))
        ):
            have.setdefault(owner, set()).add(sha256)
            newest[owner] = max(newest.get(owner, arrived), arrived)
            if counts:
                counting.setdefault(owner, []).append(number)
    new: list[Arrival] = []
    last: dict[int, int] = {}
    superseded: list[int] = []
    for arrival in arrivals:
        owner = ids[arrival.owner]
        if arrival.sha256 in have.setdefault(owner, set()):
            continue
        have[owner].add(arrival.sha256)
        if owner not in newest or arrival.arrived >= newest[owner]:
            newest[owner] = arrival.arrived
            last[owner] = len(new)
            superseded += counting.pop(owner, [])
        new.append(arrival)
    return [(arrival, last.get(ids[arrival.owner]) == place) for place, arrival in enumerate(new)], superseded


def _add_hand_ins(
    connection: sa.Connection,
    new: Sequence[tuple[Arrival, bool]],
    superseded: Sequence[int],
    ids: Mapping[str, int],
    questions: Sequence[str],
    class_id: str,
) -> None:
    for start in range(0, len(superseded), _PARAMETERS):
        some = superseded[start : start + _PARAMETERS]
        stale = sa.update(item).where(item.c.submission_id.in_(some))
        connection.execute(stale.values(state="superseded", holder=None))
        connection.execute(sa.update(submission).where(submission.c.id.in_(some)).values(is_current=False))
    if not new:
        return
    rows = [
        {
            "learner_id": ids[arrival.owner],
            "sha256": arrival.sha256,
            "arrived": arrival.arrived,
            "made": arrival.made,
            "versions": _dump(arrival.versions),
            "notes": _dump(_plain(arrival.notes)),
            "raw": arrival.raw,
            "is_current": counts,
        }
        for arrival, counts in new
    ]
    made = sa.insert(submission).returning(submission.c.id, sort_by_parameter_order=True)
    numbers = connection.execute(made, rows).scalars().all()
    items = [
        {
            "submission_id": number,
            "question": question,
            "place": hashlib.blake2b(f"{class_id}/{question}/{row['learner_id']}".encode(), digest_size=16).hexdigest(),
            "state": "open" if row["is_current"] else "superseded",
        }
        for number, row in zip(numbers, rows, strict=True)
        for question in questions
    ]
    if items:
        connection.execute(sa.insert(item), items)


def _add_learners(connection: sa.Connection, new: Sequence[Enrolled], *, enrolled: bool) -> None:
    """With a blind name each, drawn anew: it tells nothing of the roster's order."""
    if not new:
        return
    used = set(connection.execute(sa.select(learner.c.blind)).scalars())
    most = 10 ** max(2, len(str(2 * (len(used) + len(new)))))
    free = [name for name in (f"L-{number:02}" for number in range(1, most)) if name not in used]
    names = secrets.SystemRandom().sample(free, len(new))
    rows = [
        {"login": each.login, "name": each.name, "blind": blind, "enrolled": enrolled}
        for each, blind in zip(new, names, strict=True)
    ]
    connection.execute(sa.insert(learner), rows)


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=True)


def _load(value: str | None, otherwise: Any = None) -> Any:
    return ({} if otherwise is None else otherwise) if value is None else json.loads(value)


def _plain(messages: Iterable[Message]) -> list[dict[str, Any]]:
    return [{"key": message.key, "args": dict(message.args)} for message in messages]


def _messages(data: Iterable[Mapping[str, Any]]) -> list[Message]:
    return [Message(each["key"], each["args"]) for each in data]
