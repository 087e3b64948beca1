"""Points on their way into the gradebook: sent behind the grader's back, told when they do not arrive, and sent again
until they do. What was given stays in the sitting and on the disk until it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tutor.classroom.class_criteria import class_criteria
from tutor.classroom.criteria import Criteria
from tutor.classroom.item import Loaded
from tutor.classroom.sitting import Draft, given_before
from tutor.gradebook.database import ConnectionLost, GradebookError
from tutor.gradebook.queue import LeaseLost
from tutor.gradebook.scores import Mark, RuleChanged, Score
from tutor.literals import safe_text
from tutor.strings import say, text
from tutor.ui.review.item_lines import question_name

if TYPE_CHECKING:
    from tutor.ui.review.app import ReviewApp

#: Seconds between two tries to save what the gradebook could not take.
AGAIN_S = 10.0

#: What came of a save: the score and the one that it contradicts, or the rule that counts by now.
Saved = tuple[Score, Score | None] | Criteria

#: That, and how many items of the question are done, and of how many.
Answer = tuple[Saved, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Sent:
    """One save. With `second` the item is left for a second look; `again`: it could not be written before."""

    loaded: Loaded
    draft: Draft
    mark: Mark
    second: bool
    again: bool = False


class Saving:
    """The saves of one window. `on_the_way` counts those that were sent and are not answered yet."""

    def __init__(self, review: ReviewApp) -> None:
        self._review = review
        self.on_the_way = 0
        self._waiting: dict[int, Sent] = {}

    def send(self, loaded: Loaded, draft: Draft, mark: Mark, *, second: bool) -> None:
        """Have it written; the grader goes on meanwhile."""
        self._review.sitting.sent(loaded.item.id, mark.seconds or 0.0)
        self._send(Sent(loaded, draft, mark, second))

    def withdraw(self, item: int) -> None:
        """The grader has it before them again: it is theirs to send."""
        self._waiting.pop(item, None)

    def send_again(self) -> None:
        """Try what could not be written."""
        if not self.on_the_way:
            waiting, self._waiting = self._waiting, {}
            for each in waiting.values():
                self._send(Sent(each.loaded, each.draft, each.mark, each.second, again=True))

    def _send(self, sent: Sent) -> None:
        self.on_the_way += 1
        self._review.call(
            lambda: (self._give(sent), self._review.book.queue.count(sent.loaded.question)),
            lambda answer: self._written(sent, answer),
            lambda error: self._not_written(sent, error),
        )

    # --- in the gradebook's thread ------------------------------------------------------------------------------------

    def _give(self, sent: Sent) -> Saved:
        """Raises LeaseLost, GradebookError."""
        if sent.again and (known := self._known(sent)) is not None:
            return known, None
        try:
            return self._give_or_take_back(sent)
        except ConnectionLost:  # the next call makes a new one, which most often is all that it takes
            if (known := self._known(sent)) is not None:
                return known, None
            return self._give_or_take_back(sent)

    def _known(self, sent: Sent) -> Score | None:
        """The score that this save has made, if it had come through though we were not told."""
        history = self._review.book.scores.history(sent.loaded.item.id)
        given = sent.draft.given
        found = given_before(history, self._review.grader, sent.loaded.seen, given, sent.mark.points)
        return next((each for each in history if each is found), None)

    def _give_or_take_back(self, sent: Sent) -> Saved:
        app, number = self._review, sent.loaded.item.id

        def give() -> Saved:
            seen, second = sent.loaded.seen, sent.second
            return app.book.scores.give(number, app.grader, sent.mark, holder=app.holder, seen=seen, second=second)

        try:
            try:
                return give()
            except LeaseLost:
                # Abandoned, perhaps, and free again: then it is taken back, and what others gave meanwhile counts too.
                app.book.queue.claim_this(number, app.grader, app.holder)
                return give()
        except RuleChanged:
            app.book.queue.release(number, app.holder)
            return class_criteria(app.book, app.lesson)[sent.loaded.question]

    # --- what came of it ----------------------------------------------------------------------------------------------

    def _written(self, sent: Sent, answer: Answer) -> None:
        self.on_the_way -= 1
        app, loaded, (saved, counts) = self._review, sent.loaded, answer
        if app.desk is not None and app.desk.question == loaded.question:
            app.desk.counts = counts
        if isinstance(saved, Criteria):  # changed by somebody: the item comes back
            sent.draft.rule(saved)
            app.sitting.refused(loaded.item.id, sent.draft)
            self._say_of(loaded, "save-rule", question=question_name(loaded.question, app.lang))
            if app.desk is not None:
                app.desk.follow(saved)
        else:
            app.keep_draft(loaded, None)
            app.sitting.kept.pop(loaded.item.id, None)
            mine, other = saved
            if other is not None:
                points = {"theirs": other.points, "mine": mine.points}
                self._say_of(loaded, "conflict-made", grader=safe_text(other.grader, 40), **points)
            elif sent.again:
                app.say(text(app.lang, "review.saved-again", blind=loaded.blind), "good")
        self._draw()

    def _not_written(self, sent: Sent, error: GradebookError | LeaseLost) -> None:
        self.on_the_way -= 1
        app, loaded = self._review, sent.loaded
        app.sitting.refused(loaded.item.id, sent.draft)
        if isinstance(error, LeaseLost):
            self._say_of(loaded, "save-lost", grader=safe_text(error.grader or "?", 40))
        else:
            self._waiting[loaded.item.id] = sent
            if not sent.again:  # said once
                self._say_of(loaded, "save-failed", why=say(app.lang, error.message))
        self._draw()

    def _draw(self) -> None:
        if self._review.desk is not None:
            self._review.desk.draw_bars()

    def _say_of(self, loaded: Loaded, key: str, **fields: str | int) -> None:
        app = self._review
        app.say(text(app.lang, f"review.{key}", blind=loaded.blind, **fields), "caution")
