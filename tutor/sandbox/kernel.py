"""The only place that calls Linux directly: unshare, capset, prctl, Landlock, seccomp.

Every call raises OSError when it fails.

`prctl`, `landlock_*` and `seccomp` are stable kernel interface that the standard library does not wrap. Call these from
a process with one thread: Landlock and seccomp bind the calling thread and what it starts later.
"""

from __future__ import annotations

import ctypes
import os
import struct

# linux/prctl.h
PR_SET_PDEATHSIG, PR_GET_PDEATHSIG = 1, 2
PR_GET_DUMPABLE, PR_SET_DUMPABLE = 3, 4
PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS = 38, 39

# linux/sched.h: the namespaces of mounts, host name, System V objects, users, processes, and the network
_NEW_NAMESPACES = 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000

# linux/capability.h: version 3 of the interface, which has 64 bits in two halves of three words
_CAPABILITY_VERSION, _CAPABILITY_BYTES = 0x20080522, 24

# asm-generic/unistd.h, the same on every architecture
_LANDLOCK_CREATE_RULESET, _LANDLOCK_RESTRICT_SELF = 444, 446

# linux/seccomp.h
_SECCOMP_SET_MODE_FILTER = 1

# linux/landlock.h: the rights that each ABI added, as bits of handled_access_fs, handled_access_net and scoped.
_LANDLOCK_RIGHTS = (
    # ABI, fs, net, scoped
    (1, (1 << 13) - 1, 0, 0),
    (2, 1 << 13, 0, 0),  # REFER
    (3, 1 << 14, 0, 0),  # TRUNCATE
    (4, 0, 0b0011, 0),  # BIND_TCP, CONNECT_TCP
    (5, 1 << 15, 0, 0),  # IOCTL_DEV
    (6, 0, 0, 0b11),  # abstract UNIX sockets, signals
    (9, 1 << 16, 0, 0),  # RESOLVE_UNIX
    (10, 0, 0b1100, 0),  # BIND_UDP, CONNECT_SEND_UDP
)

#: From this ABI on a domain bounds signals, so that a domain inside another one says something new.
LANDLOCK_SCOPES_ABI = 6

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _done(value: int, what: str) -> int:
    if value < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return value


def prctl(option: int, value: int = 0) -> int:
    """prctl with one argument. Returns what the kernel returns."""
    return _done(_libc.prctl(ctypes.c_int(option), *(ctypes.c_ulong(v) for v in (value, 0, 0, 0))), f"prctl {option}")


def unshare() -> None:
    """Leave all of the old namespaces at once, as any user may; the next child is process 1 of the new ones."""
    _done(_libc.unshare(ctypes.c_int(_NEW_NAMESPACES)), "unshare")


def drop_capabilities() -> None:
    """Give up all that root, or the first process of a user namespace, may do beyond any other user."""
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    _done(_libc.capset(ctypes.c_char_p(header), ctypes.c_char_p(bytes(_CAPABILITY_BYTES))), "capset")


def capabilities() -> bytes:
    """The capabilities of this process, as the kernel's own words; all zero when it has none."""
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    words = ctypes.create_string_buffer(_CAPABILITY_BYTES)
    _done(_libc.capget(ctypes.c_char_p(header), words), "capget")
    return words.raw


def death_signal() -> int:
    """The signal that this process gets when the thread that started it ends; 0 for none."""
    signal = ctypes.c_int(0)
    _done(_libc.prctl(ctypes.c_int(PR_GET_PDEATHSIG), ctypes.byref(signal)), "prctl")
    return signal.value


def landlock_abi() -> int:
    """The kernel's Landlock version."""
    return _done(
        _libc.syscall(ctypes.c_long(_LANDLOCK_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint(1)), "landlock"
    )


def landlock_attributes(abi: int) -> bytes:
    """struct landlock_ruleset_attr that handles all that `abi` knows; as long as that ABI's own struct."""
    fs = net = scoped = 0
    for since, fs_bits, net_bits, scoped_bits in _LANDLOCK_RIGHTS:
        if abi >= since:
            fs, net, scoped = fs | fs_bits, net | net_bits, scoped | scoped_bits
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    return struct.pack("=QQQ", fs, net, scoped)[:size]


def landlock_nothing(abi: int) -> None:
    """A domain for this thread in which nothing that `abi` knows is allowed. Needs a free descriptor for a moment."""
    attributes = landlock_attributes(abi)
    ruleset = _done(
        _libc.syscall(
            ctypes.c_long(_LANDLOCK_CREATE_RULESET),
            ctypes.c_char_p(attributes),
            ctypes.c_size_t(len(attributes)),
            ctypes.c_uint(0),
        ),
        "landlock_create_ruleset",
    )
    try:
        _done(
            _libc.syscall(ctypes.c_long(_LANDLOCK_RESTRICT_SELF), ctypes.c_int(ruleset), ctypes.c_uint(0)),
            "landlock_restrict_self",
        )
    finally:
        os.close(ruleset)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def seccomp(number: int, program: bytes) -> None:
    """Install `program` for good; `number` is the seccomp call's own number. Needs no_new_privs."""
    filter_program = _Program(len(program) // 8, program)
    _done(
        _libc.syscall(
            ctypes.c_long(number),
            ctypes.c_uint(_SECCOMP_SET_MODE_FILTER),
            ctypes.c_uint(0),
            ctypes.byref(filter_program),
        ),
        "seccomp",
    )
