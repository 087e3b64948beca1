"""Who gets which item next: claims that nobody else has, leases, second looks, hand-overs, learners who ask again."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from tutor.gradebook import holder as windows
from tutor.gradebook.database import Database
from tutor.gradebook.tables import ask, item, learner, score, submission

#: How long a claimed item stays with a grader who is not heard of, seconds.
LEASE_S = 900.0

#: A lease that ends later than this was written by a clock that was wrong, seconds: nobody has to wait for it.
_AHEAD_S = 2 * LEASE_S


class Item(NamedTuple):
    """One question of one hand-in. `state` is open, claimed, second (somebody wants a second look), done, conflict or
    superseded."""

    id: int
    submission: int
    question: str
    state: str
    grader: str | None
    lease: float | None


class Ask(NamedTuple):
    """What a learner wrote of a published score, and the id of that score: a later one answers it."""

    at: float
    text: str
    score: int


class LeaseLost(Exception):
    """Another grader has the item now; nothing was written. `grader` is who."""

    def __init__(self, grader: str | None) -> None:
        super().__init__(grader)
        self.grader = grader


#: What a claimed item loses when it is let go.
_NOBODY: Final = {"grader": None, "holder": None, "lease": None}

COLUMNS = (item.c.id, item.c.submission_id, item.c.question, item.c.state, item.c.grader, item.c.lease)


class Queue:
    """The items of one gradebook. Every method raises GradebookError when the database cannot be used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(
        self,
        grader: str,
        holder: str,
        questions: Sequence[str],
        after: str = "",
        now: float | None = None,
        *,
        hand_in: int | None = None,
    ) -> Item | None:
        """The next item for this sitting alone, of the first of `questions` that has one; None when nothing is left.
        With `hand_in` only of that one.

        Of a question come first what was handed to this grader; then what is open, in the class's shuffled order from
        `after` (a place, see `place`) on and round; then what others have left lying; then second looks, the same way.
        """
        now = time.time() if now is None else now
        self.release_gone(grader)
        mine = sa.or_(item.c.for_whom.is_(None), item.c.for_whom == grader)
        these = sa.true() if hand_in is None else item.c.submission_id == hand_in
        tries = (
            sa.and_(item.c.state == "open", item.c.for_whom == grader),
            sa.and_(item.c.state == "open", item.c.place > after, mine),
            sa.and_(item.c.state == "open", mine),
            sa.and_(item.c.state == "claimed", sa.not_(item.c.lease.between(now, now + _AHEAD_S)), mine),
            sa.and_(item.c.state == "second", item.c.place > after, mine),
            sa.and_(item.c.state == "second", mine),
        )
        for question in questions:
            with self._database.write() as connection:
                for wanted in tries:
                    pick = sa.select(item.c.id).where(wanted, these, item.c.question == question)
                    # Skipped rows are being claimed by others at this moment, so the next one is ours alone.
                    pick = pick.order_by(item.c.place).limit(1).with_for_update(skip_locked=True)
                    row = connection.execute(_claiming(pick.scalar_subquery(), grader, holder, now)).first()
                    if row:
                        return Item(*row)
        return None

    def claim_this(self, number: int, grader: str, holder: str, now: float | None = None) -> Item:
        """This very item, whatever its state, for this sitting alone. Raises LeaseLost while another one has it."""
        now = time.time() if now is None else now
        self.release_gone(grader)
        with self._database.write() as connection:
            row = connection.execute(sa.select(item).where(item.c.id == number).with_for_update()).one()
            if (is_held(row, now) and row.holder != holder) or row.state == "superseded":
                raise LeaseLost(row.grader)
            return Item(*connection.execute(_claiming(sa.literal(number), grader, holder, now)).one())

    def place_of(self, hand_in: int, question: str) -> str:
        """Where a hand-in stands in the shuffled order of a question."""
        wanted = sa.select(item.c.place).where(item.c.submission_id == hand_in, item.c.question == question)
        with self._database.read() as connection:
            return str(connection.execute(wanted).scalar_one())

    def place(self, number: int) -> str:
        """Where an item stands in the shuffled order of its question."""
        with self._database.read() as connection:
            return str(connection.execute(sa.select(item.c.place).where(item.c.id == number)).scalar_one())

    def keep(self, number: int, holder: str) -> bool:
        """Make the lease start again; False when the item is somebody else's by now."""
        return self._change(number, holder, lease=time.time() + LEASE_S)

    def release(self, number: int, holder: str) -> bool:
        """Give an item back as it was; False when it is somebody else's by now."""
        return self._change(number, holder, state=sa.func.coalesce(item.c.rest, "open"), **_NOBODY)

    def release_all(self, holder: str) -> None:
        """Give everything back that a sitting has: it ends."""
        held = (item.c.holder == holder, item.c.state == "claimed")
        with self._database.write() as connection:
            values = {"state": sa.func.coalesce(item.c.rest, "open"), **_NOBODY}
            connection.execute(sa.update(item).where(*held).values(**values))

    def release_gone(self, grader: str) -> None:
        """Give back what this grader's own windows held that were killed on this machine, without waiting for their
        leases to end. What a window elsewhere holds stays: nobody here can know of it."""
        theirs = sa.select(item.c.holder).where(item.c.state == "claimed", item.c.grader == grader).distinct()
        with self._database.read() as connection:
            holders = connection.execute(theirs).scalars().all()
        for each in holders:
            if each is not None and windows.is_gone(each):
                self.release_all(each)

    def second(self, number: int, holder: str) -> bool:
        """Give an item back for a second look, after everything that is open; False as for `release`."""
        return self._change(number, holder, state="second", **_NOBODY)

    def hand_over(self, number: int, holder: str, to: str) -> bool:
        """Give an item back for another grader alone; False as for `release`."""
        return self._change(number, holder, state="open", for_whom=to, **_NOBODY)

    def _change(self, number: int, who: str, **values: object) -> bool:
        mine = (item.c.id == number, item.c.holder == who, item.c.state == "claimed")
        with self._database.write() as connection:
            return connection.execute(sa.update(item).where(*mine).values(**values)).rowcount == 1

    def find(self, login: str, question: str) -> Item | None:
        """The item of a learner's hand-in that counts; `login` may be the blind name."""
        wanted = (
            sa.select(*COLUMNS)
            .join(submission, submission.c.id == item.c.submission_id)
            .join(learner, learner.c.id == submission.c.learner_id)
            .where(sa.or_(learner.c.login == login, learner.c.blind == login))
            .where(submission.c.is_current, item.c.question == question)
        )
        with self._database.read() as connection:
            row = connection.execute(wanted).first()
        return Item(*row) if row else None

    def count(self, question: str) -> tuple[int, int]:
        """How many items of a question need nobody any more, and of how many."""
        these = sa.and_(item.c.question == question, item.c.state != "superseded")
        done = sa.func.sum(sa.case((item.c.state == "done", 1), else_=0))
        wanted = sa.select(sa.func.coalesce(done, 0), sa.func.count()).where(these)
        with self._database.read() as connection:
            row = connection.execute(wanted).one()
        return int(row[0]), int(row[1])

    # --- learners who ask again ---------------------------------------------------------------------------------------

    def ask(self, login: str, question: str, text: str, at: float, sha256: str) -> str | None:
        """A learner asks to look at a published score again: the item is open once more. Returns why not, as a key of
        `tutor/text`: once for each question of a hand-in, and only of the one that counts."""
        wanted = (
            sa.select(item)
            .join(submission, submission.c.id == item.c.submission_id)
            .join(learner, learner.c.id == submission.c.learner_id)
            .where(learner.c.login == login, submission.c.sha256 == sha256, item.c.question == question)
            .with_for_update(of=item)
        )
        with self._database.write() as connection:
            row = connection.execute(wanted).first()
            if row is None:
                return "class.ask-unknown"
            if row.state == "superseded":
                return "class.ask-superseded"
            if connection.execute(sa.select(ask.c.id).where(ask.c.item_id == row.id)).first():
                return "class.ask-twice"
            published = sa.select(score.c.published).where(score.c.id == row.score_id)
            if row.score_id is None or connection.execute(published).scalar() is None:
                return "class.ask-nothing"
            values = {"item_id": row.id, "at": at, "text": json.dumps(text), "score_id": row.score_id}
            connection.execute(sa.insert(ask).values(**values))
            # Whoever has it at this moment keeps it; otherwise it is in the queue again.
            state = {"rest": "open"} if row.state == "claimed" else {"state": "open"}
            connection.execute(sa.update(item).where(item.c.id == row.id).values(**state))
        return None

    def asked(self, number: int) -> Ask | None:
        """What the learner wrote of an item, None when they have not asked."""
        with self._database.read() as connection:
            row = connection.execute(sa.select(ask).where(ask.c.item_id == number)).first()
        return Ask(row.at, json.loads(row.text), row.score_id) if row else None


def is_held(row: sa.Row[Any], now: float) -> bool:
    """Whether somebody has this row of `item` at this moment."""
    return row.state == "claimed" and row.lease is not None and now <= row.lease <= now + _AHEAD_S


def _claiming(which: Any, grader: str, holder: str, now: float) -> Any:
    values = {
        "rest": sa.case((item.c.state == "claimed", sa.func.coalesce(item.c.rest, "open")), else_=item.c.state),
        "state": "claimed",
        "grader": grader,
        "holder": holder,
        "lease": now + LEASE_S,
    }
    return sa.update(item).where(item.c.id == which).values(**values).returning(*COLUMNS)
