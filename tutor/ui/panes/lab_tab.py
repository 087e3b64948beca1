"""The lab's tab: a row of sub-tabs, and under it the view that is in front."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.widget import Widget

from tutor.lines import Part
from tutor.strings import text
from tutor.ui.commands import Context
from tutor.ui.panes.base import Pane
from tutor.ui.panes.lab import LabPane
from tutor.ui.panes.lab_view import LabView
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName

VIEWS = ("demos", "requests", "breaks", "layers", "inside", "exercise", "evidence", "trace")


class LabTab(Pane):
    """Holds the views; each is made when it is first shown. Commands go to the one in front."""

    context: ClassVar[Context] = "lab"

    def __init__(self, store: Store, theme: ThemeName) -> None:
        super().__init__(store, theme, id="lab")
        self.demos = LabPane(store, theme)
        self.demos.turn, self.demos.runner = self._turn, self._runner
        self.views: dict[str, LabView] = {self.demos.place: self.demos}
        self.shown = self.demos.place
        self.box = Widget()
        self.box.styles.width = self.box.styles.height = "1fr"
        self.box.styles.layout = "vertical"

    def content(self) -> ComposeResult:
        with self.box:
            yield self.demos

    def on_mount(self) -> None:
        # Whoever opens the lab will run something: torch is imported in another process meanwhile.
        self.demos.host.warm()

    # --- the view in front -------------------------------------------------------------------------------------------

    @property
    def front(self) -> LabView:
        return self.views[self.shown]

    async def show(self, name: str) -> None:
        """Bring a view to the front; it is whole before the next key is read."""
        if name not in self.views:
            view = self.views[name] = self._make(name)
            view.turn, view.runner, view.bring = self._turn, self._runner, self.bring
            await self.box.mount(view)
        self.shown = name
        for each, pane in self.views.items():
            pane.display = each == name
        self.set_active(self.active)
        self.front.body.forget()
        self.screen.set_focus(self.front.home())

    async def bring(self, name: str) -> LabView:
        """The view of this name, in front."""
        await self.show(name)
        return self.views[name]

    def _make(self, name: str) -> LabView:
        # Imported when opened, as the tabs are.
        from tutor.ui.panes.lab_breaks import BreaksView
        from tutor.ui.panes.lab_evidence import EvidenceView
        from tutor.ui.panes.lab_exercise import ExerciseView
        from tutor.ui.panes.lab_inside import InsideView
        from tutor.ui.panes.lab_layers import LayersView
        from tutor.ui.panes.lab_requests import RequestsView
        from tutor.ui.panes.lab_trace import TraceView

        kinds: dict[str, type[LabView]] = {
            view.place: view
            for view in (RequestsView, BreaksView, LayersView, InsideView, ExerciseView, EvidenceView, TraceView)
        }
        return kinds[name](self.store, self.theme_name)

    def _runner(self) -> LabView | None:
        return next((view for view in self.views.values() if view.running), None)

    async def _turn(self, step: int) -> bool:
        """The next view that way; False when there is none, and the key turns the tabs of the screen."""
        at = VIEWS.index(self.shown) + step
        if not 0 <= at < len(VIEWS):
            return False
        await self.show(VIEWS[at])
        return True

    # --- a pane ------------------------------------------------------------------------------------------------------

    def title(self) -> list[Part]:
        parts: list[Part] = []
        for name in VIEWS:
            words = text(self.store.lang, f"lab_views.tab-{name}")
            parts.append((f"[{words}] ", "strong") if name == self.shown else (f"{words} ", "muted"))
        hint = " " + text(self.store.lang, "lab_views.view-hint")
        # Beside the lesson there is room for the names, and not always for the keys, which the help has too.
        fits = sum(cell_len(words) for words, _ in parts) + cell_len(hint) < self.size.width - 2
        return [*parts, (hint, "muted")] if fits else parts

    def draw_title(self) -> None:
        self.head.set_parts([("  ", "plain"), *self.title()])

    def set_active(self, active: bool) -> None:
        super().set_active(active)
        for view in self.views.values():
            view.set_active(active and view is self.front)

    def refill(self) -> None:
        self.draw_title()
        self.front.refill()

    def home(self) -> Widget:
        return self.front.home()

    def keep(self) -> None:
        for view in self.views.values():
            view.keep()

    def set_theme(self, theme: ThemeName) -> None:
        super().set_theme(theme)
        for view in self.views.values():
            view.set_theme(theme)
