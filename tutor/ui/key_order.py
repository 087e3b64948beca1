"""Keys that arrive in one packet, as they do on a slow line, take effect one by one and in order.

Textual hands a key to whoever has the focus at that moment and goes on to the next. A key that moves the focus, or one
that a binding waits for (backspace, arrows: it has to bubble up to the application first), is then overtaken by the
letters behind it. Here a key is done with before the next one is read: the widgets that it passes have read all that
was posted to them, and its bindings have run.

Private parts of Textual used: `App._check_bindings`.
"""

from __future__ import annotations

import asyncio

from textual import events
from textual.app import App, ReturnType
from textual.message import Message

#: How long a key may take before the next one is read all the same, in seconds.
PATIENCE_S = 1.0


class KeyOrderApp(App[ReturnType]):
    """An application that reads keys and pastes in order."""

    _reading: events.Event | None = None
    _came_up = False

    def post_message(self, message: Message) -> bool:
        if message is self._reading:
            # The key that is being read has bubbled up to here: nobody wanted it, so its bindings are next.
            self._came_up = True
            return True
        return super().post_message(message)

    async def on_event(self, event: events.Event) -> None:
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
            return
        self._reading, self._came_up = event, False
        await super().on_event(event)
        if not event.is_forwarded:
            return
        await self._read_on()
        self._reading = None
        if self._came_up and isinstance(event, events.Key):
            await self._check_bindings(event.key)
            await self._read_on()  # Enter in a field is such a binding: what it posts moves the focus.

    async def _read_on(self) -> None:
        try:
            await asyncio.wait_for(self._digested(), PATIENCE_S)
        except TimeoutError:
            pass  # Something takes long; keys go on, as they would without this.

    async def _digested(self) -> None:
        """Until the widget with the focus, and each one that it is in, has read all that was posted to it before."""
        for node in (self.screen.focused or self.screen).ancestors_with_self:
            if isinstance(node, App):
                return
            read = asyncio.Event()
            if node.call_later(read.set):
                await read.wait()
