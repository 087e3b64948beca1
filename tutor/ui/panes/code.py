"""The blank: the whole function with one place to fill, and the verdict directly under it."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import TextArea

from tutor.exercise.blanks import Blank
from tutor.lines import Part, wrap
from tutor.model import CheckReport
from tutor.ui.commands import Context
from tutor.ui.panes.base import Pane
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName
from tutor.ui.widgets.blank_editor import BlankEditor
from tutor.ui.widgets.lines_view import LinesView

#: Colours come this long after the pane: importing the lexer would hold up its first keys, in seconds.
COLOURS_AFTER_S = 0.8
#: Rows that the code keeps when a verdict is long.
CODE_ROWS = 6


class CodePane(Pane):
    """Editor above, verdict below. The verdict is one of the text as it was judged: after an edit it says so."""

    context: ClassVar[Context] = "code"

    def __init__(self, store: Store, theme: ThemeName) -> None:
        super().__init__(store, theme, id="code")
        self.blank = Blank.of(store.lesson.exercise.template, store.lesson.exercise.blank)
        self.marker = store.lesson.exercise.blank
        self.area = BlankEditor(self.blank, self.marker, store.draft("code", self.marker), theme)
        self.verdict = LinesView(theme, id="verdict")
        self.verdict.styles.height = 1
        self.verdict.before_paint = self.refill
        self.judging = False
        self._height = 1
        self._stale = False

    def content(self) -> ComposeResult:
        yield self.area
        yield self.verdict

    def on_mount(self) -> None:
        row, column = self.store.cursor("code")
        if (row, column) == (0, 0):
            self.area.move_cursor(self.area.blank_range[1])
        else:
            self.area.move_cursor((row, column))
        self.set_timer(COLOURS_AFTER_S, self._colour)

    def _colour(self) -> None:
        self.area.set_colours(self.theme_name)

    # --- what is shown -----------------------------------------------------------------------------------------------

    def title(self) -> list[Part]:
        return [(self.tr("code_title"), "title"), ("  " + self.tr("code_locked"), "muted")]

    def editor(self) -> Widget:
        return self.area

    def home(self) -> Widget:
        return self.verdict

    def report(self) -> CheckReport | None:
        checked = self.store.progress.last_check
        if checked is None:
            return None
        from tutor.exercise.judging import report_from_data

        return report_from_data(checked.report)

    def refill(self) -> None:
        self.draw_title()
        width = max(20, self.size.width - 1)
        report = self.report()
        self._stale = report is not None and not self.store.progress.verdict_is_of(self.area.blank_text)
        if self.judging:
            lines = wrap([(self.tr("judging"), "plain")], width)
        elif report is None:
            lines = wrap([(self.tr("code_empty"), "plain")], width)
        else:
            from tutor.ui.views.verdict import verdict_lines

            lines = verdict_lines(self.store.lesson, report, self.store.lang, width, stale=self._stale)
        room = max(1, self.size.height - 1 - CODE_ROWS)
        height = min(len(lines), room)
        if height != self._height:
            self._height = height
            self.verdict.styles.height = height
        if list(self.verdict.lines) != lines:
            self.verdict.show(lines, top=0)

    def set_theme(self, theme: ThemeName) -> None:
        super().set_theme(theme)
        self.area.set_colours(theme)

    def keep(self) -> None:
        self.store.keep_draft("code", self.area.blank_text, self.area.cursor_location)

    # --- typing ------------------------------------------------------------------------------------------------------

    @on(TextArea.Changed)
    def _typed(self) -> None:
        self.keep()
        if self.store.progress.last_check is not None:
            stale = self._stale
            self.refill()
            if self._stale and not stale:
                self.say("")  # The verdict on the message row is of the text before, too.
        self.changed()

    @on(BlankEditor.Locked)
    def _locked(self) -> None:
        self.say(self.tr("locked"), "caution")

    # --- commands ----------------------------------------------------------------------------------------------------

    def do_open(self) -> None:
        self.area.enter()

    def do_undo(self) -> None:
        self.area.undo()

    def do_down(self) -> None:
        self.verdict.scroll_rows(1)

    def do_up(self) -> None:
        self.verdict.scroll_rows(-1)

    def do_page_down(self) -> None:
        self.verdict.scroll_page(1)

    def do_page_up(self) -> None:
        self.verdict.scroll_page(-1)

    def put_blank(self, text: str) -> None:
        """Another text for the blank, from a reset or an editor; undo brings the old one back."""
        self.area.put(text)

    def reset(self) -> None:
        before = self.area.blank_text
        self.put_blank(self.marker)
        self.store.flush()
        if before != self.marker:
            self.store.record("reset", name="code", text=self.marker)
        self.say(self.tr("reset_done"))
