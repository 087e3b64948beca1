"""The walls around one check, each a unit of its own: its part in the warm process, its part in each child, a proof.

Order matters and is the order of `LAYERS`. `prove` runs in a trial child right after the wall was built, before the
next one: a wall that cannot be shown to hold counts as missing.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
from types import ModuleType

from tutor.sandbox import policy, syscall_filter

try:
    from tutor.sandbox import kernel as _kernel
except (ImportError, AttributeError, OSError):  # no Linux C library here; each layer that needs it says so
    _kernel = None  # type: ignore[assignment]


#: The warm process itself never has a descriptor from here on; see zygote.py.
_HIGHEST = 64


class Missing(Exception):
    """This machine does not have the wall; `key` names the reason in the tutor's texts."""

    def __init__(self, key: str, **args: str | int) -> None:
        super().__init__(key)
        self.key = key
        self.args_said = args


def _linux() -> ModuleType:
    if _kernel is None or not sys.platform.startswith("linux"):
        raise Missing("wall_not_linux", system=sys.platform)
    return _kernel


def _must(holds: bool) -> None:
    if not holds:
        raise Missing("wall_no_effect")


class Layer:
    """One wall. Every method may raise Missing, or OSError when the system refuses."""

    name: str

    def prepare(self) -> None:
        """Once, in the warm process."""

    def enter(self, parent: int) -> None:
        """In each child, before any byte of foreign text is read; `parent` is the warm process."""

    def prove(self) -> None:
        """In the trial child: raise Missing unless the wall is really there."""


class Environment(Layer):
    """No variable, and the root folder as working folder: nothing to read, no relative path that means anything."""

    name = "environment"

    def prepare(self) -> None:
        os.environ.clear()
        os.chdir("/")

    def prove(self) -> None:
        _must(not os.environ and os.getcwd() == "/")  # noqa: PTH109  pathlib is not loaded here


class Namespaces(Layer):
    """Users, processes, network, mounts, host name and System V objects of its own, where an ordinary user may.

    Not needed by any other wall. The warm process goes on as process 1 of the new namespaces, so that the kernel ends
    all that is left of a check, and all of it when the warm process ends; the one that was started only waits for it.
    No user is mapped: inside, everything belongs to nobody. Once, not for each check, which would cost half of one.
    """

    name = "namespaces"
    _kinds = ("user", "pid", "net", "mnt", "uts", "ipc")
    _before: tuple[str, ...] = ()

    def prepare(self) -> None:
        kernel = _linux()
        self._before = self._mine()
        try:
            kernel.unshare()
        except OSError as error:
            raise _refused(error) from error
        pid = os.fork()
        if pid:
            os.closerange(policy.RESULT_FD, _HIGHEST)  # the control socket is the other's alone
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            if code < 0:
                os.kill(os.getpid(), -code)  # the tutor's log says what ended the other
            os._exit(abs(code))
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)

    def prove(self) -> None:
        _must(os.getppid() == 1)
        _must(all(mine != before for mine, before in zip(self._mine(), self._before, strict=True)))

    def _mine(self) -> tuple[str, ...]:
        return tuple(os.readlink(f"/proc/self/ns/{kind}") for kind in self._kinds)  # noqa: PTH115


class Capabilities(Layer):
    """None of root's, nor those that a new user namespace gives to its first process."""

    name = "capabilities"

    def prepare(self) -> None:
        _linux().drop_capabilities()

    def prove(self) -> None:
        _must(not any(_linux().capabilities()))


class NoNewPrivileges(Layer):
    """No program that is started could gain rights; Landlock and seccomp ask for this first."""

    name = "no-new-privileges"

    def prepare(self) -> None:
        kernel = _linux()
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)

    def prove(self) -> None:
        _must(_linux().prctl(_linux().PR_GET_NO_NEW_PRIVS) == 1)


class Untraceable(Layer):
    """Not dumpable: processes of the same user can neither trace it nor read its memory or descriptors."""

    name = "untraceable"

    def prepare(self) -> None:
        kernel = _linux()
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)

    def prove(self) -> None:
        _must(_linux().prctl(_linux().PR_GET_DUMPABLE) == 0)


class ParentDeath(Layer):
    """The child dies with the warm process, which dies with the tutor (it reads end of file on its control socket)."""

    name = "parent-death"

    def enter(self, parent: int) -> None:
        kernel = _linux()
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the line above
            os._exit(1)

    def prove(self) -> None:
        _must(_linux().death_signal() == signal.SIGKILL)


class ProcessGroup(Layer):
    """A session and process group of its own: one signal ends all of it, and no terminal belongs to it."""

    name = "process-group"

    def enter(self, parent: int) -> None:  # noqa: ARG002
        os.setsid()

    def prove(self) -> None:
        _must(os.getsid(0) == os.getpgrp() == os.getpid())


class Descriptors(Layer):
    """Only /dev/null, the output pipe twice and the result pipe stay open."""

    name = "descriptors"

    def enter(self, parent: int) -> None:  # noqa: ARG002
        os.closerange(policy.RESULT_FD + 1, _HIGHEST)

    def prove(self) -> None:
        for fd in range(policy.RESULT_FD + 1, _HIGHEST):
            try:
                os.fstat(fd)
            except OSError as error:
                _must(error.errno == errno.EBADF)
            else:
                raise Missing("wall_no_effect")


class Landlock(Layer):
    """No file, no TCP or (from ABI 10) UDP port, no signal or abstract socket beyond the domain, as the kernel can.

    Once for the warm process, and where domains bound signals once more for each child, so that the warm process lies
    outside the child's domain. Before the limits: it needs a free descriptor for a moment.
    """

    name = "landlock"
    abi = 0

    def prepare(self) -> None:
        kernel = _linux()
        try:
            self.abi = kernel.landlock_abi()
            kernel.landlock_nothing(self.abi)
        except OSError as error:
            raise _refused(error) from error

    def enter(self, parent: int) -> None:  # noqa: ARG002
        kernel = _linux()
        if self.abi >= kernel.LANDLOCK_SCOPES_ABI:
            kernel.landlock_nothing(self.abi)

    def prove(self) -> None:
        try:
            os.close(os.open("/", os.O_RDONLY))
        except PermissionError as error:
            _must(error.errno == errno.EACCES)
        else:
            raise Missing("wall_no_effect")


class Limits(Layer):
    """The policy's resource limits; nothing can raise them."""

    name = "limits"

    def enter(self, parent: int) -> None:  # noqa: ARG002
        for kind, values in self._limits():
            resource.setrlimit(kind, values)

    def prove(self) -> None:
        for kind, values in self._limits():
            _must(resource.getrlimit(kind) == values)

    @staticmethod
    def _limits() -> list[tuple[int, tuple[int, int]]]:
        limits = []
        for name, soft, hard in policy.RLIMITS:
            kind = getattr(resource, f"RLIMIT_{name}", None)
            if kind is None:
                raise Missing("wall_no_limit", limit=name)
            most = resource.getrlimit(kind)[1]
            hard = hard if most == resource.RLIM_INFINITY else min(hard, most)
            limits.append((kind, (min(soft, hard), hard)))
        return limits


class Seccomp(Layer):
    """The policy's list of system calls; all others fail, those of a foreign interface kill. Last of all."""

    name = "seccomp"
    program = b""

    def prepare(self) -> None:
        _linux()
        machine = os.uname().machine
        if machine not in syscall_filter.ARCHITECTURES or sys.maxsize < 2**32:
            raise Missing("wall_no_table", machine=machine)
        self.number = syscall_filter.ARCHITECTURES[machine].seccomp
        self.program = syscall_filter.program(machine)

    def enter(self, parent: int) -> None:  # noqa: ARG002
        try:
            _linux().seccomp(self.number, self.program)
        except OSError as error:
            raise _refused(error) from error

    def prove(self) -> None:
        try:
            os.getpriority(os.PRIO_PROCESS, 0)  # harmless, never refused by anything else, and not on the list
        except PermissionError as error:
            _must(error.errno == errno.EPERM)
        else:
            raise Missing("wall_no_effect")


#: What the system says when it lacks the wall: too old, switched off at boot, hidden by a container.
_REFUSED = {
    errno.ENOSYS: "wall_not_in_kernel",
    errno.EOPNOTSUPP: "wall_switched_off",
    errno.EPERM: "wall_forbidden",
    errno.EINVAL: "wall_not_in_kernel",
    errno.ENOSPC: "wall_forbidden",  # as many namespaces as the administrator allows, which may be none
    errno.EUSERS: "wall_forbidden",
}


def _refused(error: OSError) -> Missing:
    return Missing(_REFUSED.get(error.errno or 0, "wall_error"), error=str(error))


LAYERS: tuple[Layer, ...] = (
    Environment(),
    Namespaces(),
    Capabilities(),
    NoNewPrivileges(),
    Untraceable(),
    ParentDeath(),
    ProcessGroup(),
    Descriptors(),
    Landlock(),
    Limits(),
    Seccomp(),
)
