"""A re-grade from the list: in a thread of its own, with how far it is, a way to stop it, and what it changes."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from textual import events

from tutor.gradebook.book import Gradebook, GradebookError
from tutor.language import Lang
from tutor.lines import Line, wrap
from tutor.model import Message
from tutor.sandbox import SandboxUnavailable
from tutor.strings import text
from tutor.ui.pages import Page

if TYPE_CHECKING:
    from tutor.classroom.regrade import Regrade
    from tutor.ui.review.class_list import ClassList

#: The message row is rewritten at most so often, seconds.
PROGRESS_S = 1.0


class Changes(Page):
    """The results that a re-grade changes; y takes them."""

    def pressed(self, event: events.Key) -> None:
        if event.character in ("y", "Y"):
            self.dismiss("y")
        else:
            super().pressed(event)


class Regrading:
    """One run, from the question to the results that it changes. Every method but `_run` is for the screen's thread."""

    def __init__(self, screen: ClassList) -> None:
        self._screen = screen
        self._review = screen.review
        self._stop = threading.Event()

    def start(self, *, weak: bool = False) -> None:
        self._screen.say(self._screen.tr("regrade-begins"))
        # Of the application, which says when a worker breaks.
        self._review.run_worker(lambda: self._run(weak), group="regrade", thread=True, exit_on_error=False)

    def abandon(self) -> None:
        """The application ends: so does the run, as if it was stopped."""
        self._stop.set()

    def stop(self) -> None:
        """After the hand-ins that are judged at this moment; they are kept."""
        self._stop.set()
        self._screen.say(self._screen.tr("regrade-stopping"))

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _run(self, weak: bool) -> None:
        from tutor.classroom import regrade

        try:
            lacking = () if weak else regrade.sandbox_lacks()
            if lacking:
                self._tell(lambda: self._ask_weak(", ".join(lacking)))
                return
            _start_tracker()
            self._judge(regrade.Regrade, weak)
        except (SandboxUnavailable, GradebookError, regrade.RegradeStopped) as error:
            message = error.message
            self._tell(lambda: self._screen.regraded(message))
        except BaseException:  # it is said by the application; the list must not think that it goes on
            self._tell(lambda: self._screen.regraded(""))
            raise

    def _judge(self, run: type[Regrade], weak: bool) -> None:
        jobs = len(os.sched_getaffinity(0))
        judging = run(self._review.book, self._review.lesson, self._review.grader, jobs=jobs, weak_sandbox=weak)
        began = said = time.monotonic()
        results = iter(judging)
        try:
            for _ in results:
                if self._stop.is_set():
                    break
                if time.monotonic() - said >= PROGRESS_S:
                    said = time.monotonic()
                    done = judging.done - judging.continued
                    left = (judging.total - judging.done) * (said - began) / max(done, 1)
                    self._say_progress(judging.done, judging.total, round(left))
        finally:
            results.close()
        seconds = time.monotonic() - began
        changes = proposed(self._review.book)
        if self._stop.is_set() and judging.done < judging.total:
            words = Message("class_screens.regrade-stopped", {"done": judging.done, "of": judging.total})
        else:
            of: dict[str, str | int | float] = {
                "of": judging.total,
                "seconds": f"{seconds:.1f}",
                "changed": len(changes),
            }
            words = Message("class.regrade-summary", of)
        self._tell(lambda: self._end(words, changes))

    def _say_progress(self, done: int, of: int, left: int) -> None:
        words = Message("class.regrade-progress", {"done": done, "of": of, "left": left})
        self._tell(lambda: self._review.say(words))

    def _tell(self, what: Callable[[], object]) -> None:
        if self._review.is_running:
            self._review.call_from_thread(what)

    # --- on the screen ------------------------------------------------------------------------------------------------

    def _ask_weak(self, missing: str) -> None:
        self._screen.regrading = None

        def yes() -> None:
            self._screen.regrading = self
            self.start(weak=True)

        self._screen.say("")
        self._review.ask(self._screen.tr("regrade-weak", missing=missing), yes)

    def _end(self, words: Message, changes: list[Changed]) -> None:
        self._screen.regraded(words)
        if not changes:
            return

        def lines(lang: Lang, width: int) -> list[Line]:
            return [row for each in changes for row in wrap([(each.line(lang), "plain")], width, rest="    ")]

        def done(said: str | None) -> None:
            if said == "y":
                self._review.call(self._review.book.results.take_proposed, self._taken)
            else:
                self._screen.say(self._screen.tr("regrade-not-taken", count=len(changes)))

        title = lambda lang: text(lang, "class_screens.changes-title", count=len(changes))  # noqa: E731
        page = Changes(self._screen.theme_name, self._screen.lang, title, lines, keys="class_screens.changes-keys")
        self._review.push_screen(page, done)

    def _taken(self, count: int) -> None:
        self._screen.say(text(self._screen.lang, "class.regrade-taken", count=count), "good")
        self._screen.load()


class Changed(NamedTuple):
    """A result that differs from the one that stands."""

    blind: str
    before: tuple[int, int] | None
    after: tuple[int, int]
    ending: str

    def line(self, lang: Lang) -> str:
        """In words, without the learner's name."""
        old = f"{self.before[0]}/2 {self.before[1]}/1" if self.before else "-"
        word = text(lang, f"cli.word-{self.ending}")
        return f"{self.blind:<8} {old} -> {self.after[0]}/2 {self.after[1]}/1  {word}"


def proposed(book: Gradebook) -> list[Changed]:
    """What a re-grade changed and nobody has taken; a result that broke is none. Raises GradebookError."""
    blind = {row.submission: row.learner.blind for row in book.rows() if row.submission is not None}
    standing = book.results.standing()
    changes = []
    for result in book.results.proposed():
        before = standing.get(result.submission)
        if result.ending != "broke":
            old = (before.normal, before.edge) if before else None
            changes.append(Changed(blind[result.submission], old, (result.normal, result.edge), result.ending))
    return sorted(changes, key=lambda each: (len(each.blind), each.blind))


def _start_tracker() -> None:
    """Processes are started with the help of one that watches over what they share. It is handed our stderr, which the
    screen has replaced by one without a number; with the real one it starts."""
    from multiprocessing import resource_tracker

    with contextlib.redirect_stderr(sys.__stderr__):
        resource_tracker.ensure_running()
