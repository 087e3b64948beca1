"""One run of a demo: the parent's lines in, the lab's six events out."""

from __future__ import annotations

import math
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from tutor.lab import protocol, series
from tutor.lab.evidence import Gathering
from tutor.lab.link import Link, Note
from tutor.lab.protocol import Event, LineError, Outcome
from tutor.lab.verdicts import RuleError
from tutor.model import Demo, Message, Source
from tutor.paths import cache_folder

#: As `settings.is_device` has it.
Device = str

#: Seconds until a learner sees the first line whatever is still unknown, until the first `progress`, and between two.
FIRST_LINE_S, FIRST_PROGRESS_S, PROGRESS_S = 0.05, 0.08, 1.0
#: Seconds in which a parent of our own has to say that its child is gone, before it is ended itself.
OBEY_S = 1.0

#: What to say where a demo lacks something; any other need is named as it is. Of a GPU that is there, what is wrong
#: with its driver (see `gpus.Trouble`), with what the environment lets through, or with torch.
_NEEDS = {
    "cuda": "lab.needs-cuda",
    "compiler": "lab.needs-compiler",
    "triton": "lab.needs-triton",
    "triton-compiler": "lab.needs-triton-compiler",
    "triton-kernels": "lab.needs-triton-kernels",
    "cuda-silent": "lab.needs-cuda-silent",
    "cuda-mismatch": "lab.needs-cuda-mismatch",
    "cuda-devices": "lab.needs-cuda-devices",
    "cuda-failed": "lab.needs-cuda-failed",
    "cuda-hidden": "lab.needs-cuda-hidden",
    "cuda-torch": "lab.needs-cuda-torch",
    "cuda-build": "lab.needs-cuda-build",
}

_MEMORY = ("MemoryError", "OutOfMemoryError")

_End = tuple[Outcome, Message]


class Run:
    """An iterator over a run's events, the last of which is `ended`. It blocks between them: iterate in a worker
    thread, and to the end, or `close` it.
    """

    def __init__(
        self,
        link: Link,
        demo: Demo,
        *,
        number: int,
        device: Device,
        predicted: Mapping[str, int] | None,
        params: Mapping[str, Any] | None = None,
        remote: bool,
        limit_s: float,
        output_bytes: int,
        finished: Callable[[], None],
    ) -> None:
        self.demo = demo
        self._link = link
        self._remote = remote
        self._limit_s = limit_s
        self._finished = finished
        self._request: dict[str, Any] = {
            "run": number,
            "script": str(demo.script),
            "device": device,
            "params": dict(params or {}),
            "needs": list(demo.needs),
            "cache": str(cache_folder() / "compiled"),
            "limit_s": limit_s,
            "output_bytes": output_bytes,
        }
        self._gathering = Gathering(demo, predicted)
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._asked = False
        self._cancelled = False
        self._environment: Mapping[str, Any] | None = None
        self._step: Mapping[str, Any] | None = None
        self._alive = False
        self._group: int | None = None
        self._says: _End | None = None
        self._end: _End | None = None
        self._events = self._stream()

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        return next(self._events)

    def cancel(self) -> None:
        """End the run as `cancelled`; its processes are gone in well under 2 s. Returns at once; does nothing when the
        run has ended. With a launcher the iterating thread waits for the other side, so it has to go on iterating."""
        with self._lock:
            self._cancelled = True
            if self._asked and not self._remote:
                self._link.send(cancel=self._request["run"])
        self._link.inbox.put(self)

    def close(self) -> None:
        """Cancel what is left of the run and read it to its end, in the thread that iterates."""
        self.cancel()
        for _ in self._events:
            pass

    # --- the stream ---------------------------------------------------------------------------------------------------

    def _at(self) -> float:
        return time.monotonic() - self._began

    def _stream(self) -> Generator[Event, None, None]:
        whole = False
        try:
            outcome, message = yield from self._live()
            whole = True
        finally:
            if self._remote or not whole:
                self._link.stop()
            self._finished()
        more: dict[str, Any] = {}
        if outcome is Outcome.UNAVAILABLE:
            shows = self.demo.shows
            more = {"shows": {"zh": shows.zh, "en": shows.en}, "recorded": [path.name for path in self.demo.recorded]}
        at, said = self._at(), protocol.as_json(message)
        yield protocol.event("ended", at, demo=self.demo.name, outcome=outcome.value, message=said, **more)

    def _live(self) -> Generator[Event, None, _End]:
        """Every event but the last, and how the run ended."""
        link, announced, told = self._link, False, False
        self._ask()
        due = FIRST_LINE_S
        while True:
            found = link.interpreter  # Read before `unavailable`, as it is set after it.
            if link.unavailable is not None:
                return Outcome.UNAVAILABLE, link.unavailable
            if not announced and (found is not None or self._at() >= FIRST_LINE_S):
                announced, due = True, FIRST_PROGRESS_S
                yield self._started()
            note = self._next(due)
            if self._cancelled:
                self._await_stop(note)
                return Outcome.CANCELLED, Message("lab.cancelled")
            if note is not None:
                yield from self._hear(note)
                if self._end is not None:
                    return self._end
            if announced and (self._at() >= due or (self._alive and not told)):
                told, due = True, math.floor(self._at() / PROGRESS_S + 1) * PROGRESS_S
                yield self._progress()

    def _next(self, due: float) -> Note | None:
        """What comes next, None when nothing did until `due` (seconds of this run) or when the run is cancelled."""
        while True:
            left = due - self._at()
            try:
                note = self._link.inbox.get(timeout=left) if left > 0 else self._link.inbox.get_nowait()
            except queue.Empty:
                return None
            if isinstance(note, Note):
                return note
            if note is self:  # And not the cancel of another run, which came after its end.
                return None

    def _ask(self) -> None:
        with self._lock:
            if self._link.stage == "ready" and not self._asked and not self._cancelled:
                self._asked = self._link.send(**self._request)

    def _await_stop(self, note: Note | None) -> None:
        """See to it that nothing of a cancelled run is alive. `note` is what was heard last."""
        if self._remote:
            self._link.stop()
        elif self._asked:
            until = self._at() + OBEY_S
            while self._at() < until:
                if note is not None and (note.kind == "gone" or (note.fields or {}).get("event") == "ended"):
                    return
                note = self._next(until)
            self._link.stop()
            self._kill_group()

    def _kill_group(self) -> None:
        """When the parent has gone without a word, the child has gone with it, but not what it had started."""
        if self._group is not None and not self._remote:
            try:
                os.killpg(self._group, signal.SIGKILL)
            except ProcessLookupError:
                pass  # The usual case: it had started nothing.

    # --- what the parent says -----------------------------------------------------------------------------------------

    def _hear(self, note: Note) -> Iterator[Event]:
        lack = self._link.unavailable
        if note.kind == "gone" and lack is not None:
            self._end = Outcome.UNAVAILABLE, lack
        elif note.kind == "gone":
            self._kill_group()
            self._end = Outcome.BROKE, Message("lab.parent-gone", {"why": note.text or "-"})
        elif note.kind == "stray":
            yield self._output(note.text + "\n", "launcher" if self._remote else "tool")
        elif note.fields is not None:
            said = note.fields
            kind = said.get("event")
            if kind == "ready":
                self._ask()
            elif kind == "forked" and isinstance(said.get("pid"), int):
                self._group = said["pid"]
            elif kind == "output":
                yield self._output(str(said.get("text", "")), "demo", cut=said.get("cut") is True)
            elif kind == "child":
                yield from self._child_said(str(said.get("line", "")))
            elif kind == "ended":
                yield from self._child_ended(str(said.get("how")), said.get("code"))

    def _child_said(self, line: str) -> Iterator[Event]:
        try:
            said = protocol.read_child(line.encode())
            if said["event"] == "observation":
                series.check(self.demo.name, said["series"], said["values"])
        except LineError:
            yield self._output(line + "\n", "demo")
            return
        kind = said["event"]
        if kind == "begun":
            self._alive = True
        elif kind == "step":
            self._step = said
        elif kind == "observation":
            yield self._gathering.observation(said, self._at())
        elif kind == "result":
            self._environment = said["environment"]
        elif kind == "unavailable":
            need = said["need"]
            other = "lab.needs-gpu" if need.startswith("cuda:") else "lab.needs"
            self._says = Outcome.UNAVAILABLE, Message(_NEEDS.get(need, other), {"need": need})
        elif kind == "full":
            numbers = {name: said[name] for name in ("free", "total", "mine")}
            others = ", ".join(said["others"])
            key = "lab.gpu-full-shared" if others else "lab.gpu-full"
            self._says = Outcome.LIMIT, Message(key, {**numbers, **({"others": others} if others else {})})
        else:
            outcome = Outcome.LIMIT if said["kind"] in _MEMORY else Outcome.FAILED
            self._says = outcome, Message("lab.raised", {"kind": said["kind"], "text": said["text"]})

    def _child_ended(self, how: str, code: Any) -> Iterator[Event]:
        """The parent has the last word on its child; a run is ok only if it gave its result before."""
        if how == "limit":
            self._end = Outcome.LIMIT, Message("lab.limit-time", {"seconds": self._limit_s})
        elif how == "flood":
            self._end = Outcome.LIMIT, Message("lab.limit-events")
        elif how == "cancelled":
            self._end = Outcome.CANCELLED, Message("lab.cancelled")
        elif how == "signal":
            self._end = Outcome.BROKE, Message("lab.died", {"signal": _signal_name(code)})
        elif how != "exit":
            self._end = Outcome.BROKE, Message("lab.garbled")
        elif self._says is not None:
            self._end = self._says
        elif code != 0 or self._environment is None:
            self._end = Outcome.BROKE, Message("lab.silent", {"code": code if isinstance(code, int) else -1})
        else:
            yield from self._good(self._environment)

    def _good(self, environment: Mapping[str, Any]) -> Iterator[Event]:
        when = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            yield self._gathering.result(environment, self._at(), source=Source.MEASURED, when=when)
        except RuleError as error:
            self._end = Outcome.BROKE, Message("lab.rules", {"why": str(error)})
        else:
            self._end = Outcome.OK, Message("lab.ok")

    # --- events of the tutor's own ------------------------------------------------------------------------------------

    def _started(self) -> Event:
        found = self._link.interpreter
        return protocol.event(
            "started",
            self._at(),
            demo=self.demo.name,
            source=Source.MEASURED.value,
            device=self._request["device"],
            usual_s=list(self.demo.usual_s),
            interpreter=found.path if found else None,
            torch=found.torch_version if found else None,
        )

    def _progress(self) -> Event:
        elapsed = self._at()
        phase = {
            "finding": "finding torch",
            "starting": "waiting for the launcher" if self._remote else "starting Python",
            "importing": "importing torch",
        }.get(self._link.stage, "running")
        low, high = self.demo.usual_s
        said = Message(f"lab.{phase.split()[0]}", {"seconds": int(elapsed), "low": low, "high": high})
        if self._step is not None and phase == "running":
            step = {name: self._step[name] for name in ("number", "of", "text")}
            said = Message("lab.step", {**said.args, **step})
        return protocol.event(
            "progress", elapsed, phase=phase, elapsed=round(elapsed, 1), message=protocol.as_json(said)
        )

    def _output(self, text: str, stream: str, cut: bool = False) -> Event:
        more: dict[str, Any] = {}
        if cut:
            more["message"] = protocol.as_json(Message("lab.output-cut", {"kb": self._request["output_bytes"] // 1024}))
        return protocol.event("output", self._at(), text=text, stream=stream, cut=cut, **more)


def _signal_name(number: Any) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
