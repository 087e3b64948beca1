"""What earns points, as an instructor changed it: each version kept, and everybody scored by the newest."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import sqlalchemy as sa

from tutor.gradebook.database import Database
from tutor.gradebook.scores import Mark, Score, append, read_score
from tutor.gradebook.tables import criteria, item, score

#: What the ticks of a score come to.
Earned = Callable[[frozenset[str]], int]


class Version(NamedTuple):
    """One version of a question's rule, as plain data (`tutor.classroom.criteria`)."""

    id: int
    question: str
    at: float
    grader: str
    rule: Mapping[str, Any]


class Effect(NamedTuple):
    """What a change does: scores that rise, fall and stay the same; those set by hand, and items that two graders see
    differently, which stay."""

    rise: int
    fall: int
    same: int
    by_hand: int
    conflicts: int
    published: int
    """Of those that change, how many were told to their learners before."""


class Rules:
    """The criteria of one gradebook. Every method raises GradebookError when the database cannot be used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def newest(self) -> dict[str, Version]:
        """By question, the rule that an instructor made last; nothing where the lesson's own counts."""
        last = sa.select(sa.func.max(criteria.c.id)).group_by(criteria.c.question)
        with self._database.read() as connection:
            rows = connection.execute(sa.select(criteria).where(criteria.c.id.in_(last))).fetchall()
        versions = [Version(row.id, row.question, row.at, row.grader, json.loads(row.rule)) for row in rows]
        return {version.question: version for version in versions}

    def preview(self, question: str, earned: Earned) -> Effect:
        """What a rule would do. Nothing is changed."""
        with self._database.read() as connection:
            return self._effect(connection, question, earned)[0]

    def change(self, question: str, rule: Mapping[str, Any], earned: Earned, grader: str) -> tuple[int, Effect]:
        """Make this the rule and score everybody by it, in one step; returns its version and what it did."""
        now = time.time()
        with self._database.write(alone=True) as connection:  # a score that comes meanwhile follows or is refused
            values = {"question": question, "at": now, "grader": grader, "rule": json.dumps(rule)}
            made = connection.execute(sa.insert(criteria).values(**values).returning(criteria.c.id)).scalar_one()
            effect, changed = self._effect(connection, question, earned)
            for last in changed:
                points = earned(_ticks(last))
                mark = Mark(points, last.slots, last.vetoes, last.comment, by_hand=False, criteria=made)
                append(connection, last, grader, mark, "criteria", now)
        return made, effect

    def _effect(self, connection: sa.Connection, question: str, earned: Earned) -> tuple[Effect, list[Score]]:
        wanted = (
            sa.select(score, item.c.state.label("item_state"), item.c.rest.label("item_rest"))
            .join(item, item.c.score_id == score.c.id)
            .where(item.c.question == question, item.c.state != "superseded")
            .with_for_update(of=item)
        )
        rise = fall = same = by_hand = conflicts = published = 0
        changed = []
        for row in connection.execute(wanted).fetchall():
            values = dict(row._mapping)
            states = values.pop("item_state"), values.pop("item_rest")
            last = read_score(values)
            points = earned(_ticks(last))
            if states[0] == "conflict" or states == ("claimed", "conflict"):
                conflicts += 1
            elif last.by_hand:
                by_hand += 1
            elif points == last.points:
                same += 1
            else:
                changed.append(last)
                rise, fall = rise + (points > last.points), fall + (points < last.points)
                published += last.published is not None
        return Effect(rise, fall, same, by_hand, conflicts, published), changed


def _ticks(last: Score) -> frozenset[str]:
    return frozenset(name for name, ticked in last.slots.items() if ticked)
