"""The gradebook's tables from version to version, and what the errors of its databases say."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.unit.books import QUESTIONS, arrival, book, fill, mark
from tutor.gradebook import Gradebook, GradebookError
from tutor.gradebook import tables as schema
from tutor.gradebook.database import Database

__all__ = ["book"]


def test_steps_bring_old_tables_up_to_date_once(book: Gradebook) -> None:
    done: list[int] = []

    def step(number: int) -> object:
        return lambda _: done.append(number)

    steps = (step(1), step(2))
    with book.database.write() as connection:
        connection.execute(sa.update(schema.about).where(schema.about.c.name == "version").values(value="1"))
        assert schema.migrate(connection, steps) == 1  # type: ignore[arg-type]
        assert schema.migrate(connection, steps) == 3  # type: ignore[arg-type]
        assert done == [1, 2]
        with pytest.raises(schema.FromTheFuture):
            schema.migrate(connection, steps[:1])  # type: ignore[arg-type]


def test_a_gradebook_of_version_1_keeps_its_scores_and_conflicts(book: Gradebook) -> None:
    fill(book, 2)
    for name, others in (("u0", ()), ("u1", (2,))):
        item = book.queue.find(name, "q1")
        assert item is not None
        book.scores.give(item.id, "ada", mark(1, vetoes={"tail": True}))
        for points in others:
            book.scores.give(item.id, "bob", mark(points))
    before = book.scores.standing()
    with book.database.write() as connection:
        for table in (schema.memo, schema.ask, schema.criteria):
            table.drop(connection)
        for column in ("item.rest", "item.for_whom", "item.score_id", "item.other_id", "score.vetoes", "score.by_hand"):
            drop(connection, column)
        for column in ("score.criteria_id", "score.seconds", "score.published"):
            drop(connection, column)
        connection.execute(sa.update(schema.about).where(schema.about.c.name == "version").values(value="1"))
        assert schema.migrate(connection) == 1
    assert book.scores.standing() == before
    assert all(score.by_hand and not score.vetoes for score in book.scores.latest().values())


def drop(connection: sa.Connection, column: str) -> None:
    table, _, name = column.partition(".")
    connection.execute(sa.text(f"ALTER TABLE {table} DROP COLUMN {name}"))


def test_a_gradebook_of_a_newer_tutor_is_left_alone(book: Gradebook, url: str) -> None:
    with book.database.write() as connection:
        connection.execute(sa.update(schema.about).where(schema.about.c.name == "version").values(value="99"))
    with pytest.raises(GradebookError) as caught:
        Database(url)
    assert caught.value.message.key == "class.db-future"


@pytest.mark.parametrize("bad", ["", "nonsense", "mysql://x/y"])
def test_a_url_that_is_none(bad: str) -> None:
    with pytest.raises(GradebookError) as caught:
        Database(bad)
    assert caught.value.message.key == "class.db-url"


def test_a_server_that_is_not_there_is_told_without_its_password() -> None:
    pytest.importorskip("psycopg")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        with pytest.raises(GradebookError) as caught:
            Database(f"postgresql://tutor:secret@127.0.0.1:{probe.getsockname()[1]}/x")
    assert caught.value.message.key == "class.db-unusable"
    assert "secret" not in str(caught.value.message.args)


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "book").write_bytes(b"not a database at all" * 100)
    with pytest.raises(GradebookError) as caught:
        Database(f"sqlite:///{tmp_path}/book")
    assert caught.value.message.key == "class.db-damaged"


def test_a_locked_database_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tutor.gradebook.database.PATIENCE_S", 0)
    url = f"sqlite:///{tmp_path}/book"
    one, other = Database(url), Database(url)
    with one.write(), pytest.raises(GradebookError) as caught, other.write():
        pass
    assert caught.value.message.key == "class.db-locked"
    with one.write(), other.read() as connection:
        assert connection.execute(sa.select(schema.about.c.value)).scalars().all(), "a reader waits for no writer"
    one.close()
    other.close()


def test_a_write_that_fails_leaves_nothing(book: Gradebook) -> None:
    bad = arrival("bob", raw=None)
    with pytest.raises(sa.exc.IntegrityError):
        book.take([arrival("ada"), bad], QUESTIONS)
    assert book.rows() == []
    assert book.seen() == set()


def test_the_file_system_decides_how_sqlite_writes(tmp_path: Path) -> None:
    for is_remote, mode in ((False, "wal"), (True, "delete")):
        database = Database(f"sqlite:///{tmp_path}/{mode}", is_remote=is_remote)
        with database.read() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == mode
        database.close()
