"""The exercise: the learner's own fused kernel, read here, changed in $EDITOR, judged in another process. No points.

A verdict belongs to one text: as soon as the file says something else, the verdict is gone from the screen, and its
evidence stays. Whoever changes the file from elsewhere is noticed within a second.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.message import Message as TextualMessage
from textual.worker import Worker, WorkerState

from tutor.fused import run as fused
from tutor.fused import source
from tutor.fused.inside import kernel_of
from tutor.fused.own import Own, OwnError
from tutor.fused.run import Asked, Judgement
from tutor.lab import protocol
from tutor.lab.host import LabBusy
from tutor.lab.run import Run
from tutor.lab.task import task
from tutor.lines import Line, Part, wrap
from tutor.model import Ending, Message
from tutor.strings import say, text
from tutor.ui.panes.base import tool_broke
from tutor.ui.panes.lab_inside import InsideView
from tutor.ui.panes.lab_view import CodeLabView
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName
from tutor.ui.views import lab_exercise as view
from tutor.ui.widgets.lines_view import LinesView

#: Seconds between two looks at the file.
LOOK_S = 1.0
#: Rows that the code keeps when a verdict is long, lines of output kept.
CODE_ROWS, SAID = 7, 6


class ExerciseView(CodeLabView):
    """The file above, its verdict below."""

    place: ClassVar[str] = "exercise"

    class Judged(TextualMessage):
        """A judgement of a text came to its end."""

        def __init__(self, text: str, found: Judgement) -> None:
            super().__init__()
            self.text = text
            self.found = found

    def __init__(self, store: Store, theme: ThemeName) -> None:
        super().__init__(store, theme)
        self.own = Own.of(store.lesson.folder, store.journal.folder)
        self.text = ""
        self.problem: Message | None = None
        """Why the file cannot be shown."""
        self.found: Judgement | None = None
        """The verdict on exactly this text."""
        self.evidence: str | None = None
        self.judging = False
        self.said = Message("exercise.preparing")
        self._output: deque[str] = deque(maxlen=SAID)
        self._stamp: object = ()
        self._stopped = self._is_draft = False
        self._judge_worker: Worker[None] | None = None
        self.above, self.verdict = LinesView(theme), LinesView(theme)
        for each in (self.above, self.verdict):
            each.styles.height, each.can_focus = 1, False

    def content(self) -> ComposeResult:
        yield self.above
        yield self.body
        yield self.verdict

    def on_mount(self) -> None:
        if self.own.exists and self.store.journal.read_only is None:
            try:
                self.own.ensure()
            except OwnError as error:
                self.say(error.message, "bad")
        self.look()
        self.set_interval(LOOK_S, self.look)

    def words(self, key: str, /, **args: str | int) -> str:
        return text(self.store.lang, f"exercise.{key}", **args)

    # --- the file ----------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Read the file when it is another one than before; an older text's verdict goes."""
        stamp = self.own.stamp()
        if not self.own.exists or stamp == self._stamp:
            return
        self._stamp = stamp
        before, had = self.text, view.is_verdict(self.found)
        try:
            self.text, self.problem = self.own.read(), None
        except OwnError as error:
            self.text, self.problem = "", error.message
        if self.text != before or self.problem is not None:
            self._is_draft = self.own.is_draft(self.text)
            self._recall()
            if had and self.found is None:
                self.say(self.words("changed"))
            self.refill()
            self.changed()

    def _recall(self) -> None:
        """The verdict that evidence keeps of this very text, if there is one."""
        self.found = self.evidence = None
        for one in reversed(self.store.progress.evidence.values()):
            self.found = fused.remembered(one.record, self.text)
            if self.found is not None:
                self.evidence = one.id
                return

    # --- what is shown -----------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        return self.judging or super().running

    def _where(self) -> str:
        box = self.tutor.box
        gpu = None if box is None else box.gpu is not None
        return view.where_words(self.tutor.context.device, gpu, self.store.lang)

    def title(self) -> list[Part]:
        return [(self.words("title"), "title"), ("   " + self.words("no-points"), "muted")]

    def refill(self) -> None:
        self.draw_title()
        lang, width = self.store.lang, max(30, self.body.size.width - 1)
        if not self.own.exists or self.problem is not None:
            said = self.words("none") if self.problem is None else say(lang, self.problem)
            self.above.display = False
            self.body.show(wrap([(said, "caution")], width))
            self._show_verdict([])
            return
        self.above.display = True
        rows = view.code_lines(self.text, self.shift, width, view.line_of(self.found))
        self.above.show([view.head_line(str(self.own.path), len(rows), lang, width)])
        self.body.show(rows)
        self._show_verdict(self._verdict_lines(width))

    def _verdict_lines(self, width: int) -> list[Line]:
        lang = self.store.lang
        if self.running:
            return view.running_lines(say(lang, self.said), self._where(), width)
        if self.found is None:
            return view.empty_lines(self._where(), lang, width, draft=self._is_draft)
        return view.verdict_lines(self.found, self.evidence, self._output, lang, width, draft=self._is_draft)

    def _show_verdict(self, lines: list[Line]) -> None:
        room = max(1, self.size.height - 2 - CODE_ROWS)
        if len(lines) > room:
            lines = [*lines[: room - 1], Line(((self.words("more", count=len(lines) - room + 1), "muted"),))]
        self.verdict.styles.height = max(1, len(lines))
        self.verdict.show(lines, top=0)

    # --- commands ----------------------------------------------------------------------------------------------------

    def can(self, command: str) -> bool:
        if command == "stop":
            return super().can(command)
        if not self.own.exists:
            return False
        if command in ("run", "look_inside"):
            return not self.running and self.problem is None
        if command in ("editor", "reset", "undo"):
            return True
        return super().can(command)

    def act_words(self) -> str:
        return self.words("whole" if view.is_verdict(self.found) else "edit")

    def do_act(self) -> None:
        """The whole verdict on a page of its own; without one, into the file."""
        found, evidence, said, draft = self.found, self.evidence, list(self._output), self._is_draft
        if found is None or not view.is_verdict(found):
            self.do_editor()
            return
        self.tutor.show_lines(
            lambda lang: text(lang, "exercise.title"),
            lambda lang, width: view.verdict_lines(found, evidence, said, lang, width, draft=draft),
        )

    def do_editor(self) -> None:
        if not self.own.exists:
            self.say(self.words("none"))
            return
        try:
            self.own.ensure()
        except OwnError as error:
            self.say(error.message, "bad")
            return
        self.tutor.open_editor(self)

    def do_reset(self) -> None:
        if self.own.exists:
            self.tutor.ask(self.words("reset-ask"), self.reset)

    def reset(self) -> None:
        try:
            self.own.reset()
        except OwnError as error:
            self.say(error.message, "bad")
            return
        self.say(self.words("reset-done"))
        self.look()

    def do_undo(self) -> None:
        """What was there before the reset."""
        try:
            back = self.own.undo()
        except OwnError as error:
            self.say(error.message, "bad")
            return
        self.say(self.words("undone" if back else "nothing-undone"))
        self.look()

    async def do_look_inside(self) -> None:
        """What the compiler makes of this file, beside the lesson's own kernel."""
        if self.running:
            self.say(self.tr("lab_busy"))
            return
        self.look()
        kernel = kernel_of(self.own.path)
        if kernel is None:
            refused = source.read(self.text)
            self.say(self.problem or (refused if isinstance(refused, Message) else self.words("none")), "caution")
            return
        inside = await self.bring(InsideView.place)
        assert isinstance(inside, InsideView)
        inside.look_at(kernel)

    def cited(self) -> str | None:
        return self.evidence

    # --- a judgement -------------------------------------------------------------------------------------------------

    def do_run(self) -> bool:
        self.look()
        if self.running or self.runner() is not None:
            self.say(self.tr("lab_busy"))
            return True
        if not self.own.exists or self.problem is not None:
            self.say(self.problem or self.words("none"), "caution")
            return True
        self.judging, self._stopped, self.said = True, False, Message("exercise.preparing")
        self.found = self.evidence = None
        self._output.clear()
        self.say("")
        judge = partial(self._judge, self.text)
        self._judge_worker = self.run_worker(judge, thread=True, group="lab", exit_on_error=False)
        self.refill()
        return True

    def do_stop(self) -> bool:
        if self.judging and self.run is None:
            self._stopped = True
            self.say(self.tr("lab_stopping"))
            return True
        return super().do_stop()

    def _judge(self, text: str) -> None:
        """In a thread: draw inputs, run, judge."""
        asked = fused.ask(text, demos=self.store.lesson.folder / "demos")
        if isinstance(asked, Judgement):
            self.post_message(self.Judged(text, asked))
            return
        run = self.app.call_from_thread(self._begin, asked)
        if run is not None:
            self.post_message(self.Judged(text, fused.finish(asked, run, self._hear)))

    def _begin(self, asked: Asked) -> Run | None:
        """Start the run; None when it was stopped before, or another one got ahead of it."""
        run = None
        if not self._stopped:
            try:
                run = self.run = self.host.start(task("fused"), params=asked.params)
            except LabBusy:
                self.say(self.tr("lab_busy"))
        if run is None:
            self.judging = False
            self.refill()
            self.changed()
        return run

    def _hear(self, event: Mapping[str, Any]) -> None:
        """In the thread that judges: what the screen shows of a run goes there."""
        if event["event"] in ("progress", "output", "ended"):
            self._came.append(dict(event))
            self.post_message(self.Came())

    def take(self, event: Mapping[str, Any]) -> None:
        if event["event"] == "progress":
            self.said = protocol.message(event["message"])
        elif event["event"] == "output":
            self._output.extend(event["text"].splitlines())
        elif event["event"] == "ended":
            self.said = Message("exercise.comparing")

    @on(Judged)
    def _was_judged(self, event: Judged) -> None:
        event.stop()
        self.judging = False
        self.run = None
        self._came.clear()
        found = event.found
        evidence = self.keep_evidence(found.record) if found.record is not None else None
        self.look()
        if source.digest(event.text) == source.digest(self.text) and self.problem is None:
            self.found, self.evidence = found, evidence
            self.say("")
            line = view.line_of(found)
            if line:
                self.body.go(max(0, line - 3))
        else:
            self.say(self.words("changed-meanwhile", id=evidence or "-"), "caution")
        self.refill()
        self.changed()

    @on(Worker.StateChanged)
    def _judge_broke(self, event: Worker.StateChanged) -> None:
        """The thread that judges broke: that is the tool's own fault, and the run ends."""
        if event.worker is not self._judge_worker or event.state is not WorkerState.ERROR:
            return
        if self.run is not None:
            self.run.cancel()
        broke = tool_broke(event.worker.error)
        self.post_message(self.Judged(self.text, Judgement(Ending.BROKE, broke)))
