"""Which process owns a learner's screen: a lock that lives as long as the process does."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

#: What the system answers where the file system has no locks, such as NFS without its lock daemon.
UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)

# flock rather than lockf: a POSIX lock is lost as soon as this process closes any other descriptor of the same file.
# On NFS Linux turns both into the same lock of the server.


class Owner(NamedTuple):
    """The process that holds the screen: where it runs, on which terminal (None without one), since when (UTC)."""

    session: str
    pid: int
    host: str
    tty: str | None
    since: str


def myself(session: str, since: str) -> Owner:
    """This process, as it signs the lock."""
    try:
        tty = os.ttyname(0)
    except OSError:
        tty = None
    return Owner(session, os.getpid(), os.uname().nodename, tty, since)


class SessionLock:
    """The lock file of one journal."""

    def __init__(self, path: Path) -> None:
        """Raises OSError."""
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.held = False

    def acquire(self) -> bool:
        """Take the lock if it is free; True when it is ours. Raises OSError where locks are not supported."""
        if not self.held:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            self.held = True
        return True

    def sign(self, owner: Owner) -> None:
        """Say who owns the screen now. Raises OSError."""
        text = json.dumps(owner._asdict()).encode()
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, text, 0)

    def owner(self) -> Owner | None:
        """Who signed last; None when that cannot be read."""
        try:
            return Owner(**json.loads(os.pread(self._fd, 4096, 0)))
        except (ValueError, TypeError):
            return None

    def close(self) -> None:
        """Give the lock back."""
        os.close(self._fd)
        self.held = False


@contextmanager
def briefly(fd: int, patience_s: float) -> Iterator[None]:
    """Hold the lock of `fd` for one write. Raises TimeoutError when another process keeps it longer than `patience_s`
    seconds, OSError (one of UNSUPPORTED) where there are no locks."""
    end = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > end:
                raise TimeoutError from None
            time.sleep(0.005)
    try:
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)
