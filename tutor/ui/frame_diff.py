"""Send only the cells that changed: a Textual app that costs tens of bytes per key on a slow line, not ten thousand.

    class TutorApp(FrameDiffApp[None]):
        BINDINGS = [Binding("ctrl+l", "redraw", show=False)]

Textual repaints whole widgets: one typed character sends every line of the editor again. `FrameDiffApp` remembers
the cells that the terminal shows and sends the runs that differ (`terminal_memory`). Everything else is Textual's:
layout, rendering, filters (`NO_COLOR`, ANSI colours), colour downgrade, screenshots, and the whole output when it is
headless, inline, on the web, or on another driver than the Linux one.

What the terminal shows is forgotten, and painted whole, when the driver starts or starts again (first frame,
`suspend()`, SIGTSTP, SIGCONT), at each resize, after a renderable that is no frame, and at `redraw()` (Ctrl+L). The
bell, the clipboard (OSC 52), the title and the pointer's shape move neither cursor nor pen and need nothing.

Private parts of Textual that are used here, and nowhere else in the project:

* `App._display(screen, renderable)`, the one place through which every frame reaches the driver; it is replaced for
  frames, and does as the original does with `_running`, `_closed`, `_batch_count`, `_sync_available`, `_driver`,
  `_handle_exception`; `Console._color_system` as `Strip.render` reads it;
* `LayoutUpdate.strips` and `.region`, `ChopsUpdate.chops`, `.spans` and `.chop_ends`: what a frame holds;
* `Driver._loop`, to start again outside a signal handler;
* `Screen._compositor_refresh`, which renders also what a batch keeps from being displayed.

When these are not as expected, Textual's own output is used unchanged, and `frame_diff_problem` says so.
"""

from __future__ import annotations

import asyncio
import inspect
import signal
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from rich.color import ColorSystem
from rich.style import Style
from textual import _compositor, events
from textual.app import App, ReturnType
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Region
from textual.screen import Screen, ScreenResultType
from textual.strip import Strip

from tutor.model import Message
from tutor.ui.terminal_memory import TerminalMemory

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.driver import Driver

Frame = _compositor.LayoutUpdate | _compositor.ChopsUpdate
"""What Textual displays: the whole screen, or the dirty spans of it."""

SYNC_FROM = 512
"""A frame of so many characters is bracketed as synchronized output; the terminal reads a shorter one in one piece."""


def pieces(frame: Frame) -> Iterator[tuple[int, int, Strip]]:
    """(y, x, strip) of a frame. A strip that is dirty in part comes whole: what did not change costs nothing."""
    if isinstance(frame, _compositor.LayoutUpdate):
        for y, line in enumerate(frame.strips, frame.region.y):
            x = frame.region.x
            for strip in line:
                yield y, x, strip
                x += strip.cell_length
    else:
        for y, left, right in frame.spans:
            for end, (x, chop) in zip(frame.chop_ends[y], frame.chops[y].items(), strict=False):
                if chop is not None and x < right and end > left:
                    yield y, x, chop


@cache
def unexpected_internals() -> str | None:
    """Which of Textual's private parts is not as this module needs it, or None."""
    try:
        strip, region = Strip([]), Region(0, 0, 1, 1)
        layout = _compositor.LayoutUpdate([[strip]], region)
        chops = _compositor.ChopsUpdate([{0: strip}], [(0, 0, 1)], [[1]])
        if list(pieces(layout)) != [(0, 0, strip)] or list(pieces(chops)) != [(0, 0, strip)]:
            return "CompositorUpdate"
        if list(inspect.signature(App._display).parameters) != ["self", "screen", "renderable"]:
            return "App._display"
        if Strip.render_style(Style(bold=True), "", ColorSystem.TRUECOLOR) != "\x1b[1m\x1b[0m":
            return "Strip.render_style"
    except (AttributeError, TypeError) as error:
        return str(error)
    return None


def _erase_takes_background() -> bool:
    """Whether terminfo says of $TERM that erased cells take the background colour (bce)."""
    try:
        import curses
    except ImportError:  # a Python built without it
        return False
    try:
        curses.setupterm(fd=2)
    except curses.error:  # no such terminal in the database
        return False
    return curses.tigetflag("bce") == 1


class FrameDiffDriver(LinuxDriver):
    """Textual's Linux driver, with a memory of what it made the terminal show."""

    def __init__(self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None):
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self.memory = TerminalMemory(bce=_erase_takes_background())
        self._started = False
        # The kernel may hand a signal to any thread: then a loop that sleeps is only woken by handlers of its own. One
        # of these makes every other signal wake it too.
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTSTP, self._sigtstp_application)
        loop.add_signal_handler(signal.SIGCONT, self._sigcont_application)

    def start_application_mode(self) -> None:
        """Enter the alternate screen, which is empty then. A second start without a stop comes from a bare SIGCONT."""
        if self._started:
            # Textual would add a second input thread and take raw mode for "the mode before". Stop properly first, but
            # not inside the signal handler: what it interrupted may hold the lock of the queue that is written to.
            self._loop.call_soon_threadsafe(self._start_again)
        else:
            self._started = True
            self.memory.forget()
            super().start_application_mode()  # type: ignore[no-untyped-call]

    def _start_again(self) -> None:
        if self._started:
            self.suspend_application_mode()
            self.resume_application_mode()

    def stop_application_mode(self) -> None:
        """Leave the alternate screen, and the pen as the terminal's own."""
        if self._started:
            self._started = False
            self.write(self.memory.rest())
        super().stop_application_mode()


class FrameDiffScreen(Screen[ScreenResultType]):
    """A screen that renders nothing in a batch, where nothing is displayed: at the start that is a whole frame."""

    def _compositor_refresh(self) -> None:
        if not self.app._batch_count:
            super()._compositor_refresh()


class FrameDiffApp(App[ReturnType]):
    """A Textual app that sends only the cells that changed. See the module's docstring."""

    @property
    def frame_diff_problem(self) -> Message | None:
        """The sentence to show once when this Textual is not as expected and its own output is used; else None."""
        part = unexpected_internals()
        return None if part is None else Message("frame_diff.plain_output", {"part": part})

    def get_driver_class(self) -> type[Driver]:
        """The Linux driver with a memory in place of the plain one; any other driver is left alone."""
        chosen = super().get_driver_class()
        return FrameDiffDriver if chosen is LinuxDriver and unexpected_internals() is None else chosen

    def redraw(self) -> None:
        """Paint every cell anew, whatever the terminal may show by now."""
        if isinstance(self._driver, FrameDiffDriver):
            self._driver.memory.forget()
        self.refresh()

    def action_redraw(self) -> None:
        """For a key binding (Ctrl+L)."""
        self.redraw()

    def on_resize(self, _event: events.Resize) -> None:
        """A resized terminal may show anything. The driver sends this event, same size, also when it starts again."""
        self.redraw()

    def frame_text(self, frame: Frame, memory: TerminalMemory) -> str:
        """What to send to a terminal with this memory so that it shows the frame."""
        width, height = self.size
        x, y = self.screen.outer_size.clamp_offset(self.cursor_position)
        colours = self.console._color_system or ColorSystem.TRUECOLOR
        return memory.paint(pieces(frame), (width, height), (x, y), colours)

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        driver = self._driver
        if not isinstance(driver, FrameDiffDriver):
            super()._display(screen, renderable)
        elif not isinstance(renderable, Frame):
            super()._display(screen, renderable)
            if renderable is not None:
                driver.memory.forget()
        else:
            try:
                if self._running and not self._closed and not self._batch_count:
                    self._send(renderable, driver)
            finally:
                self.post_display_hook()

    def _send(self, frame: Frame, driver: FrameDiffDriver) -> None:
        try:
            text = self.frame_text(frame, driver.memory)
        except Exception as error:
            # A widget's rendering may fail here as in Textual's own output: the app ends with its traceback.
            driver.memory.forget()
            self._handle_exception(error)
            return
        if len(text) >= SYNC_FROM and self._sync_available:
            text = f"\x1b[?2026h{text}\x1b[?2026l"
        if text:
            driver.write(text)
            driver.flush()
