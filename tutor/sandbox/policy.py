"""What the code of a blank may do, on one page.

It may compute, allocate, sleep, and write to three pipes: standard output, standard error, and the one that carries
results. It may do nothing else: open no file, see no environment, make no process or thread, reach no network, signal
nobody, map no executable memory. `layers.py` builds the walls from these numbers; `tests/attacks/` tries them.
"""

from __future__ import annotations

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
