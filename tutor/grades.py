"""Where each learner of a class stands: the machine's points, people's points, vetoes, and what is still open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tutor.intake import questions_of
from tutor.model import Lesson

if TYPE_CHECKING:
    from tutor.gradebook.book import Gradebook, Row
    from tutor.gradebook.results import Result
    from tutor.gradebook.scores import Item, Score


class Grade(NamedTuple):
    """One learner. `items` holds each question's item with the score that stands, or both while two graders differ."""

    row: Row
    result: Result | None
    items: Mapping[str, tuple[Item, Sequence[Score]]]

    def points(self, question: str) -> int | None:
        """The points of a question, None as long as it has none or two graders differ."""
        if question not in self.items:
            return None
        item, scores = self.items[question]
        return scores[-1].points if scores and item.state != "conflict" else None

    @property
    def vetoes(self) -> list[str]:
        """Ids of the vetoes that stand."""
        standing = [score.veto for _, scores in self.items.values() for score in scores[-1:]]
        return sorted({veto for veto in standing if veto != "none"})

    @property
    def is_final(self) -> bool:
        """Whether everything has its points."""
        return self.result is not None and bool(self.items) and all(self.points(q) is not None for q in self.items)

    @property
    def total(self) -> int | None:
        """All points of ten; None before they are final."""
        if not self.is_final:
            return None
        assert self.result is not None
        return self.result.normal + self.result.edge + sum(self.points(question) or 0 for question in self.items)


def grades(book: Gradebook) -> Iterator[Grade]:
    """Every learner, by login. Raises GradebookError."""
    results, items = book.results.standing(), book.scores.current()
    for row in book.rows():
        number = row.submission
        yield Grade(row, results.get(number) if number else None, items.get(number, {}) if number else {})


def columns(lesson: Lesson) -> list[str]:
    """The columns of the grades as a table."""
    return ["learner", "name", "normal", "edge", *questions_of(lesson), "total", "vetoes", "state", "handed_in"]


def table_row(grade: Grade, lesson: Lesson) -> dict[str, str | int | None]:
    """One line of the table, by column."""
    row, result = grade.row, grade.result
    state = "final" if grade.is_final else "open" if row.submission else "missing"
    return {
        "learner": row.learner.login,
        "name": row.learner.name,
        "normal": result.normal if result else None,
        "edge": result.edge if result else None,
        **{question: grade.points(question) for question in questions_of(lesson)},
        "total": grade.total,
        "vetoes": " ".join(grade.vetoes),
        "state": state,
        "handed_in": row.handed_in,
    }


def csv_cell(value: str | int | None) -> str | int:
    """A cell that no spreadsheet takes for a formula: names come from learners."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return "" if value is None else value
