"""The result: nothing that is not earned, for each part what it still needs, and the way to the class and back."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, cast

from tutor.learner.line_file import write_whole
from tutor.lines import Part
from tutor.paths import why
from tutor.strings import text
from tutor.ui.commands import Context
from tutor.ui.panes.came_back import Fetch
from tutor.ui.panes.errand import ErrandPane
from tutor.ui.panes.hand_in import HandIn
from tutor.ui.panes.look_again import LookAgain
from tutor.ui.views.result import TABS, result_lines

if TYPE_CHECKING:
    from tutor.ui.overlays import Overlays
    from tutor.ui.store import Store
    from tutor.ui.theme import ThemeName


class ResultPane(ErrandPane):
    """A row per part; Enter goes to the tab where it is mended."""

    context: ClassVar[Context] = "result"

    def __init__(self, store: Store, theme: ThemeName, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(store, theme, id=id)
        self._fetch = Fetch(self)
        self._hand_in = HandIn(self, self._overlays, self._fetch.start)
        self._look_again = LookAgain(self, self._overlays, self._fetch.start)

    def title(self) -> list[Part]:
        score = self.store.score
        state = "partly" if score.is_partly_final else score.state.replace("-", "_")
        return [(self.tr(f"result_title_{state}", got=score.points, of=score.of), "title")]

    def refill(self) -> None:
        self.draw_title()
        width = max(30, self.body.size.width - 1)
        lines = result_lines(self.store.lesson, self.store.progress, self.store.lang, width, self._fetch.lines(width))
        self.body.show(lines, first=True)

    def set_active(self, active: bool) -> None:
        """Whoever opens the page is shown what has come back by now."""
        opened = active and not self.active
        super().set_active(active)
        if opened:
            self._fetch.start()

    # --- commands -----------------------------------------------------------------------------------------------------

    def do_act(self) -> None:
        self.choose(self.body.item)

    def choose(self, item: str) -> None:
        name = item.removeprefix("part:")
        if name in TABS:
            self.post_message(self.Go(TABS[name]))

    def do_hand_in(self) -> None:
        self._hand_in.start()

    def do_look_again(self) -> None:
        """Of the question under the cursor."""
        self._look_again.start(self._fetch.came, self.body.item.removeprefix("part:"))

    def do_report(self) -> None:
        """Write the report as Markdown and as HTML beside the journal, over those of an earlier time."""
        from tutor.learner import report_text
        from tutor.learner.report import report

        store = self.store
        store.flush()
        at = datetime.now().astimezone().isoformat(timespec="seconds")
        data = report(store.progress, store.lesson, store.lang, at)
        for kind in report_text.KINDS:
            path = store.journal.folder / f"report.{kind}"
            try:
                write_whole(path, report_text.as_file(data, kind, store.lang))
            except OSError as error:
                self.say(text(store.lang, "report.unwritable", path=str(path), why=why(error)), "caution")
                return
        self.say(self.tr("result_written", folder=str(store.journal.folder)), "good")

    def _overlays(self) -> Overlays:
        return cast("Overlays", self.app)
