"""What this machine can do at most: bytes a second by a three-tensor add, and what a launch costs. The control times
the same add as if it were two."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kernels import clock

if TYPE_CHECKING:
    from tutor.lab.child import Lab

#: Elements of one tensor; the first two and the last two are four times apart.
SIZES = {
    "cuda": tuple(1 << n for n in (10, 12, 16, 20, 23, 26, 28)),
    "cpu": tuple(1 << n for n in (8, 10, 16, 19, 21, 23)),
}
#: Launches in a row, for what one of many costs.
ROW = 100
Side = Callable[[], object]


def run(lab: Lab) -> None:
    gpu = lab.device == "cuda"
    if not gpu:
        torch.set_num_threads(1)  # Threads that wait for each other on a shared machine drown what is measured.
    kind = torch.bfloat16 if gpu else torch.float32
    sides: dict[str, Side] = {}
    moved: dict[str, int] = {}
    for size in SIZES[lab.device]:
        x, r = (torch.randn(size, device=lab.device, dtype=kind) for _ in range(2))
        sides[lab.describe(x)] = clock.floor_of(x, r)
        moved[lab.describe(x)] = 3 * size * x.element_size()
    names = list(sides)
    tiny, middle = sides[names[0]], sides[names[-3]]
    if gpu:
        timed = on_gpu(lab, sides)
        observe_launches(lab, tiny)
        pair = {"one": clock.replay_of(middle), "again": clock.replay_of(middle)}
        us = {name: lab.spread(each) for name, each in clock.device_times(pair, n=50, cold=True).items()}
    else:
        timed = {"call": lab.race(sides, n=30, clock="caller")}
        us = lab.race({"one": middle, "again": middle}, n=50, clock="caller")
    lab.observe("control", {"one_us": us["one"], "again_us": us["again"]}, call=names[-3], why="control")
    for way, spreads in timed.items():
        for name, spread in spreads.items():
            values = {"add_us": spread, "gb_s": round(moved[name] / spread["p50"] / 1e3, 2)}
            lab.observe(way, values, call=name, why="bandwidth")
    answer(lab, next(iter(timed.values())), names, moved)


def on_gpu(lab: Lab, sides: Mapping[str, Side]) -> dict[str, dict[str, Any]]:
    """Microseconds by CUDA graph and by launch, with a cold L2 and a warm one; the first way is the device's own."""
    replays = {name: clock.replay_of(side) for name, side in sides.items()}
    ways = {
        "graph_cold": (replays, True),
        "graph_warm": (replays, False),
        "launch_cold": (sides, True),
        "launch_warm": (sides, False),
    }
    return {
        way: {name: lab.spread(us) for name, us in clock.device_times(those, n=100, cold=cold).items()}
        for way, (those, cold) in ways.items()
    }


def observe_launches(lab: Lab, tiny: Side) -> None:
    """An add of next to nothing: until the call returns, until it is done, one of many in a row, and by a graph."""

    def row() -> None:
        for _ in range(ROW):
            tiny()

    replay = clock.replay_of(tiny)
    issued = lab.race({"launch": tiny, "replay": replay}, n=300, clock="host")
    waited = lab.race({"launch": tiny, "replay": replay}, n=300, clock="caller")
    rows = clock.device_times({"launch": row, "replay": clock.replay_of(row)}, n=50, cold=False)
    for name in ("launch", "replay"):
        each = lab.spread([us / ROW for us in rows[name]])
        values = {"issue_us": issued[name], "wait_us": waited[name], "in_a_row_us": each}
        lab.observe("launch", values, call=name, why="launch")


def answer(lab: Lab, spreads: Mapping[str, Any], names: list[str], moved: Mapping[str, int]) -> None:
    """What four times the data costs at both ends, and how much of the bandwidth the small one reaches."""
    for ask, (one, four) in {"small": names[:2], "large": names[-2:]}.items():
        growth = spreads[four]["p50"] / spreads[one]["p50"]
        place = sum(growth >= bound for bound in (2.0, 3.0))
        lab.observe(ask, {"growth": round(growth, 2)}, call=f"{one}, {four}", ask=ask, answer=place, why=ask)
    rate = {name: moved[name] / spreads[name]["p50"] for name in (names[0], names[-1])}
    share = rate[names[0]] / rate[names[-1]]
    place = sum(share >= bound for bound in (0.1, 0.5))
    lab.observe("reached", {"share": round(share, 5)}, call=names[0], ask="reached", answer=place, why="small")
