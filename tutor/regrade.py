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
from tutor.model import CheckReport, Lesson
from tutor.sandbox import MINIMUM, Sandbox
from tutor.submission import Unacceptable

if TYPE_CHECKING:
    from tutor.gradebook.book import Gradebook
    from tutor.gradebook.results import Todo

#: Results that are written together, and how long one may wait for others, seconds: what a kill -9 costs.
BATCH = 50
PATIENCE_S = 0.5


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
        """Judge what is left; each hand-in is on the disk before it is given. Raises GradebookError."""
        if self.done < self.total:
            context = multiprocessing.get_context("spawn")  # a fork would share the database's connections
            pool = ProcessPoolExecutor(
                self._jobs, mp_context=context, initializer=_start, initargs=(self._lesson.id, self._weak)
            )
            try:
                yield from self._judged(pool)
            finally:
                pool.shutdown(cancel_futures=True)
        self._book.results.end(self._run.id)

    def _judged(self, pool: ProcessPoolExecutor) -> Iterator[Graded]:
        waiting: deque[tuple[Todo, Future[CheckReport]]] = deque()
        ready: list[Graded] = []
        last, written = 0, time.monotonic()
        more = True
        while more or waiting:
            while more and len(waiting) < 8 * self._jobs:
                todo = self._book.results.todo(self._run.id, last, 8 * self._jobs)
                more = bool(todo)
                for one in todo:
                    last = one.submission
                    waiting.append((one, pool.submit(_judge, one.raw)))
            if waiting:
                ready.append(_graded(*waiting.popleft()))
            if len(ready) >= BATCH or time.monotonic() - written > PATIENCE_S or not (more or waiting):
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


def _graded(todo: Todo, future: Future[CheckReport]) -> Graded:
    try:
        report = future.result()
    except BrokenProcessPool:
        raise  # no judge is left: the run goes on at the next start
    except Exception as error:  # our own fault in judging this one: it ends as `broke`, and the others go on
        report = broken_report(error)
    before = todo.before.counts if todo.before else None
    changed = before is not None and before != (report.ending, report.normal, report.edge)
    return Graded(todo.login, todo.submission, report, before, changed)


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
    except Unacceptable as error:  # it was readable when it was taken
        return broken_report(ValueError(error.message.key))
    return _JUDGE.check(read.blank, read.edges)
