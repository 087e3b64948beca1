"""Who holds an item: one window of a grader, by the process that it is, so that a killed one is told from a live one.

    host.machine.pid.started.own

`host` is for people. `machine` stands for this start of this machine and for the process numbers seen here (two
containers share a machine, not their numbers); `started` is when the process began, in clock ticks since the machine
did, for numbers come round; `own` tells two windows of one process apart.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

_PROC = Path("/proc")


def new() -> str:
    """A name for a window of this process: at most 64 characters."""
    host = "".join(c if c.isalnum() or c == "-" else "-" for c in os.uname().nodename)[:12]
    return f"{host}.{_machine()}.{os.getpid()}.{_started(os.getpid()) or 0}.{secrets.token_hex(4)}"


def is_gone(holder: str) -> bool:
    """Whether the process is known to have ended. False for one that runs, that another machine would have to know of,
    or that is written in no way we know: those are left to their leases."""
    parts = holder.rsplit(".", 4)
    if len(parts) != 5 or not (parts[2].isdecimal() and parts[3].isdecimal()) or parts[1] != _machine():
        return False
    pid, began = int(parts[2]), int(parts[3])
    if pid < 1 or began < 1:
        return False
    try:
        os.kill(pid, 0)  # also where /proc hides the processes of others
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    now = _started(pid)
    return now is not None and now != began


def _machine() -> str:
    """Sixteen characters that only this start of this machine has, and only where processes have these numbers; none
    where the system does not tell."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        numbers = (_PROC / "self/ns/pid").readlink()
    except OSError:
        return ""
    return hashlib.blake2b(f"{os.uname().nodename}/{boot}/{numbers}".encode(), digest_size=8).hexdigest()


def _started(pid: int) -> int | None:
    """When a process began, in clock ticks; None when it cannot be seen. One that has ended and was not fetched by its
    parent yet began at 0."""
    try:
        after_name = (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return 0 if after_name[0] in ("Z", "X") else int(after_name[19])
