"""One of the three questions: written, checked with the learner, locked, compared, self-scored, argued again."""

from __future__ import annotations

from textual import on
from textual.widget import Widget
from textual.widgets import TextArea

from tutor.lines import Part, wrap
from tutor.strings import text
from tutor.ui.panes.answer_committed import AnswerCommitted
from tutor.ui.panes.answer_draft import AnswerDraft
from tutor.ui.panes.answer_page import ANSWER_MAX
from tutor.ui.views import answer as check_view
from tutor.ui.views import committed as committed_view
from tutor.ui.views.lesson import prose

#: The self-check leaves at least so many rows to the answer.
ROWS_LEFT = 7


class AnswerPane(AnswerDraft, AnswerCommitted):
    """The question; then the page to write on with its self-check, or what is locked with the reference."""

    # --- for the screen ----------------------------------------------------------------------------------------------

    def title(self) -> list[Part]:
        name: Part = (self.question.id.upper() + "  ", "title")
        if self.mode == "committed":
            times = len(self.answer.unlocked)
            more = " | " + self.at("unlocked-times", count=times) if times else ""
            return [name, (committed_view.stamp(self.answer, self.store.lang) + more, "muted")]
        words = self._editor().text
        over = len(words) > ANSWER_MAX
        if self.mode == "arguing":
            count = self.at("again-title", chars=len(words), limit=ANSWER_MAX)
        elif number := len(self.answer.versions):
            count = self.at("draft", number=number + 1, chars=len(words), limit=ANSWER_MAX)
        else:
            count = self.at("draft-none", chars=len(words), limit=ANSWER_MAX)
        return [name, (count, "caution" if over else "muted")]

    def editor(self) -> Widget | None:
        return None if self.mode == "committed" else self._editor()

    def refill(self) -> None:
        self._arrange()
        self.draw_title()
        lang, width = self.store.lang, max(20, self.size.width - 1)
        asked = wrap(prose(self.question.text.get(lang), "strong"), width)
        change = (
            next((one for one in self.store.lesson.rubric.changes if one.id == self.answer.change), None)
            if (self.mode == "arguing")
            else None
        )
        if change is not None:
            asked += wrap([(change.text.get(lang), "caution")], width)
        self.asked.show(asked)
        if self.mode == "committed":
            reference = self.store.lesson.reference(self.question.id, lang)
            progress = self.store.progress
            lines = committed_view.committed_lines(self.store.lesson, self.rubric, progress, reference, lang, width)
            self.page.show(lines, first=True)
            return
        words = self._editor().text
        if len(words) > ANSWER_MAX:
            lines = wrap([(self.at("too-long", chars=len(words), limit=ANSWER_MAX), "caution")], width)
        elif self.mode == "arguing":
            lines = wrap([(self.at("again-hint"), "muted")], width)
        elif self.checked is None:
            lines = wrap([(self.at("hint"), "muted")], width)
            lines += check_view.cited(self.store.progress, words, lang, width)
        else:
            lines = check_view.check_lines(
                self.store.lesson.rubric, self.rubric, self.checked, self.store.progress, words, lang, width
            )
        self.check.styles.height = max(1, min(len(lines), self.size.height - len(asked) - ROWS_LEFT))
        self.check.show(lines, first=True)

    def choose(self, item: str) -> None:
        self.view.select(item)

    def insert(self, words: str) -> None:
        """Put a citation at the cursor."""
        self._editor().insert(words)

    def replace_all(self, words: str) -> None:
        """Another text from an editor; undo brings the old one back."""
        area = self._editor()
        area.history.checkpoint()
        area.replace(words, (0, 0), area.document.end)
        area.history.checkpoint()

    def act_words(self) -> str:
        item = self.view.item
        return self.tr("do_act_line" if item.startswith("slot:") else "do_act_lab")

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.keep()
        self.refill()
        self.changed()

    # --- moving ------------------------------------------------------------------------------------------------------

    def do_open(self) -> bool:
        if self.mode == "committed":
            return self.do_act()
        self.screen.set_focus(self._editor())
        return True

    def do_undo(self) -> None:
        self._editor().undo()

    def do_down(self) -> None:
        _ = self.view.move(1) or self.view.scroll_rows(1)

    def do_up(self) -> None:
        _ = self.view.move(-1) or self.view.scroll_rows(-1)

    def do_page_down(self) -> None:
        self.view.scroll_page(1) if self.mode == "committed" else self._editor().action_cursor_page_down()

    def do_page_up(self) -> None:
        self.view.scroll_page(-1) if self.mode == "committed" else self._editor().action_cursor_page_up()

    def do_home(self) -> None:
        self.view.go(0)

    def do_end(self) -> None:
        self.view.go(len(self.view.lines))

    def can(self, command: str) -> bool:
        kind = self.view.item.partition(":")[0]
        mode, draft = self.mode, self.mode == "draft"
        asked = kind == "veto" if mode == "committed" else draft and self.asks(kind)
        allowed = {
            "act": mode == "committed",
            "tick": mode == "committed" and kind == "slot",
            "yes": asked,
            "no": asked,
            "prompt": draft and self.checked is not None and kind == "slot",
            "cite": mode != "committed",
            "editor": mode != "committed",
            "undo": mode != "committed",
            "commit": mode != "committed",
            "doubt": mode == "committed" and kind == "slot",
            "unlock": mode == "committed",
            "versions": bool(self.answer.versions),
            "back": mode == "arguing",
            "run": draft,
        }
        return allowed.get(command, True)

    # --- what is asked -----------------------------------------------------------------------------------------------

    def do_yes(self) -> bool:
        return self._answered(True)

    def do_no(self) -> bool:
        return self._answered(False)

    def _answered(self, yes: bool) -> bool:
        if self.mode != "committed":
            self.answer_check(yes)
        elif not self.answer_veto(yes):
            return False
        self.changed()
        return True

    # --- where one writes --------------------------------------------------------------------------------------------

    def do_cite(self) -> bool:
        if self.mode == "committed":
            return False
        self.tutor.cite(self)
        return True

    def do_editor(self) -> bool:
        if self.mode == "committed":
            return False
        self.tutor.open_editor(self)
        return True

    def do_versions(self) -> None:
        if not self.answer.versions:
            self.say(self.at("versions-none"))
            return
        self.tutor.show_lines(
            lambda lang: text(lang, "answer.versions-title", question=self.question.id.upper()),
            lambda lang, width: committed_view.version_lines(self.answer, lang, width),
        )

    def do_back(self) -> bool:
        if self.mode != "arguing":
            return False
        self.keep()
        self.store.flush()
        self.arguing = False
        self._show("")
        return True
