"""The frame diff in a real pseudo-terminal: against Textual's own output, through signals and suspension, in bytes."""

from __future__ import annotations

import signal
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ui.pty_screen import DEADLINE_S, ScreenView, Terminal, difference

ROOT = Path(__file__).parents[2]
QUIET = {"TEXTUAL_ANIMATIONS": "none", "TEXTUAL_SMOOTH_SCROLL": "0"}


def small_app(kind: str, *theme: str, columns: int = 80, rows: int = 24, env: dict[str, str] | None = None) -> Terminal:
    argv = [sys.executable, "-m", "tests.ui.frame_diff_app", kind, *theme]
    return Terminal(argv, columns=columns, rows=rows, cwd=ROOT, env={**QUIET, **(env or {})})


class Marked:
    """A terminal whose app says when it has painted everything pressed so far."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.marks = 0
        terminal.wait(lambda screen: "guard_key_0" in screen.text and "palette" in screen.rows[-1])
        self.settle()

    def settle(self) -> ScreenView:
        self.ask()
        return self.answered()

    def ask(self) -> None:
        """For the number of a frame, when all that came before is painted."""
        self.marks += 1
        self.terminal.press("f12")

    def answered(self) -> ScreenView:
        return self.terminal.wait(lambda screen: screen.title == f"frame {self.marks}")

    def cost(self, *keys: str) -> int:
        """The bytes that the keys make the program send."""
        before = self.terminal.mark()
        self.terminal.press(*keys)
        self.settle()
        self.settle()
        titles = f"\x1b]2;frame {self.marks - 1}\x07\x1b]2;frame {self.marks}\x07"
        return len(self.terminal.bytes_since(before)) - len(titles)


@pytest.fixture
def app() -> Iterator[Marked]:
    with small_app("diff") as terminal:
        yield Marked(terminal)


# Each key is settled before the next: Textual applies a typed letter before an arrow key that came just ahead of it.
SESSION = [
    *("a", "b", "你", "好", "enter", "enter", "backspace", "…", "x"),
    *("down", "down", "end", "shift+up", "shift+left", "delete"),
    *("pagedown", "pagedown", "up", "ctrl+z", "f2", "escape", "f8", "f4", "down", "f9", "pageup", "f5"),
]


def settle_alike(stock: Marked, diffed: Marked) -> None:
    """Wait until both terminals show the same; what a key sets going may take some more frames."""
    end = time.monotonic() + DEADLINE_S
    while True:
        stock.ask()
        diffed.ask()
        one, other = stock.answered(), diffed.answered()
        wrong = difference(one.cells, other.cells)
        if not wrong and one.cursor == other.cursor:
            return
        assert time.monotonic() < end, wrong or f"cursor at {other.cursor}, not at {one.cursor}"


@pytest.mark.parametrize(
    ("theme", "env"),
    [
        ("textual-dark", {}),
        ("textual-light", {"COLORTERM": ""}),
        ("ansi-dark", {"COLORTERM": "", "TERM": "xterm"}),
        ("textual-dark", {"NO_COLOR": "1"}),
        ("ansi-light", {"TERM": "tmux-256color"}),
    ],
)
def test_the_screen_is_that_of_textual_itself(theme: str, env: dict[str, str]) -> None:
    with small_app("plain", theme, env=env) as stock, small_app("diff", theme, env=env) as diffed:
        both = Marked(stock), Marked(diffed)
        for key in SESSION:
            for marked in both:
                marked.terminal.press(key)
            settle_alike(*both)
        for marked in both:
            marked.terminal.resize(110, 30)
            marked.terminal.wait(lambda screen: "palette" in screen.rows[-1])
        settle_alike(*both)
        assert len(diffed.output) * 4 < len(stock.output)
        for marked in both:
            marked.terminal.press("ctrl+q")
            assert marked.terminal.wait_for_exit() == 0


def test_bytes_on_the_line(app: Marked) -> None:
    terminal = app.terminal
    assert len(terminal.output) < 9_000
    app.cost("a")
    assert app.cost() == 0
    assert max(app.cost(key) for key in "bcdef") <= 250  # all of the line behind it moves
    assert app.cost("down") <= 450
    assert max(app.cost("pagedown") for _ in range(3)) <= 4_000
    assert app.cost("f5") == len("\x07\x1b]52;c;5L2g5aW9\x07\x1b]2;noise\x07")


@pytest.mark.parametrize(("columns", "rows", "first_frame"), [(80, 24, 9_000), (120, 40, 14_000)])
def test_a_key_at_the_end_of_a_line_costs_the_same_on_any_screen(columns: int, rows: int, first_frame: int) -> None:
    with small_app("diff", columns=columns, rows=rows) as terminal:
        app = Marked(terminal)
        assert len(terminal.output) < first_frame
        app.cost("f9", "end")
        app.cost("a")
        assert max(app.cost(key) for key in "bcde你") <= 80
        assert max(app.cost(key) for key in ("backspace", "left", "right", "left", "right")) <= 80


def test_a_large_frame_is_synchronized_and_a_small_one_is_not(app: Marked) -> None:
    terminal = app.terminal
    start = terminal.mark()
    app.cost("a")
    assert b"\x1b[?2026" not in terminal.bytes_since(start)
    app.cost("f2")
    sent = terminal.bytes_since(start)
    assert sent.count(b"\x1b[?2026h") == sent.count(b"\x1b[?2026l") >= 1


def test_a_terminal_that_does_not_answer_gets_no_brackets() -> None:
    argv = [sys.executable, "-m", "tests.ui.frame_diff_app", "diff"]
    with Terminal(argv, cwd=ROOT, env=QUIET, synchronized=False) as terminal:
        Marked(terminal).cost("f2")
        assert b"\x1b[?2026h" not in terminal.output


def test_redraw_repairs_what_another_program_wrote(app: Marked) -> None:
    terminal = app.terminal
    wanted = app.settle().cells
    terminal.inject(b"\x1b[5;20H\x1b[41mBroadcast message from root\r\n\r\n\x1b[20B\n\n")
    assert difference(wanted, terminal.screen.cells)
    terminal.press("ctrl+l")
    terminal.wait(lambda screen: not difference(wanted, screen.cells))


def test_suspend_and_resume_repaint(app: Marked) -> None:
    terminal = app.terminal
    app.cost("a", "你")
    wanted = app.settle()
    start = terminal.mark()
    terminal.press("f3")
    terminal.wait_for_bytes(b"was here", start)
    terminal.wait(lambda screen: screen.alternate and not difference(wanted.cells, screen.cells))
    app.settle()
    assert app.cost("b") <= 250


@pytest.mark.parametrize("stop", [signal.SIGTSTP, signal.SIGSTOP])
def test_stop_and_continue_repaint(app: Marked, stop: signal.Signals) -> None:
    terminal = app.terminal
    app.cost("a", "你")
    wanted = app.settle().cells
    raw = terminal.local_modes
    for _ in range(2):
        terminal.kill(stop)
        terminal.wait_for_stop()
        terminal.inject(b"\x1b[m\x1b[3;3H[1]+  Stopped\r\n$ fg\r\n")
        start = terminal.mark()
        terminal.kill(signal.SIGCONT)
        terminal.wait_for_bytes(b"\x1b[?1049h", start)
        terminal.wait(lambda screen: screen.alternate and not difference(wanted, screen.cells))
    assert terminal.local_modes == raw
    # One thread reads the keys: two would tear the sequences apart.
    for _ in range(30):
        terminal.press("down", "up")
    app.settle()
    terminal.press("x")
    terminal.wait(lambda screen: "a你x" in screen.text)
    terminal.press("ctrl+q")
    assert terminal.wait_for_exit() == 0
    assert terminal.local_modes & termios.ECHO
    assert terminal.local_modes & termios.ICANON


def test_resize_repaints_whatever_the_terminal_made_of_it(app: Marked) -> None:
    terminal = app.terminal
    for columns, rows in ((120, 40), (40, 12), (80, 24)):
        terminal.inject(b"\x1b[H\x1b[45m\x1b[2J")
        terminal.resize(columns, rows)
        terminal.wait(lambda screen: "palette" in screen.rows[-1])
        shown = app.settle().cells
        terminal.press("ctrl+l")
        assert not difference(shown, app.settle().cells)
        assert not any(cell.background == "magenta" for row in shown for cell in row)


def test_the_pen_is_given_back_at_the_end(app: Marked) -> None:
    terminal = app.terminal
    terminal.press("ctrl+q")
    assert terminal.wait_for_exit() == 0
    last_pen = bytes(terminal.output).rpartition(b"\x1b[?1049l")[0].rpartition(b"m")[0].rpartition(b"\x1b[")[2]
    assert last_pen in (b"", b"0")
    assert not terminal.screen.alternate
