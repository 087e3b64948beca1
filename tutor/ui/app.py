"""The application: owns what the screens share (state, judge, lab), and how it all ends."""

from __future__ import annotations

import gc
import os
import signal
import socket
import threading
from functools import cached_property
from types import FrameType
from typing import TYPE_CHECKING

from textual import on
from textual.binding import Binding
from textual.worker import Worker, WorkerState

from tutor.context import Context
from tutor.learner.journal import StateError
from tutor.learner.session_lock import Owner
from tutor.strings import say, text
from tutor.ui import escape
from tutor.ui.box import Box, look, remember, remembered
from tutor.ui.checker import Checker
from tutor.ui.fault import FaultApp
from tutor.ui.frame_diff import FrameDiffApp
from tutor.ui.key_order import KeyOrderApp
from tutor.ui.learner import LearnerScreen
from tutor.ui.overlays import Overlays, dropped_message
from tutor.ui.panes.base import Pane, tool_broke
from tutor.ui.store import Store
from tutor.ui.theme import THEMES, ThemeName, chosen, setting, textual_themes

if TYPE_CHECKING:
    from tutor.lab.host import LabHost

#: A check that takes longer than this is announced, in seconds.
SLOW_S = 0.4
#: What warms up begins so long after the first frame: its threads would hold up the page that greets, in seconds.
WARM_AFTER_S = 0.15


class TutorApp(Overlays, KeyOrderApp[None], FaultApp[None], FrameDiffApp[None]):
    """One learner, one lesson."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [
        # Textual's own: one would leave without a word to us, the other shows a toast.
        Binding("ctrl+q", "leave", show=False, priority=True),
        Binding("ctrl+c", "help_quit", show=False),
    ]

    def __init__(self, context: Context, store: Store, other: Owner | None = None) -> None:
        # Textual's answer to NO_COLOR turns the terminal's own colours into black on black; ours is the theme `mono`.
        no_color = os.environ.pop("NO_COLOR", None)
        super().__init__()
        if no_color is not None:
            os.environ["NO_COLOR"] = no_color
        self._other = other
        self.context = context
        self.store = store
        self.checker = Checker(store.lesson)
        self.theme_name: ThemeName = chosen(context.theme, context.env)
        for theme in textual_themes():
            self.register_theme(theme)
        self.theme = f"tutor-{self.theme_name}"
        self.learner = LearnerScreen(store, self.theme_name)
        self.box: Box | None = None
        before = remembered()
        if before is not None:
            self.box_known(before)

    def on_mount(self) -> None:
        if threading.current_thread() is threading.main_thread():
            # The loop may be stuck in a write to a line that is gone, so the handler needs a thread, not the loop.
            for number in (signal.SIGHUP, signal.SIGTERM):
                signal.signal(number, self._ended_by)
        self.push_screen(self.learner)

    def on_ready(self) -> None:
        """The widgets are there. What waits for the first frame waits until it is painted: threads would hold it up."""
        self.learner.call_after_refresh(self.call_later, self.first_frame)

    @cached_property
    def lab(self) -> LabHost:
        """Runs demos; made when one is first asked for."""
        from tutor.lab.host import LabHost, LabSettings

        settings = self.context.settings
        return LabHost(LabSettings(settings.python, settings.launcher, self.context.device))

    def first_frame(self) -> None:
        """After the first frame: say what has to be said, and warm up what will be used when that is painted."""
        gc.freeze()  # What is there by now stays: a first collection that goes through all of it would hold up a key.
        gc.enable()
        self._greet()
        self.set_timer(WARM_AFTER_S, self._warm_up)

    def _warm_up(self) -> None:
        self.look_at_box()
        self.checker.warm()

    def _greet(self) -> None:
        progress = self.store.progress
        notices = list(self.store.journal.notices)
        if self.frame_diff_problem is not None:
            notices.append(self.frame_diff_problem)
        if self._other is not None:
            self.ask_owner(self._other)
            return
        if notices:
            more = text(self.store.lang, "ui.more_notices", count=len(notices) - 1) if len(notices) > 1 else ""
            self.learner.say(say(self.store.lang, notices[0]) + more, "caution")
        elif progress.dropped is not None and not self.learner.has_said:  # a key may have been quicker
            self.learner.say(dropped_message(self.store), "caution")
        if not progress.settings.get("welcomed") and self.store.journal.read_only is None:
            self.welcome()

    # --- the box -----------------------------------------------------------------------------------------------------

    def look_at_box(self) -> None:
        self.run_worker(self._look_at_box, thread=True, group="box", exit_on_error=False)

    def _look_at_box(self) -> None:
        box = look(self.context.settings.python, self.context.device)
        if box != self.box:
            remember(box)
            self.call_from_thread(self.box_known, box)

    def box_known(self, box: Box) -> None:
        """What this machine can run is known, or is not what it was."""
        self.box = box
        self.learner.lesson.can_run = box.torch is not None
        self.learner.box = box.words(self.store.lang)
        if self.learner.is_attached:
            self.learner.refill()
            if self.screen is not self.learner:
                self.refill_overlay()

    def use_device(self, device: str) -> None:
        """Run demos there from now on, on this machine only: another one that shares the home has other GPUs."""
        before = self.store.progress.settings.get("devices")
        kept = before if isinstance(before, dict) else {}
        self.store.record("setting", name="devices", value={**kept, socket.gethostname(): device})
        self.lab.use(device)
        self.look_at_box()

    # --- settings ----------------------------------------------------------------------------------------------------

    def switch_language(self) -> None:
        """The other language; place, draft and cursor stay."""
        self.store.lang = "en" if self.store.lang == "zh" else "zh"
        self.store.record("setting", name="lang", value=self.store.lang)
        if self.box is not None:
            self.learner.box = self.box.words(self.store.lang)
        self.learner.say("")
        self.learner.refill()

    def next_theme(self) -> None:
        """The next of the five themes."""
        self.theme_name = THEMES[(THEMES.index(self.theme_name) + 1) % len(THEMES)]
        self.store.record("setting", name="theme", value=setting(self.theme_name))
        self.theme = f"tutor-{self.theme_name}"
        self.learner.set_theme(self.theme_name)
        self.learner.say(text(self.store.lang, "ui.theme_now", theme=self.theme_name))

    # --- judging -----------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Judge the blank and every edge input in one run; the panes are drawn when the verdict is there."""
        self.learner.keep()
        self.store.flush()
        blank = self.learner.blank_text()
        edges = {edge.id: edge.line for edge in self.store.progress.edges.values()}
        self.run_worker(self._check(blank, edges), group="check", exclusive=True, exit_on_error=False)

    async def _check(self, blank: str, edges: dict[str, str]) -> None:
        slow = self.set_timer(SLOW_S, self._slow)
        report = await self.checker.check(blank, list(edges.values()))
        slow.stop()
        if report is None:  # Stopped: the verdict that was there stays.
            self.learner.say(text(self.store.lang, "check.cancelled"))
            self.learner.draw_bars()
            return
        data = report.to_data()
        self.store.record("checked", expr=blank, report=data)
        for (name, row), result in zip(edges.items(), data["edges"], strict=True):
            self.store.record("edge_checked", id=name, line=row, result=result)
        self.learner.judged(report)

    def _slow(self) -> None:
        self.learner.say(text(self.store.lang, "ui.judging"))
        self.learner.draw_bars()

    # --- $EDITOR -----------------------------------------------------------------------------------------------------

    def open_editor(self, pane: Pane) -> None:
        from tutor.ui.editor import edit

        self.store.flush()
        edit(self, pane)

    # --- faults of the tool itself ------------------------------------------------------------------------------------

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        """Something that ran in the background broke: the learner is told, and nothing is counted."""
        if event.state is WorkerState.ERROR:
            self.learner.say(tool_broke(event.worker.error), "caution")

    # --- leaving -----------------------------------------------------------------------------------------------------

    def action_help_quit(self) -> None:
        self.learner.do_hint_quit()

    def action_leave(self) -> None:
        self.leave()

    async def action_quit(self) -> None:
        self.leave()

    def leave(self) -> None:
        """Write what waits and go; when the disk refuses, ask first."""
        self.learner.keep()
        if self.store.flush() or self.store.journal.read_only is not None:
            self._end()
            return
        assert self.store.problem is not None
        question = text(self.store.lang, "ui.leave_unsaved", why=say(self.store.lang, self.store.problem))
        self.ask(question, self._end)

    def _end(self) -> None:
        self.close()
        self.exit()

    def close(self) -> None:
        """Write what waits, end what runs."""
        self.store.flush()
        self.close_lab()
        self.checker.close()

    def close_lab(self) -> None:
        if "lab" in self.__dict__:
            self.lab.close()

    def _ended_by(self, number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        threading.Thread(target=self._hang_up, args=(number,), name="hang-up").start()

    def _hang_up(self, number: int) -> None:
        """The line dropped, or somebody ends us: keep what was typed, end what runs, go.

        After a hang-up there is no terminal to put in order, and Textual's writer never returns from one that is
        gone: the process dies of the signal itself.
        """
        running = self.learner.running_demo()
        self.learner.keep()
        self.store.flush()
        if number == signal.SIGHUP:
            self.store.record("hangup", **({"demo": running[0], "call": running[1]} if running else {}))
        self.close_lab()
        self.checker.close()
        if number == signal.SIGHUP or self._loop is None:
            os.kill(os.getpid(), number)
        else:
            self._loop.call_soon_threadsafe(self.exit)


def run(context: Context) -> int:
    """Show the learner's screen until it is left. Raises StateError and Stop before anything is drawn, and a fault of
    the screen's own when it is closed again and what was typed is kept."""
    escape.install()
    store = Store(context.lesson, context.journal, context.lang)
    app = TutorApp(context, store, context.journal.claim_session())
    try:
        app.run(mouse=context.mouse)
        app.raise_fault()
    finally:
        app.close()
        try:
            context.journal.close()
        except StateError as error:
            print(say(context.lang, error.message))
    return app.return_code or 0
