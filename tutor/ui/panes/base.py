"""What every pane of the learner's screen is: a title row, its content, and commands named `do_<id>`."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.message import Message as TextualMessage
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from tutor.lines import Part, Role
from tutor.literals import safe_text
from tutor.model import Message
from tutor.strings import say, text
from tutor.ui.commands import Context
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName
from tutor.ui.widgets.bars import Bar
from tutor.ui.widgets.lines_view import LinesView

if TYPE_CHECKING:
    from tutor.ui.widgets.fields import TooLong


def tool_broke(error: BaseException | None) -> Message:
    """What a learner is told of a fault of the tool's own."""
    return Message("ui.tool_broke", {"why": safe_text(f"{type(error).__name__}: {error}")})


class Pane(Widget):
    """One pane. A command `x` of the table works here when there is a method `do_x`; it returns False to pass."""

    context: ClassVar[Context]

    class Say(TextualMessage):
        """A sentence for the message row."""

        def __init__(self, words: str, role: Role = "plain") -> None:
            super().__init__()
            self.words = words
            self.role = role

    class Changed(TextualMessage):
        """Points, claims or what is saved may have changed."""

    class Go(TextualMessage):
        """Show another tab."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    class OpenClaim(TextualMessage):
        """Show what is known of a claim."""

        def __init__(self, claim: str) -> None:
            super().__init__()
            self.claim = claim

    class OpenDemo(TextualMessage):
        """Show the lab with a demo open."""

        def __init__(self, demo: str) -> None:
            super().__init__()
            self.demo = demo

    def __init__(self, store: Store, theme: ThemeName, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.styles.width = self.styles.height = "1fr"
        self.styles.layout = "vertical"
        self.store = store
        self.theme_name: ThemeName = theme
        self.head = Bar(theme, classes="head")
        self.active = False

    def compose(self) -> ComposeResult:
        yield self.head
        yield from self.content()

    @abstractmethod
    def content(self) -> ComposeResult: ...

    # --- for the screen ----------------------------------------------------------------------------------------------

    @property
    def front(self) -> Pane:
        """The pane that commands go to: this one, unless it holds others."""
        return self

    @abstractmethod
    def refill(self) -> None:
        """Draw everything anew: another width, language, theme, or new facts."""

    @abstractmethod
    def title(self) -> list[Part]:
        """The title row, without the focus mark."""

    def editor(self) -> Widget | None:
        """What Enter goes into, None when nothing is typed here."""
        return None

    def act_words(self) -> str:
        """What Enter does here, for the key line."""
        return self.tr(f"do_act_{self.context}")

    @abstractmethod
    def home(self) -> Widget:
        """What has the focus when the pane is chosen and nothing is typed."""

    def keep(self) -> None:
        """Hand what is typed to the store; also called when the program ends before its messages are read."""

    def leave_editor(self) -> None:
        """Esc was pressed in something of this pane that is typed in."""

    def choose(self, item: str) -> None:
        """An item of this pane was clicked."""

    def can(self, command: str) -> bool:
        """Whether a command of this pane makes sense now; the key line shows only those."""
        return hasattr(self, f"do_{command}")

    def set_active(self, active: bool) -> None:
        """Whether this pane has the focus: its title begins with `>`."""
        self.active = active
        self.draw_title()

    def draw_title(self) -> None:
        mark: Part = ("> " if self.active else "  ", "strong")
        self.head.set_parts([mark, *self.title(), *self.below()])

    def below(self) -> list[Part]:
        """What the title says of rows that are not seen: without a word of them nobody looks for more."""
        view = self.scrolled()
        rows = view.rows_below if view is not None else 0
        return [("  " + self.tr("rows_below", rows=rows), "muted")] if rows else []

    def scrolled(self) -> LinesView | None:
        """The view that fills the pane, None when none does."""
        return None

    def set_theme(self, theme: ThemeName) -> None:
        self.theme_name = theme
        for view in self.query(LinesView):
            view.set_theme(theme)

    # --- for the panes -----------------------------------------------------------------------------------------------

    def tr(self, key: str, /, **args: str | int | float) -> str:
        return text(self.store.lang, f"ui.{key}", **args)

    def say(self, words: str | Message, role: Role = "plain") -> None:
        self.post_message(self.Say(words if isinstance(words, str) else say(self.store.lang, words), role))

    def changed(self) -> None:
        self.post_message(self.Changed())

    def on_too_long(self, event: TooLong) -> None:
        self.say(self.tr("too_long", chars=event.chars, limit=event.limit), "caution")

    @on(Worker.StateChanged)
    def _worker_broke(self, event: Worker.StateChanged) -> None:
        """Something that this pane runs in the background broke: that is the tool's fault, and it is said. (A worker's
        message does not bubble, so that nobody but the widget that started it hears of it.)"""
        if event.state is WorkerState.ERROR:
            self.say(tool_broke(event.worker.error), "caution")


class ListPane(Pane):
    """A pane around one view of lines; moving goes from item to item where there are items."""

    def __init__(self, store: Store, theme: ThemeName, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(store, theme, id=id)
        self.body = LinesView(theme)
        self.body.before_paint = self.refill
        self.body.after_move = self.draw_title

    def scrolled(self) -> LinesView:
        return self.body

    def content(self) -> ComposeResult:
        yield self.body

    def home(self) -> Widget:
        return self.body

    def do_down(self) -> None:
        if not self.body.move(1):
            self.body.scroll_rows(1)

    def do_up(self) -> None:
        if not self.body.move(-1):
            self.body.scroll_rows(-1)

    def do_page_down(self) -> None:
        self.body.scroll_page(1)

    def do_page_up(self) -> None:
        self.body.scroll_page(-1)

    def do_home(self) -> None:
        self.body.go(0)

    def do_end(self) -> None:
        self.body.go(len(self.body.lines))
