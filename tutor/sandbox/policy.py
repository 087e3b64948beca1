"""What the code of a blank may do, on one page.

It may compute, allocate, sleep, and write to three pipes: standard output, standard error, and the one that carries
results. It may do nothing else: open no file, see no environment, make no process or thread, reach no network, signal
nobody, map no executable memory. `layers.py` builds the walls from these numbers; `tests/attacks/` tries them.

What changes elsewhere, and which test holds it (`tests/unit/test_sandbox_layers.py` but where said):

* As root: nothing is allowed that another user may not; every attack is tried as both (`tests/attacks/`). Capabilities
  are dropped, and in a namespace of its own the process is not root for any file. NPROC alone does not bind root.
* In a container: `unshare` and Landlock may be refused, `wall_forbidden`. Seccomp filters nest and hold there.
* On an old kernel: Landlock below ABI 10 is asked for what it knows, down to ABI 1 (kernel 5.13); before that it is
  missing. The filter refuses by itself every call that opens, signals or connects.
* On aarch64: the same policy with that machine's numbers (`tests/unit/test_sandbox_filter.py` runs both programs over
  all numbers). No other machine has a table: there the sandbox is weak.
* Not on Linux: resource limits, descriptors and process group alone. Enough for a slip of one's own, no wall.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

# --- how much of it there has to be -----------------------------------------------------------------------------------

#: Without one of these walls the code of others is not run, unless somebody who answers for it says so; one's own is.
MINIMUM = ("capabilities", "no-new-privileges", "descriptors", "limits", "seccomp")

#: Nothing is lost without these: the others stand alone. A lack of any other wall is worth a warning.
EXTRA = ("namespaces",)


def strength(missing: Collection[str]) -> Literal["strong", "weak"]:
    """Whether a sandbox that lacks these walls holds the code of others."""
    return "weak" if set(MINIMUM) & set(missing) else "strong"


# --- time and memory --------------------------------------------------------------------------------------------------

#: Processor seconds of one check, all its calls together. A right answer uses about a hundredth.
CPU_S = 1

#: Wall seconds of one check: sleeping uses no processor time.
WALL_S = 3.0

#: If the wall deadline fired with less processor time than this (seconds), the machine was busy: one more try.
STARVED_CPU_S = 0.5

#: Address space of one check, bytes.
MEMORY_BYTES = 256 << 20

#: How much longer than WALL_S the parent waits for its warm process before it says that the tool broke, seconds.
GRACE_S = 2.0

#: How long the warm process may take to start, seconds. Usually some 20 ms; a busy box takes longer.
START_S = 10.0

#: Name of the limit, soft, hard. Units: CPU seconds, AS bytes, the others a count or bytes. FSIZE 0: no file grows.
#: NOFILE 0: no descriptor is opened. NPROC 0: no process or thread (does not bind root). All are as low as they go but
#: the hard CPU limit: at the soft one the kernel says so with SIGXCPU, a SIGKILL at the hard one could be anybody's.
RLIMITS: tuple[tuple[str, int, int], ...] = (
    ("CPU", CPU_S, CPU_S + 1),
    ("AS", MEMORY_BYTES, MEMORY_BYTES),
    ("FSIZE", 0, 0),
    ("CORE", 0, 0),
    ("MEMLOCK", 0, 0),
    ("MSGQUEUE", 0, 0),
    ("SIGPENDING", 0, 0),
    ("NPROC", 0, 0),
    ("NOFILE", 0, 0),
)

# --- what comes back --------------------------------------------------------------------------------------------------

#: The blank's text, characters.
EXPRESSION_MAX = 4000

#: Results of one check, bytes; more ends it.
RESULT_MAX = 64 << 10

#: What it printed: kept for display, and the flood that ends it, bytes.
OUTPUT_KEPT = 4 << 10
OUTPUT_MAX = 1 << 20

#: One value: characters of a string, items of a container, values in all, containers in containers.
TEXT_MAX = 4096
ITEMS_MAX = 256
VALUES_MAX = 4096
DEPTH_MAX = 12

#: Text and type name of an exception, characters.
ERROR_TEXT_MAX = 300
NAME_MAX = 80

# --- descriptors ------------------------------------------------------------------------------------------------------

#: The result pipe. 0 is /dev/null, 1 and 2 are the output pipe, all above RESULT_FD is closed.
RESULT_FD = 3
WRITABLE_FDS = (1, 2, RESULT_FD)

# --- system calls -----------------------------------------------------------------------------------------------------

#: Allowed whatever their arguments: memory, time, signals to oneself, the end. Everything that is named neither here
#: nor below fails with EPERM: a list of what is forbidden would miss next year's calls.
SYSCALLS = (
    "munmap",
    "brk",
    "mremap",
    "madvise",
    "futex",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sigaltstack",
    "sched_yield",
    "getpid",
    "gettid",
    "gettimeofday",
    "clock_gettime",
    "clock_getres",
    "nanosleep",
    "clock_nanosleep",
    "restart_syscall",
    "getrandom",
    "exit",
    "exit_group",
)

#: Allowed as long as no executable memory is asked for.
SYSCALLS_WITHOUT_EXEC = ("mmap", "mprotect")

# And `write`, to WRITABLE_FDS only.
