"""What has come back from the class: fetched when the page is opened, shown under the parts of the score."""

from __future__ import annotations

from collections.abc import Callable

from tutor.classroom import returned
from tutor.classroom.handed_in import Kept
from tutor.classroom.returned import CameBack
from tutor.lines import Line
from tutor.model import Message
from tutor.ui.panes.errand import Errand
from tutor.ui.views.feedback import feedback_lines, waiting_lines


class Fetch(Errand):
    """`came` is what was found last; nothing before the first time."""

    came = CameBack(Kept([], []), None)
    _asked_again = False

    def start(self) -> None:
        """Look; when the last look has not come back, once it has: a folder that does not answer holds one thread."""
        state = self.store.journal.folder
        self._asked_again = not self.send(lambda: returned.look(state), self._came)

    def _deliver(self, back: Callable[[], object]) -> None:
        super()._deliver(back)
        if self._asked_again:  # What was looked for before may have come since.
            self.start()

    def lines(self, width: int) -> list[Line]:
        lang, (kept, found) = self.store.lang, self.came
        if found is not None:
            return feedback_lines(self.store.lesson, found, lang, width)
        return waiting_lines(kept.receipts[-1], lang, width) if kept.receipts else []

    def refused(self, message: Message) -> None:
        if self.pane.display:
            super().refused(message)

    def _came(self, came: CameBack) -> None:
        self.came = came
        for notice in came.kept.notices:
            self.refused(notice)
        if self.store.journal.read_only is None:
            for kind, data in came.events(self.store.progress):
                self.store.record(kind, **data)
        if self.pane.display:
            self.pane.refill()
        self.pane.changed()
