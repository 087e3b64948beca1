"""The result: nothing that is not earned, and for each part what it still needs."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from tutor.line_file import write_whole
from tutor.paths import why
from tutor.strings import text
from tutor.ui.commands import Context
from tutor.ui.lines import Part
from tutor.ui.panes.base import ListPane
from tutor.ui.views.result import TABS, result_lines


class ResultPane(ListPane):
    """A row per part; Enter goes to the tab where it is mended."""

    context: ClassVar[Context] = "result"

    def title(self) -> list[Part]:
        score = self.store.score
        return [(self.tr(f"result_title_{score.state.replace('-', '_')}", got=score.points, of=score.of), "title")]

    def refill(self) -> None:
        self.draw_title()
        width = max(30, self.body.size.width - 1)
        lines = result_lines(self.store.lesson, self.store.progress, self.store.lang, width)
        first = next(row.item for row in lines if row.item)
        self.body.show(lines, item=self.body.item or first)

    def do_act(self) -> None:
        self.choose(self.body.item)

    def choose(self, item: str) -> None:
        name = item.removeprefix("part:")
        if name in TABS:
            self.post_message(self.Go(TABS[name]))

    def do_report(self) -> None:
        """Write the report as Markdown and as HTML beside the journal, over those of an earlier time."""
        from tutor import report_text
        from tutor.report import report

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
