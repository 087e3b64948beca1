"""Points that people give: the history of each score, two graders who differ, what stands, what was published."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import sqlalchemy as sa

from tutor.gradebook.database import Database
from tutor.gradebook.queue import LeaseLost, is_held
from tutor.gradebook.tables import ask, criteria, item, memo, score


class Score(NamedTuple):
    """One entry of an item's history. `before` is what stood there, None for nothing; `veto` names the vetoes that
    stand, or "none", and `vetoes` what was answered to each. `by_hand`: the points are not what the slots come to.
    `criteria` is the version that they were given by, None for the lesson's own. `seconds` is how long it took."""

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
    vetoes: Mapping[str, bool]
    by_hand: bool
    criteria: int | None
    seconds: float | None
    published: float | None


class Mark(NamedTuple):
    """What a grader gives: points, the slots that they ticked, an answer to each veto, words for the learner."""

    points: int
    slots: Mapping[str, bool]
    vetoes: Mapping[str, bool]
    comment: str = ""
    by_hand: bool = True
    criteria: int | None = None
    seconds: float | None = None

    @property
    def veto(self) -> str:
        """The vetoes that stand."""
        return " ".join(sorted(name for name, stands in self.vetoes.items() if stands)) or "none"


class Standing(NamedTuple):
    """Where an item stands: `state` is open, second, done or conflict; `holder` has it at this moment. `by` gave the
    points at `at`; while two graders differ `other` is who and how many. `asks`: a learner asks again, and no score has
    answered. `is_published`: what stands is what the learner was told."""

    item: int
    question: str
    state: str
    holder: str | None
    for_whom: str | None
    score: int | None
    points: int | None
    veto: str
    by: str
    at: float
    other: tuple[str, int] | None
    asks: bool
    is_published: bool


class Memo(NamedTuple):
    """What a grader left for graders."""

    grader: str
    at: float
    text: str


class RuleChanged(Exception):
    """What earns points was changed since the grader read it; nothing was written."""


class Scores:
    """The scores of one gradebook. Every method raises GradebookError when the database cannot be used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # --- giving -------------------------------------------------------------------------------------------------------

    def give(
        self,
        number: int,
        grader: str,
        mark: Mark,
        *,
        holder: str = "",
        seen: int | None = None,
        why: str = "review",
        second: bool = False,
    ) -> tuple[Score, Score | None]:
        """Add a score to an item's history. `seen` is the id of the last score that the grader was shown; with `second`
        the item waits for a second look.

        Returns the score, and the one of another grader that it contradicts without having seen it: then the item is a
        conflict, and shows both until somebody who saw the last one scores again. Raises LeaseLost while another
        sitting holds the item, RuleChanged when the mark was made by criteria that are not the newest.
        """
        now = time.time()
        with self._database.write() as connection:
            row = connection.execute(sa.select(item).where(item.c.id == number).with_for_update()).one()
            held = is_held(row, now) and row.holder != holder
            if held or (holder and (row.state, row.holder) != ("claimed", holder)) or row.state == "superseded":
                raise LeaseLost(row.grader)
            newest = sa.select(sa.func.max(criteria.c.id)).where(criteria.c.question == row.question)
            if connection.execute(newest).scalar() != mark.criteria:
                raise RuleChanged
            last = self._by_id(connection, row.score_id)
            was_conflict = "conflict" in (row.state, row.rest if row.state == "claimed" else None)
            written = connection.execute(
                sa.insert(score).values(**_row(number, grader, now, last, mark, why)).returning(*score.c)
            ).one()
            unseen = last is not None and last.id != seen and (was_conflict or last.grader != grader)
            differs = last is not None and (last.points, last.veto) != (mark.points, mark.veto)
            conflict = unseen and (differs or was_conflict)
            other = last.id if last is not None and last.grader != grader else row.other_id
            values = {
                "state": "conflict" if conflict else "second" if second else "done",
                "grader": grader,
                "holder": None,
                "lease": None,
                "for_whom": None,
                "score_id": written.id,
                "other_id": other if conflict else None,
            }
            connection.execute(sa.update(item).where(item.c.id == number).values(**values))
            contradicted = self._by_id(connection, other) if conflict else None
        return read_score(written._mapping), contradicted

    def publish(self, scores: Iterable[int], at: float) -> None:
        """These scores were told to their learners."""
        rows = [{"which": each, "published": at} for each in scores]
        if rows:
            with self._database.write() as connection:
                connection.execute(sa.update(score).where(score.c.id == sa.bindparam("which")), rows)

    def note(self, number: int, grader: str, text: str) -> None:
        """Leave a memo that graders see and no learner."""
        with self._database.write() as connection:
            values = {"item_id": number, "grader": grader, "at": time.time(), "text": json.dumps(text)}
            connection.execute(sa.insert(memo).values(**values))

    # --- looking ------------------------------------------------------------------------------------------------------

    def notes(self, number: int) -> list[Memo]:
        """The memos of an item, oldest first."""
        wanted = sa.select(memo).where(memo.c.item_id == number).order_by(memo.c.id)
        with self._database.read() as connection:
            return [Memo(row.grader, row.at, json.loads(row.text)) for row in connection.execute(wanted)]

    def history(self, number: int) -> list[Score]:
        """Every score that an item was given, oldest first."""
        with self._database.read() as connection:
            wanted = sa.select(score).where(score.c.item_id == number).order_by(score.c.id)
            return [read_score(row._mapping) for row in connection.execute(wanted)]

    def phrases(self, question: str, most: int) -> list[str]:
        """Lines of the comments given to a question, those used most first, the newest first among equals."""
        wanted = (
            sa.select(score.c.comment)
            .join(item, item.c.id == score.c.item_id)
            .where(item.c.question == question, score.c.comment != '""')
            .order_by(score.c.id.desc())
            .limit(5000)
        )
        counts: Counter[str] = Counter()
        with self._database.read() as connection:
            for comment in connection.execute(wanted).scalars():
                counts.update({line.strip() for line in json.loads(comment).splitlines() if line.strip()})
        return [line for line, _ in counts.most_common(most)]

    def standing(self, only: int | None = None) -> dict[int, dict[str, Standing]]:
        """By hand-in that counts and question: where it stands; `only` one item on request."""
        stands, other = score.alias(), score.alias()
        wanted = (
            sa.select(
                item.c.submission_id,
                item.c.id,
                item.c.question,
                item.c.state,
                item.c.rest,
                item.c.grader,
                item.c.for_whom,
                stands.c.id,
                stands.c.points,
                stands.c.veto,
                stands.c.grader,
                stands.c.at,
                stands.c.published,
                other.c.grader,
                other.c.points,
                ask.c.score_id,
            )
            .outerjoin(stands, stands.c.id == item.c.score_id)
            .outerjoin(other, other.c.id == item.c.other_id)
            .outerjoin(ask, ask.c.item_id == item.c.id)
            .where(item.c.state != "superseded")
        )
        if only is not None:
            wanted = wanted.where(item.c.id == only)
        found: dict[int, dict[str, Standing]] = {}
        with self._database.read() as connection:
            for row in connection.execute(wanted).fetchall():
                number, one, question, state, rest, holder, for_whom = row[:7]
                last, points, veto, by, at, told, who, theirs, asks = row[7:]
                held = state == "claimed"
                found.setdefault(number, {})[question] = Standing(
                    one,
                    question,
                    rest or "open" if held else state,
                    holder if held else None,
                    for_whom,
                    last,
                    points,
                    veto or "none",
                    by or "",
                    at or 0.0,
                    (who, theirs) if who is not None else None,
                    asks is not None and asks == last,
                    told is not None,
                )
        return found

    def latest(self) -> dict[int, Score]:
        """By item that counts and has one: the score that stands, whole."""
        wanted = sa.select(score).join(item, item.c.score_id == score.c.id).where(item.c.state != "superseded")
        with self._database.read() as connection:
            return {row.item_id: read_score(row._mapping) for row in connection.execute(wanted)}

    def graders(self) -> list[str]:
        """Everybody who ever gave a score here, by name."""
        with self._database.read() as connection:
            return list(connection.execute(sa.select(score.c.grader).distinct().order_by(score.c.grader)).scalars())

    def _by_id(self, connection: sa.Connection, number: int | None) -> Score | None:
        if number is None:
            return None
        return read_score(connection.execute(sa.select(score).where(score.c.id == number)).one()._mapping)


def _row(number: int, grader: str, now: float, last: Score | None, mark: Mark, why: str) -> dict[str, Any]:
    return {
        "item_id": number,
        "grader": grader,
        "at": now,
        "before": last.points if last else None,
        "points": mark.points,
        "veto": mark.veto,
        "slots": json.dumps(dict(mark.slots)),
        "comment": json.dumps(mark.comment),
        "why": why,
        "vetoes": json.dumps(dict(mark.vetoes)),
        "by_hand": mark.by_hand,
        "criteria_id": mark.criteria,
        "seconds": mark.seconds,
    }


def read_score(row: sa.RowMapping | dict[str, Any]) -> Score:
    """A row of the table as a Score."""
    values: dict[str, Any] = dict(row)
    values["item"], values["criteria"] = values.pop("item_id"), values.pop("criteria_id")
    for name in ("slots", "comment", "vetoes"):
        values[name] = json.loads(values[name])
    return Score(**values)


def append(connection: sa.Connection, last: Score, grader: str, mark: Mark, why: str, now: float) -> None:
    """Let a score follow the one that stands, in the caller's transaction; the item's state stays."""
    values = _row(last.item, grader, now, last, mark, why)
    new = connection.execute(sa.insert(score).values(**values).returning(score.c.id)).scalar_one()
    connection.execute(sa.update(item).where(item.c.id == last.item).values(score_id=new))
