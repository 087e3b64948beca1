"""The learner's screen: two rows of bars, the lesson beside or before the work, a message row, the key line."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual import events, on
from textual.app import ComposeResult
from textual.geometry import Size
from textual.widget import Widget

from tutor.lines import line
from tutor.model import CheckReport, Ending
from tutor.ui.commands import TABS, Context
from tutor.ui.panes.base import Pane
from tutor.ui.panes.factory import make
from tutor.ui.panes.lesson import LessonPane
from tutor.ui.screen_keys import ScreenKeys
from tutor.ui.store import RETRY, SAVE_AFTER, Store
from tutor.ui.theme import ThemeName
from tutor.ui.widgets.bars import Bar, KeyLine, TabBar
from tutor.ui.widgets.lines_view import LinesView

if TYPE_CHECKING:
    from tutor.ui.app import TutorApp

#: From this width on, lesson and work stand side by side.
WIDE = 110
SMALLEST = (80, 24)


class LearnerScreen(ScreenKeys):
    """Holds the panes, and brings what happens in one to the others."""

    def __init__(self, store: Store, theme: ThemeName) -> None:
        super().__init__()
        self.store = store
        self.theme_name: ThemeName = theme
        self.top = Bar(theme, id="top")
        self.tabs = TabBar(theme, id="tabs")
        self.lesson = LessonPane(store, theme)
        self.body, self.work = Widget(id="body"), Widget(id="work")
        self.divider = LinesView(theme, id="divider")
        for box, layout in ((self.body, "horizontal"), (self.work, "vertical")):
            box.styles.width = box.styles.height = "1fr"
            box.styles.layout = layout
        self.divider.styles.width = 2
        self.styles.overflow_x = self.styles.overflow_y = "hidden"
        self.divider.can_focus = False
        self.divider.before_paint = self._divide
        self.message = Bar(theme, id="message")
        self.keys = KeyLine(theme, id="keys")
        self.panes: dict[str, Pane] = {}
        place = store.progress.place
        wanted = place.tab if place and place.tab in TABS else "lesson"
        self.reading = wanted == "lesson"
        self.tab = wanted if wanted != "lesson" else "code"
        self.box = ""
        self.folded = False
        self.too_small = False
        self._sized = Size(0, 0)
        self._focused_before: Widget | None = None
        """What had the focus when the screen became too small."""
        self._saving = False
        self._told_lost = False
        self._troubled = False
        """Whether it was said that something could not be saved, and not yet that it was."""

    def compose(self) -> ComposeResult:
        yield self.top
        yield self.tabs
        with self.body:
            yield self.lesson
            yield self.divider
            yield self.work
        yield self.message
        yield self.keys

    async def on_mount(self) -> None:
        self._arrange()
        if not self.reading or self.wide:
            await self._open(self.tab)
        self._marks()
        self.set_focus(self.active.home())
        self.draw_bars()
        self.set_interval(RETRY, self._look_around)

    # --- panes and focus ---------------------------------------------------------------------------------------------

    @property
    def tutor(self) -> TutorApp:
        return cast("TutorApp", self.app)

    @property
    def wide(self) -> bool:
        return self.app.size.width >= WIDE

    @property
    def active(self) -> Pane:
        """The pane that commands go to."""
        return self.lesson if self.reading else self.panes[self.tab].front

    @property
    def context(self) -> Context:
        return self.active.context

    @property
    def editing(self) -> bool:
        from textual.widgets import Input, TextArea

        return isinstance(self.focused, TextArea | Input)

    async def _open(self, tab: str) -> None:
        """Show the pane of a work tab; it is made when it is first opened, and whole before the next key is read."""
        if tab not in self.panes:
            pane = make(tab, self.store, self.theme_name)
            await self.work.mount(pane)
            self.panes[tab] = pane
        for name, pane in self.panes.items():
            pane.display = name == tab

    async def show_tab(self, tab: str) -> None:
        """Bring a tab to the front. In the wide layout the lesson is there already and only gets the focus."""
        if tab == "lesson":
            self.folded = False
        else:
            await self._open(tab)
            self.tab = tab
        self.reading = tab == "lesson"
        self._arrange()
        self.set_focus(self.active.home())
        self._marks()
        self.say("")
        # A pane that was hidden has no size before the next layout, and what it shows may be old.
        for view in self.active.query(LinesView):
            view.forget()
        self.draw_bars()
        self._keep_place()

    def _arrange(self) -> None:
        self.lesson.display = self.reading or (self.wide and not self.folded)
        self.divider.display = self.wide and not self.folded
        self.work.display = self.wide or not self.reading
        width = self.app.size.width
        self.lesson.styles.width = min(77, max(55, width * 45 // 100)) if self.wide else "1fr"
        self.lesson.head.display = not self.wide

    async def fold(self) -> None:
        """Take the lesson away on a wide screen, or bring it back."""
        self.folded = not self.folded
        if self.folded and self.reading:
            await self.show_tab(self.tab)
        self._arrange()
        self.call_after_refresh(self.refill)

    def _marks(self) -> None:
        for pane in (self.lesson, *self.panes.values()):
            pane.set_active(pane.front is self.active)

    def refill(self) -> None:
        """Draw everything anew."""
        if self.lesson.display and self.lesson.body.size.width:
            self.lesson.refill()
        if self.tab in self.panes:
            self.panes[self.tab].refill()
        self.draw_bars()

    def _divide(self) -> None:
        self.divider.show([line("| ")] * self.divider.size.height)

    # --- for the application ----------------------------------------------------------------------------------------

    def keep(self) -> None:
        """Hand everything that is typed, and the place, to the store."""
        for pane in self.panes.values():
            if pane.is_mounted:
                pane.keep()
        self.store.keep_place(self.lesson.place("lesson" if self.reading else self.tab))

    def blank_text(self) -> str:
        """What stands in the blank now."""
        return self.store.draft("code", self.store.lesson.exercise.blank)

    def judged(self, report: CheckReport) -> None:
        """A verdict came: show it where one is."""
        for pane in self.panes.values():
            if pane.display:
                pane.refill()
        if self.context == "edge" and report.edges:
            right = sum(edge.ending is Ending.PASSED for edge in report.edges)
            self.say(self.tr("judged_edges", right=right, of=len(report.edges)))
        else:
            self.say(self.tr(f"judged_{report.ending}"), "good" if report.ending is Ending.PASSED else "caution")
        self.saved_changed()

    def running_demo(self) -> tuple[str, int] | None:
        """The demo that runs and how many of its calls were seen, None when none runs."""
        from tutor.ui.panes.lab_tab import LabTab

        tab = self.panes.get("lab")
        if isinstance(tab, LabTab) and tab.demos.running and tab.demos.demo is not None:
            return tab.demos.demo.name, len(tab.demos.view.rows)
        return None

    async def open_demo(self, name: str) -> None:
        """Show the lab with one demo open."""
        from tutor.ui.panes.lab_tab import LabTab

        await self.show_tab("lab")
        tab = self.panes["lab"]
        assert isinstance(tab, LabTab)
        await tab.show(tab.demos.place)
        tab.demos.open_demo(name)

    async def do_trace(self) -> None:
        """Show the lab with the view that explains a trace."""
        from tutor.ui.panes.lab_tab import LabTab

        await self.show_tab("lab")
        tab = self.panes["lab"]
        assert isinstance(tab, LabTab)
        await tab.show("trace")

    def set_theme(self, theme: ThemeName) -> None:
        self.theme_name = theme
        for bar in (self.top, self.tabs, self.divider, self.message, self.keys):
            bar.set_theme(theme)
        for pane in (self.lesson, *self.panes.values()):
            pane.set_theme(theme)
        self.refill()

    # --- what happens ------------------------------------------------------------------------------------------------

    @on(Pane.Say)
    def _said(self, event: Pane.Say) -> None:
        self.say(event.words, event.role)

    @on(Pane.Go)
    async def _go(self, event: Pane.Go) -> None:
        await self.show_tab(event.tab)

    @on(Pane.Changed)
    def _changed(self) -> None:
        if not self._saving and not self.store.saved:
            self._saving = True
            self.set_timer(SAVE_AFTER, self._save)
        self.draw_bars()

    def _save(self) -> None:
        self._saving = False
        self.store.flush()
        self.saved_changed()

    def saved_changed(self) -> None:
        if self.store.problem is not None:
            self._troubled = True
            self.say(self.store.problem, "bad")
        elif self._troubled and self.store.saved:
            self._troubled = False
            self.say(self.tr("saved_again"))
        self.draw_bars()

    def _look_around(self) -> None:
        """Every few seconds: try again what the disk refused, see what other processes wrote."""
        if self.store.problem is not None and self.store.retry():
            self.saved_changed()
        if self.store.look():
            self.refill()
        if self.store.journal.lost_session and not self._told_lost:
            self._told_lost = True
            self._lost()
        self.draw_bars()

    def _lost(self) -> None:
        """Another window took over: nothing is written from here any more, and what was typed last is set aside."""
        if self.editing:
            self.action_escape()
        told = [self.tr("session_lost")]
        told += [self.tr("set_aside", path=str(path)) for path in self.store.set_aside()]
        self.say(("" if self.store.lang == "zh" else " ").join(told), "caution")

    @on(LessonPane.Moved)
    def _moved(self) -> None:
        self._keep_place()
        self.draw_bars()

    def _keep_place(self) -> None:
        self.keep()
        self._changed()

    @on(LessonPane.ClaimOpened)
    async def _claim_opened(self, event: LessonPane.ClaimOpened) -> None:
        claim = self.store.lesson.claims[event.claim]
        if claim.demo is None:
            self.tutor.show_claim(claim, self.lesson.state())
            return
        await self.open_demo(claim.demo)

    @on(Pane.OpenClaim)
    def _claim_asked(self, event: Pane.OpenClaim) -> None:
        claim = self.store.lesson.claims[event.claim]

        def closed(said: str | None) -> None:
            # Enter, and not Esc: on to its experiment.
            if said is not None and claim.demo is not None:
                self.post_message(Pane.OpenDemo(claim.demo))

        self.tutor.show_claim(claim, self.lesson.state(), closed)

    @on(Pane.OpenDemo)
    async def _demo_asked(self, event: Pane.OpenDemo) -> None:
        await self.open_demo(event.demo)

    @on(TabBar.Chosen)
    async def _tab_clicked(self, event: TabBar.Chosen) -> None:
        await self.show_tab(event.name)

    @on(LinesView.Picked)
    def _picked(self, event: LinesView.Picked) -> None:
        self.active.choose(event.item)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        widget: Widget | None = event.widget
        reading = widget is not None and self.lesson in widget.ancestors_with_self
        if widget is not self.keys and self.wide and reading != self.reading:
            self.reading = reading
            self._marks()
        self.draw_bars()

    # --- size --------------------------------------------------------------------------------------------------------

    async def on_resize(self, event: events.Resize) -> None:
        small = event.size.width < SMALLEST[0] or event.size.height < SMALLEST[1]
        if small != self.too_small:
            self.too_small = small
            if small:
                self._focused_before = self.focused
            self.body.display = not small
            self.tabs.display = self.keys.display = not small
            if not small and self._focused_before is not None:
                # What is hidden loses the focus; without it the next letter typed would be taken for a command.
                self.set_focus(self._focused_before)
        if small:
            self.draw_bars()
            return
        if event.size != self._sized:
            self._sized = event.size
            self._arrange()
            if self.wide:
                await self._open(self.tab)
            self.draw_bars()
