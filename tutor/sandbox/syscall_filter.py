"""The seccomp program: the policy's list of system calls as classic BPF (pure).

Constants: linux/filter.h, linux/bpf_common.h, linux/seccomp.h, linux/audit.h. Numbers: asm/unistd_64.h (x86_64) and
asm-generic/unistd.h (aarch64); both are frozen kernel interface.
"""

from __future__ import annotations

import errno
import struct
from typing import NamedTuple

from tutor.sandbox import policy


class Architecture(NamedTuple):
    audit: int
    seccomp: int
    x32_from: int | None
    numbers: dict[str, int]


ARCHITECTURES = {
    "x86_64": Architecture(
        audit=0xC000003E,
        seccomp=317,
        x32_from=0x40000000,
        numbers={
            "write": 1,
            "mmap": 9,
            "mprotect": 10,
            "munmap": 11,
            "brk": 12,
            "rt_sigaction": 13,
            "rt_sigprocmask": 14,
            "rt_sigreturn": 15,
            "sched_yield": 24,
            "mremap": 25,
            "madvise": 28,
            "nanosleep": 35,
            "getpid": 39,
            "exit": 60,
            "gettimeofday": 96,
            "sigaltstack": 131,
            "gettid": 186,
            "futex": 202,
            "restart_syscall": 219,
            "clock_gettime": 228,
            "clock_getres": 229,
            "clock_nanosleep": 230,
            "exit_group": 231,
            "getrandom": 318,
        },
    ),
    "aarch64": Architecture(
        audit=0xC00000B7,
        seccomp=277,
        x32_from=None,
        numbers={
            "write": 64,
            "exit": 93,
            "exit_group": 94,
            "futex": 98,
            "nanosleep": 101,
            "clock_gettime": 113,
            "clock_getres": 114,
            "clock_nanosleep": 115,
            "sched_yield": 124,
            "restart_syscall": 128,
            "sigaltstack": 132,
            "rt_sigaction": 134,
            "rt_sigprocmask": 135,
            "rt_sigreturn": 139,
            "gettimeofday": 169,
            "getpid": 172,
            "gettid": 178,
            "brk": 214,
            "munmap": 215,
            "mremap": 216,
            "mmap": 222,
            "mprotect": 226,
            "madvise": 233,
            "getrandom": 278,
        },
    ),
}

ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
REFUSE = 0x00050000 | errno.EPERM

# BPF instructions: load a 32-bit word of seccomp_data, jump if equal / at least / any bit set, return.
_LOAD, _JEQ, _JGE, _JSET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06

# struct seccomp_data { int nr; __u32 arch; __u64 ip; __u64 args[6]; }; both machines are little-endian, so the low half
# of an argument comes first. The kernel reads `prot` and `fd` as 32 bits or fewer.
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16
_PROT_EXEC = 4


def program(machine: str) -> bytes:
    """The filter for `machine` (as `os.uname().machine` says it). Raises KeyError where there is no table."""
    arch = ARCHITECTURES[machine]
    code = [(_LOAD, 0, 0, _ARCH), (_JEQ, 1, 0, arch.audit), (_RETURN, 0, 0, KILL_PROCESS), (_LOAD, 0, 0, _NUMBER)]
    if arch.x32_from is not None:  # the x32 interface shares the audit value and has numbers of its own
        code += [(_JGE, 0, 1, arch.x32_from), (_RETURN, 0, 0, KILL_PROCESS)]
    for name in policy.SYSCALLS:
        code += [(_JEQ, 0, 1, arch.numbers[name]), (_RETURN, 0, 0, ALLOW)]
    for name in policy.SYSCALLS_WITHOUT_EXEC:
        code += [
            (_JEQ, 0, 4, arch.numbers[name]),
            (_LOAD, 0, 0, _ARGUMENTS + 8 * 2),
            (_JSET, 1, 0, _PROT_EXEC),
            (_RETURN, 0, 0, ALLOW),
            (_RETURN, 0, 0, REFUSE),
        ]
    code += [(_JEQ, 0, 1 + 2 * len(policy.WRITABLE_FDS), arch.numbers["write"]), (_LOAD, 0, 0, _ARGUMENTS)]
    for fd in policy.WRITABLE_FDS:
        code += [(_JEQ, 0, 1, fd), (_RETURN, 0, 0, ALLOW)]
    code.append((_RETURN, 0, 0, REFUSE))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
