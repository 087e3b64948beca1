"""Points that the machine gives: runs over the whole class, whose results are shown before they are taken."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from tutor.gradebook.database import Database, insert_new
from tutor.gradebook.tables import learner, result, run, submission


class Run(NamedTuple):
    """A re-grade that goes on, or was cut short: `done` of its results are there already."""

    id: int
    done: int


class Result(NamedTuple):
    """What a run made of a hand-in. `report` is `CheckReport.to_data`; empty where it was not asked for, or is none."""

    submission: int
    ending: str
    normal: int
    edge: int
    report: Mapping[str, Any]

    @property
    def counts(self) -> tuple[str, int, int]:
        """What makes two results different."""
        return self.ending, self.normal, self.edge


class Todo(NamedTuple):
    """A hand-in that waits for a result; `before` is the result that stands."""

    submission: int
    login: str
    raw: bytes
    before: Result | None


_COLUMNS = (result.c.submission_id, result.c.ending, result.c.normal, result.c.edge, result.c.report)


class Results:
    """The machine's results in one gradebook. Every method raises GradebookError when the database cannot be used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, checks: str, grader: str, *, weak_sandbox: bool) -> Run:
        """The run that was cut short, if it had the same checks and the same walls; else a new one."""
        same = (run.c.ended.is_(None), run.c.checks_version == checks, run.c.weak_sandbox == weak_sandbox)
        with self._database.write() as connection:
            found = connection.execute(sa.select(sa.func.max(run.c.id)).where(*same)).scalar()
            if found is not None:
                count = sa.select(sa.func.count()).where(result.c.run_id == found)
                return Run(found, connection.execute(count).scalar_one())
            values = {"started": time.time(), "checks_version": checks, "grader": grader, "weak_sandbox": weak_sandbox}
            return Run(connection.execute(sa.insert(run).values(**values).returning(run.c.id)).scalar_one(), 0)

    def todo(self, number: int, after: int, most: int) -> list[Todo]:
        """Hand-ins that count and have no result in this run, those with an id above `after`, at most `most`."""
        done = sa.select(result.c.submission_id).where(result.c.run_id == number)
        wanted = (
            sa.select(submission.c.id, learner.c.login, submission.c.raw)
            .join(learner, learner.c.id == submission.c.learner_id)
            .where(submission.c.is_current, submission.c.id > after, submission.c.id.not_in(done))
            .order_by(submission.c.id)
            .limit(most)
        )
        with self._database.read() as connection:
            rows = list(connection.execute(wanted))
            standing = self._standing(connection, [row.id for row in rows])
        return [Todo(row.id, row.login, bytes(row.raw), standing.get(row.id)) for row in rows]

    def waiting(self, number: int) -> int:
        """How many hand-ins have no result in this run yet."""
        done = sa.select(result.c.submission_id).where(result.c.run_id == number)
        wanted = sa.select(sa.func.count()).where(submission.c.is_current, submission.c.id.not_in(done))
        with self._database.read() as connection:
            return int(connection.execute(wanted).scalar_one())

    def add(self, number: int, results: Sequence[tuple[Result, bool]]) -> None:
        """Record results of a run, each with whether it is taken at once. Of two that judge the same run at the same
        time the first result of a hand-in stays."""
        rows = [
            {
                "run_id": number,
                "submission_id": one.submission,
                "at": time.time(),
                "ending": one.ending,
                "normal": one.normal,
                "edge": one.edge,
                "report": json.dumps(one.report),
                "is_taken": taken,
            }
            for one, taken in results
        ]
        if rows:
            with self._database.write() as connection:
                connection.execute(insert_new(connection, result), rows)

    def end(self, number: int) -> None:
        """The run is through."""
        with self._database.write() as connection:
            connection.execute(sa.update(run).where(run.c.id == number).values(ended=time.time()))

    def proposed(self) -> list[Result]:
        """Results newer than the ones that stand, and not taken."""
        newest = sa.select(sa.func.max(result.c.id)).group_by(result.c.submission_id)
        wanted = (
            sa.select(*_COLUMNS)
            .join(submission, submission.c.id == result.c.submission_id)
            .where(result.c.id.in_(newest), result.c.is_taken.is_(False), submission.c.is_current)
        )
        with self._database.read() as connection:
            return [_result(row._mapping) for row in connection.execute(wanted)]

    def take_proposed(self) -> int:
        """Let the proposed results stand; returns how many there were."""
        newest = sa.select(sa.func.max(result.c.id)).group_by(result.c.submission_id)
        which = (result.c.id.in_(newest), result.c.is_taken.is_(False), result.c.ending != "broke")
        with self._database.write() as connection:
            return connection.execute(sa.update(result).where(*which).values(is_taken=True)).rowcount

    def standing(self, *, with_reports: bool = False) -> dict[int, Result]:
        """The last result that was taken, by hand-in that counts; the reports, which are large, on request."""
        with self._database.read() as connection:
            return self._standing(connection, None, with_reports)

    def of(self, number: int) -> Result | None:
        """The last result of one hand-in that was taken, without its report."""
        with self._database.read() as connection:
            return self._standing(connection, [number]).get(number)

    def _standing(
        self, connection: sa.Connection, only: Sequence[int] | None, with_reports: bool = False
    ) -> dict[int, Result]:
        newest = sa.select(sa.func.max(result.c.id)).where(result.c.is_taken).group_by(result.c.submission_id)
        if only is not None:
            newest = newest.where(result.c.submission_id.in_(only))
        wanted = sa.select(*_COLUMNS[: None if with_reports else -1]).where(result.c.id.in_(newest))
        return {row.submission_id: _result(row._mapping) for row in connection.execute(wanted)}


def _result(row: sa.RowMapping) -> Result:
    report = json.loads(row["report"]) if "report" in row else {}
    return Result(row["submission_id"], row["ending"], row["normal"], row["edge"], report)
