"""The gradebook's tables, and the steps from one version of them to the next.

Times are seconds since 1970. What came from learners is kept as bytes, or as ASCII JSON: no database refuses those.
`score`, `memo`, `ask`, `criteria` and `result` are histories: rows are added and never changed, but for the marks that
a result was taken and that feedback was published.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

META = sa.MetaData()
_ID = sa.Integer

about = sa.Table(
    "about", META, sa.Column("name", sa.String(40), primary_key=True), sa.Column("value", sa.Text, nullable=False)
)

learner = sa.Table(
    "learner",
    META,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("login", sa.String(256), nullable=False, unique=True),
    sa.Column("name", sa.String(256), nullable=False),
    sa.Column("blind", sa.String(12), nullable=False, unique=True),
    sa.Column("enrolled", sa.Boolean, nullable=False),
)

submission = sa.Table(
    "submission",
    META,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("learner_id", sa.ForeignKey("learner.id"), nullable=False, index=True),
    sa.Column("sha256", sa.String(64), nullable=False),
    sa.Column("arrived", sa.Float, nullable=False),
    sa.Column("made", sa.String(40), nullable=False),
    sa.Column("versions", sa.Text, nullable=False),
    sa.Column("notes", sa.Text, nullable=False),
    sa.Column("raw", sa.LargeBinary, nullable=False),
    sa.Column("is_current", sa.Boolean, nullable=False, index=True),
    sa.UniqueConstraint("learner_id", "sha256"),
)

#: Every file that was seen in the inbox; `reason` is null for one that was taken.
inbox = sa.Table(
    "inbox",
    META,
    sa.Column("name", sa.String(1024), primary_key=True),
    sa.Column("stamp", sa.String(120), primary_key=True),
    sa.Column("owner", sa.String(256), nullable=False),
    sa.Column("seen", sa.Float, nullable=False),
    sa.Column("reason", sa.Text),
)

#: One question of one hand-in, for a grader. `holder` is one sitting of a grader: two windows of a person are two.
#: `rest` is the state to which a claimed item goes back when it is let go, `for_whom` the grader that it was handed to.
#: `score_id` is the score that stands, `other_id` the one that it contradicts, both null before there is any.
item = sa.Table(
    "item",
    META,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("submission_id", sa.ForeignKey("submission.id"), nullable=False),
    sa.Column("question", sa.String(40), nullable=False),
    sa.Column("place", sa.String(32), nullable=False),
    sa.Column("state", sa.String(12), nullable=False),
    sa.Column("grader", sa.String(256)),
    sa.Column("holder", sa.String(64)),
    sa.Column("lease", sa.Float),
    sa.Column("rest", sa.String(12)),
    sa.Column("for_whom", sa.String(256)),
    sa.Column("score_id", _ID),
    sa.Column("other_id", _ID),
    sa.UniqueConstraint("submission_id", "question"),
    sa.Index("item_next", "state", "question", "place"),
)

#: `veto` names the vetoes that stand, or "none"; `vetoes` is what the grader answered to each. `by_hand`: the points
#: are not what the slots come to, and stay when the criteria change. `criteria_id` null: the lesson's own. `seconds` is
#: how long the grader had it before them, null when that is not known.
score = sa.Table(
    "score",
    META,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("item_id", sa.ForeignKey("item.id"), nullable=False, index=True),
    sa.Column("grader", sa.String(256), nullable=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("before", sa.Integer),
    sa.Column("points", sa.Integer, nullable=False),
    sa.Column("veto", sa.String(40), nullable=False),
    sa.Column("slots", sa.Text, nullable=False),
    sa.Column("comment", sa.Text, nullable=False),
    sa.Column("why", sa.String(40), nullable=False),
    sa.Column("vetoes", sa.Text, nullable=False, server_default="{}"),
    sa.Column("by_hand", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Column("criteria_id", _ID),
    sa.Column("seconds", sa.Float),
    sa.Column("published", sa.Float),
)

#: What graders tell each other of an item; no learner reads it.
memo = sa.Table(
    "memo",
    META,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("item_id", sa.ForeignKey("item.id"), nullable=False, index=True),
    sa.Column("grader", sa.String(256), nullable=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
)

#: "Please look again": a learner, of a score that was published. It is answered by the next score.
ask = sa.Table(
    "ask",
    META,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("item_id", sa.ForeignKey("item.id"), nullable=False, unique=True),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("score_id", _ID, nullable=False),
)

#: What earns points on a question, as an instructor changed it.
criteria = sa.Table(
    "criteria",
    META,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("question", sa.String(40), nullable=False, index=True),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("grader", sa.String(256), nullable=False),
    sa.Column("rule", sa.Text, nullable=False),
)

run = sa.Table(
    "run",
    META,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("started", sa.Float, nullable=False),
    sa.Column("ended", sa.Float),
    sa.Column("checks_version", sa.String(100), nullable=False),
    sa.Column("grader", sa.String(256), nullable=False),
    sa.Column("weak_sandbox", sa.Boolean, nullable=False),
)

result = sa.Table(
    "result",
    META,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("run_id", sa.ForeignKey("run.id"), nullable=False),
    sa.Column("submission_id", sa.ForeignKey("submission.id"), nullable=False, index=True),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("ending", sa.String(12), nullable=False),
    sa.Column("normal", sa.Integer, nullable=False),
    sa.Column("edge", sa.Integer, nullable=False),
    sa.Column("report", sa.Text, nullable=False),
    sa.Column("is_taken", sa.Boolean, nullable=False),
    sa.UniqueConstraint("run_id", "submission_id"),
)


def _review(connection: sa.Connection) -> None:
    """To version 2: what reviewing needs. Scores of before were given by command, as bare points."""
    for column in (item.c.rest, item.c.for_whom, item.c.score_id, item.c.other_id):
        _add(connection, column)
    for column in (score.c.vetoes, score.c.by_hand, score.c.criteria_id, score.c.seconds, score.c.published):
        _add(connection, column)
    for table in (memo, ask, criteria):
        table.create(connection)
    last = sa.select(sa.func.max(score.c.id)).where(score.c.item_id == item.c.id).correlate(item)
    connection.execute(sa.update(item).values(score_id=last.scalar_subquery(), rest="open"))
    mine, theirs = score.alias(), score.alias()
    same = sa.select(mine.c.grader).where(mine.c.id == item.c.score_id).correlate(item).scalar_subquery()
    of_others = (theirs.c.item_id == item.c.id, theirs.c.grader != same)
    others = sa.select(sa.func.max(theirs.c.id)).where(*of_others).correlate(item)
    conflicts = sa.update(item).where(item.c.state == "conflict")
    connection.execute(conflicts.values(other_id=others.scalar_subquery()))
    # An item that is held now was scored before or not, and was no conflict: those were not given to anybody.
    held = sa.update(item).where(item.c.score_id.is_not(None), item.c.state == "claimed")
    connection.execute(held.values(rest="done"))


def _add(connection: sa.Connection, column: sa.Column[Any]) -> None:
    made = sa.schema.CreateColumn(column).compile(dialect=connection.dialect)
    connection.execute(sa.text(f"ALTER TABLE {column.table.name} ADD COLUMN {made}"))


#: Step n brings version n to version n + 1. A new gradebook is made whole and starts at the last version.
STEPS: tuple[Callable[[sa.Connection], None], ...] = (_review,)


def migrate(connection: sa.Connection, steps: tuple[Callable[[sa.Connection], None], ...] = STEPS) -> int:
    """Bring the tables to the newest version, in the caller's transaction; returns the version that was found, 0 for
    an empty database. Raises FromTheFuture."""
    newest = len(steps) + 1
    found = 0
    if sa.inspect(connection).has_table("about"):
        found = int(connection.execute(sa.select(about.c.value).where(about.c.name == "version")).scalar_one())
    if found > newest:
        raise FromTheFuture
    if found == 0:
        META.create_all(connection)
        connection.execute(sa.insert(about).values(name="version", value=str(newest)))
    elif found < newest:
        for step in steps[found - 1 :]:
            step(connection)
        connection.execute(sa.update(about).where(about.c.name == "version").values(value=str(newest)))
    return found


class FromTheFuture(Exception):
    """A newer tutor has written this gradebook."""
