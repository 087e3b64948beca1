"""How long the lab lets a learner wait: `python tests/bench/lab_latency.py [--runs N]`.

Milliseconds, by wall clock in the tutor's process. The first streamed line is the first that says that the child lives
or what it saw; what the host says on its own account before it is given apart. `import` is a bare Python that imports
torch and torch._dynamo, in the same session, for comparison.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.spread import spread
from tutor.lab.host import LabHost
from tutor.lesson import catalog

DEMO = catalog.load().demos["automatic-dynamic"]


def show(what: str, values: list[float]) -> None:
    numbers = spread([value * 1000 for value in values])
    print(f"{what:44s}" + "".join(f"{name} {value:<9.4g}" for name, value in numbers.items()))


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def warm_host() -> LabHost:
    host = LabHost()
    host.warm()
    while host.state == "warming":
        time.sleep(0.01)
    return host


def waits(host: LabHost) -> dict[str, float]:
    """Seconds from the key to each kind of line of one whole run."""
    began, first = time.monotonic(), dict[str, float]()
    for event in host.start(DEMO):
        at = time.monotonic() - began
        first.setdefault("anything", at)
        lives = event["event"] == "progress" and event["phase"] == "running"
        if lives or event["event"] == "observation":
            first.setdefault("streamed line", at)
        first.setdefault(event["event"], at)
        if event["event"] == "ended" and event["outcome"] != "ok":
            raise SystemExit(f"the demo did not run: {event}")
    return first


def cancels(host: LabHost, after: float) -> tuple[float, float]:
    """Seconds from cancel to `ended`, and to the end of every process that the run had started."""
    assert host._link is not None
    assert host._link._process is not None
    parent = host._link._process.pid
    run, began = host.start(DEMO), time.monotonic()
    while time.monotonic() - began < after:
        next(run)
    started = children(parent)
    asked = time.monotonic()
    run.cancel()
    for _ in run:
        pass
    ended = time.monotonic() - asked
    while any(Path(f"/proc/{pid}").exists() for pid in started) or children(parent):
        time.sleep(0.0005)
    return ended, time.monotonic() - asked


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=30)
    runs = parser.parse_args().runs
    bare, cold = [], []
    for _ in range(max(2, runs // 6)):
        began = time.monotonic()
        subprocess.run([sys.executable, "-c", "import torch, torch._dynamo"], check=True)
        bare.append(time.monotonic() - began)
        host = LabHost()
        cold.append(waits(host))
        host.close()
    host = warm_host()
    warm = [waits(host) for _ in range(runs)]
    stops = [cancels(host, after=0.3 * step / runs) for step in range(runs)]
    host.close()
    show("bare import of torch and torch._dynamo", bare)
    for name, series in (("cold", cold), ("warm", warm)):
        show(f"{name}: key to the host's first line", [run["anything"] for run in series])
        show(f"{name}: key to the first streamed line", [run["streamed line"] for run in series])
        show(f"{name}: key to the first observation", [run["observation"] for run in series])
        show(f"{name}: key to the end of the demo", [run["ended"] for run in series])
    show("cancel to `ended`", [ended for ended, _ in stops])
    show("cancel to every process gone", [gone for _, gone in stops])
    middle = spread([run["streamed line"] for run in warm])["p50"] / spread(bare)["p50"]
    whole = spread([run["ended"] for run in cold])["p50"] / spread(bare)["p50"]
    print(f"ratio: warm first streamed line / bare import {middle:.4f}; cold whole demo / bare import {whole:.2f}")


if __name__ == "__main__":
    main()
