"""Which process owns a learner's screen: a lock that lives as long as the process does."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tutor.model import Message
from tutor.paths import why

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


class Claim:
    """One session's hold on the screen. Where the lock cannot be had it goes on without, and tells so."""

    def __init__(self, folder: Path, tell: Callable[[Message], None]) -> None:
        self._folder = folder
        self._tell = tell
        self._lock: SessionLock | None = None

    def take(self, me: Owner) -> Owner | None:
        """Take the screen and sign; returns who has it already, None when it is ours."""
        try:
            if self._lock is None:
                self._lock = SessionLock(self._folder / "session.lock")
            if not self._lock.acquire():
                return self._lock.owner() or Owner("", 0, "?", None, "?")
            self._lock.sign(me)
        except OSError as error:
            self._go_without(error)
        return None

    def take_over(self, me: Owner) -> None:
        """Sign although another process has it; the lock itself comes free when that one lets go (see `keep`)."""
        try:
            if self._lock is not None:
                self._lock.acquire()
                self._lock.sign(me)
        except OSError as error:
            self._go_without(error)

    def keep(self) -> None:
        """Take the lock if it came free. Raises OSError."""
        if self._lock is not None and not self._lock.held:
            self._lock.acquire()

    def release(self) -> None:
        """Give the screen back."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _go_without(self, error: OSError) -> None:
        self.release()
        key = "state.no-locks" if error.errno in UNSUPPORTED else "state.no-session-lock"
        self._tell(Message(key, {"path": str(self._folder), "why": why(error)}))


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
