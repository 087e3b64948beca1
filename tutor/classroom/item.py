"""All that a grader sees of one item, read from the gradebook in one go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tutor.classroom import submission
from tutor.classroom.class_criteria import class_criteria, rubric_name
from tutor.classroom.criteria import Criteria
from tutor.classroom.intake import questions_of
from tutor.classroom.sitting import Draft, given_before, start_from
from tutor.classroom.sitting_drafts import Kept
from tutor.classroom.submission import Submission, Unacceptable
from tutor.language import Lang
from tutor.model import Lesson
from tutor.rubric import examine as rubric
from tutor.rubric.model import Findings

if TYPE_CHECKING:
    from tutor.gradebook.book import Gradebook
    from tutor.gradebook.queue import Ask, Item
    from tutor.gradebook.results import Result
    from tutor.gradebook.scores import Memo, Score, Standing

#: Phrases that the bank offers: one for each digit.
PHRASES = 9


class Loaded(NamedTuple):
    """One item. `place` is where it stands in the queue, `done` and `all` count the items of its question."""

    item: Item
    blind: str
    place: str
    hand_in: Submission
    answer: str
    references: Mapping[Lang, str]
    criteria: Criteria
    most: int
    findings: Findings
    history: Sequence[Score]
    standing: Standing
    memos: Sequence[Memo]
    asks: Ask | None
    phrases: Sequence[str]
    result: Result | None
    done: int
    all: int
    kept: Kept | None = None
    """What this grader had begun in an earlier window."""

    @property
    def question(self) -> str:
        return self.item.question

    @property
    def seen(self) -> int | None:
        """The last score that is shown."""
        return self.history[-1].id if self.history else None


def load(book: Gradebook, lesson: Lesson, item: Item) -> Loaded:
    """Everything of one item. Raises GradebookError, also for a hand-in that this version cannot read."""
    from tutor.gradebook import GradebookError

    try:
        hand_in = submission.read(book.raw(item.submission))
    except Unacceptable as error:
        fields = {name: str(value) for name, value in error.message.args.items()}
        raise GradebookError(error.message.key, **fields) from error
    question, name = item.question, rubric_name(item.question)
    answer = hand_in.answer(question)
    references = _references(lesson, name)
    standing = book.scores.standing(item.id)[item.submission][question]
    done, count = book.queue.count(question)
    return Loaded(
        item,
        book.learner_of(item.submission).blind,
        book.queue.place(item.id),
        hand_in,
        answer,
        references,
        class_criteria(book, lesson)[question],
        questions_of(lesson)[question],
        rubric.examine(lesson.rubric, name, answer, "\n".join(references.values())),
        book.scores.history(item.id),
        standing,
        book.scores.notes(item.id),
        book.queue.asked(item.id),
        book.scores.phrases(question, PHRASES),
        book.results.of(item.submission),
        done,
        count,
    )


def _references(lesson: Lesson, name: str) -> dict[Lang, str]:
    languages: tuple[Lang, ...] = ("zh", "en")
    return {lang: words for lang in languages if (words := lesson.reference(name, lang)) is not None}


def draft_of(loaded: Loaded, grader: str, *, again: bool) -> Draft:
    """Where a grader begins: at nothing, or at the score that stands if it is their own. `again`: they reopened it, so
    their answers to the vetoes stand too. While two graders differ nothing is filled in. What they had begun in an
    earlier window follows as a change."""
    last = loaded.history[-1] if loaded.history else None
    start = None
    if last is not None and last.grader == grader and loaded.standing.other is None:
        start = start_from(last, loaded.criteria, with_vetoes=again)
    draft = Draft(loaded.criteria, loaded.most, loaded.findings.vetoes.keys(), start)
    if loaded.kept is not None:
        draft.restore(loaded.kept.given)
    return draft


def is_saved(loaded: Loaded, kept: Kept, grader: str) -> bool:
    """Whether what was kept had come into the gradebook before its window ended."""
    draft = Draft(loaded.criteria, loaded.most)
    draft.restore(kept.given)
    return given_before(loaded.history, grader, kept.seen, draft.given, draft.points) is not None
