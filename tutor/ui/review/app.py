"""The review: one class, opened by one grader. Owns what the screens share, and every call of the gradebook."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from inspect import isawaitable
from os import kill
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from textual import on
from textual.binding import Binding
from textual.worker import Worker, WorkerState

from tutor.classroom.exchange import ClassFolder
from tutor.classroom.handed_in import myself
from tutor.classroom.item import Loaded
from tutor.classroom.sitting import Given, Sitting
from tutor.classroom.sitting_drafts import Drafts, Kept
from tutor.context import Context
from tutor.gradebook import holder
from tutor.gradebook.book import Gradebook, GradebookError
from tutor.gradebook.queue import LeaseLost
from tutor.language import Lang
from tutor.lines import Line, Role
from tutor.literals import safe_text
from tutor.model import Lesson, Message
from tutor.strings import text
from tutor.ui import escape
from tutor.ui.fault import FaultApp
from tutor.ui.frame_diff import FrameDiffApp
from tutor.ui.key_order import KeyOrderApp
from tutor.ui.review.base import ReviewBase
from tutor.ui.review.item_desk import ItemDesk
from tutor.ui.review.saving import AGAIN_S, Saving
from tutor.ui.theme import ThemeName, chosen, textual_themes

if TYPE_CHECKING:
    from tutor.lab.host import LabHost

Result = TypeVar("Result")

#: How long a dropped line waits for what is being written, seconds.
PATIENCE_S = 40.0


class ReviewApp(KeyOrderApp[None], FaultApp[None], FrameDiffApp[None]):
    """`grader` is who gives points, `holder` names this sitting: one grader may have two windows."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [
        Binding("ctrl+q", "leave", show=False, priority=True),
        Binding("ctrl+c", "hint", show=False),
    ]

    def __init__(
        self, folder: ClassFolder, book: Gradebook, lesson: Lesson, context: Context, grader: str | None = None
    ) -> None:
        # As in the learner's application: ours is the theme `mono`.
        no_color = os.environ.pop("NO_COLOR", None)
        super().__init__()
        if no_color is not None:
            os.environ["NO_COLOR"] = no_color
        self.folder, self.book, self.lesson, self.context = folder, book, lesson, context
        self.lang: Lang = context.lang
        self.grader = grader or myself().login
        self.holder = holder.new()
        self.sitting = Sitting()
        self.saving = Saving(self)
        self.drafts = Drafts(context.state, folder.id, self.grader, self._draft_trouble)
        self.theme_name: ThemeName = chosen(context.theme, context.env)
        for theme in textual_themes():
            self.register_theme(theme)
        self.theme = f"tutor-{self.theme_name}"
        # One thread: what is asked of the gradebook is done in the order in which it was asked.
        self._database_thread = ThreadPoolExecutor(1, "gradebook")
        self._open = 0
        self._lab: LabHost | None = None

    @property
    def lab(self) -> LabHost:
        """Runs the lesson's demos; made when one is first asked for."""
        from tutor.lab.host import LabHost, LabSettings

        if self._lab is None:
            settings = self.context.settings
            self._lab = LabHost(LabSettings(settings.python, settings.launcher, settings.device))
        return self._lab

    def on_mount(self) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGHUP, signal.SIGTERM):
                signal.signal(number, self._ended_by)
        from tutor.ui.review.class_list import ClassList

        self.call(lambda: self.book.queue.release_gone(self.grader))
        self.push_screen(ClassList(self.theme_name))
        self.set_interval(AGAIN_S, self.saving.send_again)

    # --- the gradebook ------------------------------------------------------------------------------------------------

    def call(
        self,
        work: Callable[[], Result],
        then: Callable[[Result], object] | None = None,
        failed: Callable[[GradebookError | LeaseLost], object] | None = None,
    ) -> None:
        """Run `work` in the gradebook's thread, after all that was asked before; then `then` here with what it gave.
        GradebookError and LeaseLost go to `failed`, or are said."""
        self._open += 1
        asked = self._database_thread.submit(work)  # now: a line that drops in a moment loses nothing
        self.run_worker(self._call(asked, then, failed), group="gradebook", exit_on_error=False)

    async def _call(
        self,
        asked: Future[Result],
        then: Callable[[Result], object] | None,
        failed: Callable[[GradebookError | LeaseLost], object] | None,
    ) -> None:
        try:
            try:
                result = await asyncio.wrap_future(asked)
            except (GradebookError, LeaseLost) as error:
                done = (failed or self._refused)(error)
            else:
                done = then(result) if then is not None else None
            if isawaitable(done):
                await done
        finally:
            self._open -= 1

    def _refused(self, error: GradebookError | LeaseLost) -> None:
        self.say(refusal(error), "caution")

    @property
    def busy(self) -> bool:
        """Whether something that was asked of the gradebook is not done yet."""
        return self._open > 0

    def say(self, words: str | Message, role: Role = "plain") -> None:
        """On the message row of the screen that is seen."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, ReviewBase):
                screen.say(words, role)
                return

    # --- an item ------------------------------------------------------------------------------------------------------

    @property
    def desk(self) -> ItemDesk | None:
        """Where items are reviewed, if it is open."""
        return next((each for each in self.screen_stack if isinstance(each, ItemDesk)), None)

    def keep_draft(self, loaded: Loaded, given: Given | None) -> None:
        """Have what is begun on the disk; None: there is nothing to keep any more."""
        if given is None:
            self.drafts.drop(loaded.hand_in.sha256, loaded.question)
        else:
            self.drafts.keep(loaded.hand_in.sha256, loaded.question, Kept(loaded.item.id, loaded.seen, given))

    def _draft_trouble(self, message: Message) -> None:
        """In the thread that keeps drafts."""
        if self.is_running:
            self.call_from_thread(self.say, message, "caution")

    async def open_item(self, question: str, item: int | None) -> None:
        """Review this item, or the next one of `question` that has no points; the screen comes when it is ours."""
        from tutor.ui.review.item import ItemScreen

        ItemScreen(self, self.theme_name, question).begin(item)

    # --- over the screens ---------------------------------------------------------------------------------------------

    def ask(self, question: str, yes: Callable[[], object]) -> None:
        """A question; `yes` is called only when it is answered with y."""
        from tutor.ui.pages import Ask

        def answered(said: bool | None) -> None:
            if said:
                yes()

        self.push_screen(Ask(self.theme_name, self.lang, question), answered)

    def ask_line(self, label: str, done: Callable[[str], object], value: str = "", most: int = 100) -> None:
        """One line to type; `done` is called only when it is ended with Enter."""
        from tutor.ui.pages import SearchLine

        def ended(words: str | None) -> None:
            if words is not None:
                done(words)

        self.push_screen(SearchLine(self.theme_name, label, value, most), ended)

    def show_lines(
        self,
        title: Callable[[Any], str],
        lines: Callable[[Any, int], list[Line]],
        done: Callable[[str | None], object] | None = None,
        keys: str = "page_keys",
        item: str = "",
    ) -> None:
        """A page to read or pick from, the cursor on `item`; `done` is given what was chosen, None when closed."""
        from tutor.ui.pages import Page

        page = Page(self.theme_name, self.lang, title, lines, keys=keys)
        page.first = item

        def closed(said: str | None) -> None:
            if done is not None:
                done(said)

        self.push_screen(page, closed)

    def on_page_switched(self) -> None:
        self.switch_language()

    def switch_language(self) -> None:
        self.lang = "en" if self.lang == "zh" else "zh"
        self.say("")
        for screen in self.screen_stack:  # A page may lie over them.
            if isinstance(screen, ReviewBase):
                screen.refill()

    # --- faults and the end -------------------------------------------------------------------------------------------

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        """Something that ran in the background broke: it is said, and nothing is counted."""
        if event.state is WorkerState.ERROR:
            error = event.worker.error
            self.say(text(self.lang, "review.broke", why=safe_text(f"{type(error).__name__}: {error}")), "caution")

    def action_hint(self) -> None:
        self.say(text(self.lang, "review.hint-quit"))

    def action_leave(self) -> None:
        self.leave()

    async def action_quit(self) -> None:
        self.leave()

    def leave(self) -> None:
        """Give back what is held and go. What is begun is on the disk; only what is not is asked for. An open field is
        closed first."""
        if not isinstance(self.screen, ReviewBase):
            return
        unkept = sum(getattr(screen, "unkept", False) is True for screen in self.screen_stack)
        if self.drafts.troubled:
            unkept += self._begun()
        if unkept:
            self.ask(text(self.lang, "review.leave-unsaved", count=unkept), self._end)
        else:
            self._end()

    def _begun(self) -> int:
        """How many answers are begun and not saved in this window."""
        return len(self.sitting.kept) + (self.desk is not None and self.desk.unsaved)

    def _end(self) -> None:
        # What was asked before is written before; the loop goes on until it is.
        self.call(self._give_back, lambda _: self.exit(message=self._last_words()), self._end_badly)

    def _last_words(self) -> str | None:
        begun = 0 if self.drafts.troubled else self._begun()
        return text(self.lang, "review.left-begun", count=begun) if begun else None

    def _give_back(self) -> None:
        self.book.queue.release_all(self.holder)

    def _ended_by(self, number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        threading.Thread(target=self._hang_up, args=(number,), name="hang-up").start()

    def _hang_up(self, number: int) -> None:
        """The line dropped, or somebody ends us: what was sent to be saved is written, what is held is given back.

        The loop may be stuck in a write to a line that is gone, so it is not waited for."""
        try:
            self.drafts.flush(PATIENCE_S)
            self._database_thread.submit(self._give_back).result(PATIENCE_S)
        except (GradebookError, TimeoutError):
            pass  # Nobody is there to be told; the leases run out by themselves.
        if number == signal.SIGHUP or self._loop is None:
            kill(os.getpid(), number)
        else:
            self._loop.call_soon_threadsafe(self.exit)

    def _end_badly(self, error: GradebookError | LeaseLost) -> None:
        words = [text(self.lang, "review.left-held"), _said(self.lang, refusal(error)), self._last_words() or ""]
        self.exit(message=" ".join(words).strip())

    def close(self) -> None:
        self._database_thread.shutdown()
        self.drafts.close()
        if self._lab is not None:
            self._lab.close()


def refusal(error: GradebookError | LeaseLost) -> Message:
    """What to say of it."""
    if isinstance(error, GradebookError):
        return error.message
    return Message("review.lease-lost", {"grader": safe_text(error.grader or "?", 40)})


def _said(lang: Lang, message: Message) -> str:
    from tutor.strings import say

    return say(lang, message)


def run(folder: ClassFolder, book: Gradebook, lesson: Lesson, context: Context) -> int:
    """Show the review until it is left."""
    escape.install()
    app = ReviewApp(folder, book, lesson, context)
    try:
        app.run(mouse=context.mouse)
        app.raise_fault()
    finally:
        app.close()
    return app.return_code or 0
