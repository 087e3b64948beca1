"""The request lab: the learner's guard_key as a cache beside the real Dynamo, for the same list of requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input
from textual.worker import Worker, WorkerState

from tutor.lab import requests
from tutor.lab.requests import DRAFT, DYNAMICS, Dynamic, Request, RequestError, Row
from tutor.lab.task import task
from tutor.lines import Part
from tutor.model import Figure
from tutor.strings import say, text
from tutor.ui.panes.base import tool_broke
from tutor.ui.panes.lab_view import LabView
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName
from tutor.ui.views.lab_requests import RequestRun, path_page, request_lines
from tutor.ui.widgets.bars import Bar
from tutor.ui.widgets.fields import Field

#: Where the learner's choice of `dynamic` is kept.
SETTING = "requests_dynamic"
#: The lesson's figure that a request's path is shown in.
FIGURE = "life-cycle"
#: What a new line begins with.
NEW = "(8, 256, 4096) bf16 "


class RequestsView(LabView):
    """The list, a field that opens for one line of it, and the chosen row in full."""

    place: ClassVar[str] = "requests"

    def __init__(self, store: Store, theme: ThemeName) -> None:
        super().__init__(store, theme)
        self.lines = requests.lines_of(store.draft(DRAFT, requests.DEFAULT))
        self.at = 0
        self.ran: RequestRun | None = None
        self.label = Bar(theme, classes="label")
        self.field = Field(id="lab-request", max_length=requests.LINE_MAX, compact=True, select_on_focus=False)
        self.form = Vertical(self.label, self.field)
        self.form.styles.height, self.form.display = 2, False
        self._undone: list[tuple[int, str]] = []
        self._asking: Worker[None] | None = None
        self._result: Mapping[str, Any] | None = None

    def content(self) -> ComposeResult:
        yield self.body
        yield self.form

    @property
    def dynamic(self) -> Dynamic:
        chosen = self.store.progress.settings.get(SETTING)
        return cast("Dynamic", chosen) if chosen in DYNAMICS else DYNAMICS[0]

    @property
    def figure(self) -> Figure | None:
        """The lesson's figure of a call's life, None in a lesson that has none."""
        return self.store.lesson.figures.get(FIGURE)

    # --- what is shown -----------------------------------------------------------------------------------------------

    def title(self) -> list[Part]:
        dynamic = "mark_dynamic(0, 1)" if self.dynamic == "mark" else self.lv("requests-title", dynamic=self.dynamic)
        parts: list[Part] = [(dynamic, "title"), ("   ", "plain")]
        run = self.ran
        if run is None or not run.ended:
            return [*parts, (self.lv("requests-count", count=len(self.lines)), "plain")]
        differ = sum(row.differs for row in run.rows()[0])
        parts.append((self.lv("requests-differ", count=len(run.asked), differ=differ), "plain"))
        if run.limit is not None:
            entries = self.lv("requests-entries", entries=run.graphs.count, limit=run.limit)
            parts.append(("   " + entries, "plain"))
        if run.evidence is not None:
            parts.append((" " + self.lv("evidence-here", id=run.evidence), "measured"))
        return parts

    def refill(self) -> None:
        self.draw_title()
        width = max(30, self.body.size.width - 1)
        self.at = max(0, min(self.at, len(self.lines) - 1))
        shown = request_lines(
            self.lines, self.ran, self.store.lang, width, self.at, figure=self.figure, height=self.body.size.height
        )
        self.body.show(shown, item=f"request:{self.at}")
        self.label.set_parts([(self.lv("requests-field"), "muted")])

    def choose(self, item: str) -> None:
        self.at = int(item.removeprefix("request:"))
        self.refill()

    # --- the field ---------------------------------------------------------------------------------------------------

    def edit(self, words: str) -> None:
        """Open the field for the chosen line."""
        self.form.display = True
        self.field.value = words
        self.field.cursor_position = len(words)
        self.screen.set_focus(self.field)
        self.refill()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self.form.display and self.lines[self.at] != self.field.value:
            self.lines[self.at] = self.field.value
            self._changed_list()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        try:
            requests.parse(self.field.value)
        except RequestError as error:
            self.say(error.message, "caution")
            return
        self._close()

    def leave_editor(self) -> None:
        if self.form.display:
            self._close()

    def _close(self) -> None:
        self.form.display = False
        self.lines = [words for words in self.lines if words.strip()]
        self._changed_list()
        self.store.flush()
        self.screen.set_focus(self.body)
        self.refill()

    def keep(self) -> None:
        if self.form.display:
            self._changed_list()

    def _changed_list(self) -> None:
        """The list is another one: it is saved, and what ran before is no longer of it."""
        self.ran = None
        self.store.keep_draft(DRAFT, "\n".join(self.lines), (self.at, 0))
        self.refill()
        self.changed()

    # --- commands ----------------------------------------------------------------------------------------------------

    def can(self, command: str) -> bool:
        if command in ("delete", "act"):
            return bool(self.lines) and not self.running
        if command in ("add", "value"):
            return not self.running
        if command == "figure":
            return self.figure is not None and self._went() is not None
        return super().can(command)

    def act_words(self) -> str:
        return self.tr("do_act_edge")

    def follow(self) -> None:
        if self.body.item and self.body.item != f"request:{self.at}":
            self.choose(self.body.item)

    def do_act(self) -> None:
        if self._busy():
            return
        if self.lines:
            self.edit(self.lines[self.at])
        else:
            self.do_add()

    def do_add(self) -> None:
        if self._busy():
            return
        if len(self.lines) >= requests.LINES_MAX:
            self.say(self.lv("request-many", most=requests.LINES_MAX), "caution")
            return
        self.at = self.at + 1 if self.lines else 0
        self.lines.insert(self.at, NEW)
        self.ran = None
        self.edit(NEW)

    def do_delete(self) -> None:
        if self._busy() or not self.lines:
            return
        self._undone.append((self.at, self.lines.pop(self.at)))
        self._changed_list()
        self.say(self.lv("requests-deleted"))

    def do_undo(self) -> None:
        if self._busy():
            return
        if not self._undone:
            self.say(self.tr("nothing_to_undo"))
            return
        at, words = self._undone.pop()
        self.lines.insert(min(at, len(self.lines)), words)
        self.at = at
        self._changed_list()

    def do_value(self) -> bool:
        if not self._busy():
            following = DYNAMICS[(DYNAMICS.index(self.dynamic) + 1) % len(DYNAMICS)]
            self.store.record("setting", name=SETTING, value=following)
            self.ran = None
            self.refill()
            self.changed()
        return True

    def do_figure(self) -> None:
        """The way of the chosen request through the figure, whatever room there is here."""
        figure, went = self.figure, self._went()
        if figure is None or went is None:
            self.say(self.lv("path-none"))
            return
        row, run = went
        self.tutor.show_lines(
            lambda lang: text(lang, "lab_views.path-title"),
            lambda lang, width: path_page(row, run, figure, lang, width),
        )

    def _went(self) -> tuple[Row, RequestRun] | None:
        """The chosen request with its run, if it was called at all."""
        if self.ran is None:
            return None
        rows, _ = self.ran.rows()
        row = rows[self.at] if self.at < len(rows) else None
        return (row, self.ran) if row is not None and requests.figure_path(row, self.ran.dynamic) else None

    def do_run(self) -> bool:
        if self._busy():
            return True
        asked = self._asked()
        if asked and self.start(
            task("requests"), params={"requests": [r.as_data() for r in asked], "dynamic": self.dynamic}
        ):
            self._result = None
            self.ran = RequestRun(tuple(asked), self.dynamic)
            self.refill()
        return True

    def _busy(self) -> bool:
        if self.running:
            self.say(self.tr("lab_busy"))
        return self.running

    def _asked(self) -> list[Request]:
        """All lines as requests; none after saying what is wrong with one."""
        asked = []
        for n, words in enumerate(self.lines):
            try:
                asked.append(requests.parse(words))
            except RequestError as error:
                self.at = n
                self.refill()
                self.say(self.lv("requests-fix", number=n + 1, why=say(self.store.lang, error.message)), "caution")
                return []
        if not asked:
            self.say(self.lv("requests-none"))
        return asked

    # --- a run -------------------------------------------------------------------------------------------------------

    def take(self, event: Mapping[str, Any]) -> None:
        run = self.ran
        if run is None:
            return
        run.take(event)
        if event["event"] == "observation" and event["series"] == "limit":
            self._ask_key(run)
        elif event["event"] == "result":
            self._result = event
        elif event["event"] == "ended":
            if not run.device:
                run.device = "cpu"
                self._ask_key(run)
            self._both(run)

    def _ask_key(self, run: RequestRun) -> None:
        self._asking = self.run_worker(self._key(run), group="lab-key", exit_on_error=False)

    @on(Worker.StateChanged)
    def _key_broke(self, event: Worker.StateChanged) -> None:
        """The sandbox's side stopped by the tool's own fault: the rows stand without a key, and say why."""
        if event.worker is self._asking and event.state is WorkerState.ERROR and self.ran is not None:
            self.ran.results, self.ran.no_key = [None] * len(self.ran.asked), tool_broke(event.worker.error)
            self._both(self.ran)
            self.refill()
            self.changed()

    async def _key(self, run: RequestRun) -> None:
        """The learner's key for each request, from the sandbox."""
        calls = [requests.key_call(request, run.dynamic, run.device) for request in run.asked]
        outcome = await self.tutor.checker.results(self.tutor.learner.blank_text(), calls)
        run.results, run.no_key = requests.key_results(outcome, len(calls))
        self._both(run)
        self.refill()
        self.changed()

    def _both(self, run: RequestRun) -> None:
        """When both sides have come: the cursor on the first difference, and the run kept as evidence."""
        if run is not self.ran or not run.ended or run.results is None:
            return
        first = requests.first_difference(run.rows()[0])
        if first is not None:
            self.at = first
        if self._result is not None:
            run.evidence = self.keep_evidence(self._result, **run.observed())
            self._result = None
