"""A connection to the gradebook: how each database is opened, and what its errors mean to the instructor."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from tutor.gradebook.tables import FromTheFuture, migrate
from tutor.model import Message

#: How long a write waits for another one, seconds.
PATIENCE_S = 30


class GradebookError(Exception):
    """The gradebook cannot be used; `message` says what happened and what to do."""

    def __init__(self, key: str, /, **fields: str | int) -> None:
        super().__init__(key, fields)
        self.message = Message(key, fields)


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
                self._engine = sa.create_engine(parsed, pool_pre_ping=True, connect_args={"connect_timeout": 10})
        except ModuleNotFoundError:
            raise GradebookError("class.db-no-driver") from None
        self._reads = self._engine.execution_options(reads=True)
        try:
            self._bring_up_to_date()
        except BaseException:
            self.close()
            raise

    def _bring_up_to_date(self) -> None:
        with self.write() as connection:
            if not self._is_sqlite:  # two that open an empty one at once: the second waits, and finds it made
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(7041002)"))
            try:
                migrate(connection)
            except FromTheFuture:
                raise GradebookError("class.db-future", db=self.shown) from None

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """A transaction: all of it or nothing. Raises GradebookError."""
        with self._explained(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """A look at one moment of the gradebook, which no writer waits for. Raises GradebookError."""
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
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise GradebookError("class.db-locked", db=self.shown, seconds=PATIENCE_S) from error
            if code == sqlite3.SQLITE_FULL:
                raise GradebookError("class.db-full", db=self.shown) from error
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise GradebookError("class.db-damaged", db=self.shown, why=said) from error
            if isinstance(error, sa.exc.OperationalError):
                raise GradebookError("class.db-unusable", db=self.shown, why=said) from error
            raise


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
