"""The break lab: switch breaking lines on and off in one function, and see what each line ran as."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from textual.app import ComposeResult

from tutor.lab import breaks, protocol
from tutor.lab.breaks import SWITCHES
from tutor.lab.task import task
from tutor.lines import Part
from tutor.ui.panes.lab_view import LabView
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName
from tutor.ui.views.lab_breaks import BreakRun, found_lines, function_lines
from tutor.ui.widgets.lines_view import LinesView

#: Where the learner's switches are kept.
SETTING = "breaks_on"
#: The most rows under the function.
FOUND_ROWS = 8


class BreaksView(LabView):
    """The function with its switches, and what came of the last run."""

    place: ClassVar[str] = "breaks"

    def __init__(self, store: Store, theme: ThemeName) -> None:
        super().__init__(store, theme)
        saved = store.progress.settings.get(SETTING)
        saved = saved if isinstance(saved, list) else ["B1"]
        self.on = {name for name in SWITCHES if name in saved}
        self.fullgraph = False
        self.ran: BreakRun | None = None
        self.found = LinesView(theme)
        self.found.styles.height, self.found.can_focus = "auto", False

    def content(self) -> ComposeResult:
        yield self.body
        yield self.found

    # --- what is shown -----------------------------------------------------------------------------------------------

    def title(self) -> list[Part]:
        state = self.lv("fullgraph-on" if self.fullgraph else "fullgraph-off")
        parts: list[Part] = [(self.lv("tab-breaks"), "title"), (f"   {state}", "plain")]
        run = self.ran
        if run is None or run.report is None:
            return parts
        same = run.report.same_as_eager
        if same is not None:
            words = self.lv("breaks-same" if same else "breaks-other")
            parts.append((f"   {words}", "plain" if same else "bad"))
        if run.evidence is not None:
            parts.append((" " + self.lv("evidence-here", id=run.evidence), "measured"))
        return parts

    def refill(self) -> None:
        self.draw_title()
        width = max(30, self.body.size.width - 1)
        chosen = self.body.item.removeprefix("switch:") or next(iter(SWITCHES))
        self.body.show(function_lines(self.on, self.ran, self.store.lang, width), item=f"switch:{chosen}")
        self.found.show(found_lines(self.ran, self.store.lang, width, chosen)[:FOUND_ROWS])

    def choose(self, item: str) -> None:
        self.body.select(item)
        self.refill()

    # --- commands ----------------------------------------------------------------------------------------------------

    def can(self, command: str) -> bool:
        if command in ("value", "act", "tick"):
            return not self.running
        return super().can(command)

    def act_words(self) -> str:
        return self.lv("do-switch")

    def do_act(self) -> bool:
        return self.do_tick()

    def do_tick(self) -> bool:
        """The line under the cursor on or off."""
        if self.running:
            self.say(self.tr("lab_busy"))
            return True
        self.on ^= {self.body.item.removeprefix("switch:")} & set(SWITCHES)
        self.store.record("setting", name=SETTING, value=sorted(self.on))
        self._anew()
        return True

    def do_value(self) -> bool:
        if self.running:
            self.say(self.tr("lab_busy"))
            return True
        self.fullgraph = not self.fullgraph
        self._anew()
        return True

    def _anew(self) -> None:
        self.ran = None
        self.refill()
        self.changed()

    def do_run(self) -> bool:
        if self.running:
            self.say(self.tr("lab_busy"))
            return True
        params = {"source": breaks.source(self.on), "file": breaks.FILE, "fullgraph": self.fullgraph}
        if self.start(task("breaks"), params=params):
            self.ran = BreakRun(frozenset(self.on), self.fullgraph)
            self.refill()
        return True

    # --- a run -------------------------------------------------------------------------------------------------------

    def take(self, event: Mapping[str, Any]) -> None:
        run = self.ran
        if run is None:
            return
        match event["event"]:
            case "progress":
                run.phase = protocol.message(event["message"])
            case "result":
                run.report = breaks.report(event["observed"])
                seen = {"on": sorted(run.on), "fullgraph": [run.fullgraph]}
                broke = run.report.breaks  # Without torch's whole texts, which are long and told more than once.
                told = {"line": [one.line for one in broke], "reason": [one.reason for one in broke]}
                run.evidence = self.keep_evidence(event, switches=seen, **{"break": told})
            case "ended":
                run.ended, run.message = event["outcome"], protocol.message(event["message"])
