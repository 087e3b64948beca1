"""Judging off the screen's thread: one judge, one warm sandbox, one check at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tutor.model import CheckReport, Lesson, Message, Plain

if TYPE_CHECKING:
    from tutor.exercise.judging import Judge
    from tutor.sandbox.outcome import Outcome


class Checker:
    """Starts the sandbox when it is first needed, or earlier by `warm`."""

    def __init__(self, lesson: Lesson) -> None:
        self._lesson = lesson
        self._lock = threading.Lock()
        self._judge: Judge | None = None
        self._waiting = 0

    def warm(self) -> None:
        """Start the sandbox in the background, so that the first verdict need not wait for it."""
        threading.Thread(target=self._warm, name="sandbox-warm-up", daemon=True).start()

    @property
    def running(self) -> bool:
        """Whether somebody waits for a check."""
        return self._waiting > 0

    async def check(self, expr: str, edges: Sequence[str]) -> CheckReport | None:
        """The report; a fault of the tool itself is one that ends as BROKE and says why. None when it was stopped."""
        self._waiting += 1
        try:
            return await asyncio.to_thread(self._check, expr, edges)
        except asyncio.CancelledError:  # Another check takes its place: it need not wait for this one.
            self.stop()
            raise
        except Exception as error:  # The learner is told, with the log; nothing is counted.
            from tutor.exercise.judging import broken_report
            from tutor.sandbox import Cancelled

            return None if isinstance(error, Cancelled) else broken_report(error, edges)
        finally:
            self._waiting -= 1

    def stop(self) -> None:
        """End the run that goes on in the sandbox, if one does. Returns at once."""
        if self._judge is not None:
            self._judge.sandbox.cancel()

    async def results(self, expr: str, calls: Sequence[tuple[Plain, ...]]) -> Outcome:
        """What the blank makes of other inputs; a fault of the tool itself is an outcome that ends as broke."""
        try:
            return await asyncio.to_thread(self._results, expr, calls)
        except Exception as error:  # The learner is told, with the log.
            from tutor.sandbox import Cancelled, Outcome

            if isinstance(error, Cancelled):
                return Outcome("broke", Message("check.cancelled"))
            return Outcome("broke", Message("check.broke_judge"), log=f"{type(error).__name__}: {error}")

    def close(self) -> None:
        judge, self._judge = self._judge, None
        if judge is not None:
            judge.sandbox.close()

    def _warm(self) -> None:
        with self._lock:
            self._ready().sandbox.start()

    def _check(self, expr: str, edges: Sequence[str]) -> CheckReport:
        with self._lock:
            return self._ready().check(expr, edges)

    def _results(self, expr: str, calls: Sequence[tuple[Plain, ...]]) -> Outcome:
        with self._lock:
            return self._ready().results(expr, calls)

    def _ready(self) -> Judge:
        if self._judge is None:
            from tutor.exercise.judging import Judge
            from tutor.sandbox import Sandbox

            self._judge = Judge(self._lesson.exercise, Sandbox())
        return self._judge
