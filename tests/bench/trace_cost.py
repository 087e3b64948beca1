"""Time and memory of `lab --trace`: a gigabyte of what torch writes, and many records that each say something.

    python tests/bench/trace_cost.py [--gigabytes 1.0] [--records 100000] [--n 3]

The gigabyte has torch's own mix: most of it payloads and events that explain nothing. The other file has nothing but
what is read: frames, graphs, reasons, breaks.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.unit.test_trace_job import compiled  # noqa: E402
from tests.unit.test_trace_records import BREAK, record  # noqa: E402


def usual(path: Path, size: int) -> None:
    """A trace of `size` bytes: a compilation, then the skipped records and the long payloads that come with one."""
    event = record({"chromium_event": {}}, json.dumps({"name": "x", "ts": 1.0, "args": {"id": "0/0"}}, indent=0))
    code = record(
        {"aot_joint_graph": {}}, "\n".join(f"    mul_{n} = torch.ops.aten.mul.Tensor(a, b)" for n in range(2000))
    )
    piece = 80 * event + compiled(count=3, why="x.size()[0] == 4") + 2 * code
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(piece)


def dense(path: Path, records: int) -> None:
    """A trace of `records` records, all of which are read, eight a function."""
    with path.open("wb") as file:
        for n in range(records // 8):
            file.write(compiled(f"f{n % 3000}", 2, why=f"x.size()[{n}] == {n}", frame_id=n))
            said = f"Graph break in user code at a{n}.py:{n}\nGraph Break Reason: r{n}"
            file.write(record({**BREAK, "frame_id": n}, said))


#: Runs the command and says its own peak: what wait4 says of a child begins with its parent's.
CHILD = """\
import os, re, sys
from pathlib import Path
from tutor.cli.main import run
code = run(["lab", "--trace", sys.argv[1]])
times = os.times()
peak = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
print(code, times.user + times.system, int(peak) / 1024)
"""


def measure(path: Path, n: int) -> None:
    """Runs the command `n` times and prints the least and the most of each figure."""
    runs = []
    for _ in range(n):
        began = time.perf_counter()
        command = [sys.executable, "-c", CHILD, str(path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        code, processor, peak = map(float, done.stdout.splitlines()[-1].split())
        assert code == 0
        runs.append((time.perf_counter() - began, processor, peak))
    names = ("wall s", "processor s", "peak MiB")
    figures = "  ".join(
        f"{name} {min(values):.2f}-{max(values):.2f}"
        for name, values in zip(names, zip(*runs, strict=True), strict=True)
    )
    print(f"{path.name:8} {path.stat().st_size / 1e6:8.1f} MB  n={n}  {figures}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--n", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for path, make, size in (
            (Path(name, "usual"), usual, int(args.gigabytes * 1e9)),
            (Path(name, "dense"), dense, args.records),
        ):
            make(path, size)
            measure(path, args.n)


if __name__ == "__main__":
    main()
