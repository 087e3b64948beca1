"""From a key to a command of the learner's screen.

Keys are looked up in `commands.COMMANDS`. Those that work in editors too are priority bindings; the others reach
`on_key` only when nothing that is typed in wanted them.
"""

from __future__ import annotations

from inspect import isawaitable

from textual import events, on
from textual.binding import Binding

from tutor.ui import commands
from tutor.ui.commands import Command
from tutor.ui.screen_bars import ScreenBars
from tutor.ui.widgets.bars import KeyLine


class ScreenKeys(ScreenBars):
    """Runs a command on the active pane, else on the screen."""

    BINDINGS = [
        Binding("escape", "escape", priority=True, show=False),
        *(Binding(key, f"hot('{command.id}')", priority=True, show=False) for key, command in commands.hot_keys()),
    ]

    def can(self, command: Command) -> bool:
        if not commands.usable(command, self.context):
            return False
        if command.id == "stop" and self.tutor.checker.running:
            return True
        if hasattr(self.active, f"do_{command.id}"):
            return self.active.can(command.id)
        return hasattr(self, f"do_{command.id}") and command.id != "stop"

    def action_escape(self) -> None:
        if self.too_small:
            return
        if self.focused is self.keys:
            self.set_focus(self.active.home())
        else:
            self.active.leave_editor()
            self.set_focus(self.keys)
        self.draw_bars()

    async def action_hot(self, name: str) -> None:
        command = commands.by_id(name)
        if self.too_small and name != "leave":
            return
        if not commands.usable(command, self.context):
            self.say(self.tr("not_here", key=commands.key_label(command, editing=True)))
            return
        await self.perform(command)

    async def on_key(self, event: events.Key) -> None:
        if self.too_small:
            event.stop()
            return
        if not self.editing and await self._outside(event.key, event.character):
            event.stop()

    async def _outside(self, key: str, character: str | None) -> bool:
        for command in commands.outside(key, character, self.context):
            if await self.perform(command):
                return True
        return False

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        if not self.editing:
            self.say(self.tr("paste_where"))

    async def perform(self, command: Command) -> bool:
        """Run a command on the active pane, else on the screen; False when neither has it now."""
        if command.writes and self.store.journal.read_only is not None:
            self.say(self.store.journal.read_only, "caution")
            return True
        if self._passing and command.id not in ("down", "up"):
            self.say("")
        for target in (self.active, self):
            method = getattr(target, f"do_{command.id}", None)
            if method is None:
                continue
            result = method()
            if (await result if isawaitable(result) else result) is False:
                continue
            if command.id not in ("down", "up"):
                self.call_after_refresh(self.draw_bars)
            return True
        return False

    @on(KeyLine.Chosen)
    async def _chosen(self, event: KeyLine.Chosen) -> None:
        if event.command == "escape":
            self.action_escape()
        elif event.command == "inside":
            self.set_focus(self.active.home())
        else:
            if event.command == "act":
                self.set_focus(self.active.home())
            await self.perform(commands.by_id(event.command))
