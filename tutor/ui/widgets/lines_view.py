"""A pane of prepared lines that scrolls and may have a cursor on one item. It draws just the rows that are seen.

Lines depend on the width, which is not known before the first paint; a `before_paint` of the owner is called then, so
that the first paint shows them already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tutor.lines import Line
from tutor.ui.theme import ThemeName, roles


class LinesView(Widget, can_focus=True):
    """Shows `lines` from row `top`; `at` is the index of the line with the cursor, -1 for none."""

    HEIGHT: ClassVar[str | int] = "1fr"

    class Picked(Message):
        """A line with an item was clicked."""

        def __init__(self, view: LinesView, item: str) -> None:
            super().__init__()
            self.view = view
            self.item = item

        @property
        def control(self) -> LinesView:
            return self.view

    def __init__(self, theme: ThemeName, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        # Set here and not in CSS: a rule costs a start more than all its lines.
        self.styles.width, self.styles.height = "1fr", self.HEIGHT
        self.lines: Sequence[Line] = ()
        self.top = 0
        self.at = -1
        self._roles = roles(theme)
        self._painted = Size(0, 0)
        self._painting = False
        self.before_paint: Callable[[], None] | None = None
        self.after_move: Callable[[], None] | None = None
        """Called when what is seen of the lines may be another part of them."""

    def set_theme(self, theme: ThemeName) -> None:
        self._roles = roles(theme)
        self.refresh()

    def show(
        self, lines: Sequence[Line], *, top: int | None = None, item: str | None = None, first: bool = False
    ) -> None:
        """Replace the lines; the cursor stays on its item (or goes to `item`), one that `point` put on a line without
        an item on the nearest line of the same words, and the view on its row unless told. With `first`, a cursor that
        is nowhere goes to the first item, unless the view was moved away from there."""
        before, at = self.item, self.at
        wanted = before if item is None else item
        words = self.lines[at].text if not wanted and 0 <= at < len(self.lines) else ""
        self.lines = lines
        self.at = next((n for n, row in enumerate(lines) if row.item and row.item == wanted), -1)
        if words:
            same = (n for n, row in enumerate(lines) if row.text == words)
            self.at = min(same, key=lambda n: abs(n - at), default=-1)
        self.top = self._clamped(self.top if top is None else top)
        begins = first and self.at < 0 and self.top == 0
        if begins:
            self.at = next((n for n, row in enumerate(lines) if row.item), -1)
        if self.at >= 0 and (begins or wanted != before):
            self._reveal()
        self._moved()
        if not self._painting or self.styles.is_auto_height:
            self.refresh(layout=self.styles.is_auto_height)

    @property
    def rows_below(self) -> int:
        """How many lines are below those that are seen; 0 before the first layout."""
        height = self.size.height
        return max(0, len(self.lines) - self.top - height) if height else 0

    @property
    def item(self) -> str:
        """The item under the cursor, empty when there is none."""
        return self.lines[self.at].item if 0 <= self.at < len(self.lines) else ""

    def scroll_rows(self, rows: int) -> bool:
        """Move the view; False when it is at that end already. A cursor that leaves the view is let go."""
        top = self._clamped(self.top + rows)
        if top == self.top:
            return False
        self.top = top
        if not self.top <= self.at < self.top + self.size.height:
            self.at = -1
        self._moved()
        self.refresh()
        return True

    def scroll_page(self, pages: int) -> bool:
        return self.scroll_rows(pages * max(1, self.size.height - 1))

    def go(self, row: int) -> None:
        """Show line `row` at the top, as far as there are lines below it."""
        self.top = self._clamped(row)
        self._moved()
        self.refresh()

    def move(self, step: int) -> bool:
        """The cursor to the next (1) or previous (-1) item; False when there is none that way."""
        below = min(self.top + self.size.height, len(self.lines))
        start = self.at if self.at >= 0 else (self.top - 1 if step > 0 else below)
        at = start + step
        while 0 <= at < len(self.lines):
            if self.lines[at].item and self.lines[at].item != self.item:
                self.at = at
                self._reveal()
                self.refresh()
                return True
            at += step
        return False

    def select(self, item: str) -> None:
        """The cursor to the line of `item`, if there is one."""
        for n, row in enumerate(self.lines):
            if row.item == item:
                self.at = n
                self._reveal()
                self.refresh()
                return

    def point(self, row: int) -> None:
        """The cursor to line `row`, whether it is an item or not."""
        self.at = row
        self._reveal()
        self.refresh()

    def _reveal(self) -> None:
        height = self.size.height
        if not height:
            return
        if self.at < self.top:
            self.top = self._clamped(self.at - 1)
        elif self.at >= self.top + height:
            self.top = self._clamped(self.at - height + 2)
        self._moved()

    def _moved(self) -> None:
        if self.after_move is not None:
            self.after_move()

    def _clamped(self, top: int) -> int:
        return max(0, min(top, len(self.lines) - max(1, self.size.height)))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        return len(self.lines)

    def on_resize(self) -> None:
        self.top = self._clamped(self.top)

    def forget(self) -> None:
        """What is shown is no longer true: the owner is asked again before the next paint."""
        self._painted = Size(0, 0)
        self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        if self._painted != self.size:
            self._painted = self.size
            if self.before_paint is not None:
                self._painting = True
                self.before_paint()
                self._painting = False
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        base, width = self.rich_style, self.size.width
        row = y + self.top
        if row >= len(self.lines):
            return Strip.blank(width, base)
        chosen = row == self.at
        segments = [
            Segment(text, base + self._roles[role] + (self._roles["focus"] if chosen else self._roles["plain"]))
            for text, role in self.lines[row].parts
        ]
        return Strip(segments).adjust_cell_length(width, base)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        if self.scroll_rows(3):
            event.stop()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        if self.scroll_rows(-3):
            event.stop()

    def on_click(self, event: events.Click) -> None:
        row = event.y + self.top
        if 0 <= row < len(self.lines) and self.lines[row].item:
            self.at = row
            self.refresh()
            self.post_message(self.Picked(self, self.lines[row].item))
