"""The test terminal itself."""

from __future__ import annotations

import signal
import sys

import pytest

from tests.ui.pty_screen import Emulator, Terminal, difference, key_bytes

STREAM = (
    "shell$ \x1b[?1049h\x1b[>25u\x1b[=1;1u\x1b[?2026$p\x1b[?2048$p\x1b]22;text\x07\x1b[?2026h"
    "\x1b[2;3H\x1b[1;38;2;1;2;3m你好\x1b[0m\x1b]8;;https://a.example/\x1b\\link\x1b]8;;\x1b\\"
    "\x1b[3;1H\x1b[7mreverse\x1b[m\x1b]52;c;YWFh\x07\x1b]2;title\x07\x1b[?2026l\x1b[<u"
).encode()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_any_pieces_of_a_stream_make_the_same_screen(size: int) -> None:
    emulator = Emulator(20, 4)
    for start in range(0, len(STREAM), size):
        emulator.feed(STREAM[start : start + size])
    view = emulator.view
    assert view.rows == ["", "  你好link", "reverse", ""]
    assert view.title == "title"
    assert view.alternate
    wide, half = view.cells[1][2:4]
    assert (wide.text, wide.foreground, wide.bold) == ("你", "010203", True)
    assert half.text == ""
    assert view.cells[2][0].reverse
    emulator.feed(b"\x1b[?1049l")
    assert emulator.view.rows[0] == "shell$"


def test_a_difference_names_the_cells() -> None:
    one, other = Emulator(4, 1), Emulator(4, 1)
    one.feed(b"ab\x1b[1m \x1b[41m ")
    other.feed(b"aX \x1b[42m ")
    said = difference(one.view.cells, other.view.cells)
    assert "row 0 column 1: Cell(text='b'" in said
    assert "column 2" not in said  # a bold blank looks like any other
    assert "column 3" in said
    assert "2 cells differ" in said
    assert not difference(one.view.cells, one.view.cells)


def test_a_program_is_driven_and_its_end_seen() -> None:
    code = "import os, sys; os.write(1, b'size %d' % os.get_terminal_size().columns); sys.exit(len(input()))"
    with Terminal([sys.executable, "-c", code], columns=33) as terminal:
        terminal.wait(lambda screen: "size 33" in screen.text)
        terminal.write("你好".encode())
        terminal.press("enter")
        assert terminal.wait_for_exit() == 2
        with pytest.raises(AssertionError, match="size 33"):
            terminal.wait(lambda screen: "never" in screen.text)


def test_a_program_that_waits_is_killed_at_the_end() -> None:
    with Terminal(["cat"]) as terminal:
        terminal.press("a")
        terminal.wait(lambda screen: screen.rows[0] == "a")
        terminal.kill(signal.SIGSTOP)
        terminal.wait_for_stop()
    assert terminal.process.returncode == -signal.SIGKILL


def test_keys_have_names() -> None:
    assert key_bytes("ctrl+l") == b"\x0c"
    assert key_bytes("alt+left") == b"\x1b\x1b[D"
    assert key_bytes("你") == "你".encode()
    with pytest.raises(KeyError):
        key_bytes("ctrl+1")
