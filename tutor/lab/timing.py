"""Timings in the child: every call on its own, the sides taking turns.

Standard library and torch only, Python 3.10 and later.

Turns matter on a shared machine: whatever slows it down for a while slows every side alike.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence

import torch

Side = Callable[[], object]


def spread(values: Sequence[float]) -> dict[str, float | int]:
    """n, p50, p95, p99 and max in the unit of `values`, by nearest rank, as `evidence.spread` has them."""
    ordered = sorted(values)
    at = {f"p{share}": round(ordered[math.ceil(len(ordered) * share / 100) - 1], 3) for share in (50, 95, 99)}
    return {"n": len(ordered), **at, "max": round(ordered[-1], 3)}


def race(sides: Mapping[str, Side], device: str, *, n: int, wall: bool) -> dict[str, dict[str, float | int]]:
    """Microseconds of `n` calls of each side after a tenth as many unmeasured ones.

    On a GPU: the time on the device from event to event, or with `wall` what a caller waits, the device's end included.
    """
    for side in sides.values():
        for _ in range(max(3, n // 10)):
            side()
    if device == "cuda" and not wall:
        return _on_device(sides, n)
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(n):
        for name, side in sides.items():
            settle(device)
            began = time.perf_counter_ns()
            side()
            settle(device)
            taken[name].append((time.perf_counter_ns() - began) / 1e3)
    return {name: spread(values) for name, values in taken.items()}


def settle(device: str) -> None:
    """Wait until the device has nothing left to do."""
    if device == "cuda":
        torch.cuda.synchronize()


def _on_device(sides: Mapping[str, Side], n: int) -> dict[str, dict[str, float | int]]:
    marks: dict[str, list[tuple[torch.cuda.Event, torch.cuda.Event]]] = {name: [] for name in sides}
    torch.cuda.synchronize()
    for _ in range(n):
        for name, side in sides.items():
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            side()
            end.record()
            marks[name].append((begin, end))
    torch.cuda.synchronize()
    return {name: spread([a.elapsed_time(b) * 1e3 for a, b in pairs]) for name, pairs in marks.items()}
