"""A TORCH_TRACE folder explained on the screen: the story of `lab --trace`, read beside the screen and never kept."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual.worker import Worker, get_current_worker

from tutor.lines import BLANK, Line, Part, crop, wrap
from tutor.literals import safe_text
from tutor.model import Message
from tutor.strings import say, text
from tutor.trace import files as trace_files
from tutor.trace import story as trace_story
from tutor.trace.files import Found, TraceError
from tutor.trace.job import Job
from tutor.trace.reading import Reading
from tutor.ui.panes.lab_view import LabView
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName

#: Bytes between two words about how far the reading is, and characters of a path.
PROGRESS, PATH_MAX = 32 << 20, 1000


class TraceView(LabView):
    """Asks for a folder, reads it in a thread, and shows what it says."""

    place: ClassVar[str] = "trace"

    def __init__(self, store: Store, theme: ThemeName) -> None:
        super().__init__(store, theme)
        self.path = ""
        self.job: Job | None = None
        self.found = Found()
        self.problem: Message | None = None
        self._reading: Worker[None] | None = None
        self._far = 0

    def words(self, key: str, /, **args: str | int) -> str:
        return text(self.store.lang, f"trace.{key}", **args)

    @property
    def reading(self) -> bool:
        """Whether a folder is being read."""
        return self._reading is not None

    # --- what is shown -----------------------------------------------------------------------------------------------

    def title(self) -> list[Part]:
        return [(self.lv("tab-trace"), "title"), ("   " + safe_text(self.path, 60), "plain")]

    def refill(self) -> None:
        self.draw_title()
        width = max(30, self.body.size.width - 1)
        if self.reading:
            far = self.words("reading", done=self._far >> 20, total=self.found.size >> 20)
            self.body.show(wrap([(far, "muted")], width))
        elif self.problem is not None:
            self.body.show(self._asking(width, say(self.store.lang, self.problem)))
        elif self.job is None:
            self.body.show(self._asking(width))
        else:
            self.body.show(self._story(self.job, width))

    def _asking(self, width: int, problem: str = "") -> list[Line]:
        lines = wrap([(safe_text(problem, 4 * width), "caution")], width) if problem else []
        for key in ("screen-what", "screen-how", "screen-script"):
            lines += [*([BLANK] if lines else []), *wrap([(self.words(key), "plain")], width)]
        return lines

    def _story(self, job: Job, width: int) -> list[Line]:
        lang = self.store.lang
        told = [trace_story.head(self.path, self.found, job, lang), *trace_story.tell(job, job.differences(), lang)]
        lines: list[Line] = []
        for said in told:
            lead, words = " " * said.indent, safe_text(said.text, 4000)
            if said.row:
                lines.append(Line(crop([(words, "plain")], width)))
                continue
            lines += wrap([(words, "title" if said.title else "plain")], width, first=lead, rest=lead + "  ")
        return lines

    # --- commands ----------------------------------------------------------------------------------------------------

    def can(self, command: str) -> bool:
        if command == "stop":
            return self.reading or super().can(command)
        if command == "run":
            return bool(self.path) and not self.reading
        if command == "act":
            return not self.reading
        return super().can(command)

    def do_act(self) -> None:
        self.tutor.ask_line(self.words("screen-ask"), self.open, self.path, PATH_MAX)

    def do_run(self) -> None:
        """Read the same folder again: a job may still write it."""
        if self.path:
            self.open(self.path)
        else:
            self.do_act()

    def do_stop(self) -> bool:
        if self._reading is None:
            return super().do_stop()
        self._reading.cancel()
        self._ended(None, Message("trace.screen-stopped"))
        return True

    def take(self, event: Mapping[str, Any]) -> None:
        raise NotImplementedError("nothing is run here")

    # --- reading -----------------------------------------------------------------------------------------------------

    def open(self, path: str) -> None:
        """Read a folder and show it; an empty name leaves things as they are."""
        if not path.strip() or self.reading:
            return
        self.path, self._far, self.found = path.strip(), 0, Found()
        self._reading = self.run_worker(partial(self._explain, Path(self.path).expanduser()), thread=True)
        self.refill()

    def _explain(self, path: Path) -> None:
        """In a thread."""
        worker, call = get_current_worker(), self.app.call_from_thread
        try:
            found = trace_files.find_some(path)
        except TraceError as error:
            call(self._ended_by, worker, None, error.message)
            return
        self.found = found
        reading, said = Reading(), 0
        for file in found.files:
            reading.add(file)
        for event in reading.more():
            if worker.is_cancelled:
                return
            if event["event"] == "progress":
                self._far += event["bytes"]
                if self._far - said >= PROGRESS:
                    said = self._far
                    call(self.refill)
        for _ in reading.end():
            pass
        call(self._ended_by, worker, reading.job, None)

    def _ended_by(self, worker: Worker[None], job: Job | None, problem: Message | None) -> None:
        if worker is self._reading:
            self._ended(job, problem)

    def _ended(self, job: Job | None, problem: Message | None) -> None:
        self._reading, self.job, self.problem = None, job, problem
        self.refill()
        self.body.go(0)
        self.changed()
