"""Judges a whole class again: each blank in the sandbox, a process for each core, every result kept as it comes.

A run that was cut short goes on where it was. A result is taken at once when it is the first of its hand-in or the same
as the one that stands; one that differs is only proposed, so that an instructor sees it first.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection
from typing import TYPE_CHECKING, Any, NamedTuple

from tutor import catalog, submission
from tutor.judging import Judge, broken_report
from tutor.model import CheckReport, Lesson, Message
from tutor.sandbox import MINIMUM, Sandbox
from tutor.submission import Unacceptable

if TYPE_CHECKING:
    from tutor.gradebook.book import Gradebook
    from tutor.gradebook.results import Todo

#: Results that are written together, and how long one may wait for others, seconds: what a kill -9 costs.
BATCH = 50
PATIENCE_S = 0.5


#: How often judging processes may be lost over one hand-in before it ends as `broke`, and how many hand-ins in a row
#: may end so before the run stops: then it is not the hand-in.
TRIES = 2
LOST_MAX = 3


class RegradeStopped(Exception):
    """The judging processes end before they judge anything; `message` says what to do."""

    def __init__(self, message: Message) -> None:
        super().__init__(message.key)
        self.message = message


class Graded(NamedTuple):
    """One hand-in judged. `changed`: it differs from the result that stood, and is not taken."""

    login: str
    submission: int
    report: CheckReport
    before: tuple[str, int, int] | None
    changed: bool


def sandbox_lacks() -> tuple[str, ...]:
    """The walls that others' code needs and this machine lacks. Raises SandboxUnavailable."""
    with Sandbox() as sandbox:
        return tuple(layer.name for layer in sandbox.layers() if layer.name in MINIMUM and not layer.active)


class Regrade:
    """One run over the class, new or continued. `total` and `done` count hand-ins of the run."""

    def __init__(self, book: Gradebook, lesson: Lesson, grader: str, *, jobs: int, weak_sandbox: bool = False) -> None:
        """Raises GradebookError."""
        self._book, self._lesson, self._jobs, self._weak = book, lesson, jobs, weak_sandbox
        self._run = book.results.begin(lesson.versions[1], grader, weak_sandbox=weak_sandbox)
        self.continued = self._run.done
        self.total = self._run.done + book.results.waiting(self._run.id)
        self.done = self._run.done

    def __iter__(self) -> Iterator[Graded]:
        """Judge what is left; each hand-in is on the disk before it is given. Raises GradebookError, RegradeStopped."""
        if self.done < self.total:
            workers = _Workers(self._lesson.id, self._jobs, self._weak)
            try:
                yield from self._judged(workers)
            finally:
                workers.close()
        self._book.results.end(self._run.id)

    def _judged(self, workers: _Workers) -> Iterator[Graded]:
        ready: list[Graded] = []
        last, written = 0, time.monotonic()
        more = True
        while more or workers.waiting:
            while more and len(workers.waiting) < 8 * self._jobs:
                todo = self._book.results.todo(self._run.id, last, 8 * self._jobs)
                more = bool(todo)
                for one in todo:
                    last = one.submission
                    workers.add(one)
            if workers.waiting:
                try:
                    ready.append(_graded(*workers.next()))
                except BaseException:
                    self._write(ready)  # the run stops here: what is judged is kept
                    raise
            if len(ready) >= BATCH or time.monotonic() - written > PATIENCE_S or not (more or workers.waiting):
                self._write(ready)
                yield from ready
                ready, written = [], time.monotonic()

    def _write(self, ready: list[Graded]) -> None:
        from tutor.gradebook.results import Result

        rows = [
            (
                Result(one.submission, one.report.ending, one.report.normal, one.report.edge, one.report.to_data()),
                not one.changed and one.report.ending != "broke",
            )
            for one in ready
        ]
        self._book.results.add(self._run.id, rows)
        self.done += len(ready)


def _graded(todo: Todo, report: CheckReport) -> Graded:
    before = todo.before.counts if todo.before else None
    changed = before is not None and before != (report.ending, report.normal, report.edge)
    return Graded(todo.login, todo.submission, report, before, changed)


class _Workers:
    """Processes that judge, in the order of the hand-ins. When one is killed, all are started again."""

    def __init__(self, lesson: str, jobs: int, weak_sandbox: bool) -> None:
        self._start_with = (lesson, weak_sandbox)
        self._jobs = jobs
        self._pool = self._new_pool()
        self._lost = 0
        self.waiting: deque[tuple[Todo, Future[CheckReport]]] = deque()

    def _new_pool(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")  # a fork would share the database's connections
        return ProcessPoolExecutor(self._jobs, mp_context=context, initializer=_start, initargs=self._start_with)

    def add(self, todo: Todo) -> None:
        """Have it judged after those that wait already."""
        try:
            future = self._pool.submit(_judge, todo.raw)
        except BrokenProcessPool:
            self._again()
            future = self._pool.submit(_judge, todo.raw)
        self.waiting.append((todo, future))

    def next(self) -> tuple[Todo, CheckReport]:
        """The oldest that waits, and its report. Raises RegradeStopped."""
        report = self._report()
        return self.waiting.popleft()[0], report

    def _report(self) -> CheckReport:
        for _ in range(TRIES):
            try:
                report = self.waiting[0][1].result()
            except BrokenProcessPool as error:
                lost = error
                self._again()
            else:
                self._lost = 0
                return report
        self._lost += 1
        if self._lost == LOST_MAX:
            raise RegradeStopped(Message("class.regrade-stopped")) from lost
        return broken_report(lost)

    def _again(self) -> None:
        self.close()
        self._pool = self._new_pool()
        self.waiting = deque(
            (todo, future if _is_done(future) else self._pool.submit(_judge, todo.raw)) for todo, future in self.waiting
        )

    def close(self) -> None:
        """End the processes; what they have not begun is not judged."""
        self._pool.shutdown(cancel_futures=True)


def _is_done(future: Future[CheckReport]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


# --- in the worker ----------------------------------------------------------------------------------------------------

_JUDGE: Judge | None = None


def _start(lesson_id: str, weak_sandbox: bool) -> None:
    global _JUDGE
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=_leave_with, args=(parent.sentinel,), daemon=True).start()
    _JUDGE = Judge(catalog.load(lesson_id).exercise, Sandbox(() if weak_sandbox else MINIMUM))


def _leave_with(sentinel: Any) -> None:
    """A parent that was killed cannot say so."""
    connection.wait([sentinel])
    os._exit(1)


def _judge(raw: bytes) -> CheckReport:
    assert _JUDGE is not None
    try:
        read = submission.read(raw)
        report = _JUDGE.check(read.blank, read.edges)
        # A sandbox that was killed is started anew by the next check.
        return _JUDGE.check(read.blank, read.edges) if report.ending == "broke" else report
    except Unacceptable as error:  # it was readable when it was taken
        return broken_report(ValueError(error.message.key))
    except Exception as error:  # our own fault in judging this one: it ends as `broke`, and the others go on
        return broken_report(error)
