"""What does a call cost once its graph is there? The control is a plain Python function with the same arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

COUNT = 2000


def total(*xs: torch.Tensor) -> torch.Tensor:
    s = xs[0]
    for x in xs[1:]:
        s = s + x
    return s


def plain(*xs: torch.Tensor) -> torch.Tensor:
    return xs[0]


def run(lab: Lab) -> None:
    compiled = 0

    def nothing(_graph: torch.fx.GraphModule, _inputs: list[torch.Tensor]) -> Callable[..., Any]:
        nonlocal compiled
        compiled += 1
        return lambda *xs: (xs[0],)

    for count in (4, 64):
        torch.compiler.reset()
        xs = [torch.randn(4, device=lab.device) for _ in range(count)]
        served = torch.compile(total, backend=nothing)
        served(*xs)
        before = compiled
        check, rows = lab.guards_of(total, {"xs": tuple(xs)})
        us = lab.race(
            {"call": partial(served, *xs), "check": check, "plain": partial(plain, *xs)},
            n=COUNT,
            clock="host",
        )
        label = f"{count} tensors"
        lab.observe("control", {"call_us": us["plain"]}, call=label, why="control")
        place = sum(us["check"]["p50"] >= bound for bound in (0.1, 1.0, 10.0))
        lab.observe(
            "default",
            {"check_us": us["check"], "call_us": us["call"], "guards": rows, "new_graphs": compiled - before},
            call=label,
            ask=f"tensors-{count}",
            answer=place,
            why="check",
        )
