"""What does specialising every size cost? The control serves the same sizes by one dynamic graph."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

SIZES = (33, 47, 65, 130)


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + 1)


def g(x: torch.Tensor) -> torch.Tensor:
    return x * 3


def run(lab: Lab) -> None:
    from torch._dynamo.utils import counters

    with lab.compiled_anew():
        torch.compile(g)(torch.randn(4, 64, device=lab.device))  # What Inductor needs to start is another claim.
        for series, dynamic, why in (("control", True, "dynamic"), ("default", False, "storm")):
            torch.compiler.reset()
            counters.clear()
            served = torch.compile(f, dynamic=dynamic)
            first: list[float] = []
            again: list[float] = []
            for size in SIZES:
                x = torch.randn(size, 64, device=lab.device)
                for taken in (first, again):
                    lab.settle()
                    began = time.perf_counter()
                    served(x)
                    lab.settle()
                    taken.append((time.perf_counter() - began) * 1e3)
            variants = counters["stats"]["unique_graphs"]
            lab.observe(
                series,
                {"variants": variants, "quickest_first_ms": min(first[1:]), "slowest_hit_ms": max(again[1:])},
                call=f"dynamic={dynamic}",
                ask="dynamic" if dynamic else "static",
                answer=variants,
                why=why,
            )
            for size, ms, hit in zip(SIZES, first, again, strict=True):
                lab.observe(f"{series}_calls", {"first_ms": ms, "hit_ms": hit}, call=f"({size}, 64)")
