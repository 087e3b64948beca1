"""Work on the class folder on behalf of a pane. The folder may be on a file system that does not answer: a thread waits
for it, never the screen, and at most one for each errand."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from textual import on
from textual.message import Message as TextualMessage

from tutor.classroom.exchange import ExchangeError
from tutor.classroom.submission import Unacceptable
from tutor.model import Message
from tutor.paths import StateError
from tutor.ui.panes.base import ListPane, tool_broke

Result = TypeVar("Result")


class Back(TextualMessage):
    """An errand has come back; `deliver` goes on with what it brought."""

    def __init__(self, deliver: Callable[[], object]) -> None:
        super().__init__()
        self.deliver = deliver


class ErrandPane(ListPane):
    """A pane that sends errands: what they bring is delivered on the screen's own thread."""

    @on(Back)
    def _back(self, event: Back) -> None:
        event.deliver()


class Errand:
    """One thing that a pane has done to the class folder."""

    def __init__(self, pane: ErrandPane) -> None:
        self.pane = pane
        self.store = pane.store
        self.under_way = False

    def send(
        self,
        work: Callable[[], Result],
        then: Callable[[Result], object],
        refused: Callable[[Message], object] | None = None,
        *,
        must_end: bool = False,
    ) -> bool:
        """Run `work` in a thread, then `then` with its result or `refused` with why there is none, which is said
        otherwise. False while the last one has not come back. Leaving the program waits only for what `must_end`."""
        if self.under_way:
            return False

        def run() -> None:
            try:
                back: Callable[[], object] = partial(then, work())
            except (ExchangeError, Unacceptable, StateError) as error:
                back = partial(refused or self.refused, error.message)
            except Exception as error:  # The tool's own fault: the learner is told.
                back = partial(self.refused, tool_broke(error))
            self.pane.post_message(Back(partial(self._deliver, back)))

        self.under_way = True
        threading.Thread(target=run, name="class-folder", daemon=not must_end).start()
        return True

    def _deliver(self, back: Callable[[], object]) -> None:
        self.under_way = False
        back()

    def refused(self, message: Message) -> None:
        self.pane.say(message, "caution")
