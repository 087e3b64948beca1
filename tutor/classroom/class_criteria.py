"""What earns points in a class: the lesson's rule for each question, or the one that its instructor made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tutor.classroom import criteria
from tutor.classroom.criteria import Criteria, CriteriaError
from tutor.classroom.intake import EXPLANATION, questions_of
from tutor.model import Lesson
from tutor.rubric.model import RubricQuestion

if TYPE_CHECKING:
    from tutor.gradebook.book import Gradebook
    from tutor.gradebook.rules import Effect


def rubric_name(question: str) -> str:
    """The rubric's name for what the gradebook calls `question`: the explanation is of the edge inputs."""
    return "edge" if question == EXPLANATION else question


def rubric_of(lesson: Lesson, question: str) -> RubricQuestion:
    """The lesson's rubric of a question of the gradebook. Raises KeyError."""
    return lesson.rubric.questions[rubric_name(question)]


def class_criteria(book: Gradebook, lesson: Lesson) -> dict[str, Criteria]:
    """By question, what counts now. Raises GradebookError, also when a rule does not fit this lesson any more."""
    from tutor.gradebook import GradebookError

    newest = book.rules.newest()
    found = {}
    for question, most in questions_of(lesson).items():
        if question in newest:
            version = newest[question]
            try:
                found[question] = _read(lesson, question, version.rule, version.id, most)
            except CriteriaError as error:
                raise GradebookError("class.criteria-stale", question=question) from error
        else:
            found[question] = criteria.of_lesson(question, rubric_of(lesson, question))
    return found


def read_rule(lesson: Lesson, question: str, rule: dict[str, Any]) -> Criteria:
    """A rule as plain data for a question of this lesson. Raises CriteriaError."""
    return _read(lesson, question, rule, None, questions_of(lesson)[question])


def preview(book: Gradebook, wanted: Criteria) -> Effect:
    """What a rule would do to the scores given so far. Raises GradebookError."""
    return book.rules.preview(wanted.question, wanted.earned)


def change(book: Gradebook, wanted: Criteria, grader: str) -> Effect:
    """Let a rule count from now on, for the scores given so far too. Raises GradebookError."""
    return book.rules.change(wanted.question, wanted.to_data(), wanted.earned, grader)[1]


def _read(lesson: Lesson, question: str, rule: Any, version: int | None, most: int) -> Criteria:
    return criteria.of_data(question, rubric_of(lesson, question), rule, version, most)
