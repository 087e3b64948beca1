"""Where each learner of a class stands: the machine's points, people's points, vetoes, and what is still open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from tutor.classroom.intake import questions_of
from tutor.model import Lesson

if TYPE_CHECKING:
    from tutor.gradebook.book import Gradebook, Row
    from tutor.gradebook.results import Result
    from tutor.gradebook.scores import Standing


class Grade(NamedTuple):
    """One learner, with where each question stands."""

    row: Row
    result: Result | None
    items: Mapping[str, Standing]

    def points(self, question: str) -> int | None:
        """The points of a question; None as long as it has none, two graders differ, or one wants a second look."""
        standing = self.items.get(question)
        return standing.points if standing is not None and standing.state in ("open", "done") else None

    @property
    def vetoes(self) -> list[str]:
        """Ids of the vetoes that stand."""
        return sorted({veto for each in self.items.values() if each.veto != "none" for veto in each.veto.split()})

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
    results, items = book.results.standing(), book.scores.standing()
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
