"""The seccomp program, run through a small BPF machine: what it allows is the policy's list and nothing else."""

from __future__ import annotations

import struct

import pytest

from tutor.sandbox import kernel, policy
from tutor.sandbox.syscall_filter import ALLOW, ARCHITECTURES, KILL_PROCESS, REFUSE, program

OTHER = {"x86_64": 0x40000003, "aarch64": 0x40000028}  # AUDIT_ARCH_I386, AUDIT_ARCH_ARM


def run(code: bytes, number: int, audit: int, *args: int) -> int:
    """What the kernel's classic BPF machine answers for one system call."""
    data = struct.pack("=IIQ6Q", number, audit, 0, *(*args, 0, 0, 0, 0, 0, 0)[:6])
    instructions = list(struct.iter_unpack("=HBBI", code))
    at, loaded = 0, 0
    while True:
        operation, if_true, if_false, operand = instructions[at]
        at += 1
        if operation == 0x20:
            (loaded,) = struct.unpack_from("=I", data, operand)
        elif operation == 0x06:
            return int(operand)
        else:
            holds = {0x15: loaded == operand, 0x35: loaded >= operand, 0x45: bool(loaded & operand)}[operation]
            at += if_true if holds else if_false


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_exactly_the_policys_calls_are_allowed(machine: str) -> None:
    arch, code = ARCHITECTURES[machine], program(machine)
    by_number = {number: name for name, number in arch.numbers.items()}
    assert len(by_number) == len(arch.numbers)
    assert set(arch.numbers) == {*policy.SYSCALLS, *policy.SYSCALLS_WITHOUT_EXEC, "write"}
    for number in range(1024):
        name = by_number.get(number)
        answer = run(code, number, arch.audit)
        assert answer == (ALLOW if name is not None and name != "write" else REFUSE), name or number


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_write_reaches_three_descriptors(machine: str) -> None:
    arch, code = ARCHITECTURES[machine], program(machine)
    for fd in (0, 1, 2, 3, 4, 16, 255, 2**32 - 1):
        allowed = fd in policy.WRITABLE_FDS
        assert run(code, arch.numbers["write"], arch.audit, fd) == (ALLOW if allowed else REFUSE)


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("name", policy.SYSCALLS_WITHOUT_EXEC)
def test_no_executable_memory(machine: str, name: str) -> None:
    arch, code = ARCHITECTURES[machine], program(machine)
    for protection in range(16):
        answer = run(code, arch.numbers[name], arch.audit, 0, 4096, protection)
        assert answer == (REFUSE if protection & 4 else ALLOW)


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_other_interfaces_kill(machine: str) -> None:
    arch, code = ARCHITECTURES[machine], program(machine)
    for number in (0, arch.numbers["getpid"], 20):
        assert run(code, number, OTHER[machine]) == KILL_PROCESS
    if arch.x32_from is not None:
        for number in (arch.x32_from, arch.x32_from + arch.numbers["getpid"], 2**32 - 1):
            assert run(code, number, arch.audit) == KILL_PROCESS


def test_there_is_no_program_for_an_unknown_machine() -> None:
    with pytest.raises(KeyError):
        program("riscv64")


@pytest.mark.parametrize(
    ("abi", "size", "fs", "net", "scoped"),
    [
        (1, 8, 0x1FFF, 0, 0),
        (2, 8, 0x3FFF, 0, 0),
        (3, 8, 0x7FFF, 0, 0),
        (4, 16, 0x7FFF, 3, 0),
        (5, 16, 0xFFFF, 3, 0),
        (6, 24, 0xFFFF, 3, 3),
        (8, 24, 0xFFFF, 3, 3),
        (9, 24, 0x1FFFF, 3, 3),
        (10, 24, 0x1FFFF, 15, 3),
        (99, 24, 0x1FFFF, 15, 3),
    ],
)
def test_landlock_handles_what_each_abi_knows(abi: int, size: int, fs: int, net: int, scoped: int) -> None:
    attributes = kernel.landlock_attributes(abi)
    assert len(attributes) == size
    assert struct.unpack("=QQQ", attributes.ljust(24, b"\0")) == (fs, net, scoped)
