"""Runs a demo and streams what it does. The only part of the lab that a front end starts anything with.

host = LabHost(LabSettings(python=None, launcher=()))
host.warm()                                   # returns at once; torch is imported in another process
run = host.start(demo, predicted={"call-1": 1})
for event in run:                             # blocks between events: iterate in a worker thread
    ...                                       # dicts as in `protocol`; the last one is `ended`
run.cancel()                                  # from any thread
host.close()                                  # when leaving; a tutor that is killed needs nothing
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from tutor.lab.interpreter import Interpreter
from tutor.lab.link import Link
from tutor.lab.run import Device, Run
from tutor.model import Demo

__all__ = ["LabBusy", "LabHost", "LabSettings", "Run", "State"]

State = Literal["cold", "warming", "warm", "unavailable"]


@dataclass(frozen=True, slots=True)
class LabSettings:
    """`python`, `launcher` and `device` as in the learner's settings. `limit_s` is wall time of one demo from when
    its child lives, and never under twice what it usually takes; `output_bytes` is how much of what it prints is
    kept."""

    python: str | None = None
    launcher: tuple[str, ...] = ()
    device: Device = "auto"
    limit_s: float = 120.0
    output_bytes: int = 256 * 1024


class LabBusy(RuntimeError):
    """A run is still going; iterate it to its end, or close it."""


class LabHost:
    """Holds the warm parent and starts one run at a time. Every method may be called from any thread."""

    def __init__(self, settings: LabSettings | None = None) -> None:
        self.settings = settings or LabSettings()
        self._lock = threading.Lock()
        self._link: Link | None = None
        self._run: Run | None = None
        self._count = 0

    def use(self, device: Device) -> None:
        """Where the runs that come are to be made, unless they say so themselves."""
        self.settings = replace(self.settings, device=device)

    @property
    def state(self) -> State:
        """What a demo would meet now. With a launcher it is `cold` between runs: an idle parent would
        hold a GPU."""
        link = self._link
        if link is None:
            return "cold"
        if link.unavailable is not None:
            return "unavailable"
        if link.over:
            return "cold"
        return "warm" if link.stage == "ready" else "warming"

    @property
    def interpreter(self) -> Interpreter | None:
        """The Python that demos run under, None until one was looked for."""
        link = self._link
        return link.interpreter if link is not None else None

    def warm(self) -> None:
        """Start importing torch in the parent process; returns at once and does nothing when that was done before."""
        if not self.settings.launcher:
            with self._lock:
                self._alive()

    def start(
        self,
        demo: Demo,
        device: Device | None = None,
        predicted: Mapping[str, int] | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> Run:
        """Start a demo; nothing blocks before the run is iterated. `device` None is the settings' own. `params` is
        plain data that the script finds as `lab.params`. Raises LabBusy while another run is going."""
        with self._lock:
            if self._run is not None:
                raise LabBusy("another demo is running")
            self._count += 1
            self._run = run = Run(
                self._alive(),
                demo,
                number=self._count,
                device=device or self.settings.device,
                predicted=predicted,
                params=params,
                remote=bool(self.settings.launcher),
                limit_s=max(self.settings.limit_s, 2 * demo.usual_s[1]),
                output_bytes=self.settings.output_bytes,
                finished=self._finished,
            )
            return run

    def close(self) -> None:
        """End everything that runs, and wait for it: some 20 ms, 0.7 s when a process is stuck."""
        with self._lock:
            link, self._link = self._link, None
            run = self._run
        if run is not None:
            run.cancel()
        if link is not None:
            link.stop()

    def _alive(self) -> Link:
        if self._link is None or self._link.over:
            self._link = Link(self.settings.python, self.settings.launcher)
        return self._link

    def _finished(self) -> None:
        with self._lock:
            self._run = None
