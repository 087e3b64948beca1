"""A TORCH_TRACE folder: which files in it are traces.

torch writes one file a process, `dedicated_log_torch_trace_[rank_N_]<random>.log`; a job that was started again adds
more. Files are known by what they hold, so renamed copies and folders per machine work too.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tutor.model import TutorError
from tutor.paths import why

#: Bytes of a file's start that have to hold a record.
HEAD = 1 << 16
#: Files looked at, and folders below the one that is named.
FILES_MAX, DEPTH_MAX = 20_000, 3

_RANK = re.compile(r"rank_(\d{1,7})_")
_RECORD = re.compile(rb"^[A-Z]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ \S[^\n]*?:\d+\] \{", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TraceFile:
    """One file of the folder; `name` is its path inside it, `rank` what the name says."""

    path: Path
    name: str
    rank: int | None
    size: int


@dataclass(slots=True)
class Found:
    """What is in a folder: traces, names of files that are none, and those that cannot be read, with the reason."""

    files: list[TraceFile] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    left_out: bool = False
    """There are more than FILES_MAX files."""

    @property
    def size(self) -> int:
        """Bytes in all traces."""
        return sum(file.size for file in self.files)


class TraceError(TutorError):
    """A folder that cannot be explained; `message` says why and what to do."""


def find_some(path: Path) -> Found:
    """The traces in a folder, or one trace by its name: one at least. Raises TraceError."""
    try:
        found = find(path)
    except FileNotFoundError:
        raise TraceError("trace.missing", path=str(path)) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name.
        reason = why(error) if isinstance(error, OSError) else str(error)
        raise TraceError("trace.unreadable", path=str(path), why=reason) from error
    if not found.files and found.unreadable:
        name, reason = found.unreadable[0]
        raise TraceError("trace.unreadable", path=name, why=reason)
    if not found.files:
        raise TraceError("trace.none", path=str(path), others=len(found.others))
    return found


def find(path: Path, known: Container[str] = ()) -> Found:
    """The traces in a folder but those of a known name, or one trace by its name.

    Raises OSError when `path` itself cannot be listed.
    """
    found = Found()
    if stat.S_ISDIR(path.stat().st_mode):
        os.scandir(path).close()  # os.walk would be silent about a folder that may not be listed.
        for each in _walk(path, found):
            name = str(each.relative_to(path))
            if name not in known:
                _look(each, name, found)
    else:
        _look(path, path.name, found)
    return found


def _walk(folder: Path, found: Found) -> Iterator[Path]:
    seen = 0
    unreadable = found.unreadable

    def failed(error: OSError) -> None:
        unreadable.append((os.path.relpath(error.filename, folder), why(error)))

    for place, folders, names in os.walk(folder, onerror=failed):
        folders.sort()
        if len(Path(place).relative_to(folder).parts) >= DEPTH_MAX:
            folders.clear()
        for name in sorted(names):
            seen += 1
            if seen > FILES_MAX:
                found.left_out = True
                return
            yield Path(place, name)


def opened(path: Path) -> IO[bytes]:
    """A file to read: neither a pipe nor a device is waited for. Raises OSError."""
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")


def _look(path: Path, name: str, found: Found) -> None:
    try:
        with opened(path) as file:
            info = os.fstat(file.fileno())
            start = file.read(HEAD) if stat.S_ISREG(info.st_mode) else b""
    except OSError as error:
        found.unreadable.append((name, why(error)))
        return
    if _RECORD.search(start):
        rank = _RANK.search(path.name)
        found.files.append(TraceFile(path, name, int(rank[1]) if rank else None, info.st_size))
    else:
        found.others.append(name)
