"""Points that people give: who gets which item next, the history of each score, and two graders who differ."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from tutor.gradebook.database import Database
from tutor.gradebook.tables import item, learner, score, submission

#: How long a claimed item stays with a grader who is not heard of, seconds.
LEASE_S = 900.0


class Item(NamedTuple):
    """One question of one hand-in. `state` is open, claimed, done, conflict or superseded."""

    id: int
    submission: int
    question: str
    state: str
    grader: str | None
    lease: float | None


class Score(NamedTuple):
    """One entry of an item's history. `before` is what stood there, None for nothing; `veto` is an id or "none"."""

    id: int
    item: int
    grader: str
    at: float
    before: int | None
    points: int
    veto: str
    slots: Mapping[str, bool]
    comment: str
    why: str


class LeaseLost(Exception):
    """Another grader has the item now; nothing was written. `grader` is who."""

    def __init__(self, grader: str | None) -> None:
        super().__init__(grader)
        self.grader = grader


_ITEM = (item.c.id, item.c.submission_id, item.c.question, item.c.state, item.c.grader, item.c.lease)


class Scores:
    """The scores of one gradebook. Every method raises GradebookError when the database cannot be used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, grader: str, holder: str, question: str | None = None, now: float | None = None) -> Item | None:
        """The next open item in the class's shuffled order, for this sitting alone; None when nothing is open.

        One statement, so that nobody else gets the same one; an item whose lease ran out is open again.
        """
        now = time.time() if now is None else now
        free = sa.or_(item.c.state == "open", sa.and_(item.c.state == "claimed", item.c.lease < now))
        wanted = sa.select(item.c.id).where(free).order_by(item.c.question, item.c.place).limit(1)
        if question is not None:
            wanted = wanted.where(item.c.question == question)
        pick = wanted.with_for_update(skip_locked=True).scalar_subquery()
        change = sa.update(item).where(item.c.id == pick)
        values = {"state": "claimed", "grader": grader, "holder": holder, "lease": now + LEASE_S}
        with self._database.write() as connection:
            row = connection.execute(change.values(**values).returning(*_ITEM)).first()
        return Item(*row) if row else None

    def keep(self, number: int, holder: str) -> bool:
        """Make the lease start again; False when the item is somebody else's by now."""
        return self._change(number, holder, lease=time.time() + LEASE_S)

    def release(self, number: int, holder: str) -> bool:
        """Give an item back ungraded; False when it is somebody else's by now."""
        return self._change(number, holder, state="open", grader=None, holder=None, lease=None)

    def _change(self, number: int, who: str, **values: object) -> bool:
        mine = (item.c.id == number, item.c.holder == who, item.c.state == "claimed")
        with self._database.write() as connection:
            return connection.execute(sa.update(item).where(*mine).values(**values)).rowcount == 1

    def find(self, login: str, question: str) -> Item | None:
        """The item of a learner's hand-in that counts; `login` may be the blind name."""
        wanted = (
            sa.select(*_ITEM)
            .join(submission, submission.c.id == item.c.submission_id)
            .join(learner, learner.c.id == submission.c.learner_id)
            .where(sa.or_(learner.c.login == login, learner.c.blind == login))
            .where(submission.c.is_current, item.c.question == question)
        )
        with self._database.read() as connection:
            row = connection.execute(wanted).first()
        return Item(*row) if row else None

    def give(
        self,
        number: int,
        grader: str,
        points: int,
        *,
        holder: str = "",
        seen: int | None = None,
        veto: str = "none",
        slots: Mapping[str, bool] | None = None,
        comment: str = "",
        why: str = "review",
    ) -> tuple[Score, Score | None]:
        """Add a score to an item's history. `seen` is the id of the last score that the grader was shown.

        Returns the score, and the one of another grader that it contradicts without having seen it: then the item is a
        conflict, and shows both until a grader who saw the last one scores again. Raises LeaseLost while another
        sitting holds the item.
        """
        now = time.time()
        with self._database.write() as connection:
            row = connection.execute(sa.select(item).where(item.c.id == number).with_for_update()).one()
            held = row.state == "claimed" and row.lease is not None and row.lease >= now and row.holder != holder
            if held or (holder and (row.state, row.holder) != ("claimed", holder)):
                raise LeaseLost(row.grader)
            last = self._last(connection, number)
            values = {
                "item_id": number,
                "grader": grader,
                "at": now,
                "before": last.points if last else None,
                "points": points,
                "veto": veto,
                "slots": json.dumps(dict(slots or {})),
                "comment": json.dumps(comment),
                "why": why,
            }
            written = connection.execute(sa.insert(score).values(**values).returning(*score.c)).one()
            unseen = last is not None and last.id != seen and last.grader != grader
            differs = last is not None and (last.points, last.veto) != (points, veto)
            state = "conflict" if unseen and differs else "done"
            done = {"state": state, "grader": grader, "holder": None, "lease": None}
            connection.execute(sa.update(item).where(item.c.id == number).values(**done))
        return _score(written._mapping), last if state == "conflict" else None

    def reopen(self, number: int) -> None:
        """Put an item back into the queue: a learner or a grader asks for a second look."""
        with self._database.write() as connection:
            values = {"state": "open", "grader": None, "holder": None, "lease": None}
            connection.execute(sa.update(item).where(item.c.id == number).values(**values))

    def history(self, number: int) -> list[Score]:
        """Every score that an item was given, oldest first."""
        with self._database.read() as connection:
            wanted = sa.select(score).where(score.c.item_id == number).order_by(score.c.id)
            return [_score(row._mapping) for row in connection.execute(wanted)]

    def current(self) -> dict[int, dict[str, tuple[Item, Sequence[Score]]]]:
        """By hand-in that counts and question: the item, and its last score, or the last two while they conflict."""
        found: dict[int, dict[str, tuple[Item, list[Score]]]] = {}
        items = sa.select(*_ITEM).where(item.c.state != "superseded")
        last = sa.select(sa.func.max(score.c.id)).group_by(score.c.item_id, score.c.grader)
        with self._database.read() as connection:
            by_id: dict[int, tuple[Item, list[Score]]] = {}
            for row in connection.execute(items):
                one = Item(*row)
                by_id[one.id] = (one, [])
                found.setdefault(one.submission, {})[one.question] = by_id[one.id]
            for row in connection.execute(sa.select(score).where(score.c.id.in_(last)).order_by(score.c.id)):
                if row.item_id in by_id:
                    by_id[row.item_id][1].append(_score(row._mapping))
        return {
            number: {
                question: (one, scores[-2:] if one.state == "conflict" else scores[-1:])
                for question, (one, scores) in questions.items()
            }
            for number, questions in found.items()
        }

    def _last(self, connection: sa.Connection, number: int) -> Score | None:
        wanted = sa.select(score).where(score.c.item_id == number).order_by(score.c.id.desc()).limit(1)
        row = connection.execute(wanted).first()
        return _score(row._mapping) if row else None


def _score(row: sa.RowMapping) -> Score:
    values: dict[str, Any] = dict(row)
    values["item"] = values.pop("item_id")
    values["slots"], values["comment"] = json.loads(values["slots"]), json.loads(values["comment"])
    return Score(**values)
