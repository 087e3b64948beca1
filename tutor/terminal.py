"""What the terminal can do, asked before anything heavy is imported (standard library only)."""

from __future__ import annotations

import codecs
import os
from collections.abc import Mapping, MutableMapping
from typing import TextIO

from tutor.model import Message

MIN_COLUMNS, MIN_ROWS = 80, 24

# Textual's own settings, read when it is imported. Over a slow line an animation costs ten times what it moves, and
# more than 20 frames a second are never seen; smooth scrolling asks for pixel positions that some terminals invent.
_DEFAULTS = {"TEXTUAL_ANIMATIONS": "none", "TEXTUAL_SMOOTH_SCROLL": "0"}
_OVER_SSH = {"TEXTUAL_FPS": "20", "ESCDELAY": "200"}


def size(stream: TextIO) -> tuple[int, int] | None:
    """Columns and rows of the terminal behind `stream`, None when it is not one or does not know."""
    try:
        columns, rows = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return None
    return (columns, rows) if columns and rows else None


def over_ssh(env: Mapping[str, str]) -> bool:
    """Whether keys and screen travel over SSH."""
    return any(env.get(name) for name in ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"))


def is_utf8(stream: TextIO) -> bool:
    """Whether what is written to `stream` leaves it as UTF-8."""
    try:
        return codecs.lookup(stream.encoding or "ascii").name == "utf-8"
    except LookupError:
        return False


def preflight(
    stdin: TextIO | None, stdout: TextIO | None, stderr: TextIO | None, env: Mapping[str, str]
) -> Message | None:
    """Why the screen cannot be shown here and what to do, None when it can. Textual draws on stderr."""
    if any(stream is None or not stream.isatty() for stream in (stdin, stdout, stderr)):
        return Message("cli.not-a-terminal")
    assert stderr is not None
    term = env.get("TERM", "")
    if term in ("", "dumb", "unknown"):
        return Message("cli.dumb-terminal", {"term": term or '""'})
    if not is_utf8(stderr):
        return Message("cli.not-utf8", {"encoding": stderr.encoding})
    cells = size(stderr)
    if cells is not None and (cells[0] < MIN_COLUMNS or cells[1] < MIN_ROWS):
        what = {"columns": cells[0], "rows": cells[1], "min_columns": MIN_COLUMNS, "min_rows": MIN_ROWS}
        return Message("cli.too-small", what)
    return None


def apply_textual_defaults(env: MutableMapping[str, str], *, plain_keys: bool = False) -> None:
    """Set what Textual reads at its import, unless the learner has set it.

    The kitty keyboard protocol is switched off where it does harm: in VS Code's terminal it kills the number pad, in
    iTerm2 without tmux it loses what an input method commits. iTerm2 is seen over SSH only when LC_TERMINAL travels
    along, hence `plain_keys`.
    """
    for name, value in {**_DEFAULTS, **(_OVER_SSH if over_ssh(env) else {})}.items():
        env.setdefault(name, value)
    if plain_keys:
        env["TEXTUAL_DISABLE_KITTY_KEY"] = "1"
    elif _kitty_keys_harm(env):
        env.setdefault("TEXTUAL_DISABLE_KITTY_KEY", "1")


def _kitty_keys_harm(env: Mapping[str, str]) -> bool:
    program = env.get("TERM_PROGRAM", "")
    iterm = program == "iTerm.app" or env.get("LC_TERMINAL") == "iTerm2"
    return program == "vscode" or (iterm and not env.get("TMUX"))
