"""When an application under test has nothing left to do.

`Pilot.pause` asks the processor's clock instead: it sleeps for 20 ms at a time until this process did nothing in one of
them, which threads of ours and a busy machine put off.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from textual.app import App
from textual.message_pump import MessagePump
from textual.pilot import Pilot


async def settled(pilot: Pilot[Any]) -> None:
    """Until every message is read, every callback called, and what changed is laid out and painted."""
    rounds = 0
    while rounds < 2:  # what the last round did may have asked for more
        before = list(pumps(pilot.app))
        await pilot._wait_for_screen()
        pilot.app.screen._on_timer_update()
        quiet = before == list(pumps(pilot.app)) and not any(map(is_busy, before)) and not is_unpainted(pilot.app)
        rounds = rounds + 1 if quiet else 0


def pumps(app: App[Any]) -> Iterator[MessagePump]:
    """Everything that reads messages now."""
    yield app
    yield from app.screen.walk_children(with_self=True)


def is_busy(pump: MessagePump) -> bool:
    return pump.message_queue_size > 0 or bool(pump._next_callbacks)


def is_unpainted(app: App[Any]) -> bool:
    if app._resize_event is not None:
        return True
    screen = app.screen
    waiting = screen._layout_required, screen._scroll_required, screen._repaint_required, screen._recompose_required
    return any(waiting) or bool(screen._dirty_widgets) or bool(screen._callbacks)
