"""Screens that lie over the learner's: a page to read or pick from, a question with yes and no, a search line."""

from __future__ import annotations

from collections.abc import Callable

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input

from tutor.language import Lang
from tutor.lines import Line, Part, wrap
from tutor.strings import text
from tutor.ui.commands import outside
from tutor.ui.theme import ThemeName
from tutor.ui.widgets.bars import Bar
from tutor.ui.widgets.fields import Field
from tutor.ui.widgets.lines_view import LinesView

#: Makes the lines of a page for a language and a width.
Maker = Callable[[Lang, int], list[Line]]


class Page(ModalScreen[str | None]):
    """A page of lines. Enter on an item closes it with the item, Esc with None; F9 switches the language."""

    CSS = """
    Page { background: $background; layout: vertical; }
    """

    BINDINGS = [
        Binding("escape", "close", priority=True, show=False),
        Binding("f9", "language", priority=True, show=False),
    ]

    class Switched(Message):
        """The page is in the other language now: what lies under it should be, too."""

    def __init__(
        self, theme: ThemeName, lang: Lang, title: Callable[[Lang], str], maker: Maker, *, keys: str = "page_keys"
    ) -> None:
        super().__init__()
        self.theme_name: ThemeName = theme
        self.lang = lang
        self._title = title
        self._maker = maker
        self._keys = keys
        self.first = ""
        """The item that the cursor begins on; empty for the first one."""
        self.head = Bar(theme, classes="head")
        self.body = LinesView(theme)
        self.foot = Bar(theme)

    def compose(self) -> ComposeResult:
        yield self.head
        yield self.body
        yield self.foot

    def on_mount(self) -> None:
        self.body.focus()

    def on_resize(self) -> None:
        self.refill()

    def refill(self) -> None:
        if not self.body.size.width:
            return
        self.head.set_parts([("> ", "strong"), (self._title(self.lang), "title")])
        lines = self._maker(self.lang, self.body.size.width - 1)
        items = [row.item for row in lines if row.item]
        wanted = self.body.item or self.first
        self.body.show(lines, item=wanted if wanted in items or not items else items[0])
        self.foot.set_parts([(text(self.lang, self._keys if "." in self._keys else f"ui.{self._keys}"), "plain")])

    def action_close(self) -> None:
        self.dismiss(None)

    def action_language(self) -> None:
        self.lang = "en" if self.lang == "zh" else "zh"
        self.refill()
        self.post_message(self.Switched())

    def on_key(self, event: events.Key) -> None:
        event.stop()
        self.pressed(event)

    def pressed(self, event: events.Key) -> None:
        """A key came. (Textual runs the `on_key` of every class in turn, so a subclass overrides this instead.)"""
        key = event.key
        named = next((command.id for command in outside(key, event.character, "result")), "")
        if key == "enter":
            self.dismiss(self.body.item or "")
        elif key in ("ctrl+q", "q"):
            self.dismiss(None)
        elif named == "language":
            self.action_language()
        elif named == "down":
            _ = self.body.move(1) or self.body.scroll_rows(1)
        elif named == "up":
            _ = self.body.move(-1) or self.body.scroll_rows(-1)
        elif named == "page_down":
            self.body.scroll_page(1)
        elif named == "page_up":
            self.body.scroll_page(-1)
        elif named == "home":
            self.body.go(0)
        elif named == "end":
            self.body.go(len(self.body.lines))
        elif event.character in ("/", "／"):
            self._search()

    def _search(self) -> None:
        def found(words: str | None) -> None:
            wanted = (words or "").casefold()
            rows = range(len(self.body.lines))
            for n in (*rows[self.body.top + 1 :], *rows):
                if wanted and wanted in self.body.lines[n].text.casefold():
                    self.body.go(n)
                    return

        self.app.push_screen(SearchLine(self.theme_name, text(self.lang, "ui.search")), found)

    @on(LinesView.Picked)
    def _picked(self, event: LinesView.Picked) -> None:
        self.dismiss(event.item)


class Welcome(Page):
    """The first page of the first start: Enter begins, F9 or `t` switches the language, `?` opens the help."""

    def pressed(self, event: events.Key) -> None:
        if event.character in ("?", "？") or event.key == "f1":
            self.dismiss("help")
            return
        super().pressed(event)

    def action_close(self) -> None:
        self.dismiss("")


class Ask(ModalScreen[bool]):
    """One question over the last rows. Only `y` says yes; Enter, Esc and everything else say no."""

    CSS = """
    Ask { background: transparent; align: center bottom; }
    Ask > Vertical { height: auto; background: $background; }
    """

    def __init__(self, theme: ThemeName, lang: Lang, question: str) -> None:
        super().__init__()
        self._theme_name: ThemeName = theme
        self._lang = lang
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical():
            view = LinesView(self._theme_name)
            view.styles.height = "auto"
            yield view

    def on_mount(self) -> None:
        parts: list[Part] = [(self._question, "strong"), ("  " + text(self._lang, "ui.yes_no"), "focus")]
        view = self.query_one(LinesView)
        view.show(wrap(parts, max(20, self.app.size.width - 1)))
        view.focus()

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        self.dismiss(event.key in ("y", "Y", "upper_y"))


class SearchLine(ModalScreen[str | None]):
    """One line to type in, over the last row."""

    CSS = """
    SearchLine { background: transparent; align: center bottom; }
    SearchLine > Vertical { height: 2; background: $background; }
    """

    BINDINGS = [Binding("escape", "close", priority=True, show=False)]

    def __init__(self, theme: ThemeName, label: str, value: str = "", most: int = 100) -> None:
        super().__init__()
        self._value = value
        self._most = most
        self._label = label
        self._bar = Bar(theme)

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self._bar
            yield Field(value=self._value, max_length=self._most, compact=True)

    def on_mount(self) -> None:
        self._bar.set_parts([(self._label, "strong")])
        self.query_one(Input).focus()

    def action_close(self) -> None:
        self.dismiss(None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)
