"""The one-row bars of the screen: lesson and state, tabs, message, keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual import events
from textual.message import Message

from tutor.lines import Line, Part, crop
from tutor.ui.theme import ThemeName
from tutor.ui.widgets.lines_view import LinesView


class Bar(LinesView, can_focus=False):
    """One row of parts."""

    HEIGHT = 1

    def set_parts(self, parts: Sequence[Part]) -> None:
        row = Line(crop(tuple(parts), self.size.width or 10_000))
        if not self.lines or self.lines[0] != row:
            self.show([row])


class TabBar(Bar, can_focus=False):
    """A bar whose words can be clicked; `marks` are (first cell, end, name)."""

    class Chosen(Message):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, theme: ThemeName, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(theme, id=id)
        self.marks: list[tuple[int, int, str]] = []

    def on_click(self, event: events.Click) -> None:
        event.stop()
        for start, end, name in self.marks:
            if start <= event.x < end:
                self.post_message(self.Chosen(name))


class Key(NamedTuple):
    """An entry of the key line: the command and how it is written there."""

    command: str
    words: str


def _cells(keys: Sequence[Key], lead: str, gap: str) -> int:
    return len(lead) + sum(cell_len(key.words) for key in keys) + len(gap) * (len(keys) - 1)


class KeyLine(LinesView, can_focus=True):
    """The keys that work now. With the focus it is a menu: Left, Right and Enter; its first item goes back in."""

    HEIGHT = 1

    class Chosen(Message):
        def __init__(self, command: str) -> None:
            super().__init__()
            self.command = command

    def __init__(self, theme: ThemeName, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(theme, id=id)
        self._keys: list[Key] = []
        self._chosen = 0
        self._shown: list[Key] = []

    def set_keys(self, keys: list[Key]) -> None:
        if keys != self._keys:
            self._keys, self._chosen = keys, 0
        self._draw()

    def _draw(self) -> None:
        parts: list[Part] = []
        room, lead = self.size.width or 10_000, " " if self.has_focus else ""
        gap, shown = " | " if self.has_focus else "  ", list(self._keys)
        if not self.has_focus and _cells(shown, lead, gap) > room:
            gap = " "
        while len(shown) > 2 and _cells(shown, lead, gap) > room:
            del shown[-2]  # The last one, the help, is what leads to those that have no room.
        self._shown = shown
        for n, key in enumerate(shown):
            parts += [
                (gap if n else lead, "plain"),
                (key.words, "focus" if self.has_focus and n == self._chosen else "plain"),
            ]
        row = Line(tuple(part for part in parts if part[0]))
        if not self.lines or self.lines[0] != row:
            self.show([row])

    def on_focus(self) -> None:
        self._chosen = 0
        self._draw()

    def on_blur(self) -> None:
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def on_key(self, event: events.Key) -> None:
        if event.key in ("left", "right"):
            event.stop()
            self._chosen = (self._chosen + (1 if event.key == "right" else -1)) % max(1, len(self._shown))
            self._draw()
        elif event.key == "enter" and self._shown:
            event.stop()
            self.post_message(self.Chosen(self._shown[self._chosen].command))

    def on_click(self, event: events.Click) -> None:
        event.stop()
        at, words = 0, {key.words: key.command for key in self._keys}
        for part, _ in self.lines[0].parts:
            at += cell_len(part)
            if event.x < at:
                if part in words:
                    self.post_message(self.Chosen(words[part]))
                return
