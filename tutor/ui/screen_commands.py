"""The commands of the learner's screen that belong to no pane: each `do_<id>` is one of `commands.COMMANDS`."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from tutor.ui.commands import TABS, Context
from tutor.ui.lines import Role

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
    def show_tab(self, tab: str) -> None: ...

    @abstractmethod
    def fold(self) -> None: ...

    @abstractmethod
    def saved_changed(self) -> None: ...

    def do_tab_lesson(self) -> None:
        self.show_tab("lesson")

    def do_tab_code(self) -> None:
        self.show_tab("code")

    def do_tab_edge(self) -> None:
        self.show_tab("edge")

    def do_tab_lab(self) -> None:
        self.show_tab("lab")

    def do_tab_q1(self) -> None:
        self.show_tab("q1")

    def do_tab_q2(self) -> None:
        self.show_tab("q2")

    def do_tab_q3(self) -> None:
        self.show_tab("q3")

    def do_tab_result(self) -> None:
        self.show_tab("result")

    def do_swap(self) -> None:
        self.show_tab(self.tab if self.reading else "lesson")

    def do_pane(self) -> None:
        self.do_swap()

    def do_right(self) -> bool:
        return self._turn(1)

    def do_left(self) -> bool:
        return self._turn(-1)

    def _turn(self, step: int) -> bool:
        if self.reading:
            return False
        work = [tab for tab in TABS if tab != "lesson"]
        at = work.index(self.tab) + step
        if 0 <= at < len(work):
            self.show_tab(work[at])
        return True

    def do_fold(self) -> None:
        if not self.wide:
            self.say(self.tr("fold_narrow"))
            return
        self.fold()

    def do_language(self) -> None:
        self.tutor.switch_language()

    def do_theme(self) -> None:
        self.tutor.next_theme()

    def do_help(self) -> None:
        self.tutor.show_help(self.context)

    def do_palette(self) -> None:
        self.tutor.show_palette()

    def do_search(self) -> None:
        self.tutor.ask_line(self.tr("search"), self.lesson.search)

    def do_save(self) -> None:
        if self.store.flush():
            self.say(self.tr("saved_at", at=self.store.saved_at, where=str(self.store.journal.folder)))
        self.saved_changed()

    def do_repaint(self) -> None:
        self.tutor.action_redraw()

    def do_leave(self) -> None:
        self.tutor.leave()

    def do_hint_quit(self) -> None:
        self.say(self.tr("hint_quit"))

    def do_run(self) -> bool:
        return bool(self.tutor.check(self.active))

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
