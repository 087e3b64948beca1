"""A program in a real pseudo-terminal, and the screen that its output makes.

    with Terminal([sys.executable, "-m", "tutor"], columns=80, rows=24) as t:
        t.wait(lambda screen: "Step 1" in screen.text)
        t.press("down", "ctrl+l")
        mark = t.mark()
        t.write("你好".encode())
        t.wait(lambda screen: "你好" in screen.text)
        assert len(t.bytes_since(mark)) < 200
        t.resize(120, 40)
        t.kill(signal.SIGTERM)
        assert t.wait_for_exit() == -signal.SIGTERM

The terminal is pyte, with what pyte lacks: the alternate screen is a screen of its own (empty when entered), sequences
that pyte would print are taken out, and the query for synchronized output is answered. Output is read only inside
the methods that wait, always up to a deadline; there are no threads and no sleeps.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple, Self

import pyte
import pyte.modes

DEADLINE_S = 20.0

KEYS = {
    "enter": b"\r", "tab": b"\t", "shift+tab": b"\x1b[Z", "escape": b"\x1b", "backspace": b"\x7f", "space": b" ",
    "up": b"\x1b[A", "down": b"\x1b[B", "right": b"\x1b[C", "left": b"\x1b[D", "home": b"\x1b[H", "end": b"\x1b[F",
    "pageup": b"\x1b[5~", "pagedown": b"\x1b[6~", "insert": b"\x1b[2~", "delete": b"\x1b[3~",
    "f1": b"\x1bOP", "f2": b"\x1bOQ", "f3": b"\x1bOR", "f4": b"\x1bOS", "f5": b"\x1b[15~", "f6": b"\x1b[17~",
    "f7": b"\x1b[18~", "f8": b"\x1b[19~", "f9": b"\x1b[20~", "f10": b"\x1b[21~", "f11": b"\x1b[23~", "f12": b"\x1b[24~",
    "shift+up": b"\x1b[1;2A", "shift+down": b"\x1b[1;2B", "shift+right": b"\x1b[1;2C", "shift+left": b"\x1b[1;2D",
    "ctrl+up": b"\x1b[1;5A", "ctrl+down": b"\x1b[1;5B", "ctrl+right": b"\x1b[1;5C", "ctrl+left": b"\x1b[1;5D",
    "ctrl+home": b"\x1b[1;5H", "ctrl+end": b"\x1b[1;5F",
}  # fmt: skip


def key_bytes(name: str) -> bytes:
    """What a terminal sends for a key: a name of KEYS, `ctrl+a` to `ctrl+z`, `alt+` and one of these, a character."""
    if name in KEYS:
        return KEYS[name]
    if name.startswith("alt+"):
        return b"\x1b" + key_bytes(name.removeprefix("alt+"))
    if re.fullmatch("ctrl\\+[a-z]", name):
        return bytes([ord(name[-1]) - 0x60])
    if len(name) == 1:
        return name.encode()
    raise KeyError(name)


class Cell(NamedTuple):
    """One cell as it looks. The second cell of a wide character has text ""."""

    text: str
    foreground: str
    background: str
    bold: bool
    italic: bool
    underline: bool
    strike: bool
    reverse: bool
    blink: bool


def _cell(char: pyte.screens.Char) -> Cell:
    cell = Cell(
        char.data,
        char.fg,
        char.bg,
        char.bold,
        char.italics,
        char.underscore,
        char.strikethrough,
        char.reverse,
        char.blink,
    )
    if cell.text == " " and not (cell.underline or cell.strike or cell.reverse or cell.blink):
        return cell._replace(foreground="default", bold=False, italic=False)
    return cell


def difference(one: list[list[Cell]], other: list[list[Cell]]) -> str:
    """The first cells that differ, for an assertion's message; "" when the screens look the same."""
    wrong = [
        f"row {y} column {x}: {a} is not {b}"
        for y, rows in enumerate(zip(one, other, strict=True))
        for x, (a, b) in enumerate(zip(*rows, strict=True))
        if a != b
    ]
    return "\n".join(wrong[:5]) + (f"\n… {len(wrong)} cells differ" if wrong else "")


@dataclass(frozen=True)
class ScreenView:
    """What is on the screen now."""

    screen: pyte.Screen
    alternate: bool
    """Whether the program is on the alternate screen, as full-screen programs are."""

    @property
    def rows(self) -> list[str]:
        """The text of each row, without trailing blanks."""
        buffer, columns = self.screen.buffer, range(self.screen.columns)
        return ["".join(buffer[y][x].data for x in columns).rstrip() for y in range(self.screen.lines)]

    @property
    def text(self) -> str:
        """All rows, joined by newlines."""
        return "\n".join(self.rows)

    @property
    def cells(self) -> list[list[Cell]]:
        """Every cell as it looks, row by row."""
        return self.cells_of(range(self.screen.lines))

    def cells_of(self, rows: Iterable[int]) -> list[list[Cell]]:
        """The cells of some rows. What cannot be seen of a blank (its foreground, bold, italic) is left out."""
        return [[_cell(self.screen.buffer[y][x]) for x in range(self.screen.columns)] for y in rows]

    @property
    def cursor(self) -> tuple[int, int]:
        """(column, row), from 0."""
        return self.screen.cursor.x, self.screen.cursor.y

    @property
    def title(self) -> str:
        """The window title that was set last."""
        return self.screen.title


_ALTERNATE = re.compile(rb"\x1b\[\?1049([hl])")
_SYNC_QUERY = b"\x1b[?2026$p"
# Prefixed CSI (kitty keyboard, modifyOtherKeys), mode queries, pointer shape: pyte would print or misread them.
_NOT_FOR_PYTE = re.compile(
    rb"\x1b\[[<=>][0-9;:]*[ -/]*[@-~]|\x1b\[\??[0-9;]*\$[a-z]|\x1b\]22;[^\x07\x1b]*(?:\x07|\x1b\\)"
)
_WHOLE = re.compile(rb"(?:[^\x1b]+|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[^\[\]])*", re.DOTALL)


class Emulator:
    """pyte with an alternate screen; feed it what a program writes, in any pieces."""

    def __init__(self, columns: int, rows: int) -> None:
        self._screens = [pyte.Screen(columns, rows), pyte.Screen(columns, rows)]
        self._streams = [pyte.ByteStream(screen) for screen in self._screens]
        self._active = 0
        self._held = b""

    @property
    def view(self) -> ScreenView:
        return ScreenView(self._screens[self._active], self._active == 1)

    def resize(self, columns: int, rows: int) -> None:
        for screen in self._screens:
            screen.resize(rows, columns)

    def feed(self, data: bytes) -> None:
        data = self._held + data
        whole = _WHOLE.match(data)
        assert whole is not None
        data, self._held = data[: whole.end()], data[whole.end() :]
        data = _NOT_FOR_PYTE.sub(b"", data)
        for i, part in enumerate(_ALTERNATE.split(data)):
            if i % 2 == 0:
                self._streams[self._active].feed(part)
            elif part == b"h":
                self._active = 1
                self._screens[1].reset()
            else:
                self._active = 0


class Program:
    """A program in a pseudo-terminal of `columns` x `rows`: what it writes, as bytes.

    `env` is added to the current environment (TERM is xterm-256color, COLORTERM truecolor unless given). `synchronized`
    answers the query for synchronized output. Leaving the `with` block kills what is still running.

    Raises OSError when the program cannot be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        columns: int = 80,
        rows: int = 24,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        synchronized: bool = True,
    ) -> None:
        self.output = bytearray()
        self._synchronized = synchronized
        self._open = True
        self._fd, inside = os.openpty()
        self._set_size(columns, rows)
        try:
            self.process = subprocess.Popen(
                argv,
                preexec_fn=lambda: os.login_tty(inside),
                cwd=cwd,
                env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(env or {})},
            )
        except OSError:
            os.close(self._fd)
            raise
        finally:
            os.close(inside)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(DEADLINE_S)
        os.close(self._fd)

    @property
    def local_modes(self) -> int:
        """The terminal's local modes (termios lflag: echo, canonical input, signals), to compare before and after."""
        return int(termios.tcgetattr(self._fd)[3])

    def read(self, wait_s: float) -> int:
        """Take what comes within `wait_s`: the number of bytes; 0 if none came, or the program closed the terminal."""
        if not self._open or not select.select([self._fd], [], [], max(0.0, wait_s))[0]:
            return 0
        try:
            data = os.read(self._fd, 1 << 16)
        except OSError:  # EIO: on Linux, the end of a pseudo-terminal
            data = b""
        if not data:
            self._open = False
            return 0
        seen = len(self.output) - len(_SYNC_QUERY) + 1
        self.output += data
        if self._synchronized and _SYNC_QUERY in self.output[max(0, seen) :]:
            os.write(self._fd, b"\x1b[?2026;2$y")
        self._show(data)
        return len(data)

    def _show(self, data: bytes) -> None:
        """For a subclass that has a screen."""

    def press(self, *keys: str) -> None:
        """Send keys by name: see `key_bytes`."""
        for key in keys:
            self.write(key_bytes(key))

    def write(self, data: bytes) -> None:
        """Send raw bytes, as if typed."""
        while data:
            # A program that is writing much reads its keys late: take its output meanwhile.
            readable, writable, _ = select.select([self._fd], [self._fd], [], DEADLINE_S)
            if readable:
                self.read(0)
            if writable:
                data = data[os.write(self._fd, data) :]

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the window; the kernel tells the program (SIGWINCH)."""
        self._set_size(columns, rows)

    def kill(self, number: signal.Signals) -> None:
        """Send a signal to the program."""
        self.process.send_signal(number)

    def mark(self) -> int:
        """A place in the output, for `bytes_since`."""
        return len(self.output)

    def bytes_since(self, mark: int) -> bytes:
        """What was read after the mark."""
        return bytes(self.output[mark:])

    def wait_for_exit(self, *, deadline_s: float = DEADLINE_S) -> int:
        """Read until the program closes the terminal: its exit code, negative for a signal."""
        end = time.monotonic() + deadline_s
        while self.read(end - time.monotonic()):
            pass
        return self.process.wait(max(0.1, end - time.monotonic()))

    def wait_for_stop(self, *, deadline_s: float = DEADLINE_S) -> None:
        """Read until the program is stopped by a signal. Raises AssertionError at the deadline."""
        end = time.monotonic() + deadline_s
        while not (stopped := os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOHANG)):
            assert time.monotonic() < end, f"not stopped within {deadline_s} s"
            self.read(0.01)
        assert stopped.si_code == os.CLD_STOPPED

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class Terminal(Program):
    """A program in a pseudo-terminal, with the screen that its output makes. Arguments as for `Program`."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        columns: int = 80,
        rows: int = 24,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        synchronized: bool = True,
    ) -> None:
        self._emulator = Emulator(columns, rows)
        super().__init__(argv, columns=columns, rows=rows, env=env, cwd=cwd, synchronized=synchronized)

    @property
    def screen(self) -> ScreenView:
        """The screen as of what was read so far."""
        return self._emulator.view

    def wait(self, until: Callable[[ScreenView], bool], *, deadline_s: float = DEADLINE_S) -> ScreenView:
        """Read until the screen is as wanted. Raises AssertionError, showing the screen, at the deadline or the end."""
        end = time.monotonic() + deadline_s
        while not until(self.screen):
            if not self.read(end - time.monotonic()):
                raise AssertionError(f"not so within {deadline_s} s, or the program ended:\n{self.screen.text}")
        return self.screen

    def wait_for_bytes(self, wanted: bytes, since: int = 0, *, deadline_s: float = DEADLINE_S) -> None:
        """Read until `wanted` is in the output after the mark `since`."""
        self.wait(lambda _: wanted in self.output[since:], deadline_s=deadline_s)

    def inject(self, data: bytes) -> None:
        """Show what another program writes to the same terminal."""
        self._emulator.feed(data)

    def resize(self, columns: int, rows: int) -> None:
        self._emulator.resize(columns, rows)
        super().resize(columns, rows)

    def _show(self, data: bytes) -> None:
        self._emulator.feed(data)
