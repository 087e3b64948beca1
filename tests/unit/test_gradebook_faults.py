"""What goes wrong with a gradebook: a lock, a full disk, a server that goes, a copy of yesterday, errors in words."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from tests.unit import postgres
from tests.unit.books import arrival, book, mark
from tutor.classroom import class_book, exchange
from tutor.gradebook import Gradebook, GradebookError
from tutor.gradebook import tables as schema
from tutor.gradebook.database import IDLE_S, ConnectionLost, Database
from tutor.strings import say

__all__ = ["book"]


def fill(book: Gradebook, learners: int) -> None:
    book.take([arrival(f"u{number}") for number in range(learners)], ("q1",))


def sentence(caught: pytest.ExceptionInfo[GradebookError]) -> str:
    """What the instructor reads: one line, with nothing left to fill in."""
    said = say("en", caught.value.message)
    assert "\n" not in said
    assert "{" not in said
    return said


# --- a lock, a full disk ----------------------------------------------------------------------------------------------


def test_another_process_that_writes_for_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tutor.gradebook.database.PATIENCE_S", 0)
    book = Gradebook(Database(f"sqlite:///{tmp_path}/book"), "class-1")
    fill(book, 1)
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN IMMEDIATE');"
        "print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "book")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(GradebookError) as caught:
            book.take([arrival("ada")], ("q1",))
        assert "Somebody else was writing" in sentence(caught)
        assert [row.learner.login for row in book.rows()] == ["u0"], "a reader waits for no writer"
    assert book.take([arrival("ada")], ("q1",)) == 1
    book.close()


def full(book: Gradebook, *, room: int | None) -> None:
    """SQLite's own limit of pages stands for the disk: at it SQLite gives the error of a full one."""
    with book.database.write() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {2**30 if room is None else pages + room}")


def test_a_disk_that_fills_in_the_middle_loses_nothing(tmp_path: Path) -> None:
    book = Gradebook(Database(f"sqlite:///{tmp_path}/book"), "class-1")
    fill(book, 2)
    full(book, room=5)
    with pytest.raises(GradebookError) as caught:
        book.take([arrival("ada", raw=b"x" * 4000), arrival("bob", raw=b"x" * 400_000)], ("q1",))
    assert "is full" in sentence(caught)
    assert [row.learner.login for row in book.rows()] == ["u0", "u1"], "all of a batch or nothing"
    assert book.seen() == {("u0-1.json", "1.2.3"), ("u1-1.json", "1.2.3")}
    full(book, room=None)
    assert book.take([arrival("ada", raw=b"x" * 4000), arrival("bob", raw=b"x" * 400_000)], ("q1",)) == 2
    book.close()


@pytest.mark.parametrize(("room", "key"), [(0, "class.db-full"), (1, "class.db-unusable")])
def test_what_sqlite_cannot_write_is_a_full_disk_only_where_it_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, key: str
) -> None:
    database = Database(f"sqlite:///{tmp_path}/book")
    failed = sqlite3.OperationalError("disk I/O error")
    failed.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    monkeypatch.setattr("tutor.gradebook.database.os.statvfs", lambda _: SimpleNamespace(f_bavail=room))
    with pytest.raises(GradebookError) as told, database.read():
        raise sa.exc.OperationalError("", {}, failed)
    assert told.value.message.key == key
    database.close()


def test_a_lock_of_postgresql_that_never_comes_free_is_told(
    server: postgres.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.database()
    book = Gradebook(Database(url), "class-1")
    fill(book, 1)
    monkeypatch.setattr("tutor.gradebook.database.PATIENCE_S", 0.01)
    impatient = Gradebook(Database(url), "class-1")
    item = book.queue.find("u0", "q1")
    assert item is not None
    with book.database.write() as connection:
        connection.execute(sa.select(schema.item).where(schema.item.c.id == item.id).with_for_update())
        with pytest.raises(GradebookError) as caught:
            impatient.queue.claim_this(item.id, "ada", "ada/1")
    assert "Somebody else was writing" in sentence(caught)
    assert impatient.queue.claim_this(item.id, "ada", "ada/1").id == item.id
    book.close()
    impatient.close()


def test_a_grader_who_stops_in_the_middle_of_a_transaction_holds_nobody_up(server: postgres.Server) -> None:
    url = server.database()
    book, stopped = Gradebook(Database(url), "class-1"), Database(url)
    fill(book, 1)

    def stop() -> None:
        with stopped.write() as connection:
            usual = connection.execute(sa.text("SHOW idle_in_transaction_session_timeout")).scalar()
            assert usual == f"{IDLE_S}s"
            connection.execute(sa.update(schema.item).values(grader="bob"))
            connection.execute(sa.text("SET idle_in_transaction_session_timeout = 1"))  # it has passed
            book.queue.claim_this(1, "ada", "ada/1")  # waits until the other one is cut off
            connection.execute(sa.update(schema.item).values(grader="eve"))

    with pytest.raises(ConnectionLost) as caught:
        stop()
    assert "cannot be used" in sentence(caught)
    found = book.queue.find("u0", "q1")
    assert found is not None
    assert (found.id, found.grader) == (1, "ada")
    book.close()
    stopped.close()


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("53100", "is full"),
        ("55P03", "Somebody else was writing"),
        ("40P01", "Somebody else"),
        ("57P01", "cannot be used"),
    ],
)
def test_what_postgresql_raises_is_told_and_loses_nothing(server: postgres.Server, state: str, words: str) -> None:
    book = Gradebook(Database(server.database()), "class-1")
    fill(book, 1)
    item = book.queue.find("u0", "q1")
    assert item is not None
    with book.database.write() as connection:
        connection.execute(
            sa.text(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
                f" $$BEGIN RAISE EXCEPTION 'made up' USING ERRCODE = '{state}'; END$$"
            )
        )
        connection.execute(sa.text("CREATE TRIGGER refuse BEFORE INSERT ON score EXECUTE FUNCTION refuse()"))
    before = book.database.changes()
    with pytest.raises(GradebookError) as caught:
        book.scores.give(item.id, "ada", mark(1))
    assert words in sentence(caught)
    assert book.database.changes() == before
    assert book.scores.history(item.id) == []
    with book.database.write() as connection:
        connection.execute(sa.text("DROP TRIGGER refuse ON score"))
    book.scores.give(item.id, "ada", mark(1))
    assert [each.points for each in book.scores.history(item.id)] == [1]
    book.close()


def test_the_count_of_changes_follows_every_write_and_no_look(book: Gradebook, url: str) -> None:
    other = Gradebook(Database(url), "class-1")
    seen = [other.database.changes()]

    def changed(act: Callable[[], object]) -> bool:
        act()
        seen.append(other.database.changes())
        return seen[-1] > seen[-2]

    assert changed(lambda: fill(book, 2))
    item = book.queue.find("u0", "q1")
    assert item is not None
    assert changed(lambda: book.queue.claim_this(item.id, "ada", "a"))
    assert changed(lambda: book.queue.release(item.id, "a"))
    score, _ = book.scores.give(item.id, "ada", mark(1))
    assert changed(lambda: book.scores.publish([score.id], 1.0))
    assert changed(lambda: book.looked_at([("ask.json", "1", "u0")]))
    for look in (book.rows, book.refused, book.scores.standing, lambda: book.queue.count("q1"), book.seen):
        assert not changed(look)
    assert not changed(lambda: Gradebook(Database(url), "class-1").close())
    other.close()


def test_a_gradebook_of_before_the_count_is_opened(url: str) -> None:
    book = Gradebook(Database(url), "class-1")
    with book.database.write() as connection:
        connection.execute(sa.delete(schema.about).where(schema.about.c.name == "changes"))
    book.close()
    book = Gradebook(Database(url), "class-1")
    before = book.database.changes()
    fill(book, 1)
    assert book.database.changes() > before
    book.close()


# --- a server that goes, a copy of yesterday --------------------------------------------------------------------------


def test_a_server_that_is_lost_is_told_and_found_again(server: postgres.Server) -> None:
    book = Gradebook(Database(server.database()), "class-1")
    fill(book, 1)
    server.stop()
    try:
        with pytest.raises(GradebookError) as caught:
            book.rows()
        with pytest.raises(GradebookError):
            book.take([arrival("ada")], ("q1",))
    finally:
        server.start()
    assert "cannot be used" in sentence(caught)
    assert [row.learner.login for row in book.rows()] == ["u0"]
    assert book.take([arrival("ada")], ("q1",)) == 1
    book.close()


def test_a_connection_that_is_cut_in_the_middle_of_a_write_leaves_nothing(server: postgres.Server) -> None:
    url = server.database()
    book, other = Gradebook(Database(url), "class-1"), Database(url)
    fill(book, 1)

    def cut() -> None:
        with book.database.write() as connection:
            connection.execute(sa.update(schema.learner).values(name="changed"))
            mine = connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
            with other.read() as second:
                second.execute(sa.text(f"SELECT pg_terminate_backend({mine})"))
            connection.execute(sa.update(schema.learner).values(name="changed again"))

    with pytest.raises(GradebookError) as caught:
        cut()
    assert "cannot be used" in sentence(caught)
    assert [row.learner.name for row in book.rows()] == [""]
    book.close()
    other.close()


@pytest.mark.parametrize("how", ["deleted", "moved", "replaced"])
def test_a_file_that_is_no_longer_the_one_that_was_opened_takes_nothing(tmp_path: Path, how: str) -> None:
    file, away = tmp_path / "book.sqlite", tmp_path / "away.sqlite"
    book = Gradebook(Database(f"sqlite:///{file}"), "class-1")
    fill(book, 1)
    item = book.queue.find("u0", "q1")
    assert item is not None
    book.database.close()  # so that all of it is in the one file
    if how == "deleted":
        file.unlink()
    else:
        file.rename(away)
    if how == "replaced":
        shutil.copy(away, file)
    for touch in (lambda: book.scores.give(item.id, "ann", mark(1)), book.rows):
        with pytest.raises(GradebookError) as told:
            touch()
        assert told.value.message.key == "class.db-swapped"
        assert "Nothing was written" in sentence(told)
    assert file.exists() == (how == "replaced"), "no empty one is made"
    if how == "moved":
        away.rename(file)
        book.scores.give(item.id, "ann", mark(1))
        assert book.score_count() == 1
    book.close()


def test_a_copy_of_yesterday_is_noticed(url: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    folder, _ = exchange.create(tmp_path / "class", "lesson_02_torch_compile")
    class_book.choose_database(folder, url)
    book, _ = class_book.open_book(folder, is_new=True)
    fill(book, 1)
    item = book.queue.find("u0", "q1")
    assert item is not None
    class_book.close_book(folder, book)
    if url.startswith("sqlite"):
        yesterday = f"{url}.yesterday"
        shutil.copy(url.removeprefix("sqlite:///"), yesterday.removeprefix("sqlite:///"))
    else:
        server: postgres.Server = request.getfixturevalue("server")
        yesterday = server.database(copy_of=url)
    book, notices = class_book.open_book(folder)
    assert notices == []
    book.scores.give(item.id, "ada", mark(1))
    class_book.close_book(folder, book)
    settings = folder.private / "gradebook.json"
    settings.write_text(settings.read_text().replace(url, yesterday))
    book, notices = class_book.open_book(folder)
    assert [notice.key for notice in notices] == ["class.db-older"]
    said = say("en", notices[0])
    assert "older copy" in said
    assert "up to 0, and there were 1" in said
    class_book.close_book(folder, book)
    book, again = class_book.open_book(folder)
    assert again == notices, "it is told until the newest copy is back"
    class_book.close_book(folder, book)
