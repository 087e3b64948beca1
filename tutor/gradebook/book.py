"""Who handed in what: learners, hand-ins and the files that were seen. Scores and results are rooms of their own."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from tutor.gradebook.database import Database, GradebookError
from tutor.gradebook.results import Results
from tutor.gradebook.scores import Scores
from tutor.gradebook.tables import about, inbox, item, learner, score, submission
from tutor.model import Message
from tutor.roster import Enrolled

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
        """Raises GradebookError when the database is another class's."""
        self.database = database
        self.class_id = class_id
        self.scores = Scores(database)
        self.results = Results(database)
        with database.write() as connection:
            owner = connection.execute(sa.select(about.c.value).where(about.c.name == "class")).scalar()
            if owner is None:
                connection.execute(sa.insert(about).values(name="class", value=class_id))
            elif owner != class_id:
                raise GradebookError("class.db-other", db=database.shown)

    def close(self) -> None:
        """Let go of the database."""
        self.database.close()

    # --- learners -----------------------------------------------------------------------------------------------------

    def enroll(self, roster: Iterable[Enrolled]) -> int:
        """Make this the roster; who is no longer on it keeps all that they have. Files that were refused because their
        owner was not on it will be looked at again. Returns how many learners there are."""
        wanted = {enrolled.login: enrolled for enrolled in roster}
        with self.database.write() as connection:
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
                connection.execute(_insert_new(connection, inbox), rows)

    def take(self, arrivals: Sequence[Arrival], questions: Sequence[str]) -> int:
        """Take hand-ins, oldest first; the newest of a learner is the one that counts. One that was taken before is
        not taken twice. Returns how many were new."""
        taken = 0
        with self.database.write() as connection:
            logins = {arrival.owner for arrival in arrivals}
            known = set(connection.execute(sa.select(learner.c.login)).scalars())
            _add_learners(connection, [Enrolled(login, "") for login in sorted(logins - known)], enrolled=False)
            ids: dict[str, int] = {}
            for login, number in connection.execute(sa.select(learner.c.login, learner.c.id)):
                ids[login] = number
            for arrival in arrivals:
                taken += self._take(connection, arrival, ids[arrival.owner], questions)
                row = {"name": arrival.name, "stamp": arrival.stamp, "owner": arrival.owner, "seen": time.time()}
                connection.execute(_insert_new(connection, inbox), [{**row, "reason": None}])
        return taken

    def _take(self, connection: sa.Connection, arrival: Arrival, owner: int, questions: Sequence[str]) -> int:
        mine = submission.c.learner_id == owner
        if connection.execute(sa.select(submission.c.id).where(mine, submission.c.sha256 == arrival.sha256)).scalar():
            return 0
        newest = connection.execute(sa.select(sa.func.max(submission.c.arrived)).where(mine)).scalar()
        is_current = newest is None or arrival.arrived >= newest
        if is_current:
            before = sa.select(submission.c.id).where(mine, submission.c.is_current)
            stale = sa.update(item).where(item.c.submission_id.in_(before)).values(state="superseded", holder=None)
            connection.execute(stale)
            connection.execute(sa.update(submission).where(mine, submission.c.is_current).values(is_current=False))
        values = {
            "learner_id": owner,
            "sha256": arrival.sha256,
            "arrived": arrival.arrived,
            "made": arrival.made,
            "versions": _dump(arrival.versions),
            "notes": _dump(_plain(arrival.notes)),
            "raw": arrival.raw,
            "is_current": is_current,
        }
        number = connection.execute(sa.insert(submission).values(**values).returning(submission.c.id)).scalar_one()
        items = [
            {
                "submission_id": number,
                "question": question,
                "place": hashlib.blake2b(f"{self.class_id}/{question}/{owner}".encode(), digest_size=16).hexdigest(),
                "state": "open" if is_current else "superseded",
            }
            for question in questions
        ]
        if items:
            connection.execute(sa.insert(item), items)
        return 1

    # --- looking ------------------------------------------------------------------------------------------------------

    def rows(self) -> list[Row]:
        """Every learner who is enrolled or has handed in, by login."""
        current = submission.alias()
        counted = sa.select(submission.c.learner_id, sa.func.count().label("n")).group_by(submission.c.learner_id)
        count = counted.subquery()
        wanted = (
            sa.select(learner, current.c.id, current.c.arrived, current.c.versions, current.c.notes, count.c.n)
            .outerjoin(current, sa.and_(current.c.learner_id == learner.c.id, current.c.is_current))
            .outerjoin(count, count.c.learner_id == learner.c.id)
            .where(sa.or_(learner.c.enrolled, current.c.id.is_not(None)))
            .order_by(learner.c.login)
        )
        with self.database.read() as connection:
            return [
                Row(Learner(*row[:5]), row[5], row[6], _load(row[7]), _messages(_load(row[8], [])), row[9] or 0)
                for row in connection.execute(wanted)
            ]

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

    def score_count(self) -> int:
        """How many scores were ever given: it only grows, so a smaller one tells of an old copy."""
        with self.database.read() as connection:
            return int(connection.execute(sa.select(sa.func.coalesce(sa.func.max(score.c.id), 0))).scalar_one())


def _insert_new(connection: sa.Connection, table: sa.Table) -> Any:
    """An insert that leaves a row that is there already as it is: two may take in at once."""
    from sqlalchemy.dialects import postgresql, sqlite

    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    return dialect.insert(table).on_conflict_do_nothing()


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
