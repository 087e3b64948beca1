"""Exit codes, the same for every command, and the error that ends one. Imports nothing, so that help comes at once."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tutor.model import Message


class Exit(IntEnum):
    """What a command's exit code says."""

    GOOD = 0
    FAILS = 1
    USAGE = 2
    BROKE = 3
    LIMIT = 4
    REFUSED = 5
    UNAVAILABLE = 6
    INTERRUPTED = 130
    """Ctrl-C, as shells count it."""
    BROKEN_PIPE = 141
    """Whoever read our output has gone, as shells count it."""


class Stop(Exception):
    """A command cannot go on: the key of one sentence, its fields, and the exit code."""

    def __init__(self, key: str, code: Exit = Exit.USAGE, /, **fields: str | int | float) -> None:
        super().__init__(key, code)
        self.key = key
        self.code = code
        self.fields = fields

    @classmethod
    def saying(cls, message: Message, code: Exit = Exit.USAGE) -> Stop:
        """With a sentence that was made elsewhere."""
        return cls(message.key, code, **message.args)
