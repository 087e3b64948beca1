"""What the screens around the list of the class share: a cursor in a view of rows."""

from __future__ import annotations

from tutor.ui.review.base import ReviewBase
from tutor.ui.widgets.lines_view import LinesView


class ClassScreen(ReviewBase):
    """`view` is what the keys for moving move in: a row at a time, always with the cursor on one."""

    SECTION = "class_screens"
    view: LinesView

    def do_down(self) -> None:
        self.view.move(1)

    def do_up(self) -> None:
        self.view.move(-1)

    def do_page_down(self) -> None:
        self.go(self.view.at + max(1, self.view.size.height - 1))

    def do_page_up(self) -> None:
        self.go(self.view.at - max(1, self.view.size.height - 1))

    def do_home(self) -> None:
        self.go(0)

    def do_end(self) -> None:
        self.go(len(self.view.lines) - 1)

    def go(self, row: int) -> None:
        """The cursor to a row, as far as there are any."""
        if self.view.lines:
            self.view.point(max(0, min(row, len(self.view.lines) - 1)))
