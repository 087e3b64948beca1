"""Judges a whole class again: each blank in the sandbox, a process for each core, every result kept as it comes.

A run that was cut short goes on where it was. A result is taken at once when it is the first of its hand-in or the same
as the one that stands; one that differs is only proposed, so that an instructor sees it first.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Generator, Iterator
from multiprocessing import connection
from typing import TYPE_CHECKING, Any, NamedTuple

from tutor.classroom import submission
from tutor.classroom.submission import Unacceptable
from tutor.exercise.judging import Judge, broken_report
from tutor.lesson import catalog
from tutor.model import CheckReport, Lesson, TutorError
from tutor.sandbox import MINIMUM, Sandbox

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from tutor.gradebook.book import Gradebook
    from tutor.gradebook.results import Todo

#: Results that are written together, and how long one may wait for others, seconds: what a kill -9 costs.
BATCH = 50
PATIENCE_S = 0.5


#: A hand-in of so many bytes is given to a process that still judges another: it fits into the pipe, and nobody waits.
AHEAD_MAX = 32 << 10

#: How often judging processes may be lost over one hand-in before it ends as `broke`, and how many hand-ins in a row
#: may end so before the run stops: then it is not the hand-in.
TRIES = 2
LOST_MAX = 3


class RegradeStopped(TutorError):
    """The judging processes end before they judge anything; `message` says what to do."""


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

    def __iter__(self) -> Generator[Graded, None, None]:
        """Judge what is left; each hand-in is on the disk before it is given. Raises GradebookError, RegradeStopped."""
        if self.done < self.total:
            workers = _Workers(self._lesson.id, self._jobs, self._weak)
            try:
                yield from self._judged(workers)
            finally:
                workers.close()
        self._book.results.end(self._run.id)

    def _todos(self) -> Iterator[Todo]:
        last = 0
        while some := self._book.results.todo(self._run.id, last, 8 * self._jobs):
            yield from some
            last = some[-1].submission

    def _judged(self, workers: _Workers) -> Iterator[Graded]:
        ready: list[Graded] = []
        written = time.monotonic()
        try:
            for todo, report in workers.reports(self._todos()):
                ready.append(_graded(todo, report))
                if len(ready) >= BATCH or time.monotonic() - written > PATIENCE_S:
                    yield from self._write(ready)
                    ready, written = [], time.monotonic()
        except RegradeStopped:
            self._write(ready)  # what is judged is kept
            raise
        yield from self._write(ready)

    def _write(self, ready: list[Graded]) -> list[Graded]:
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
        return ready


def _graded(todo: Todo, report: CheckReport) -> Graded:
    before = todo.before.counts if todo.before else None
    changed = before is not None and before != (report.ending, report.normal, report.edge)
    return Graded(todo.login, todo.submission, report, before, changed)


class _Worker:
    """A process that judges one hand-in after the other; `todos` are those that it has not reported yet.

    A pool of the library's shares one lock among its processes: one that is killed while it holds it stops the others.
    """

    def __init__(self, lesson: str, weak_sandbox: bool) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would share the database's connections
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, lesson, weak_sandbox), daemon=True)
        self._process.start()
        theirs.close()
        self.todos: deque[Todo] = deque()

    def give(self, todo: Todo) -> None:
        """Have it judged; the report comes through the pipe, or its end does."""
        self.todos.append(todo)
        try:
            self.pipe.send_bytes(todo.raw)
        except OSError:  # it is gone: the pipe's end says so where reports are read
            pass

    def close(self) -> None:
        """End the process, whatever it does; its sandbox ends with it."""
        self._process.kill()
        self._process.join()
        self.pipe.close()
        self._process.close()


class _Workers:
    """Processes that judge; one that is killed is replaced, and what it had is judged again."""

    def __init__(self, lesson: str, jobs: int, weak_sandbox: bool) -> None:
        self._start_with = (lesson, weak_sandbox)
        self._all = [_Worker(*self._start_with) for _ in range(jobs)]

    def reports(self, todos: Iterator[Todo]) -> Iterator[tuple[Todo, CheckReport]]:
        """Each hand-in with its report, as they come. Raises RegradeStopped, and what `todos` raises."""
        again: deque[Todo] = deque()
        losses: Counter[int] = Counter()
        in_a_row = 0
        while True:
            self._give(again, todos)
            busy = {worker.pipe: place for place, worker in enumerate(self._all) if worker.todos}
            if not busy:
                return
            for pipe in connection.wait(list(busy)):
                place = busy[pipe]  # type: ignore[index]
                worker = self._all[place]
                todo = worker.todos.popleft()
                try:
                    report: CheckReport = worker.pipe.recv()
                    in_a_row = 0
                except (EOFError, OSError) as error:
                    self._all[place] = _Worker(*self._start_with)
                    worker.close()
                    again.extend(worker.todos)
                    losses[todo.submission] += 1
                    if losses[todo.submission] < TRIES:
                        again.append(todo)
                        continue
                    in_a_row += 1
                    if in_a_row == LOST_MAX:
                        raise RegradeStopped("class.regrade-stopped") from error
                    report = broken_report(ChildProcessError("the judging process ended"))
                yield todo, report

    def _give(self, again: deque[Todo], todos: Iterator[Todo]) -> None:
        """Something for each that has nothing, then one ahead for each."""
        for ahead in (0, 1):
            for worker in self._all:
                if len(worker.todos) > ahead:
                    continue
                todo = again.popleft() if again else next(todos, None)
                if todo is None:
                    return
                if worker.todos and len(todo.raw) > AHEAD_MAX:
                    again.appendleft(todo)
                    return
                worker.give(todo)

    def close(self) -> None:
        """End all of them."""
        for worker in self._all:
            worker.close()


# --- in the worker ----------------------------------------------------------------------------------------------------


def _work(pipe: Connection, lesson: str, weak_sandbox: bool) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's: it ends this process
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=_leave_with, args=(parent.sentinel,), daemon=True).start()
    judge = Judge(catalog.load(lesson).exercise, Sandbox(() if weak_sandbox else MINIMUM))
    while True:
        pipe.send(_judge(judge, pipe.recv_bytes()))


def _leave_with(sentinel: Any) -> None:
    """A parent that was killed cannot say so."""
    connection.wait([sentinel])
    os._exit(1)


def _judge(judge: Judge, raw: bytes) -> CheckReport:
    try:
        read = submission.read(raw)
        report = judge.check(read.blank, read.edges)
        # A sandbox that was killed is started anew by the next check.
        return judge.check(read.blank, read.edges) if report.ending == "broke" else report
    except Unacceptable as error:  # it was readable when it was taken
        return broken_report(ValueError(error.message.key))
    except Exception as error:  # our own fault in judging this one: it ends as `broke`, and the others go on
        return broken_report(error)
