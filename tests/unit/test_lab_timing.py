"""Raw times become a spread: percentiles and a histogram that shows the tail."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.lab import protocol, timing
from tutor.lab.timing import BINS, spread

#: Microseconds, from nothing to a quarter of an hour.
TIMES = st.lists(st.floats(0, 1e9), min_size=1)


def of(values: list[float]) -> dict[str, Any]:
    got = spread(values)
    return {name: got[name] for name in ("n", "p50", "p95", "p99", "max")}  # type: ignore[literal-required]


def test_a_spread_by_nearest_rank() -> None:
    assert of([float(n) for n in range(100, 0, -1)]) == {"n": 100, "p50": 50, "p95": 95, "p99": 99, "max": 100}
    assert of([7.5]) == {"n": 1, "p50": 7.5, "p95": 7.5, "p99": 7.5, "max": 7.5}
    assert of([1, 2, 3, 1000]) == {"n": 4, "p50": 2, "p95": 1000, "p99": 1000, "max": 1000}
    with pytest.raises(ValueError, match="no values"):
        spread([])


@given(TIMES)
def test_a_spread_is_in_order_and_made_of_what_was_seen(values: list[float]) -> None:
    got, seen = of(values), [round(value, 3) for value in values]
    assert got["p50"] <= got["p95"] <= got["p99"] <= got["max"] == max(seen)
    assert {got["p50"], got["p95"], got["p99"]} <= set(seen)
    for share in (50, 95, 99):
        assert sum(value <= got[f"p{share}"] for value in seen) * 100 >= share * len(seen)


@given(TIMES)
def test_every_time_is_in_one_bin_and_the_bins_are_few(values: list[float]) -> None:
    got, seen = spread(values), [round(value, 3) for value in values]
    edges, counts = got["edges"], got["counts"]
    assert len(edges) == len(counts) + 1 <= BINS + 1
    assert (edges[0], edges[-1], sum(counts)) == (min(seen), max(seen), len(seen))
    assert all(a < b for a, b in pairwise(edges)) or len(counts) == 1
    for n, (low, high) in enumerate(pairwise(edges)):
        last = n == len(counts) - 1
        assert counts[n] == sum(low <= value < high or (last and value == high) for value in seen)


def test_the_bins_are_equal_factors_so_that_a_tail_stands_apart() -> None:
    got = spread([1.0] * 90 + [2.0] * 9 + [4096.0])
    assert got["edges"] == [2.0**n for n in range(13)]
    assert got["counts"] == [90, 9, *[0] * 9, 1]


def test_times_that_are_all_alike_are_one_bin() -> None:
    assert (spread([5.0] * 3)["edges"], spread([5.0] * 3)["counts"]) == ([5.0, 5.0], [3])
    assert (spread([0.0])["edges"], spread([0.0])["counts"]) == ([0.0, 0.0], [1])
    assert (spread([0.0, 0.001])["edges"], spread([0.0, 0.001])["counts"]) == ([0.0, 0.001], [2])


def test_a_child_may_say_a_spread() -> None:
    said = {"schema": 1, "event": "observation", "series": "default", "call": None, "ask": None, "answer": None}
    said |= {"values": {"eager_us": spread([1.0, 2.0, 400.0])}, "said": [], "why": None}
    assert protocol.read_child(protocol.encode(said).encode()) == said


def test_a_trace_begins_with_the_call_and_has_no_brackets() -> None:
    """A named region shows up on the GPU's side again, around its kernels; a kernel may have a CPU event's name."""

    def event(name: str, device: str, start: float, **more: Any) -> Any:
        time = SimpleNamespace(start=start, elapsed_us=lambda: 1.5)
        return SimpleNamespace(name=name, device_type=SimpleNamespace(name=device), time_range=time, **more)

    events = [
        event("before_kernel", "CUDA", 1),
        event(timing.CALL, "CPU", 5),
        event("triton_fused", "CPU", 6, is_user_annotation=False),
        event(timing.CALL, "CUDA", 8, is_user_annotation=True),
        event("triton_fused", "CUDA", 9, is_user_annotation=False),
        event("some region", "CUDA", 9, is_user_annotation=True),
        event("Memcpy DtoD", "CUDA", 8),
    ]
    told = timing.of_call(events)
    assert [(each.name, each.device_type.name) for each in told] == [
        *((timing.CALL, "CPU"), ("triton_fused", "CPU"), ("triton_fused", "CUDA"), ("Memcpy DtoD", "CUDA"))
    ]
    assert timing.gpu_work(told) == [("Memcpy DtoD", 1.5), ("triton_fused", 1.5)]
