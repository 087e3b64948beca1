"""Send only the cells that changed: a Textual app that costs tens of bytes per key on a slow line, not ten thousand.

    class TutorApp(FrameDiffApp[None]):
        BINDINGS = [Binding("ctrl+l", "redraw", show=False)]

Textual repaints whole widgets: one typed character re-sends every line of the editor. `FrameDiffApp` keeps the cells
that the terminal shows and sends the runs that differ, from the pen (SGR state) and cursor that the last frame left
behind. Everything else is Textual's: layout, rendering, filters (`NO_COLOR`, ANSI colours), colour downgrade,
screenshots, and the whole output when headless, inline, on the web or on another driver than the Linux one.

What the terminal shows is forgotten, and painted whole, when the driver starts or starts again (first frame,
`suspend()`, SIGTSTP and SIGCONT), at each resize, after a renderable that is no frame, and at `redraw()` (Ctrl+L).
The bell, the clipboard (OSC 52), the title and the mouse pointer move neither cursor nor pen and need nothing.

Private parts of Textual used here, and nowhere else in the project:

* `App._display(screen, renderable)`: the one place through which every frame reaches the driver;
* `LayoutUpdate.strips/.region`, `ChopsUpdate.chops/.spans/.chop_ends` of `textual._compositor`: what a frame holds;
* `_batch_count`, `_running`, `_closed`, `_driver`, `_sync_available`, `_handle_exception` of `App`, as `App._display`
  uses them, and `Driver._loop`.

`frame_diff_problem` says when these are not as expected; Textual's own output is then used unchanged.
"""

from __future__ import annotations

import inspect
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, get_character_cell_size
from rich.color import ColorSystem
from rich.style import Style
from textual import _compositor, events
from textual.app import App, ReturnType
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Region
from textual.strip import Strip

from tutor.model import Message

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.driver import Driver
    from textual.geometry import Size
    from textual.screen import Screen

SYNC_FROM = 512
"""Frames of at least so many characters are bracketed as synchronized output; a smaller one is read in one piece."""

_ERASED_BY_22 = frozenset({"1", "2"})
_OFF = {
    "1": "22", "2": "22", "3": "23", "4": "24", "5": "25", "6": "25", "7": "27", "8": "28", "9": "29",
    "21": "24", "51": "54", "52": "54", "53": "55",
}  # fmt: skip
_UNSEEN_ON_BLANK = frozenset({"1", "2", "3"})
"""Bold, dim and italic: a blank cell looks the same with or without them."""


class Pen:
    """How a cell is drawn. Equal pens are one object: make them with `Pen.of`."""

    __slots__ = ("attributes", "background", "blank", "foreground", "link")

    _known: dict[tuple[frozenset[str], str, str, str], Pen] = {}

    attributes: frozenset[str]
    """SGR codes that are on, e.g. {"1", "4"}."""
    foreground: str
    """SGR code, e.g. "38;2;1;2;3"; empty for the terminal's own."""
    background: str
    link: str
    """Target of a hyperlink (OSC 8), or empty."""
    blank: Pen | None
    """The simplest pen under which a blank cell looks as under this one; None when blanks show more than background."""

    @classmethod
    def of(cls, attributes: Iterable[str] = (), foreground: str = "", background: str = "", link: str = "") -> Pen:
        """The one pen with these values."""
        key = (frozenset(attributes), foreground, background, link)
        pen = cls._known.get(key)
        if pen is None:
            pen = cls._known[key] = cls()
            pen.attributes, pen.foreground, pen.background, pen.link = key
            if link or not pen.attributes <= _UNSEEN_ON_BLANK:
                pen.blank = None
            elif foreground or attributes:
                pen.blank = cls.of(background=background)
            else:
                pen.blank = pen
        return pen


PLAIN = Pen.of()


@lru_cache(4096)
def pen_of_codes(rendered: str) -> Pen:
    """The pen that Textual's own rendering of an empty text sets, e.g. of `ESC[1;38;5;4mESC[0m`."""
    link = ""
    if rendered.startswith("\x1b]8;"):
        head, _, rendered = rendered.partition("\x1b\\")
        link = head.split(";", 2)[2]
    codes = iter(rendered.removeprefix("\x1b[").partition("m")[0].split(";"))
    attributes, foreground, background = set(), "", ""
    for code in codes:
        if code in ("38", "48"):
            kind = next(codes)
            colour = ";".join([code, kind, *(next(codes) for _ in range(3 if kind == "2" else 1))])
            if code == "38":
                foreground = colour
            else:
                background = colour
        elif code in _OFF:
            attributes.add(code)
        elif code.isdigit() and (30 <= int(code) <= 39 or 90 <= int(code) <= 97):
            foreground = "" if code == "39" else code
        elif code.isdigit() and (40 <= int(code) <= 49 or 100 <= int(code) <= 107):
            background = "" if code == "49" else code
    return Pen.of(attributes, foreground, background, link)


@lru_cache(4096)
def _change(old: Pen | None, new: Pen) -> str:
    """The shortest sequence that makes a terminal drawing with `old` (None: unknown) draw with `new`."""
    link = "" if old is not None and old.link == new.link else f"\x1b]8;;{new.link}\x1b\\"
    colours = [colour for colour in (new.foreground, new.background) if colour]
    afresh = [*sorted(new.attributes), *colours]
    # A lone reset is shortest without its 0; otherwise the 0 comes first.
    sgr = "\x1b[" + ";".join(["0", *afresh] if afresh else []) + "m"
    if old is not None:
        gone = old.attributes - new.attributes
        off = {_OFF[code] for code in gone}
        # One code may switch off more than what is gone.
        on = {code for code in new.attributes if code not in old.attributes or _OFF[code] in off}
        step = [*sorted(off), *sorted(on)]
        if old.foreground != new.foreground:
            step.append(new.foreground or "39")
        if old.background != new.background:
            step.append(new.background or "49")
        if not step:
            sgr = ""
        elif len(stepwise := "\x1b[" + ";".join(step) + "m") < len(sgr):
            sgr = stepwise
    return sgr + link


@lru_cache(8192)
def _clusters(text: str) -> tuple[str, tuple[str, ...]]:
    """What of `text` belongs to the cell before it, and its cells; a cell that a wide character covers is "".

    Control characters are dropped: what a learner or a program wrote never steers the terminal.
    """
    leading = ""
    clusters: list[str] = []
    joined = False
    for character in text:
        category = unicodedata.category(character)
        if category in ("Cc", "Zl", "Zp"):
            continue
        if category == "Cs":
            character = "\ufffd"
        if joined or not get_character_cell_size(character):
            if clusters:
                clusters[-1] += character
            else:
                leading += character
        else:
            clusters.append(character)
        joined = character == "\u200d"
    cells: list[str] = []
    for cluster in clusters:
        cells.append(cluster)
        cells.extend([""] * (cell_len(cluster) - 1))
    return leading, tuple(cells)


@lru_cache(4096)
def _width_is_sure(cell: str) -> bool:
    """Whether every terminal moves its cursor by the same number of cells for this one."""
    if len(cell) != 1:
        return False
    # Lines and blocks are "ambiguous" to Unicode, but a terminal that draws them wide breaks every frame anyway.
    if cell.isascii() or "\u2500" <= cell <= "\u259f":
        return True
    width = unicodedata.east_asian_width(cell)
    if width == "A" or unicodedata.category(cell) in ("Cf", "Co", "Cn"):
        return False
    # Outside the ideographs and their companions, wide means emoji, on whose width terminals differ.
    return width not in ("W", "F") or "\u2e80" <= cell <= "\uffe6" or cell >= "\U00020000"


def _rendered_cells(strip: Strip, colours: ColorSystem) -> tuple[list[str], list[Pen]]:
    """The cells of a strip, drawn as `Strip.render` would draw them."""
    texts: list[str] = []
    pens: list[Pen] = []
    for text, style, _ in strip:
        pen = PLAIN if style is None else pen_of_codes(Strip.render_style(style, "", colours))
        if text.isascii() and text.isprintable():
            texts.extend(text)
        else:
            leading, cells = _clusters(text)
            if leading and texts:
                head = len(texts) - 1
                while head and not texts[head]:
                    head -= 1
                texts[head] += leading
            texts.extend(cells)
        pens.extend([pen] * (len(texts) - len(pens)))
    return texts, pens


def _pieces(update: _compositor.LayoutUpdate | _compositor.ChopsUpdate) -> Iterator[tuple[int, int, Strip]]:
    """(y, x, strip) of a frame. A strip that is dirty in part is given whole: what did not change costs nothing."""
    if isinstance(update, _compositor.LayoutUpdate):
        for y, line in enumerate(update.strips, update.region.y):
            x = update.region.x
            for strip in line:
                yield y, x, strip
                x += strip.cell_length
    else:
        for y, left, right in update.spans:
            for end, (x, chop) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
                if chop is not None and x < right and end > left:
                    yield y, x, chop


class TerminalMemory:
    """What a terminal of `width` x `height` cells shows, with its pen and cursor, as far as it is known.

    `bce` says that the terminal fills erased cells with the pen's background (terminfo's "bce").
    """

    def __init__(self, *, bce: bool) -> None:
        self.bce = bce
        self.width = self.height = 0
        self._texts: list[list[str | None]] = []
        self._pens: list[list[Pen | None]] = []
        self._pen: Pen | None = None
        self._x: int | None = None
        self._y: int | None = None

    def forget(self) -> None:
        """Nothing is known any more: the next frame sends each of its cells."""
        self.width = self.height = 0
        self._pen = self._x = self._y = None

    def rest(self) -> str:
        """The sequence that gives the terminal its own pen back, before somebody else writes."""
        if self._pen is PLAIN:
            return ""
        change = _change(self._pen, PLAIN)
        self._pen = PLAIN
        return change

    def paint(
        self,
        pieces: Iterable[tuple[int, int, Strip]],
        size: tuple[int, int],
        cursor: tuple[int, int],
        colours: ColorSystem,
    ) -> str:
        """A short text that makes a screen of `size` (width, height) show `pieces` (y, x, strip), cursor at (x, y)."""
        if size != (self.width, self.height):
            self.forget()
            self.width, self.height = width, height = size
            self._texts = [[None] * width for _ in range(height)]
            self._pens = [[None] * width for _ in range(height)]
        rows: dict[int, tuple[list[str | None], list[Pen | None]]] = {}
        for y, x, strip in pieces:
            if not (0 <= y < self.height and 0 <= x < self.width):
                continue
            texts, pens = _rendered_cells(strip, colours)
            end = x + len(texts)
            if end > self.width:
                end = self.width
                cut = end - x
                if texts[cut] == "":
                    while cut and texts[cut] == "":
                        cut -= 1
                        texts[cut] = " "
                del texts[end - x :], pens[end - x :]
            if y not in rows:
                if self._texts[y][x:end] == texts and self._pens[y][x:end] == pens:
                    continue
                rows[y] = self._texts[y].copy(), self._pens[y].copy()
            row, row_pens = rows[y]
            # Half of a wide character that stays behind is blanked by the terminal: nobody knows in which colour.
            if row[x] == "":
                for half in range(x - 1, -1, -1):
                    whole, row[half] = row[half], None
                    if whole != "":
                        break
            if end < self.width and row[end] == "":
                for half in range(end, self.width):
                    if row[half] != "":
                        break
                    row[half] = None
            row[x:end] = texts
            row_pens[x:end] = pens
        out: list[str] = []
        for y in sorted(rows):
            self._paint_row(y, *rows[y], out)
        out.append(self._move(*cursor))
        return "".join(out)

    def _paint_row(self, y: int, texts: list[str | None], pens: list[Pen | None], out: list[str]) -> None:
        old_texts, old_pens = self._texts[y], self._pens[y]
        width = self.width
        differs = [
            text is not None
            and (text != old or (pen is not old_pen and not (text == " " and _same_blank(pen, old_pen))))
            for text, old, pen, old_pen in zip(texts, old_texts, pens, old_pens, strict=True)
        ]
        self._texts[y], self._pens[y] = texts, pens
        x = 0
        while True:
            try:
                x = differs.index(True, x)
            except ValueError:
                return
            while x and texts[x] == "":  # never begin on the second half of a wide character
                x -= 1
            if not self._write_gap(y, x, texts, pens, out):
                out.append(self._move(x, y))
            while x < width and (differs[x] or texts[x] == ""):
                text, pen = texts[x], pens[x]
                assert text is not None
                assert pen is not None
                if text == " " and pen.blank is not None:
                    end = x + 1
                    last = end
                    while end < width and texts[end] == " " and _same_blank(pens[end], pen):
                        end += 1
                        if differs[end - 1]:
                            last = end
                    if self._erase(pen.blank, x, last, end, out):
                        x = last
                        break
                    if self._pen is None or self._pen.blank is not pen.blank:
                        self._use(pen, out)
                    out.append(" " * (last - x))
                    x = self._x = last
                else:
                    self._use(pen, out)
                    out.append(text)
                    x += 1
                    if not text:
                        continue
                    self._x = None if not _width_is_sure(text) else x + (x < width and texts[x] == "")
                    if self._x is None:
                        while x < width and texts[x] == "":
                            x += 1
                        break
            if self._x == width:
                self._x = None  # past the last column terminals differ about where the cursor is

    def _use(self, pen: Pen, out: list[str]) -> None:
        if pen is not self._pen:
            out.append(_change(self._pen, pen))
            self._pen = pen

    def _erase(self, pen: Pen, x: int, last: int, end: int, out: list[str]) -> bool:
        """Erase the blank cells `x` to `last` if that is shorter than to send them; all to `end` may be erased."""
        if pen.background and not self.bce:
            return False
        if end == self.width:
            code, follow = "\x1b[K", 0
        else:
            code, follow = f"\x1b[{last - x}X", 5
        if last - x <= len(code) + follow:
            return False
        if self._pen is None or self._pen.blank is not pen:
            self._use(pen, out)
        out.append(code)
        return True

    def _write_gap(self, y: int, x: int, texts: list[str | None], pens: list[Pen | None], out: list[str]) -> bool:
        """Reach `x` in row `y` by sending again the cells before it, if they need no other pen and cost no more."""
        start = self._x
        if y != self._y or start is None or not start < x <= start + 8:
            return False
        for text, pen in zip(texts[start:x], pens[start:x], strict=True):
            if not text or not text.isascii() or pen is None:
                return False
            if pen is not self._pen and not (text == " " and _same_blank(pen, self._pen)):
                return False
        if x - start > len(self._move(x, y, peek=True)):
            return False
        out.extend(text for text in texts[start:x] if text)
        self._x = x
        return True

    def _move(self, x: int, y: int, *, peek: bool = False) -> str:
        """The shortest cursor movement to (x, y), and, unless `peek`, take it as made."""
        if (x, y) == (self._x, self._y):
            return ""
        ways = [f"\x1b[{y + 1};{x + 1}H" if x else f"\x1b[{y + 1}H" if y else "\x1b[H"]
        if self._y is not None:
            if y == self._y:
                ways.append(_along(self._x, x))
            else:
                down = y - self._y
                vertical = f"\x1b[{_count(abs(down))}{'B' if down > 0 else 'A'}"
                ways.append(vertical + (_along(self._x, x) if x != self._x else ""))
                first_column = f"\x1b[{_count(abs(down))}{'E' if down > 0 else 'F'}"
                ways.append(first_column + (_along(0, x) if x else ""))
        if not peek:
            self._x, self._y = x, y
        return min(ways, key=len)


def _same_blank(a: Pen | None, b: Pen | None) -> bool:
    return a is not None and b is not None and a.blank is not None and a.blank is b.blank


def _count(n: int) -> str:
    return "" if n == 1 else str(n)


@cache
def _along(start: int | None, x: int) -> str:
    """The shortest movement within a row, from column `start` (None: unknown) to `x`."""
    if x == 0:
        return "\r"
    ways = [f"\x1b[{x + 1}G"]
    if start is not None and start < x:
        ways.append(f"\x1b[{_count(x - start)}C")
    elif start is not None:
        ways += ["\b" * (start - x), f"\x1b[{_count(start - x)}D"]
    return min(ways, key=len)


def _fills_erased_cells() -> bool:
    """Whether terminfo says of $TERM that erased cells take the background colour (bce)."""
    try:
        import curses

        curses.setupterm(fd=2)
    except (ImportError, OSError, ValueError):
        return False
    except curses.error:
        return False
    return curses.tigetflag("bce") == 1


class FrameDiffDriver(LinuxDriver):
    """Textual's Linux driver, with a memory of what it made the terminal show."""

    memory: TerminalMemory | None = None
    _on_screen = False

    def start_application_mode(self) -> None:
        """Enter the alternate screen, which is then empty. A second start without a stop is a bare SIGCONT."""
        if self._on_screen:
            # Textual would start a second input thread and keep raw mode as "the mode before": stop properly first,
            # but not inside the signal handler, which may have interrupted a write that holds the queue's lock.
            self._loop.call_soon_threadsafe(self._start_again)
            return
        if self.memory is None:
            self.memory = TerminalMemory(bce=_fills_erased_cells())
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self.memory.forget()
        self._on_screen = True

    def _start_again(self) -> None:
        if self._on_screen:
            self.suspend_application_mode()
            self.resume_application_mode()

    def stop_application_mode(self) -> None:
        """Leave the alternate screen with the terminal's own pen."""
        if self._on_screen and self.memory is not None:
            self._on_screen = False
            self.write(self.memory.rest())
        super().stop_application_mode()


@cache
def _unexpected_internals() -> str | None:
    """What of Textual's private parts is not as this module needs it, or None."""
    try:
        strip, region = Strip([]), Region(0, 0, 1, 1)
        layout = _compositor.LayoutUpdate([[strip]], region)
        chops = _compositor.ChopsUpdate([{0: strip}], [(0, 0, 1)], [[1]])
        as_made = (layout.strips, layout.region, chops.chops, chops.spans, chops.chop_ends)
        if as_made != ([[strip]], region, [{0: strip}], [(0, 0, 1)], [[1]]):
            return "textual._compositor"
        if list(inspect.signature(App._display).parameters) != ["self", "screen", "renderable"]:
            return "App._display"
        if Strip.render_style(Style(bold=True), "", ColorSystem.TRUECOLOR) != "\x1b[1m\x1b[0m":
            return "Strip.render_style"
    except (AttributeError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return None


class FrameDiffApp(App[ReturnType]):
    """A Textual app that sends only the cells that changed. See the module's docstring."""

    def get_driver_class(self) -> type[Driver]:
        """The Linux driver with a memory in place of the plain one; any other is left alone."""
        chosen = super().get_driver_class()
        return FrameDiffDriver if chosen is LinuxDriver and _unexpected_internals() is None else chosen

    @property
    def frame_diff_problem(self) -> Message | None:
        """Why Textual's own output is used although this is a terminal of the usual kind; None when all is well."""
        missing = _unexpected_internals()
        return None if missing is None else Message("frame_diff.plain_output", {"part": missing})

    def redraw(self) -> None:
        """Paint every cell anew, whatever the terminal may show by now."""
        if isinstance(self._driver, FrameDiffDriver) and self._driver.memory is not None:
            self._driver.memory.forget()
        self.refresh()

    def action_redraw(self) -> None:
        """For a key binding (Ctrl+L)."""
        self.redraw()

    def on_resize(self, _event: events.Resize) -> None:
        """A resized terminal may show anything. The driver also sends this event, same size, when it starts again."""
        self.redraw()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        driver = self._driver
        if not isinstance(driver, FrameDiffDriver) or driver.memory is None:
            super()._display(screen, renderable)
        elif not isinstance(renderable, _compositor.LayoutUpdate | _compositor.ChopsUpdate):
            super()._display(screen, renderable)
            if renderable is not None:
                driver.memory.forget()
        else:
            try:
                if self._running and not self._closed and not self._batch_count:
                    self._send(driver, driver.memory, renderable)
            finally:
                self.post_display_hook()

    def _send(
        self,
        driver: FrameDiffDriver,
        memory: TerminalMemory,
        update: _compositor.LayoutUpdate | _compositor.ChopsUpdate,
    ) -> None:
        try:
            size: Size = self.size
            x, y = self.screen.outer_size.clamp_offset(self.cursor_position)
            colours = self.console._color_system or ColorSystem.TRUECOLOR
            text = memory.paint(_pieces(update), (size.width, size.height), (x, y), colours)
        except Exception as error:
            memory.forget()
            self._handle_exception(error)
            return
        if len(text) >= SYNC_FROM and self._sync_available:
            text = f"\x1b[?2026h{text}\x1b[?2026l"
        if text:
            driver.write(text)
            driver.flush()
