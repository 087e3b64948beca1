"""Gradebooks for tests: hand-ins that arrive, marks that are given."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tutor.gradebook import Gradebook
from tutor.gradebook.book import Arrival
from tutor.gradebook.database import Database
from tutor.gradebook.scores import Mark

QUESTIONS = ("explanation", "q1")


@pytest.fixture
def book(url: str) -> Iterator[Gradebook]:
    """An empty gradebook on each database."""
    made = Gradebook(Database(url), "class-1")
    yield made
    made.close()


def arrival(owner: str, number: int = 1, **changes: object) -> Arrival:
    """A hand-in with bytes that no text column takes."""
    name = f"{owner}-{number}.json"
    raw = b'{"x":"\\u0000"}\x00\xff'
    made = Arrival(name, "1.2.3", owner, float(number), "2026-01-01T00:00:00Z", f"{owner}{number}", {}, [], raw)
    return made._replace(**changes)  # type: ignore[arg-type]


def mark(points: int, **fields: object) -> Mark:
    """Points, without slots and vetoes unless they are named."""
    return Mark(points, **{"slots": {}, "vetoes": {}, **fields})  # type: ignore[arg-type]


def fill(book: Gradebook, learners: int) -> None:
    """Hand-ins of u0, u1, ..."""
    book.take([arrival(f"u{number}") for number in range(learners)], QUESTIONS)
