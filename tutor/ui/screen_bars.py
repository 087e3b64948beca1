"""The bars of the learner's screen, drawn from what is true now: lesson and state, tabs, message, keys."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from tutor.lines import Part, Role, wrap
from tutor.model import Message
from tutor.strings import say, text
from tutor.ui import commands
from tutor.ui.commands import TABS, Command
from tutor.ui.frame_diff import FrameDiffScreen
from tutor.ui.screen_commands import ScreenCommands
from tutor.ui.views import bars
from tutor.ui.widgets.bars import Bar, Key, KeyLine, TabBar

#: The most rows that a message may take.
MESSAGE_ROWS = 5


class ScreenBars(ScreenCommands, FrameDiffScreen[None]):
    """Draws the bars; what the screen has to offer for it stands first."""

    top: Bar
    tabs: TabBar
    message: Bar
    keys: KeyLine
    box: str
    folded: bool
    too_small: bool
    _passing = False
    """Whether the message row holds a hint that the next command takes away."""
    has_said = False
    """Whether anything was said since the screen came up."""

    @property
    @abstractmethod
    def editing(self) -> bool: ...

    @abstractmethod
    def can(self, command: Command) -> bool: ...

    def tr(self, key: str, /, **args: str | int | float) -> str:
        return text(self.store.lang, f"ui.{key}", **args)

    def draw_bars(self) -> None:
        (width, height), lang = self.app.size, self.store.lang
        if self.too_small:
            self.top.set_parts([(self.tr("too_small", columns=width, rows=height), "strong")])
            return
        self.top.set_parts(bars.top(self.store, self.box or self.tr("box_looking"), width))
        now = "lesson" if self.reading and not self.wide else self.tab
        lead: list[Part] = []
        if self.wide and not self.folded and self.lesson.styles.width is not None:
            room = int(self.lesson.styles.width.value)
            lead = bars.step_lead([*self.lesson.title(), *self.lesson.below()], room, chosen=self.reading)
        parts, self.tabs.marks = bars.tabs(lang, now, lead)
        self.tabs.set_parts(parts)
        self.keys.set_keys(list(self._keys_now()))

    def _keys_now(self) -> Iterator[Key]:
        """The keys that work now, the first of which leads out of an editor or back in."""
        editing = self.editing
        if editing:
            yield Key("escape", f"Esc {self.tr('do_escape')}")
        elif self.active.editor() is not None:
            yield Key("open", f"Enter {self.tr('do_open')}")
        elif self.focused is self.keys:
            yield Key("inside", f"Enter {self.tr('do_inside')}")
        elif self.active.can("act"):
            yield Key("act", f"Enter {self.active.act_words()}")
        for command in commands.COMMANDS:
            wanted = command.editing if editing else command.line
            if wanted and command.id != "open" and self.can(command):
                yield self._key(command, editing=editing)

    def _key(self, command: Command, *, editing: bool) -> Key:
        if command.id == "swap":
            other = self.tab if self.reading else "lesson"
            label = commands.key_label(command, editing=True) if editing else str(TABS.index(other))
            return Key("swap", f"{label} {self.tr(f'tab_{other}')}")
        own = command.id == "run" and self.context in ("lab", "answer")
        words = f"do_run_{self.context}" if own else f"do_{command.id}"
        return Key(command.id, f"{commands.key_label(command, editing=editing)} {self.tr(words)}")

    def say(self, words: str | Message, role: Role = "plain") -> None:
        """One sentence on the message row, which grows for a long one; it stays until the next one. One that is
        plain or good, a word for the moment, also goes when the next command begins."""
        self._passing = bool(words) and role in ("plain", "good")
        self.has_said = self.has_said or bool(words)
        shown = words if isinstance(words, str) else say(self.store.lang, words)
        lines = wrap([(shown, role)], self.app.size.width - 1)[:MESSAGE_ROWS]
        if self.message.styles.height is None or self.message.styles.height.value != len(lines):
            self.message.styles.height = len(lines)
        self.message.show(lines)
