"""What every view of the lab is: one of the sub-tabs, and a run that streams into it without flooding the screen."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from textual import on
from textual.message import Message as TextualMessage
from textual.worker import Worker, WorkerState

from tutor.lab import protocol
from tutor.lab.host import LabBusy, LabHost, Run
from tutor.lab.protocol import Outcome
from tutor.model import Demo, Message
from tutor.strings import text
from tutor.ui.commands import Context, by_id, key_label
from tutor.ui.panes.base import ListPane, tool_broke
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName

if TYPE_CHECKING:
    from tutor.ui.app import TutorApp

#: Seconds between two paints of a run that streams.
PAINT_S = 0.1
#: What of a result is no part of the evidence.
_ENVELOPE = ("schema", "event", "at")


class Ran(Protocol):
    """What a view shows of its last run; `evidence` is the id that it was kept under, None while it is not."""

    evidence: str | None


#: Columns that code moves sideways at a time.
STEP = 16


class LabView(ListPane):
    """One view of the lab. `turn(step)` shows the neighbour, `bring(name)` any other, and `runner()` is the one
    whose run is going; the tab that holds the views sets them."""

    context: ClassVar[Context] = "lab"
    place: ClassVar[str]
    """The name of its sub-tab."""
    ran: Ran | None = None

    class Came(TextualMessage):
        """An event of the run came; many of these are one."""

        def can_replace(self, message: TextualMessage) -> bool:
            return isinstance(message, LabView.Came)

    def __init__(self, store: Store, theme: ThemeName) -> None:
        super().__init__(store, theme, id=f"lab-{self.place}")
        self.turn: Callable[[int], Awaitable[bool]]
        self.bring: Callable[[str], Awaitable[LabView]]
        self.runner: Callable[[], LabView | None] = lambda: self if self.running else None
        self.run: Run | None = None
        self._came: deque[dict[str, Any]] = deque()
        self._painted = 0.0
        self._due = False
        self._reader: Worker[None] | None = None

    @property
    def tutor(self) -> TutorApp:
        return cast("TutorApp", self.app)

    @property
    def host(self) -> LabHost:
        return self.tutor.lab

    @property
    def running(self) -> bool:
        return self.run is not None

    def on_unmount(self) -> None:
        if self.run is not None:
            self.run.cancel()

    def lv(self, key: str, /, **args: str | int | float) -> str:
        """A sentence of the lab's views."""
        return text(self.store.lang, f"lab_views.{key}", **args)

    # --- commands ----------------------------------------------------------------------------------------------------

    def can(self, command: str) -> bool:
        if command == "stop":
            return self.runner() is not None
        if command == "cite":
            return self.cited() is not None
        if command == "run":
            return not self.running
        if command in ("editor", "reset"):
            return False
        return super().can(command)

    def do_down(self) -> None:
        self._step(1)

    def do_up(self) -> None:
        self._step(-1)

    def _step(self, step: int) -> None:
        """To the next item, else a row on. A cursor that was left behind is let go; one in sight is picked up."""
        body = self.body
        in_sight = range(body.top, min(body.top + body.size.height, len(body.lines)))
        if body.at not in in_sight:
            body.at = -1
        if not (any(body.lines[n].item for n in in_sight) and body.move(step)):
            body.scroll_rows(step)
        self.follow()

    def follow(self) -> None:
        """The cursor has moved: draw anew what is told of the item under it."""
        self.refill()

    async def do_left(self) -> bool:
        return await self.turn(-1)

    async def do_right(self) -> bool:
        return await self.turn(1)

    def do_editor(self) -> None:
        self._not_here("editor")

    def do_reset(self) -> None:
        self._not_here("reset")

    def _not_here(self, command: str) -> None:
        """A command that only another view of the lab has."""
        self.say(self.tr("not_here", key=key_label(by_id(command), editing=command == "editor")))

    def do_stop(self) -> bool:
        """Stop the run, whichever view it belongs to."""
        view = self.runner()
        if view is None or view.run is None:
            return False
        view.run.cancel()
        self.say(self.tr("lab_stopping"))
        return True

    def do_search(self) -> None:
        self.tutor.ask_line(self.lv("search"), self.search)

    def search(self, wanted: str) -> None:
        """The cursor to the next line with these words, round from the end."""
        rows = self.body.lines
        for turn in range(1, len(rows) + 1):
            at = (self.body.at + turn) % len(rows)
            if wanted and wanted.casefold() in rows[at].text.casefold():
                self.body.point(at)
                return
        self.say(self.lv("not-found", words=wanted))

    def cited(self) -> str | None:
        """The id of the evidence that `c` puts into an answer, None when there is none here."""
        return self.ran.evidence if self.ran is not None else None

    async def do_cite(self) -> None:
        """Put the evidence into the answer that was written last, and go there."""
        name = self.cited()
        if name is None:
            self.say(self.tr("evidence_empty"))
        else:
            await self.tutor.cite_there(name)

    # --- a run -------------------------------------------------------------------------------------------------------

    def start(self, demo: Demo, **asked: Any) -> bool:
        """Begin a run whose events come to `take`; False after saying that another one is going."""
        try:
            self.run = self.host.start(demo, **asked)
        except LabBusy:
            self.say(self.tr("lab_busy"))
            return False
        self._came.clear()
        self._reader = self.run_worker(partial(self._read, self.run), thread=True, group="lab", exit_on_error=False)
        return True

    @abstractmethod
    def take(self, event: Mapping[str, Any]) -> None:
        """Fold one event of the run in."""

    def keep_evidence(self, result: Mapping[str, Any], **more: Any) -> str | None:
        """Keep a result, with `more` observed by the tutor itself; its id, None when nothing could be kept."""
        record = {name: value for name, value in result.items() if name not in _ENVELOPE}
        record["observed"] = {**record["observed"], **more}
        return self.store.add_evidence(record)

    def _read(self, run: Run) -> None:
        """In a thread: hand each event over to the screen's own thread."""
        for event in run:
            self._came.append(event)
            self.post_message(self.Came())

    @on(Worker.StateChanged)
    def _reader_broke(self, event: Worker.StateChanged) -> None:
        """Nothing more will come of a run whose reader broke: it ends as the tool's own fault."""
        if event.worker is self._reader and event.state is WorkerState.ERROR and self.run is not None:
            self.run.cancel()
            said = protocol.as_json(Message("ui.run_broke", tool_broke(event.worker.error).args))
            self._came.append({"event": "ended", "at": 0.0, "outcome": Outcome.BROKE.value, "message": said})
            self._drain()

    @on(Came)
    def _wake(self) -> None:
        """Paint at once when nothing was painted lately, else when it is time: a flood costs ten paints a second."""
        if self._due or not self._came:
            return
        wait = self._painted + PAINT_S - monotonic()
        if wait <= 0:
            self._drain()
            return
        self._due = True
        self.set_timer(wait, self._drain)

    def _drain(self) -> None:
        self._due = False
        self._painted = monotonic()
        while self._came:
            event = self._came.popleft()
            if event["event"] == "ended":
                self.run = None
            self.take(event)
        self.refill()
        if self.app.screen is not self.screen:
            self.tutor.refill_overlay()
        self.changed()


class CodeLabView(LabView):
    """A view whose code moves sideways: `shift` is the column that stands first."""

    shift = 0

    def do_shift_left(self) -> None:
        self.shift = max(0, self.shift - STEP)
        self.refill()

    def do_shift_right(self) -> None:
        self.shift += STEP
        self.refill()
