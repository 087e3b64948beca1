"""Databases for the tests of the gradebook: each test runs on SQLite and, where it is installed, on PostgreSQL."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit import postgres


@pytest.fixture(scope="session")
def server() -> Iterator[postgres.Server]:
    """A PostgreSQL server; without one the test is skipped, and says why."""
    folder = postgres.programs()
    if folder is None:
        pytest.skip(postgres.MISSING)
    with tempfile.TemporaryDirectory() as name:
        made = postgres.Server(Path(name), folder)
        try:
            yield made
        finally:
            made.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/book.sqlite"
    server: postgres.Server = request.getfixturevalue("server")
    return server.database()
