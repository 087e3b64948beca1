"""An editor of the whole function in which only the blank can change.

Every change goes through `TextArea.edit`, undo and redo replay what was accepted there. An edit is first cut down to
the blank; what would still touch locked text is refused. The place of the blank is computed from the text each time,
since undo and redo do not pass `edit`.
"""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.message import Message
from textual.strip import Strip
from textual.widgets.text_area import Edit, EditResult, Location, Selection

from tutor.exercise.blanks import TEXT_MAX, Blank
from tutor.ui.theme import ThemeName, roles
from tutor.ui.widgets import syntax
from tutor.ui.widgets.fields import Prose, clean

GUTTER = 2


class BlankEditor(Prose):
    """Shows `blank.fill(text)`; `blank_text` is what stands in the blank."""

    class Locked(Message):
        """A key or a paste that would have changed locked text was refused."""

    def __init__(self, blank: Blank, placeholder: str, text: str, theme: ThemeName) -> None:
        self._blank = blank
        self._placeholder = placeholder
        self._roles = roles(theme)
        self._styled: tuple[str, list[Text]] = ("", [])
        self.colour = False
        super().__init__(blank.fill(clean(text)), soft_wrap=False, limit=TEXT_MAX)

    # --- the blank ---------------------------------------------------------------------------------------------------

    @property
    def blank_text(self) -> str:
        found = self._blank.extract(self.text)
        if found is None:
            raise AssertionError("locked text changed in the editor")
        return found

    @property
    def blank_range(self) -> tuple[Location, Location]:
        """Where the blank starts and ends, as (row, column) of the document."""
        before, after = self._blank.prefix.split("\n"), self._blank.suffix.split("\n")
        row = self.document.line_count - len(after)
        return (len(before) - 1, len(before[-1])), (row, len(self.document.get_line(row)) - len(after[0]))

    def put(self, text: str) -> None:
        """Replace the blank's text as one edit that can be undone."""
        start, end = self.blank_range
        self.history.checkpoint()
        self.replace(text, start, end, maintain_selection_offset=False)
        self.history.checkpoint()

    def enter(self) -> None:
        """Take the focus with the cursor in the blank; the placeholder is selected, so that typing replaces it."""
        start, end = self.blank_range
        if not start <= self.cursor_location <= end:
            self.move_cursor(end)
        if self.blank_text == self._placeholder:
            self.selection = Selection(start, end)
        self.screen.set_focus(self)

    def edit(self, edit: Edit) -> EditResult:
        edit.text = clean(edit.text)
        start, end = self.blank_range
        if edit.bottom < start or edit.top > end:
            return self._refused()
        top, bottom = max(edit.top, start), min(edit.bottom, end)
        if (top, bottom) != (edit.top, edit.bottom):
            if not edit.text and top == bottom:
                return self._refused()
            edit = Edit(edit.text, top, bottom, False)
        would_be = self._would_be(edit)
        if len(would_be) - len(self._blank.prefix) - len(self._blank.suffix) > self.limit:
            return self.refused(len(edit.text))
        result = self._blank.extract(would_be)
        if result is None:
            return self._refused()
        return super().edit(edit)

    def _would_be(self, edit: Edit) -> str:
        document = self.document
        before = document.get_text_range((0, 0), edit.top)
        after = document.get_text_range(edit.bottom, document.end)
        # The document keeps its own newline for every line end.
        return (before + edit.text + after).replace("\r\n", "\n").replace("\r", "\n")

    def _refused(self) -> EditResult:
        self.post_message(self.Locked())
        return EditResult(self.cursor_location, "")

    # --- keys that TextArea would take past the blank ----------------------------------------------------------------

    def action_cut(self) -> None:
        """Cut inside the blank only: a refused cut must not wipe the clipboard."""
        start, end = self.blank_range
        top, bottom = sorted(self.selection)
        if top == bottom:
            top, bottom = (start, end) if start <= top <= end else (top, top)
        top, bottom = max(top, start), min(bottom, end)
        if top >= bottom:
            self.post_message(self.Locked())
            return
        words = self.get_text_range(top, bottom)
        self.delete(top, bottom, maintain_selection_offset=False)
        self.app.copy_to_clipboard(words)

    def action_select_all(self) -> None:
        """All of the blank first; all of the text when that is selected already."""
        start, end = self.blank_range
        whole = Selection(start, end)
        if self.selection == whole or start == end:
            super().action_select_all()
        else:
            self.selection = whole

    def on_resize(self) -> None:
        self.call_after_refresh(self.reveal)

    def reveal(self) -> None:
        """The function from its first line on when the cursor is seen then, else as far down as it is."""
        self.scroll_to(0, 0, animate=False)
        self.scroll_cursor_visible(animate=False)

    # --- how it looks ------------------------------------------------------------------------------------------------

    def set_colours(self, theme: ThemeName, *, colour: bool = True) -> None:
        """The theme's roles, and whether code is coloured (after the first frame: the lexer is not needed for it)."""
        self._roles, self.colour = roles(theme), colour
        self._styled = ("", [])
        self._line_cache.clear()
        self.refresh()

    @property
    def gutter_width(self) -> int:
        return GUTTER

    def get_line(self, line_index: int) -> Text:
        if self._styled[0] != self.text or not self._styled[1]:
            self._styled = (self.text, self._style(self.text))
        return self._styled[1][line_index].copy()

    def _style(self, source: str) -> list[Text]:
        (first, left), (last, right) = self.blank_range
        coloured = syntax.spans(source) if self.colour else [[] for _ in source.split("\n")]
        lines = []
        for row, words in enumerate(source.split("\n")):
            text = Text(words, end="", no_wrap=True, style=self._roles["muted"])
            for start, end, role in coloured[row]:
                text.stylize(self._roles[role], start, end)
            if first <= row <= last:
                begin, stop = left if row == first else 0, right if row == last else len(words)
                text.stylize(self._roles["blank"], begin, stop)
            lines.append(text)
        return lines

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        row = y + self.scroll_offset.y
        (first, left), (last, _) = self.blank_range
        locked = row < self.document.line_count and not (first < row <= last and (row < last or left == 0))
        base: Style = self.rich_style
        mark = Segment("| " if locked else "  ", base + self._roles["muted"])
        return Strip.join([Strip([mark], GUTTER), strip])
