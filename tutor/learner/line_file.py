"""An append-only file of lines that several processes write to: bytes, locks and broken ends, but no meaning."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tutor.learner.session_lock import UNSUPPORTED, briefly

#: How long a write waits for another process, in seconds.
PATIENCE = 2.0


class LineFile:
    """The file at `path`, guarded by the lock of the file `lock`.

    `unwritable` is the error that keeps it from being written, None normally; `unlocked` the one that keeps it from
    being locked. `offset` is where the lines end that `new_lines` has given or `append` has written.
    """

    def __init__(self, path: Path, lock: Path) -> None:
        """Raises OSError when the file can be neither written nor read."""
        self.path = path
        self.unwritable: OSError | None = None
        self.unlocked: OSError | None = None
        self.offset = 0
        self._exclusive = False
        self._fd = self._lock_fd = -1
        try:
            self._lock_fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            self.unlocked = error
        self.open()

    def open(self) -> None:
        """Open the file that stands at `path` now, from its start; made when missing. Raises OSError."""
        unwritable: OSError | None = None
        is_new = not self.path.exists()
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except IsADirectoryError:
            raise
        except OSError as error:
            if not self.path.exists():
                raise
            fd, unwritable = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC), error
        self._shut()
        self._fd, self.unwritable, self.offset = fd, unwritable, 0
        if is_new:
            sync_folder(self.path.parent)  # Else the file itself could be gone after a power cut, with all its lines.

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes out for a moment. Raises TimeoutError after PATIENCE. Where the file system has no locks
        it goes on without, and `unlocked` says so."""
        with ExitStack() as stack:
            if self._lock_fd >= 0:
                try:
                    stack.enter_context(briefly(self._lock_fd, PATIENCE))
                    self._exclusive = True
                except TimeoutError:
                    raise
                except OSError as error:
                    if error.errno not in UNSUPPORTED:
                        raise
                    self.unlocked = error
            try:
                yield
            finally:
                self._exclusive = False

    def replaced(self) -> bool:
        """Whether another file stands at `path` now, or this one has become shorter. Raises OSError."""
        try:
            there = self.path.stat()
        except FileNotFoundError:
            return True
        mine = os.fstat(self._fd)
        return (there.st_ino, there.st_dev) != (mine.st_ino, mine.st_dev) or there.st_size < self.offset

    def changed(self) -> bool:
        """Whether `new_lines` would give something, or the file was replaced. Raises OSError."""
        return self.replaced() or os.fstat(self._fd).st_size != self.offset

    def new_lines(self) -> list[bytes]:
        """The lines since the last time, without their line feeds. To be called while locked. Raises OSError.

        With the lock held nobody is writing, so a last line without its end was cut off: it is given as it is, and what
        follows starts on a line of its own. Without locks it may still be growing, and is left for later.
        """
        raw = b""
        while part := os.pread(self._fd, 1 << 20, self.offset + len(raw)):
            raw += part
        whole = raw.rfind(b"\n") + 1
        if whole < len(raw) and self._exclusive:
            if self.unwritable is None:
                self._write(b"\n")
                self.offset += 1
            whole = len(raw)
        self.offset += whole
        lines = raw[:whole].split(b"\n")
        return lines if lines[-1] else lines[:-1]

    def append(self, lines: Sequence[bytes]) -> None:
        """Write lines (with their line feeds) at the end, all or none, and see them to the disk. Raises OSError."""
        end = os.fstat(self._fd).st_size
        loose = end > self.offset  # Only without locks: somebody's line may still be growing there.
        raw = b"\n" * loose + b"".join(lines)
        try:
            self._write(raw)
            os.fsync(self._fd)
        except OSError:
            with suppress(OSError):  # What stays behind is a damaged line, which is set aside when it is read.
                os.ftruncate(self._fd, end)
            raise
        if not loose:
            self.offset = end + len(raw)

    def close(self) -> None:
        """Let go of the file and its lock."""
        self._shut()
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1

    def _shut(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _write(self, raw: bytes) -> None:
        view = memoryview(raw)
        while view:
            view = view[os.write(self._fd, view) :]


def write_whole(path: Path, raw: bytes, *, mode: int = 0o600, owner: int | None = None) -> None:
    """Put a file in place at once: whoever reads sees the old one or the new one; of two who write at once the later
    one's stays. `owner` is the user whose it is when root writes it. Raises OSError."""
    fresh = path.with_name(f".{os.urandom(8).hex()}.new")
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            if owner is not None and os.geteuid() == 0:
                os.fchown(fd, owner, -1)
            if mode != 0o600:
                os.fchmod(fd, mode)
            file.write(raw)
            file.flush()
            os.fsync(fd)
        fresh.replace(path)
    except BaseException:
        with suppress(OSError):  # what failed is told
            fresh.unlink()
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """See a folder's own entries to the disk. Raises OSError."""
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
