"""Timings in the child: every call on its own, the sides taking turns.

Standard library and torch only, Python 3.10 and later.

Turns matter on a shared machine: whatever slows it down for a while slows every side alike.
"""

from __future__ import annotations

import math
import random
import time
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypedDict

import torch

Side = Callable[[], object]
Clock = Literal["device", "caller", "host"]

#: Bins of a histogram.
BINS = 12


class Spread(TypedDict):
    """Timings as they are always shown, in one unit, and their histogram: `counts[i]` values lie from `edges[i]` up to
    `edges[i + 1]`, the last edge included."""

    n: int
    p50: float
    p95: float
    p99: float
    max: float
    edges: list[float]
    counts: list[int]


def spread(values: Sequence[float]) -> Spread:
    """The spread of times in microseconds, to the nanosecond. Raises ValueError for none.

    Percentiles are by nearest rank: the smallest value that at least that share of the values do not exceed.
    """
    if not values:
        raise ValueError("no values to summarise")
    ordered = sorted(round(value, 3) for value in values)
    p50, p95, p99 = (ordered[math.ceil(len(ordered) * share / 100) - 1] for share in (50, 95, 99))
    edges, counts = _histogram(ordered)
    return {"n": len(ordered), "p50": p50, "p95": p95, "p99": p99, "max": ordered[-1], "edges": edges, "counts": counts}


def _histogram(ordered: Sequence[float]) -> tuple[list[float], list[int]]:
    """At most BINS bins as wide as each other on a logarithmic axis: a tail is a matter of factors."""
    least, most = ordered[0], ordered[-1]
    low = max(least, 0.001)  # A clock may say nothing at all.
    edges = sorted({least, most, *(round(low * (most / low) ** (k / BINS), 3) for k in range(1, BINS) if most > low)})
    if len(edges) == 1:
        edges *= 2
    counts = [0] * (len(edges) - 1)
    for value in ordered:
        counts[min(bisect_right(edges, value), len(counts)) - 1] += 1
    return edges, counts


def race(sides: Mapping[str, Side], device: str, *, n: int, clock: Clock) -> dict[str, Spread]:
    """Microseconds of `n` calls of each side after a tenth as many unmeasured ones.

    `clock` is "device" (on a GPU from event to event), "caller" (until the device is done) or "host" (until the call
    returns). On a CPU they are the same.
    """
    for side in sides.values():
        for _ in range(max(3, n // 10)):
            side()
    if device == "cuda" and clock == "device":
        return _on_device(sides, n)
    if clock == "host":
        device = "cpu"
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for name, side in _turns(sides, n):
        settle(device)
        began = time.perf_counter_ns()
        side()
        settle(device)
        taken[name].append((time.perf_counter_ns() - began) / 1e3)
    return {name: spread(values) for name, values in taken.items()}


def _turns(sides: Mapping[str, Side], n: int) -> Iterator[tuple[str, Side]]:
    """Every side `n` times, in an order that is new in each round: no side always runs in another one's caches."""
    order, shuffle = list(sides.items()), random.Random(0).shuffle
    for _ in range(n):
        shuffle(order)
        yield from order


#: What the profiler calls the time from a call's start until it returns to its caller.
CALL = "the call"


def trace(call: Side, device: str) -> list[Any]:
    """torch's profiler events of one call, which is itself the event CALL, until the device was done.

    The first launch under a profiler waits milliseconds for its buffers, so a call before this one pays for that.
    """
    from torch.profiler import ProfilerActivity, profile, record_function

    kinds = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if device == "cuda" else [])]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*Profiler clears events at the end of each cycle")  # There is one cycle.
        with profile(activities=kinds) as seen:
            call()
            settle(device)
            with record_function(CALL):
                call()
            settle(device)
    return of_call(list(seen.events()))


def of_call(events: Sequence[Any]) -> list[Any]:
    """The events from the start of CALL on, without brackets.

    A region that was named on the CPU shows up on the GPU's side again, around its kernels. Names alone do not tell it
    from work: a kernel of Triton's has the name of the CPU's event that launches it.
    """
    began = min(event.time_range.start for event in events if event.name == CALL)
    return [event for event in events if event.time_range.start >= began and not _is_bracket(event)]


def _is_bracket(event: Any) -> bool:
    named = event.name == CALL or bool(getattr(event, "is_user_annotation", False))
    return event.device_type.name == "CUDA" and named


def kernels(call: Side) -> list[tuple[str, float]]:
    """The kernels that one call starts on the GPU, in order: name and microseconds. Copies and fills are none."""
    return [(name, us) for name, us in gpu_work(trace(call, "cuda")) if not name.startswith(("Memcpy", "Memset"))]


def gpu_work(events: Sequence[Any]) -> list[tuple[str, float]]:
    """What a GPU did in a trace, copies and fills too, in order: name and microseconds."""
    found = [event for event in events if event.device_type.name == "CUDA"]
    found.sort(key=lambda event: event.time_range.start)
    return [(event.name, float(event.time_range.elapsed_us())) for event in found]


def settle(device: str) -> None:
    """Wait until the device has nothing left to do."""
    if device == "cuda":
        torch.cuda.synchronize()


def _on_device(sides: Mapping[str, Side], n: int) -> dict[str, Spread]:
    marks: dict[str, list[tuple[torch.cuda.Event, torch.cuda.Event]]] = {name: [] for name in sides}
    torch.cuda.synchronize()
    for name, side in _turns(sides, n):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        side()
        end.record()
        marks[name].append((begin, end))
    torch.cuda.synchronize()
    return {name: spread([a.elapsed_time(b) * 1e3 for a, b in pairs]) for name, pairs in marks.items()}
