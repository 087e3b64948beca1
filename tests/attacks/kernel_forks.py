"""Many kernels in the worker, one after the other: `kernel_forks.py WORKER FOLDER`, with N.request.json in FOLDER.

torch and Triton are imported once; each kernel then has a process of its own, forked from this one. What it says comes
to N.said.json; a JSON list of exit statuses, negative for a signal, is the last line.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

#: Kernels at a time.
SIDE_BY_SIDE = 2
#: What each may take beside what is there when it begins: less than the product gives, for the test machine's sake.
ROOM_BYTES = 400 << 20


def judge(module: ModuleType, folder: Path, number: int) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = min(module.MEMORY_BYTES, pages * resource.getpagesize() + ROOM_BYTES)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    request = json.loads((folder / f"{number}.request.json").read_text(encoding="utf-8"))
    if any(size["timed"] for size in request["large"]["cpu"]):
        sys.path.insert(0, request["demos"])
        stand_in()
    worker = module.Worker({**request, "device": "cpu"})
    with tempfile.TemporaryDirectory(dir=folder) as own, contextlib.redirect_stdout(None):
        worker.run(own)
    (folder / f"{number}.said.json").write_text(json.dumps(worker.said), encoding="utf-8")


class Event:
    """In place of a CUDA event."""

    def __init__(self, enable_timing: bool) -> None:
        assert enable_timing

    def record(self) -> None:
        self.at = time.perf_counter()

    def elapsed_time(self, end: Event) -> float:
        return (end.at - self.at) * 1e3


def stand_in() -> None:
    """What a GPU and Inductor are needed for, in this process: a graph is its calls, a compiled function itself."""
    import torch

    from kernels import accuracy, block, clock

    # Its own tests run it; here its launches would only take time.
    block.fused_block = accuracy.block
    clock.FLUSH_BYTES = 1024
    clock.replay_of = lambda side: side
    changed: Any = torch
    changed.cuda.Event, changed.cuda.synchronize = Event, lambda: None
    changed.compile = lambda function, **_options: function
    changed._dynamo = SimpleNamespace(reset=lambda: None)


def reap(running: dict[int, int], statuses: dict[int, int]) -> None:
    pid, status = os.wait()
    statuses[running.pop(pid)] = os.waitstatus_to_exitcode(status)


def main() -> None:
    worker_file, folder = Path(sys.argv[1]), Path(sys.argv[2])
    os.environ["TRITON_INTERPRET"] = "1"
    spec = importlib.util.spec_from_file_location("fused_worker", worker_file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    import torch
    import triton.language  # noqa: F401

    torch.set_num_threads(1)
    running: dict[int, int] = {}
    statuses: dict[int, int] = {}
    for number in range(len(list(folder.glob("*.request.json")))):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                judge(module, folder, number)
                code = 0
            finally:
                os._exit(code)
        running[pid] = number
        if len(running) == SIDE_BY_SIDE:
            reap(running, statuses)
    while running:
        reap(running, statuses)
    print(json.dumps([statuses[number] for number in sorted(statuses)]))


if __name__ == "__main__":
    main()
