"""What the screens that are read share: the cursor goes from item to item, and where there is none the page moves."""

from __future__ import annotations

from tutor.ui.review.base import ReviewBase
from tutor.ui.widgets.lines_view import LinesView


class ReadingScreen(ReviewBase):
    """`view` is what the keys for moving move in."""

    view: LinesView

    def do_down(self) -> None:
        _ = self.view.move(1) or self.view.scroll_rows(1)

    def do_up(self) -> None:
        _ = self.view.move(-1) or self.view.scroll_rows(-1)

    def do_page_down(self) -> None:
        self.view.scroll_page(1)

    def do_page_up(self) -> None:
        self.view.scroll_page(-1)

    def do_home(self) -> None:
        self.view.go(0)

    def do_end(self) -> None:
        self.view.go(len(self.view.lines))
