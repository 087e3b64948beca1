"""What happens with more sizes than entries, under `dynamic=False`? The control leaves sizes dynamic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

FIRST, COUNT = 2, 11


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + 1)


def run(lab: Lab) -> None:
    def new(rows: int) -> torch.Tensor:
        return torch.randn(rows, 8, device=lab.device)

    sizes = range(FIRST, FIRST + COUNT)
    watched = lab.watch(f)
    for number, rows in enumerate(sizes):
        call = watched.call(new(rows))
        why = "control" if number > 1 else "control-first"
        lab.observe_call("control", f"({rows}, 8)", call, why=why, expect=int(number < 2))
    watched = lab.watch(f, dynamic=False)
    for number, rows in enumerate(sizes, 1):
        call = watched.call(new(rows))
        over = number > 8
        ask = f"call-{number}" if number in (8, 9) else None
        series, why = ("over", "eager") if over else ("default", "variant")
        lab.observe_call(series, f"({rows}, 8)", call, why=why, expect=int(not over), ask=ask)
    lab.observe_call("old", f"({FIRST}, 8)", watched.call(new(FIRST)), why="old", expect=0, ask="old")
    inside, outside = new(FIRST), new(FIRST + COUNT - 1)
    sides = {
        "plain": lambda: f(outside),
        "over": lambda: watched.compiled(outside),
        "hit": lambda: watched.compiled(inside),
    }
    for name, us in lab.race(sides, n=300, clock="host").items():
        lab.observe("cost", {"call_us": us, "side": name}, call=name, why="cost")
