"""What every screen of the review is made of: a row on top, a body, a message row, the key line, a table of keys.

A key's id `x` is the method `do_x` of the screen, and `<section>.do_x` in `tutor/text` is what the key line calls it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from inspect import isawaitable
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, cast

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widget import Widget

from tutor.language import Lang
from tutor.lines import Line, Part, Role, line, wrap
from tutor.model import Message
from tutor.strings import say, text
from tutor.ui.learner import SMALLEST
from tutor.ui.theme import ThemeName
from tutor.ui.widgets.bars import Bar, Key, KeyLine

if TYPE_CHECKING:
    from tutor.ui.review.app import ReviewApp

#: The most rows that a message may take.
MESSAGE_ROWS = 3
#: From this width on, two things stand side by side.
WIDE = 110

_FULL_WIDTH = str.maketrans("？：；＝－／０１２３４５６７８９", "?:;=-/0123456789")


class ReviewKey(NamedTuple):
    """One command: its keys (Textual's names, or the character), how they are written, whether the key line has it."""

    id: str
    keys: tuple[str, ...]
    shown: str
    line: bool = True


#: What every screen has.
COMMON: tuple[ReviewKey, ...] = (
    ReviewKey("language", ("t", "f9"), "t"),
    ReviewKey("help", ("?", "f1", "ctrl+g"), "?"),
    ReviewKey("down", ("j", "down"), "j", line=False),
    ReviewKey("up", ("k", "up"), "k", line=False),
    ReviewKey("page_down", ("space", "pagedown"), "Space", line=False),
    ReviewKey("page_up", ("pageup",), "PgUp", line=False),
    ReviewKey("home", ("g", "home"), "g", line=False),
    ReviewKey("end", ("G", "end"), "G", line=False),
    ReviewKey("repaint", ("ctrl+l",), "^L", line=False),
    ReviewKey("leave", ("ctrl+q",), "^Q", line=False),
    ReviewKey("hint_quit", ("q", "ctrl+c"), "q", line=False),
)


class ReviewBase(Screen[bool]):
    """A subclass names its `KEYS` and the `SECTION` of its words, yields its `body`, says its `head` and how it is
    drawn (`refill`). Esc is `do_back`."""

    KEYS: ClassVar[tuple[ReviewKey, ...]] = ()
    SECTION: ClassVar[Literal["review", "class_screens"]] = "review"
    BINDINGS = [
        Binding("escape", "escape", priority=True, show=False),
        *(Binding(key, f"hot('{key}')", priority=True, show=False) for key in ("f1", "f2", "f9", "ctrl+g", "ctrl+l")),
    ]

    def __init__(self, theme: ThemeName) -> None:
        super().__init__()
        self.theme_name: ThemeName = theme
        self.styles.overflow_x = self.styles.overflow_y = "hidden"
        self.top = Bar(theme, id="top")
        self.message = Bar(theme, id="message")
        self.keys = KeyLine(theme, id="keys")
        self.keys.can_focus = False  # Enter and the arrows are the screen's.
        self._too_small = False

    def compose(self) -> ComposeResult:
        yield self.top
        yield from self.body()
        yield self.message
        yield self.keys

    @abstractmethod
    def body(self) -> Iterator[Widget]:
        """The widgets between the top row and the message row."""

    @abstractmethod
    def head(self) -> Sequence[Part]:
        """The top row."""

    @abstractmethod
    def refill(self) -> None:
        """Draw everything anew: the language, the size, or what is shown has changed."""

    @abstractmethod
    def do_back(self) -> object:
        """Esc."""

    # --- for subclasses -----------------------------------------------------------------------------------------------

    @property
    def review(self) -> ReviewApp:
        return cast("ReviewApp", self.app)

    @property
    def lang(self) -> Lang:
        return self.review.lang

    @property
    def wide(self) -> bool:
        return self.app.size.width >= WIDE

    def tr(self, key: str, /, **args: str | int | float) -> str:
        return text(self.lang, self._key(key), **args)

    def _key(self, name: str) -> str:
        return f"review.{name}" if self.SECTION == "review" else f"class_screens.{name}"

    def can(self, name: str) -> bool:  # noqa: ARG002
        """Whether a command works now: the key line shows it only then."""
        return True

    def say(self, words: str | Message, role: Role = "plain") -> None:
        """One sentence on the message row, which grows for a long one; it stays until the next one."""
        shown = words if isinstance(words, str) else say(self.lang, words)
        lines = wrap([(shown, role)], max(20, self.app.size.width - 1))[:MESSAGE_ROWS]
        if self.message.styles.height is None or self.message.styles.height.value != len(lines):
            self.message.styles.height = len(lines)
        self.message.show(lines)

    def draw_bars(self) -> None:
        """Top row and key line as things are now."""
        self.top.set_parts(self.head())
        shown = [key for key in (*self.KEYS, *COMMON) if key.line and self.can(key.id)]
        keys = [Key(key.id, f"{key.shown} {self._words(key, self.lang)}") for key in shown]
        # What does not fit is in the help, so the help's own key always does.
        helps = next(n for n, key in enumerate(keys) if key.command == "help")
        keys.append(keys.pop(helps))
        while len(keys) > 1 and sum(cell_len(key.words) + 1 for key in keys) > self.app.size.width:
            del keys[-2]
        self.keys.set_keys(keys)

    def _words(self, key: ReviewKey, lang: Lang) -> str:
        """What a key does, for the key line and the help."""
        name = f"do_{key.id}"
        return text(lang, f"review.{name}" if key in COMMON else self._key(name))

    # --- keys ---------------------------------------------------------------------------------------------------------

    async def on_key(self, event: events.Key) -> None:
        if self._too_small:
            if event.key == "ctrl+q":
                self.do_leave()
            event.stop()
        elif await self.press(event.key, event.character):
            event.stop()

    async def action_hot(self, key: str) -> None:
        if not self._too_small:
            await self.press(key, None)

    async def action_escape(self) -> None:
        if not self._too_small:
            await self.perform("back")

    async def press(self, key: str, character: str | None) -> bool:
        pressed = {key}
        if character is not None and character.isprintable() and not character.isspace():
            pressed = {character.translate(_FULL_WIDTH)}
        for command in (*self.KEYS, *COMMON):
            if pressed & set(command.keys) and self.can(command.id):
                await self.perform(command.id)
                return True
        return False

    async def perform(self, name: str) -> None:
        """Run one command; then the bars are drawn as things are."""
        result = getattr(self, f"do_{name}")()
        if isawaitable(result):
            await result
        if self.is_attached:
            self.call_after_refresh(self.draw_bars)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    @on(KeyLine.Chosen)
    async def _chosen(self, event: KeyLine.Chosen) -> None:
        await self.perform(event.command)

    def on_resize(self) -> None:
        width, height = self.app.size
        self._too_small = width < SMALLEST[0] or height < SMALLEST[1]
        if self._too_small:
            args = {"columns": width, "rows": height, "min_columns": SMALLEST[0], "min_rows": SMALLEST[1]}
            self.say(text(self.lang, "cli.too-small", **args), "caution")
            return
        self.call_after_refresh(self._fill)

    def on_screen_resume(self) -> None:
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        if self.is_attached and self.top.size.width:
            self.refill()
            self.draw_bars()

    # --- what every screen can do -------------------------------------------------------------------------------------

    def do_language(self) -> None:
        self.review.switch_language()

    def do_help(self) -> None:
        def lines(lang: Lang, width: int) -> list[Line]:
            out: list[Line] = []
            for key in (*self.KEYS, *COMMON):
                words = self._words(key, lang)
                out += wrap([(f"{key.shown:<8}", "strong"), (words, "plain")], width, rest=" " * 8)
            return [*out, line(), *wrap([(text(lang, "review.help-note"), "plain")], width)]

        self.review.show_lines(lambda lang: text(lang, "review.help-title"), lines)

    def do_repaint(self) -> None:
        self.review.action_redraw()

    def do_leave(self) -> None:
        self.review.leave()

    def do_hint_quit(self) -> None:
        self.say(text(self.lang, "review.hint-quit"))
