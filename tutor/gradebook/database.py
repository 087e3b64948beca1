"""A connection to the gradebook: how each database is opened, and what its errors mean to the instructor."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from tutor.gradebook.tables import FromTheFuture, about, item, migrate
from tutor.model import TutorError

#: How long a write waits for another one, seconds.
PATIENCE_S = 30

#: PostgreSQL: after how long a grader who was stopped in the middle of a transaction loses it, seconds.
IDLE_S = 15

#: PostgreSQL: how long to wait for a server, and after how long a silent line counts as cut (seconds, milliseconds).
_WIRE: Final = {
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 35_000,
}

#: SQLSTATE: a lock that did not come, a deadlock, a transaction that cannot be put in order; a disk that is full.
_LOCKED = ("55P03", "40P01", "40001")
_FULL = ("53100",)

#: The row of `about` that counts the transactions that have written.
_CHANGES = "changes"


class GradebookError(TutorError):
    """The gradebook cannot be used; `message` says what happened and what to do."""


class ConnectionLost(GradebookError):
    """The server went away in the middle: whether the transaction counts is not known."""


class Database:
    """One gradebook. `url` is SQLAlchemy's; `is_remote` says that its file is on a network file system, where SQLite's
    write-ahead log does not work."""

    def __init__(self, url: str, *, is_remote: bool = False) -> None:
        """Open it, and bring its tables up to date. Raises GradebookError."""
        try:
            parsed = sa.make_url(url)
        except sa.exc.ArgumentError:
            raise GradebookError("class.db-url") from None
        if parsed.get_backend_name() not in ("sqlite", "postgresql"):
            raise GradebookError("class.db-url")
        if parsed.drivername == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        self.shown = parsed.render_as_string(hide_password=True)
        self._is_sqlite = parsed.get_backend_name() == "sqlite"
        try:
            if self._is_sqlite:
                self._engine = sa.create_engine(parsed, connect_args={"timeout": PATIENCE_S})
                _prepare_sqlite(self._engine, "delete" if is_remote else "wal")
            else:
                self._engine = sa.create_engine(parsed, pool_pre_ping=True, connect_args=dict(_WIRE))
                _prepare_postgresql(self._engine)
        except ModuleNotFoundError:
            raise GradebookError("class.db-no-driver") from None
        self._reads = self._engine.execution_options(reads=True)
        self._file = Path(parsed.database) if self._is_sqlite and parsed.database else None
        self._opened: tuple[int, int] | None = None
        try:
            self._bring_up_to_date()
            self._opened = self._identity()
        except BaseException:
            self.close()
            raise

    def _identity(self) -> tuple[int, int] | None:
        """Which file has the gradebook's name now; None for none, and where there are no files."""
        if self._file is None:
            return None
        try:
            info = self._file.stat()
        except FileNotFoundError:
            return None
        return info.st_dev, info.st_ino

    def _is_disk_full(self) -> bool:
        return self._file is not None and os.statvfs(self._file.parent).f_bavail == 0

    def _check_file(self) -> None:
        """SQLite goes on writing to a file that has no name any more. Raises GradebookError."""
        if self._opened is not None and self._identity() != self._opened:
            raise GradebookError("class.db-swapped", db=self.shown)

    def _bring_up_to_date(self) -> None:
        with self._explained(), self._engine.begin() as connection:
            if not self._is_sqlite:  # two that open an empty one at once: the second waits, and finds it made
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(7041002)"))
            try:
                migrate(connection)
            except FromTheFuture:
                raise GradebookError("class.db-future", db=self.shown) from None
            if connection.execute(_COUNTED).scalar() is None:  # new, or of before there was one
                connection.execute(sa.insert(about).values(name=_CHANGES, value="0"))

    @contextmanager
    def write(self, *, alone: bool = False) -> Iterator[sa.Connection]:
        """A transaction: all of it or nothing. `alone`: what it reads of others is whole, and stays so until it ends,
        as always in SQLite; others that change an item wait. Raises GradebookError."""
        self._check_file()  # before anything is opened: SQLite would make a new one
        with self._explained(), self._engine.begin() as connection:
            if alone and not self._is_sqlite:
                connection.execute(sa.text(f"LOCK TABLE {item.name} IN EXCLUSIVE MODE"))
            yield connection
            self._check_file()
            # Last, so that the row is locked for the moment of the commit only: writers do not wait for each other.
            connection.execute(_COUNT)

    def changes(self) -> int:
        """How many transactions have written so far: while it stays the same, so does all that can be read. Raises
        GradebookError."""
        with self.read() as connection:
            return int(connection.execute(_COUNTED).scalar_one())

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """A look at one moment of the gradebook, which no writer waits for. Raises GradebookError."""
        self._check_file()
        with self._explained(), self._reads.begin() as connection:
            yield connection

    def close(self) -> None:
        """Let go of the connections."""
        self._engine.dispose()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sa.exc.DBAPIError as error:
            said = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__
            code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
            state = getattr(error.orig, "sqlstate", None)
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or state in _LOCKED:
                raise GradebookError("class.db-locked", db=self.shown, seconds=PATIENCE_S) from error
            # Where there is no room for the write-ahead log's index, SQLite only says that it could not be written.
            if code == sqlite3.SQLITE_FULL or state in _FULL or (code == sqlite3.SQLITE_IOERR and self._is_disk_full()):
                raise GradebookError("class.db-full", db=self.shown) from error
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise GradebookError("class.db-damaged", db=self.shown, why=said) from error
            if error.connection_invalidated:
                raise ConnectionLost("class.db-unusable", db=self.shown, why=said) from error
            if isinstance(error, sa.exc.OperationalError):
                raise GradebookError("class.db-unusable", db=self.shown, why=said) from error
            raise


def insert_new(connection: sa.Connection, table: sa.Table) -> Any:
    """An insert that leaves a row that is there already as it is: two may do the same at once."""
    from sqlalchemy.dialects import postgresql, sqlite

    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    return dialect.insert(table).on_conflict_do_nothing()


def _choose_journal(raw: Any, journal: str) -> None:
    """Two that open a new file at once: SQLite does not wait for the other here, so we do."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            raw.execute(f"PRAGMA journal_mode={journal}")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _prepare_sqlite(engine: sa.Engine, journal: str) -> None:
    @sa.event.listens_for(engine, "connect")
    def connected(raw: Any, _record: object) -> None:
        raw.isolation_level = None  # else the driver opens transactions of its own, and too late
        _choose_journal(raw, journal)
        raw.execute("PRAGMA synchronous=FULL")
        raw.execute("PRAGMA foreign_keys=ON")

    @sa.event.listens_for(engine, "begin")
    def begun(connection: sa.Connection) -> None:
        reads = connection.get_execution_options().get("reads")
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _prepare_postgresql(engine: sa.Engine) -> None:
    """Nobody waits for ever: for a lock as long as SQLite does, and a grader who was stopped in the middle of a
    transaction loses it before the others give up."""

    @sa.event.listens_for(engine, "connect")
    def connected(raw: Any, _record: object) -> None:
        raw.autocommit = True  # else the settings end with the transaction that they are made in
        raw.execute(f"SET lock_timeout = {max(1, round(PATIENCE_S * 1000))}")
        raw.execute(f"SET idle_in_transaction_session_timeout = {IDLE_S * 1000}")
        raw.autocommit = False


_COUNTED: Final = sa.select(about.c.value).where(about.c.name == _CHANGES)

#: Counts one more transaction.
_COUNT: Final = (
    sa.update(about)
    .where(about.c.name == _CHANGES)
    .values(value=sa.cast(sa.cast(about.c.value, sa.BigInteger) + 1, sa.Text))
)
