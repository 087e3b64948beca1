"""What is asked of a terminal before the screen comes up."""

from __future__ import annotations

import io
import os
import pty
from collections.abc import Iterator
from fcntl import ioctl
from struct import pack
from termios import TIOCSWINSZ
from typing import TextIO

import pytest

from tutor import terminal
from tutor.language import LANGS
from tutor.strings import say

TERM = {"TERM": "xterm-256color"}


def a_terminal(columns: int, rows: int, encoding: str = "utf-8") -> tuple[TextIO, int]:
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, pack("HHHH", rows, columns, 0, 0))
    return os.fdopen(theirs, "w", encoding=encoding), ours


@pytest.fixture
def stream() -> Iterator[TextIO]:
    there, ours = a_terminal(80, 24)
    yield there
    there.close()
    os.close(ours)


def refusal(stream: TextIO, env: dict[str, str]) -> str:
    message = terminal.preflight(stream, stream, stream, env)
    assert message is not None
    for lang in LANGS:
        assert "\n" not in say(lang, message)
    return message.key


def test_a_terminal_of_80_by_24_will_do(stream: TextIO) -> None:
    assert terminal.size(stream) == (80, 24)
    assert terminal.preflight(stream, stream, stream, TERM) is None


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("other", [io.StringIO(), None])
def test_every_stream_has_to_be_a_terminal(stream: TextIO, which: int, other: TextIO | None) -> None:
    streams = [stream, stream, stream]
    streams[which] = other  # type: ignore[call-overload]
    message = terminal.preflight(*streams, TERM)
    assert message is not None
    assert message.key == "cli.not-a-terminal"


@pytest.mark.parametrize("env", [{}, {"TERM": ""}, {"TERM": "dumb"}, {"TERM": "unknown"}])
def test_a_terminal_that_cannot_draw(stream: TextIO, env: dict[str, str]) -> None:
    assert refusal(stream, env) == "cli.dumb-terminal"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gbk"])
def test_a_terminal_that_is_not_utf8(encoding: str) -> None:
    there, ours = a_terminal(80, 24, encoding)
    assert refusal(there, TERM) == "cli.not-utf8"
    there.close()
    os.close(ours)


@pytest.mark.parametrize(("columns", "rows"), [(79, 24), (80, 23), (1, 1)])
def test_a_terminal_that_is_too_small(columns: int, rows: int) -> None:
    there, ours = a_terminal(columns, rows)
    assert refusal(there, TERM) == "cli.too-small"
    there.close()
    os.close(ours)


def test_a_terminal_that_does_not_know_its_size_is_not_refused() -> None:
    there, ours = a_terminal(0, 0)
    assert terminal.size(there) is None
    assert terminal.preflight(there, there, there, TERM) is None
    there.close()
    os.close(ours)


def test_what_textual_reads_is_set_only_where_the_learner_has_not() -> None:
    env: dict[str, str] = {"TEXTUAL_ANIMATIONS": "full"}
    terminal.apply_textual_defaults(env)
    assert env == {"TEXTUAL_ANIMATIONS": "full", "TEXTUAL_SMOOTH_SCROLL": "0"}
    env = {"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22", "TEXTUAL_FPS": "60"}
    terminal.apply_textual_defaults(env)
    assert env["TEXTUAL_FPS"] == "60"
    assert env["ESCDELAY"] == "200"


@pytest.mark.parametrize(
    ("env", "plain"),
    [
        ({}, False),
        ({"TERM_PROGRAM": "vscode"}, True),
        ({"TERM_PROGRAM": "vscode", "TMUX": "x"}, True),
        ({"TERM_PROGRAM": "iTerm.app"}, True),
        ({"LC_TERMINAL": "iTerm2"}, True),
        ({"LC_TERMINAL": "iTerm2", "TMUX": "/tmp/x"}, False),
        ({"TERM_PROGRAM": "WezTerm"}, False),
    ],
)
def test_kitty_keys_are_off_where_they_do_harm(env: dict[str, str], plain: bool) -> None:
    seen = dict(env)
    terminal.apply_textual_defaults(seen)
    assert (seen.get("TEXTUAL_DISABLE_KITTY_KEY") == "1") is plain
    wanted = {**env, "TEXTUAL_DISABLE_KITTY_KEY": "0"}
    terminal.apply_textual_defaults(wanted)
    assert wanted["TEXTUAL_DISABLE_KITTY_KEY"] == "0"
    terminal.apply_textual_defaults(wanted, plain_keys=True)
    assert wanted["TEXTUAL_DISABLE_KITTY_KEY"] == "1"
