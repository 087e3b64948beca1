"""One item under review, on the screen: the answer, what belongs to it, and what the grader gives by keys."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.widget import Widget

from tutor.classroom.item import Loaded
from tutor.classroom.sitting import COMMENT_MAX, digits
from tutor.gradebook.book import GradebookError
from tutor.gradebook.queue import LEASE_S, LeaseLost
from tutor.gradebook.scores import Memo
from tutor.learner.scoring import VETOES
from tutor.lines import Line, Part, line
from tutor.literals import safe_text
from tutor.strings import say
from tutor.ui.review.base import ReviewKey
from tutor.ui.review.comment import CommentPad
from tutor.ui.review.item_desk import ItemDesk
from tutor.ui.review.item_lines import answer_lines, panel_lines, side_lines
from tutor.ui.review.rerun import compared, judge
from tutor.ui.theme import ThemeName
from tutor.ui.widgets.lines_view import LinesView

if TYPE_CHECKING:
    from tutor.ui.review.app import ReviewApp

#: The most characters of a login that an item is handed to.
LOGIN_MAX = 64


class ItemScreen(ItemDesk):
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
        ReviewKey("criteria", ("E",), "E"),
        ReviewKey("hand_over", ("w",), "w"),
        ReviewKey("rerun", ("r",), "r"),
        ReviewKey("by_learner", ("l",), "l"),
        ReviewKey("back", (), "Esc"),
    )

    def __init__(self, review: ReviewApp, theme: ThemeName, question: str) -> None:
        super().__init__(review, theme, question)
        self.asked: list[str] = []
        """Vetoes that are asked, the first one now."""
        self._tens = 0
        self._judging = self._swapped = False
        self.answer, self.side, self.panel = LinesView(theme), LinesView(theme), LinesView(theme)
        self.divider = LinesView(theme)
        for view in (self.divider, self.panel, self.side):
            view.can_focus = False
        self.divider.styles.width = 3
        self.panel.styles.height = 6

    def body(self) -> Iterator[Widget]:
        row = Horizontal(self.answer, self.divider, self.side)
        row.styles.height = "1fr"
        yield row
        yield self.panel

    def on_mount(self) -> None:
        self.set_focus(self.answer)
        self.set_interval(LEASE_S / 3, self.keep_held)

    # --- drawing ------------------------------------------------------------------------------------------------------

    def head(self) -> Sequence[Part]:
        loaded, sitting = self.now, self.review.sitting
        if loaded is None:
            return [(self._question_name(), "title")]
        rule = loaded.criteria.version
        version = self.tr("rule-lesson", version=self.review.lesson.rubric.version) if rule is None else str(rule)
        failed = len([number for number in sitting.kept if number in sitting.saved])
        on_the_way = self.review.saving.on_the_way
        saved = self.tr("unsaved", count=failed) if failed else self.tr("saving" if on_the_way else "saved")
        done, count = self.counts
        counts = {"done": done, "all": count}
        words = self.tr(
            "head", question=self._question_name(), blind=loaded.blind, rubric=version, saved=saved, **counts
        )
        parts: list[Part] = [(words, "title")]
        left, typical = sitting.pace.left(count - done), sitting.pace.typical
        if left is not None and typical is not None:
            pace = self.tr("pace", typical=self._duration(typical), left=self._duration(left))
            parts += [(" | ", "plain"), (pace, "plain")]
        return parts

    def _duration(self, seconds: float) -> str:
        if seconds < 100:
            return self.tr("seconds", count=round(seconds))
        return self.tr("minutes", count=round(seconds / 60))

    def shown_anew(self) -> None:
        self.asked, self._tens, self._swapped = [], 0, False
        self.answer.go(0)
        self.side.go(0)
        self.refill()

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
        loaded, draft = self._now, self._draft

        def written(words: str | None) -> None:
            draft.write(words or "")
            self._draft_changed(loaded, draft)
            self.refill()

        def typed(words: str) -> None:
            """While it is being written: what stands there now is on the disk already."""
            self.review.keep_draft(loaded, draft.given._replace(comment=words.strip()[:COMMENT_MAX]))

        pad = CommentPad(self.theme_name, self.lang, draft.given.comment, loaded.phrases, typed)
        self.app.push_screen(pad, written)

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
            self._set_aside()
            self.ahead.insert(0, self.now)
        self.show(loaded, again=True)

    # --- for others, and away -----------------------------------------------------------------------------------------

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
            self.tell(self.tr("handed", grader=safe_text(login)))
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
        from tutor.ui.review.evidence import EvidenceScreen

        self.app.push_screen(EvidenceScreen(self.review, self.theme_name, self._now))

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
        # On the application, which says what breaks: a worker's message does not bubble.
        self.review.run_worker(self._rerun(self._now), group="rerun", exit_on_error=False)

    async def _rerun(self, loaded: Loaded) -> None:
        from tutor.sandbox import SandboxUnavailable

        try:
            report = await asyncio.to_thread(judge, self.review.lesson, loaded)
        except SandboxUnavailable as error:
            words = self.tr("rerun-broke", why=say(self.lang, error.message))
        else:
            words = compared(loaded, report, self.lang)
        finally:
            self._judging = False
        if self.now is not None and self.now.item.id == loaded.item.id:
            self.say(words)


def _pointed(lines: list[Line], mark: str, other: bool) -> list[Line]:
    """Lines behind a mark at the first one; `other`: behind as many blanks, since another pane has it."""
    blank = " " * len(mark)
    return [Line(((blank if n or other else mark, "strong"), *row.parts), row.item) for n, row in enumerate(lines)]
