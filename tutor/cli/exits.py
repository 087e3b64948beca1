"""Exit codes, the same for every command, and the error that ends one."""

from __future__ import annotations

from enum import IntEnum

from tutor.model import Ending, Message


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


OF_ENDING = {
    Ending.PASSED: Exit.GOOD,
    Ending.FAILED: Exit.FAILS,
    Ending.LIMIT: Exit.LIMIT,
    Ending.REFUSED: Exit.REFUSED,
    Ending.BROKE: Exit.BROKE,
}


class Stop(Exception):
    """A command cannot go on: one sentence for the learner, and the exit code."""

    def __init__(self, key: str, code: Exit = Exit.USAGE, /, **args: str | int | float) -> None:
        super().__init__(key, args)
        self.message = Message(key, args)
        self.code = code

    @classmethod
    def saying(cls, message: Message, code: Exit = Exit.USAGE) -> Stop:
        """With a sentence that was made elsewhere."""
        return cls(message.key, code, **message.args)
