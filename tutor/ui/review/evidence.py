"""A learner's predictions and evidence under the cursor, and the lesson's own demo behind an entry, run here again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from textual.widget import Widget

from tutor.classroom.item import Loaded
from tutor.classroom.item_demo import NotRun, wanted
from tutor.lab.host import LabBusy
from tutor.lines import Part
from tutor.ui.review.base import ReviewKey
from tutor.ui.review.demo_run import DemoRun
from tutor.ui.review.evidence_lines import beside_lines, evidence_lines
from tutor.ui.review.reading_screen import ReadingScreen
from tutor.ui.theme import ThemeName
from tutor.ui.widgets.lines_view import LinesView

if TYPE_CHECKING:
    from tutor.ui.review.app import ReviewApp

#: Seconds between two paints of a run.
PAINT_S = 0.2


class EvidenceScreen(ReadingScreen):
    """The list of entries, or of one of them theirs beside ours."""

    KEYS = (
        ReviewKey("again", ("r", "enter"), "r"),
        ReviewKey("stop", ("x",), "x"),
        ReviewKey("close", (), "Esc"),
    )

    def __init__(self, review: ReviewApp, theme: ThemeName, loaded: Loaded) -> None:
        super().__init__(theme)
        self._loaded = loaded
        self._host = review.lab
        self.view = LinesView(theme)
        self.run: DemoRun | None = None
        """The last one that was started, of the entry `beside`."""
        self.beside = ""
        """The entry that is shown with its run, empty for the list."""
        self._listed = ""

    @property
    def running(self) -> bool:
        return self.run is not None and not self.run.over

    def body(self) -> Iterator[Widget]:
        yield self.view

    def on_mount(self) -> None:
        self.set_focus(self.view)
        self.set_interval(PAINT_S, self._paint)

    def on_unmount(self) -> None:
        if self.run is not None:
            self.run.cancel()

    # --- drawing ------------------------------------------------------------------------------------------------------

    def head(self) -> Sequence[Part]:
        return [("> ", "strong"), (self.tr("evidence-title", blind=self._loaded.blind), "title")]

    def refill(self) -> None:
        width = max(20, (self.view.size.width or self.app.size.width) - 1)
        if self.beside and self.run is not None:
            entry = self._loaded.hand_in.body["evidence"][self.beside]
            self.view.show(beside_lines(self.beside, entry, self.run.asked, self.run.view, self.lang, width))
        else:
            lines = evidence_lines(self._loaded, self.lang, width)
            first = next((row.item for row in lines if row.item), "")
            self.view.show(lines, item=self.view.item or self._listed or first)

    def _paint(self) -> None:
        if self.run is None or not self.run.fold():
            return
        if self.beside:
            self.refill()
        if self.run.view.ended:
            self.say("")
            self.call_after_refresh(self.draw_bars)

    def can(self, name: str) -> bool:
        if name == "stop":
            return self.running
        if name == "again":
            return bool(self._loaded.hand_in.body["evidence"]) and not self.running
        return True

    # --- commands -----------------------------------------------------------------------------------------------------

    def do_again(self) -> None:
        """Run the lesson's demo of this entry here, with the learner's settings."""
        name = self.beside or self.view.item
        if not name:
            self.say(self.tr("evidence-choose"))
            return
        try:
            asked = wanted(self.review.lesson, self._loaded.hand_in.body["evidence"][name])
            self.run = run = DemoRun(self._host, asked)
        except NotRun as reason:
            self.say(reason.message, "caution")
            return
        except LabBusy:  # one that was stopped is still ending
            self.say(self.tr("demo-busy"))
            return
        self.review.run_worker(run.read, thread=True, group="demo", exit_on_error=False)
        self._listed = self.beside = name
        self.say("")
        self.view.go(0)
        self.refill()

    def do_stop(self) -> None:
        if self.run is not None:
            self.run.cancel()
            self.say(self.tr("demo-stopping"))

    def do_close(self) -> None:
        self.do_back()

    def do_back(self) -> None:
        """From theirs beside ours to the list, from the list to the answer. A run that nobody looks at is stopped."""
        if self.running:
            self.do_stop()
        if self.beside:
            self.beside = ""
            self.say("")
            self.refill()
        else:
            self.dismiss()
