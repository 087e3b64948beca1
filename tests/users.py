"""Acting as other users of the machine, which only root can do."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence

import pytest

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: only root acts as several users of the machine")


def as_user(uid: int, act: Callable[[], object], groups: Sequence[int] = ()) -> str:
    """What `act` prints for another user of the machine, and what it comes to: its result in brackets, or its error.
    `groups` are those that the user is in besides their own."""
    with tempfile.TemporaryFile("w+") as said:
        child = os.fork()
        if child == 0:
            try:
                os.setgroups(groups)
                os.setgid(uid)
                os.setuid(uid)
                os.umask(0o077)
                for fd in (1, 2):
                    os.dup2(said.fileno(), fd)
                os.write(1, f"[{act()}]".encode())
            except BaseException as error:
                os.write(1, f"{type(error).__name__} {error}".encode())
            os._exit(0)
        os.waitpid(child, 0)
        said.seek(0)
        return said.read()
