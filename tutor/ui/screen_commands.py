"""The commands of the learner's screen that belong to no pane: each `do_<id>` is one of `commands.COMMANDS`."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from tutor.lines import Role
from tutor.ui.commands import TABS, Context

if TYPE_CHECKING:
    from tutor.ui.app import TutorApp
    from tutor.ui.panes.base import Pane
    from tutor.ui.panes.lesson import LessonPane
    from tutor.ui.store import Store


class ScreenCommands:
    """What the screen has to offer for it stands first; a command that returns False passes the key on."""

    store: Store
    lesson: LessonPane
    reading: bool
    tab: str

    @property
    @abstractmethod
    def tutor(self) -> TutorApp: ...

    @property
    @abstractmethod
    def wide(self) -> bool: ...

    @property
    @abstractmethod
    def active(self) -> Pane: ...

    @property
    @abstractmethod
    def context(self) -> Context: ...

    @abstractmethod
    def tr(self, key: str, /, **args: str | int | float) -> str: ...

    @abstractmethod
    def say(self, words: str, role: Role = "plain") -> None: ...

    @abstractmethod
    async def show_tab(self, tab: str) -> None: ...

    @abstractmethod
    async def fold(self) -> None: ...

    @abstractmethod
    def saved_changed(self) -> None: ...

    async def do_tab_lesson(self) -> None:
        await self.show_tab("lesson")

    async def do_tab_code(self) -> None:
        await self.show_tab("code")

    async def do_tab_edge(self) -> None:
        await self.show_tab("edge")

    async def do_tab_lab(self) -> None:
        await self.show_tab("lab")

    async def do_tab_q1(self) -> None:
        await self.show_tab("q1")

    async def do_tab_q2(self) -> None:
        await self.show_tab("q2")

    async def do_tab_q3(self) -> None:
        await self.show_tab("q3")

    async def do_tab_result(self) -> None:
        await self.show_tab("result")

    async def do_swap(self) -> None:
        await self.show_tab(self.tab if self.reading else "lesson")

    async def do_pane(self) -> None:
        await self.do_swap()

    async def do_right(self) -> bool:
        return await self._turn(1)

    async def do_left(self) -> bool:
        return await self._turn(-1)

    async def _turn(self, step: int) -> bool:
        if self.reading:
            return False
        work = [tab for tab in TABS if tab != "lesson"]
        at = work.index(self.tab) + step
        if 0 <= at < len(work):
            await self.show_tab(work[at])
        return True

    async def do_fold(self) -> None:
        if not self.wide:
            self.say(self.tr("fold_narrow"))
            return
        await self.fold()

    def do_language(self) -> None:
        self.tutor.switch_language()

    def do_theme(self) -> None:
        self.tutor.next_theme()

    def do_help(self) -> None:
        self.tutor.show_help(self.context)

    def do_device(self) -> None:
        self.tutor.choose_device()

    def do_palette(self) -> None:
        self.tutor.show_palette()

    def do_search(self) -> None:
        self.tutor.ask_line(self.tr("search"), self.lesson.search)

    def do_save(self) -> None:
        if self.store.flush():
            where = str(self.store.journal.folder)
            at = self.store.saved_at
            self.say(self.tr("saved_at", at=at, where=where) if at else self.tr("saved_nothing", where=where))
        self.saved_changed()

    def do_repaint(self) -> None:
        self.tutor.action_redraw()

    def do_leave(self) -> None:
        self.tutor.leave()

    def do_hint_quit(self) -> None:
        self.say(self.tr("hint_quit"))

    def do_run(self) -> None:
        self.tutor.check()

    def do_stop(self) -> bool:
        if not self.tutor.checker.running:
            return False
        self.tutor.checker.stop()
        return True

    def do_editor(self) -> None:
        self.tutor.open_editor(self.active)

    def do_reset(self) -> bool:
        from tutor.ui.panes.code import CodePane

        pane = self.active
        if not isinstance(pane, CodePane):
            return False
        self.tutor.ask(self.tr("reset_ask"), pane.reset)
        return True

    def do_cite(self) -> None:
        self.tutor.cite(self.active)
