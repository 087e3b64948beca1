"""What a grader has before them: one item, the next ones ready, and how they go back. Drawn by `ItemScreen`.

The gradebook's calls are done in the order in which they are asked (`ReviewApp.call`), so what a call finds is what the
ones before it left.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING

from tutor.classroom.criteria import Criteria
from tutor.classroom.intake import questions_of
from tutor.classroom.item import Loaded, draft_of, is_saved, load
from tutor.classroom.sitting import Draft
from tutor.gradebook.book import GradebookError
from tutor.gradebook.queue import LEASE_S, Item, LeaseLost
from tutor.gradebook.scores import Mark
from tutor.lines import Role
from tutor.literals import safe_text
from tutor.strings import say, text
from tutor.ui.review.base import ReviewBase
from tutor.ui.review.item_lines import conflict_words, question_name
from tutor.ui.theme import ThemeName

if TYPE_CHECKING:
    from tutor.ui.review.app import ReviewApp


class ItemDesk(ReviewBase):
    """Claims, saves and gives back. `now` and `draft` are None while the next item is looked for."""

    def __init__(self, review: ReviewApp, theme: ThemeName, question: str) -> None:
        super().__init__(theme)
        self._review = review
        self.question = question
        self.now: Loaded | None = None
        self.ahead: list[Loaded] = []
        self.draft: Draft | None = None
        self.counts = (0, 0)
        """How many items of the question need nobody any more, and of how many, as the gradebook said last."""
        self._began = 0.0
        self._place = ""
        """Where the item that was shown last stands in the queue: what comes next stands behind it."""
        self._last: Item | None = None
        self._in_vain = False
        """Whether what is being fetched is not wanted any more: another order was chosen meanwhile."""
        self._fetching = self._awaiting = False
        self._told = False
        """Whether something was said of the item before, which the next one leaves there."""

    @property
    def review(self) -> ReviewApp:
        """Also in the gradebook's thread, and before the screen is shown."""
        return self._review

    @abstractmethod
    def shown_anew(self) -> None:
        """Another item is under review: draw it from its start."""

    @property
    def _draft(self) -> Draft:
        assert self.draft is not None
        return self.draft

    @property
    def _now(self) -> Loaded:
        assert self.now is not None
        return self.now

    def _question_name(self) -> str:
        return question_name(self.question, self.lang)

    # --- getting items ------------------------------------------------------------------------------------------------

    def begin(self, item: int | None) -> None:
        """Claim this item, or the next one; the screen comes up when there is one."""
        self.review.say(text(self.lang, "review.opening"))
        self._fetching = self._awaiting = True
        self.review.call(lambda: self._claim(item, ""), self._fetched, self._not_fetched)

    def _claim(self, item: int | None, after: str, beyond: Item | None = None) -> Loaded | None:
        """In the gradebook's thread: this item, or the next one. `after` is a place in the question's order; with
        `beyond`, learner by learner, it comes behind this item."""
        app = self.review
        if item is None:
            claimed = self._claim_next(after, beyond)
        else:
            claimed = app.book.queue.claim_this(item, app.grader, app.holder)
        if claimed is None:
            return None
        try:
            loaded = load(app.book, app.lesson, claimed)
        except BaseException:
            app.book.queue.release(claimed.id, app.holder)
            raise
        kept = app.drafts.find(loaded.hand_in.sha256, loaded.question)
        if kept is not None and is_saved(loaded, kept, app.grader):
            app.keep_draft(loaded, None)
            kept = None
        return loaded._replace(kept=kept)

    def _claim_next(self, after: str, beyond: Item | None) -> Item | None:
        app = self.review
        claim = partial(app.book.queue.claim, app.grader, app.holder)
        if beyond is None:
            return claim((self.question,), after)
        names = list(questions_of(app.lesson))
        rest = names[names.index(beyond.question) + 1 :]
        of_this_learner = claim(rest, hand_in=beyond.submission)
        if of_this_learner is not None:
            return of_this_learner
        return claim(names, app.book.queue.place_of(beyond.submission, names[0]))

    def _fetch(self) -> None:
        """Have the next item ready before it is asked for."""
        if not self._fetching and not self.ahead:
            self._fetching = True
            after, beyond = self._place, self._last if self.review.sitting.by_learner else None
            self.review.call(lambda: self._claim(None, after, beyond), self._fetched, self._not_fetched)

    def do_by_learner(self) -> None:
        """All questions of a learner before the next one, or one question over the class."""
        sitting = self.review.sitting
        sitting.by_learner = not sitting.by_learner
        self._give_back([each.item.id for each in self.ahead])
        self.ahead, self._in_vain = [], self._fetching
        self.say(self.tr("by-learner" if sitting.by_learner else "by-question", question=self._question_name()))
        self._fetch()

    async def _fetched(self, loaded: Loaded | None) -> None:
        in_vain, self._fetching, self._in_vain = self._in_vain, False, False
        if in_vain and not self._awaiting:
            self._give_back([loaded.item.id] if loaded is not None else [])
            self._fetch()
            return
        if loaded is not None:
            self.ahead.append(loaded)
            if loaded.question == self.question:
                self.counts = (loaded.done, loaded.all)
        if not self._awaiting:
            if loaded is not None and not self.is_attached:  # the grader has left
                self._give_back([self.ahead.pop().item.id])
            return
        self._awaiting = False
        if self.ahead:
            if not self.is_attached:
                await self.review.push_screen(self)
            self.show(self.ahead.pop(0))
        else:
            key = "review.nothing-left-at-all" if self.review.sitting.by_learner else "review.nothing-left"
            self._leave(text(self.lang, key, question=self._question_name()))

    def _not_fetched(self, error: GradebookError | LeaseLost) -> None:
        from tutor.ui.review.app import refusal

        self._fetching = self._in_vain = False
        if self._awaiting:  # otherwise it is asked for again when it is needed, and said then
            self._awaiting = False
            self._leave(say(self.lang, refusal(error)))

    def _next(self) -> None:
        """Show the next item, which is there in most cases."""
        if self.ahead:
            self.show(self.ahead.pop(0))
            return
        self.now = self.draft = None
        self._awaiting = True
        self.say(self.tr("opening"))
        self.refill()
        self._fetch()

    def show(self, loaded: Loaded, *, again: bool = False) -> None:
        """This item is under review from now on."""
        sitting = self.review.sitting
        self.review.saving.withdraw(loaded.item.id)
        draft = sitting.kept.pop(loaded.item.id, None)
        words = ""
        if draft is None:
            draft = draft_of(loaded, self.review.grader, again=again)
            if draft.changed:
                words = self._restored(loaded)
        elif draft.criteria.version != loaded.criteria.version:
            before, after = draft.rule(loaded.criteria)
            words = self.tr("rule-changed", question=self._question_name(), before=before, after=after)
        self.now, self.draft, self._place, self._last = loaded, draft, loaded.place, loaded.item
        if self.question != loaded.question:
            self.question, self.counts = loaded.question, (loaded.done, loaded.all)
        draft.watch = partial(self._draft_changed, loaded, draft)
        self._began = time.monotonic()
        if loaded.standing.other is not None:
            words += " " + self.tr("conflict-title") + ": " + conflict_words(loaded, self.lang)
        elif loaded.standing.asks and loaded.asks is not None:
            words += " " + self.tr("asks-title") + ": " + safe_text(loaded.asks.text, 200)
        elif again and not words:
            words = self.tr("reopened")
        words = words.strip()
        if words or not self._told:
            self.say(words)
        self._told = False
        self.shown_anew()
        self.draw_bars()
        self._fetch()

    def _restored(self, loaded: Loaded) -> str:
        """What to say of a draft of an earlier window: also what others gave since then, whom it would overrule."""
        assert loaded.kept is not None
        words, seen = self.tr("restored"), loaded.kept.seen or 0
        others = [each for each in loaded.history if each.id > seen and each.grader != self.review.grader]
        if others:
            last = others[-1]
            words += " " + self.tr("restored-since", grader=safe_text(last.grader, 40), points=last.points)
        return words

    def _draft_changed(self, loaded: Loaded, draft: Draft) -> None:
        self.review.keep_draft(loaded, draft.given if draft.changed else None)

    # --- what the application asks ------------------------------------------------------------------------------------

    @property
    def unsaved(self) -> bool:
        """Whether something was begun here that is not saved."""
        return self.draft is not None and self.draft.changed

    @property
    def held(self) -> list[int]:
        """The items that this screen holds."""
        return [each.item.id for each in ([self.now] if self.now is not None else []) + self.ahead]

    def keep_held(self) -> None:
        """Say that the items are still being worked on."""
        app, held = self.review, self.held
        app.call(lambda: [n for n in held if not app.book.queue.keep(n, app.holder)], self._lost)

    def _lost(self, lost: list[int]) -> None:
        self.ahead = [each for each in self.ahead if each.item.id not in lost]
        if self.now is not None and self.now.item.id in lost:
            self.say(self.tr("lost-now"), "caution")

    # --- saving -------------------------------------------------------------------------------------------------------

    def do_save(self) -> None:
        self._save(second=False)

    def _save(self, *, second: bool) -> None:
        loaded, draft = self._now, self._draft
        if draft.open_vetoes:
            self.say(self.tr("vetoes-open", count=len(draft.open_vetoes)), "caution")
            return
        seconds = min(LEASE_S, time.monotonic() - self._began)
        given = draft.given
        mark = Mark(
            draft.points,
            {slot: slot in given.ticks for slot in draft.criteria.slots},
            draft.vetoes,
            given.comment,
            by_hand=given.by_hand is not None,
            criteria=draft.criteria.version,
            seconds=seconds,
        )
        self.review.saving.send(loaded, draft, mark, second=second)
        if second:
            self.tell(self.tr("second-scored"))
        self._next()

    def tell(self, words: str, role: Role = "plain") -> None:
        """Say something of the item that is being left; the next one leaves it there."""
        self.say(words, role)
        self._told = True

    def follow(self, criteria: Criteria) -> None:
        """What earns points on a question is this from now on: what is on the screen and ahead follows."""
        if self.now is not None and self.draft is not None and self.now.question == criteria.question:
            self.now = self.now._replace(criteria=criteria)
            self.draft.rule(criteria)
        self.ahead = [
            each._replace(criteria=criteria) if each.question == criteria.question else each for each in self.ahead
        ]
        if self.is_attached:
            self.refill()

    def do_criteria(self) -> None:
        """Change what earns points here; then the item is read again, and what was given stays."""
        from tutor.ui.review.criteria_edit import CriteriaScreen

        def closed(changed: bool | None) -> None:
            if changed:
                self._read_again()

        self.app.push_screen(CriteriaScreen(self.theme_name, self.question), closed)

    def _read_again(self) -> None:
        """The item as it is by now. The one ahead may have changed too: it is fetched anew."""
        loaded = self._now
        self._set_aside()
        self._give_back([each.item.id for each in self.ahead])
        self.ahead = []

        def shown(fresh: Loaded | None) -> None:
            assert fresh is not None
            self._told = True  # what the change did to everybody's scores
            self.show(fresh)

        def failed(error: GradebookError | LeaseLost) -> None:
            from tutor.ui.review.app import refusal

            self.review.sitting.kept.pop(loaded.item.id, None)  # it is still before them
            self.say(refusal(error), "caution")

        self.review.call(lambda: self._claim(loaded.item.id, ""), shown, failed)

    # --- leaving an item ----------------------------------------------------------------------------------------------

    def _set_aside(self) -> None:
        """What was begun stays in this sitting."""
        self.review.sitting.leave(self._now.item.id, self._draft)

    def _give_back(self, numbers: list[int]) -> None:
        app = self.review

        def give_back() -> None:
            for number in numbers:
                app.book.queue.release(number, app.holder)

        if numbers:
            app.call(give_back)

    def do_skip(self) -> None:
        self._set_aside()
        self._give_back([self._now.item.id])
        if self.ahead or self._fetching:
            self.tell(self.tr("skipped"))
        else:
            self.tell(self.tr("skip-last"))
        self._next()

    def do_second(self) -> None:
        if not self._draft.open_vetoes:
            self._save(second=True)
            return
        app, number = self.review, self._now.item.id
        self._set_aside()
        app.call(lambda: app.book.queue.second(number, app.holder), self._let_go)
        self.tell(self.tr("second-bare"))
        self._next()

    def _let_go(self, ours: bool) -> None:
        if not ours:
            self.review.say(text(self.lang, "review.lost-now"), "caution")

    def _leave(self, words: str) -> None:
        self._give_back(self.held)
        self.now = self.draft = None
        self.ahead = []
        if self.is_attached:
            self.app.pop_screen()
        self.review.say(words)
