"""One item under review: the answer, what belongs to it, what the grader gives. Saved behind, the next one at once.

The gradebook's calls are done in the order in which they are asked (`ReviewApp.call`), so what a call finds is what the
ones before it left.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.widget import Widget

from tutor.class_criteria import class_criteria
from tutor.criteria import Criteria
from tutor.gradebook.book import GradebookError
from tutor.gradebook.queue import LEASE_S, LeaseLost
from tutor.gradebook.scores import Mark, Memo, RuleChanged, Score
from tutor.intake import EXPLANATION
from tutor.literals import safe_text
from tutor.model import CheckReport, Lang, Lesson
from tutor.review import COMMENT_MAX, Draft, digits
from tutor.review_item import Loaded, draft_of, load
from tutor.scoring import VETOES
from tutor.strings import say, text
from tutor.ui.lines import Line, Part, line
from tutor.ui.review.base import ReviewBase, ReviewKey
from tutor.ui.review.comment import CommentPad
from tutor.ui.review.item_lines import answer_lines, conflict_words, ending, evidence_lines, panel_lines, side_lines
from tutor.ui.theme import ThemeName
from tutor.ui.widgets.lines_view import LinesView

if TYPE_CHECKING:
    from tutor.ui.review.app import ReviewApp

#: The most characters of a login that an item is handed to.
LOGIN_MAX = 64
#: What came of a save: the score and the one that it contradicts, or the rule that counts by now.
Saved = tuple[Score, Score | None] | Criteria


class ItemScreen(ReviewBase):
    """Reviews items of one question, one after the other."""

    KEYS = (
        ReviewKey("yes", ("y",), "y"),
        ReviewKey("no", ("n",), "n"),
        ReviewKey("slot", (), "1-9 0"),
        ReviewKey("more", (";",), ";"),
        ReviewKey("more_points", ("=", "+"), "= -"),
        ReviewKey("fewer_points", ("-",), "-", line=False),
        ReviewKey("by_ticks", ("a",), "a", line=False),
        ReviewKey("vetoes", ("v",), "v"),
        ReviewKey("comment", ("c",), "c"),
        ReviewKey("save", ("enter",), "Enter"),
        ReviewKey("skip", ("s",), "s"),
        ReviewKey("undo", ("u",), "u"),
        ReviewKey("second", ("f",), "f"),
        ReviewKey("evidence", ("o",), "o"),
        ReviewKey("swap", ("f2", "ctrl+t", "tab"), "F2"),
        ReviewKey("memo", ("m",), "m"),
        ReviewKey("hand_over", ("w",), "w"),
        ReviewKey("rerun", ("r",), "r"),
        ReviewKey("back", (), "Esc"),
    )

    def __init__(self, review: ReviewApp, theme: ThemeName, question: str) -> None:
        super().__init__(theme)
        self._review = review
        self.question = question
        self.now: Loaded | None = None
        self.ahead: list[Loaded] = []
        self.draft: Draft | None = None
        self.asked: list[str] = []
        """Vetoes that are asked, the first one now."""
        self._tens = 0
        self._began = 0.0
        self._fetching = self._awaiting = self._judging = False
        self._unwritten = 0
        self._swapped = False
        self.answer, self.side, self.panel = LinesView(theme), LinesView(theme), LinesView(theme)
        self.divider = LinesView(theme)
        for view in (self.divider, self.panel, self.side):
            view.can_focus = False
        self.divider.styles.width = 3
        self.panel.styles.height = 6

    @property
    def review(self) -> ReviewApp:
        """Also in the gradebook's thread, and before the screen is shown."""
        return self._review

    def body(self) -> Iterator[Widget]:
        row = Horizontal(self.answer, self.divider, self.side)
        row.styles.height = "1fr"
        yield row
        yield self.panel

    def on_mount(self) -> None:
        self.set_focus(self.answer)
        self.set_interval(LEASE_S / 3, self.keep_held)

    # --- getting items ------------------------------------------------------------------------------------------------

    def begin(self, item: int | None) -> None:
        """Claim this item, or the next one; the screen comes up when there is one."""
        self.review.say(text(self.lang, "review.opening"))
        self._fetching = self._awaiting = True
        self.review.call(lambda: self._claim(item, ""), self._fetched, self._not_fetched)

    def _claim(self, item: int | None, after: str) -> Loaded | None:
        app = self.review
        if item is None:
            claimed = app.book.queue.claim(app.grader, app.holder, (self.question,), after)
        else:
            claimed = app.book.queue.claim_this(item, app.grader, app.holder)
        if claimed is None:
            return None
        try:
            return load(app.book, app.lesson, claimed)
        except BaseException:
            app.book.queue.release(claimed.id, app.holder)
            raise

    def _fetch(self) -> None:
        """Have the next item ready before it is asked for."""
        if not self._fetching and not self.ahead:
            self._fetching = True
            after = self.now.place if self.now is not None else ""
            self.review.call(lambda: self._claim(None, after), self._fetched, self._not_fetched)

    async def _fetched(self, loaded: Loaded | None) -> None:
        self._fetching = False
        if loaded is not None:
            self.ahead.append(loaded)
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
            self._leave(text(self.lang, "review.nothing-left", question=self._question_name()))

    def _not_fetched(self, error: GradebookError | LeaseLost) -> None:
        from tutor.ui.review.app import refusal

        self._fetching = False
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
        self._fetch_after_all()

    def _fetch_after_all(self) -> None:
        if not self._fetching:
            self._fetch()

    def show(self, loaded: Loaded, *, again: bool = False) -> None:
        """This item is under review from now on."""
        sitting = self.review.sitting
        draft = sitting.kept.get(loaded.item.id)
        words = ""
        if draft is None:
            draft = draft_of(loaded, self.review.grader, again=again)
        elif draft.criteria.version != loaded.criteria.version:
            before, after = draft.rule(loaded.criteria)
            words = self.tr("rule-changed", question=self._question_name(), before=before, after=after)
        self.now, self.draft = loaded, draft
        self.asked, self._tens, self._swapped = [], 0, False
        self._began = time.monotonic()
        if loaded.standing.other is not None:
            words = self.tr("conflict-title") + ": " + conflict_words(loaded, self.lang)
        elif loaded.standing.asks and loaded.asks is not None:
            words = self.tr("asks-title") + ": " + safe_text(loaded.asks.text, 200)
        elif again:
            words = self.tr("reopened")
        if words or not self._told:
            self.say(words)
        self._told = False
        self.answer.go(0)
        self.side.go(0)
        self.refill()
        self.draw_bars()
        self._fetch()

    _told = False
    """Whether something was said of the item before, which the next one leaves there."""

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

    # --- drawing ------------------------------------------------------------------------------------------------------

    def _question_name(self) -> str:
        return self.tr("explanation") if self.question == EXPLANATION else self.question.upper()

    def head(self) -> Sequence[Part]:
        loaded, sitting = self.now, self.review.sitting
        if loaded is None:
            return [(self._question_name(), "title")]
        rule = loaded.criteria.version
        version = self.tr("rule-lesson", version=self.review.lesson.rubric.version) if rule is None else str(rule)
        failed = len([number for number in sitting.kept if number in sitting.saved])
        saved = self.tr("unsaved", count=failed) if failed else self.tr("saving" if self._unwritten else "saved")
        counts = {"done": loaded.done, "all": loaded.all}
        words = self.tr(
            "head", question=self._question_name(), blind=loaded.blind, rubric=version, saved=saved, **counts
        )
        parts: list[Part] = [(words, "title")]
        left, typical = sitting.pace.left(loaded.all - loaded.done), sitting.pace.typical
        if left is not None and typical is not None:
            pace = self.tr("pace", typical=self._duration(typical), left=self._duration(left))
            parts += [(" | ", "plain"), (pace, "plain")]
        return parts

    def _duration(self, seconds: float) -> str:
        if seconds < 100:
            return self.tr("seconds", count=round(seconds))
        return self.tr("minutes", count=round(seconds / 60))

    def refill(self) -> None:
        self.side.display = self.divider.display = self.wide
        width = self.app.size.width
        if self.wide:
            self.answer.styles.width = width // 2
            self.side.styles.width = "1fr"
        else:
            self.answer.styles.width = "1fr"
        if self.now is None or self.draft is None:
            for view in (self.answer, self.side, self.panel):
                view.show([])
            return
        left = width // 2 if self.wide else width
        slots = list(self.draft.criteria.slots)
        mark = "> " if self.wide else ""
        room, alone = left - 1 - len(mark), not self.wide
        if self._swapped and alone:
            self.answer.show(side_lines(self.now, self.lang, room, alone=True))
        else:
            self.answer.show(_pointed(answer_lines(self.now, slots, self.lang, room, alone=alone), mark, self._swapped))
        if self.wide:
            beside = side_lines(self.now, self.lang, width - left - 4 - len(mark), alone=False)
            self.side.show(_pointed(beside, mark, not self._swapped))
            self.divider.show([line(" | ")] * self.app.size.height)
        self._draw_panel()

    def _draw_panel(self) -> None:
        assert self.draft is not None
        asked = self.asked[0] if self.asked else ""
        lines = panel_lines(self.draft, self._tens, asked, self.lang, self.app.size.width - 1)
        if self.panel.styles.height is None or self.panel.styles.height.value != len(lines):
            self.panel.styles.height = len(lines)
        self.panel.show(lines)

    def can(self, name: str) -> bool:
        if name in ("yes", "no"):
            return bool(self.asked) and self.draft is not None
        if name == "more":
            return self.draft is not None and len(self.draft.criteria.slots) > 10
        known = {key.id for key in self.KEYS}
        return self.draft is not None or name == "back" or name not in known

    async def press(self, key: str, character: str | None) -> bool:
        digit = character if character is not None and character in "1234567890" else None
        if digit is None and character is not None and character in "１２３４５６７８９０":
            digit = chr(ord(character) - 0xFEE0)
        if digit is None or self.draft is None:
            return await super().press(key, character)
        slots = list(self.draft.criteria.slots)
        at = digits(len(slots), self._tens)
        number = at.start + (int(digit) - 1) % 10
        if number in at:
            self.draft.tick(slots[number])
            self._draw_panel()
        else:
            self.say(self.tr("no-digit", digit=digit))
        return True

    # --- giving -------------------------------------------------------------------------------------------------------

    def do_slot(self) -> None:
        self.do_help()

    def do_more(self) -> None:
        self._tens += 1
        self._draw_panel()

    def do_more_points(self) -> None:
        self._draft.step(1)
        self._draw_panel()

    def do_fewer_points(self) -> None:
        self._draft.step(-1)
        self._draw_panel()

    def do_by_ticks(self) -> None:
        self._draft.by_ticks()
        self._draw_panel()

    @property
    def _draft(self) -> Draft:
        assert self.draft is not None
        return self.draft

    @property
    def _now(self) -> Loaded:
        assert self.now is not None
        return self.now

    def do_vetoes(self) -> None:
        if self.asked:
            self._draft.deny_rest()
            self.asked = self._draft.open_vetoes
        else:
            self.asked = self._draft.open_vetoes or list(VETOES)
        self._ask_veto()

    def do_yes(self) -> None:
        self._answer_veto(True)

    def do_no(self) -> None:
        self._answer_veto(False)

    def _answer_veto(self, stands: bool) -> None:
        self._draft.answer(self.asked.pop(0), stands)
        self._ask_veto()

    def _ask_veto(self) -> None:
        if not self.asked:
            self.say(self.tr("vetoes-done"))
        else:
            veto = self.asked[0]
            quotes = self._now.findings.vetoes.get(veto)
            words = {"veto": self.tr(f"veto-{veto}")}
            if quotes:
                words["quote"] = safe_text(quotes[0].text, 100)
            self.say(self.tr("veto-ask-flagged" if quotes else "veto-ask", **words), "strong")
        self._draw_panel()

    def do_comment(self) -> None:
        draft = self._draft

        def written(words: str | None) -> None:
            draft.write(words or "")
            self.refill()

        self.app.push_screen(CommentPad(self.theme_name, self.lang, draft.given.comment, self._now.phrases), written)

    def do_undo(self) -> None:
        sitting = self.review.sitting
        if self._draft.undo():
            self.asked = []
            self.say(self.tr("undone"))
            self._draw_panel()
        elif sitting.saved:
            number = sitting.saved.pop()
            if number == self._now.item.id:
                self.do_undo()
                return

            def failed(error: GradebookError | LeaseLost) -> None:
                from tutor.ui.review.app import refusal

                sitting.saved.append(number)
                self.say(refusal(error), "caution")

            self.review.call(lambda: self._claim(number, ""), self._reopened, failed)
        else:
            self.say(self.tr("undo-nothing"))

    def _reopened(self, loaded: Loaded | None) -> None:
        assert loaded is not None
        if self.now is not None:
            self.review.sitting.leave(self._now.item.id, self._draft)
            self.ahead.insert(0, self.now)
        self.question = loaded.question
        self.show(loaded, again=True)

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
        self.review.sitting.sent(loaded.item.id, seconds)
        self._unwritten += 1
        self.review.call(
            lambda: self._give(loaded, mark, second=second),
            lambda saved: self._written(loaded, draft, saved),
            lambda error: self._not_written(loaded, draft, error),
        )
        if second:
            self._tell(self.tr("second-scored"))
        self._next()

    def _tell(self, words: str, role: str = "plain") -> None:
        """Say something of the item that is being left; the next one leaves it there."""
        self.say(words, "caution" if role == "caution" else "plain")
        self._told = True

    def _give(self, loaded: Loaded, mark: Mark, *, second: bool) -> Saved:
        """In the gradebook's thread. Raises LeaseLost, GradebookError."""
        app = self.review

        def give() -> Saved:
            number = loaded.item.id
            return app.book.scores.give(number, app.grader, mark, holder=app.holder, seen=loaded.seen, second=second)

        try:
            try:
                return give()
            except LeaseLost:
                # Abandoned, perhaps, and free again: then it is taken back, and what others gave meanwhile counts too.
                app.book.queue.claim_this(loaded.item.id, app.grader, app.holder)
                return give()
        except RuleChanged:
            app.book.queue.release(loaded.item.id, app.holder)
            return class_criteria(app.book, app.lesson)[loaded.question]

    def _written(self, loaded: Loaded, draft: Draft, saved: Saved) -> None:
        self._unwritten -= 1
        if isinstance(saved, Criteria):
            self._rule(loaded, draft, saved)
        elif saved[1] is not None:
            mine, other = saved[0], saved[1]
            points = {"theirs": other.points, "mine": mine.points}
            self._say_of(loaded, "conflict-made", grader=safe_text(other.grader, 40), **points)
        if self.is_attached:
            self.draw_bars()

    def _rule(self, loaded: Loaded, draft: Draft, criteria: Criteria) -> None:
        """What earns points was changed by somebody: the item comes back, the ones on the screen and ahead follow."""
        draft.rule(criteria)
        self.review.sitting.refused(loaded.item.id, draft)
        self._say_of(loaded, "save-rule", question=self._question_name())
        if self.now is not None and self.draft is not None and self.now.question == criteria.question:
            self.now = self.now._replace(criteria=criteria)
            self.draft.rule(criteria)
        self.ahead = [
            each._replace(criteria=criteria) if each.question == criteria.question else each for each in self.ahead
        ]
        if self.is_attached:
            self.refill()

    def _not_written(self, loaded: Loaded, draft: Draft, error: GradebookError | LeaseLost) -> None:
        self._unwritten -= 1
        self.review.sitting.refused(loaded.item.id, draft)
        if isinstance(error, LeaseLost):
            self._say_of(loaded, "save-lost", grader=safe_text(error.grader or "?", 40))
        else:
            self._say_of(loaded, "save-failed", why=say(self.lang, error.message))
        if self.is_attached:
            self.draw_bars()

    def _say_of(self, loaded: Loaded, key: str, **fields: str | int) -> None:
        self.review.say(text(self.lang, f"review.{key}", blind=loaded.blind, **fields), "caution")

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
            self._tell(self.tr("skipped"))
        else:
            self._tell(self.tr("skip-last"))
        self._next()

    def do_second(self) -> None:
        if not self._draft.open_vetoes:
            self._save(second=True)
            return
        app, number = self.review, self._now.item.id
        self._set_aside()
        app.call(lambda: app.book.queue.second(number, app.holder), self._let_go)
        self._tell(self.tr("second-bare"))
        self._next()

    def _let_go(self, ours: bool) -> None:
        if not ours:
            self.review.say(text(self.lang, "review.lost-now"), "caution")

    def do_hand_over(self) -> None:
        app = self.review
        app.call(app.book.scores.graders, self._ask_whom)

    def _ask_whom(self, graders: list[str]) -> None:
        others = [safe_text(name, 40) for name in graders if name != self.review.grader][:6]
        known = self.tr("hand-known", names=", ".join(others)) if others else ""
        self.review.ask_line(self.tr("hand-ask", known=known), self._hand_to, most=LOGIN_MAX + 1)

    def _hand_to(self, login: str) -> None:
        login = login.strip()
        if not login or len(login) > LOGIN_MAX or any(c.isspace() for c in login):
            self.say(self.tr("hand-bad"), "caution")
        elif login == self.review.grader:
            self.say(self.tr("hand-self"), "caution")
        elif self.now is not None:
            app, number = self.review, self._now.item.id
            self._set_aside()
            app.call(lambda: app.book.queue.hand_over(number, app.holder, login), self._let_go)
            self._tell(self.tr("handed", grader=safe_text(login)))
            self._next()

    def do_memo(self) -> None:
        app, loaded = self.review, self._now

        def kept(words: str) -> None:
            if words.strip():
                app.call(lambda: app.book.scores.note(loaded.item.id, app.grader, words.strip()), noted)

        def noted(_: None) -> None:
            app.call(lambda: app.book.scores.notes(loaded.item.id), shown)

        def shown(memos: Sequence[Memo]) -> None:
            if self.now is not None and self.now.item.id == loaded.item.id:
                self.now = self.now._replace(memos=memos)
                self.refill()
            self.say(self.tr("memo-kept"))

        app.ask_line(self.tr("memo-ask"), kept, most=COMMENT_MAX)

    def do_back(self) -> None:
        if self.asked:
            self.asked = []
            self.say("")
            self._draw_panel()
            return
        if self.draft is not None:
            self._set_aside()
        self._leave("")

    def _leave(self, words: str) -> None:
        self._give_back(self.held)
        self.now = self.draft = None
        self.ahead = []
        if self.is_attached:
            self.app.pop_screen()
        self.review.say(words)

    # --- looking ------------------------------------------------------------------------------------------------------

    def do_swap(self) -> None:
        """The other one: it is shown, or where both are, it is the one that scrolls."""
        self._swapped = not self._swapped
        if not self.wide:
            self.answer.go(0)
        self.refill()

    @property
    def _scrolled(self) -> LinesView:
        return self.side if self._swapped and self.wide else self.answer

    def do_evidence(self) -> None:
        loaded = self._now

        def title(lang: Lang) -> str:
            return text(lang, "review.evidence-title", blind=loaded.blind)

        def lines(lang: Lang, width: int) -> list[Line]:
            return evidence_lines(loaded, lang, width)

        self.review.show_lines(title, lines)

    def do_down(self) -> None:
        self._scrolled.scroll_rows(1)

    def do_up(self) -> None:
        self._scrolled.scroll_rows(-1)

    def do_page_down(self) -> None:
        self._scrolled.scroll_page(1)

    def do_page_up(self) -> None:
        self._scrolled.scroll_page(-1)

    def do_home(self) -> None:
        self._scrolled.go(0)

    def do_end(self) -> None:
        self._scrolled.go(len(self._scrolled.lines))

    # --- running again ------------------------------------------------------------------------------------------------

    def do_rerun(self) -> None:
        if self._judging:
            return
        self._judging = True
        self.say(self.tr("rerun-now"))
        self.run_worker(self._rerun(self._now), group="rerun", exit_on_error=False)

    async def _rerun(self, loaded: Loaded) -> None:
        from tutor.sandbox import SandboxUnavailable

        try:
            report = await asyncio.to_thread(_judge, self.review.lesson, loaded)
        except SandboxUnavailable as error:
            words = self.tr("rerun-broke", why=say(self.lang, error.message))
        else:
            words = self._compared(loaded, report)
        finally:
            self._judging = False
        if self.now is not None and self.now.item.id == loaded.item.id:
            self.say(words)

    def _compared(self, loaded: Loaded, report: CheckReport | tuple[str, ...]) -> str:
        if isinstance(report, tuple):
            return self.tr("rerun-weak", walls=", ".join(report))
        new: dict[str, str | int] = {
            "normal": report.normal,
            "edge": report.edge,
            "ending": ending(report.ending, self.lang),
        }
        old = loaded.result
        if old is None:
            return self.tr("rerun-first", **new)
        if old.counts == (report.ending, report.normal, report.edge):
            return self.tr("rerun-same", **new)
        was: dict[str, str | int] = {
            "old_normal": old.normal,
            "old_edge": old.edge,
            "old_ending": ending(old.ending, self.lang),
        }
        return self.tr("rerun-other", **new, **was)


def _pointed(lines: list[Line], mark: str, other: bool) -> list[Line]:
    """Lines behind a mark at the first one; `other`: behind as many blanks, since another pane has it."""
    blank = " " * len(mark)
    return [Line(((blank if n or other else mark, "strong"), *row.parts), row.item) for n, row in enumerate(lines)]


def _judge(lesson: Lesson, loaded: Loaded) -> CheckReport | tuple[str, ...]:
    """Judge a learner's blank, or say which walls are missing for others' code. Raises SandboxUnavailable."""
    from tutor.judging import Judge
    from tutor.regrade import sandbox_lacks
    from tutor.sandbox import MINIMUM, Sandbox

    missing = sandbox_lacks()
    if missing:
        return missing
    with Sandbox(MINIMUM) as sandbox:
        return Judge(lesson.exercise, sandbox).check(loaded.hand_in.blank, loaded.hand_in.edges)
