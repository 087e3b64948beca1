"""When is a CUDA graph recorded again? The control brings back sizes that were recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

ASKS = {("default", 20): "size-20", ("default", 30): "size-30", ("control", 20): "size-20-again"}


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x @ x.t()) + 1


def run(lab: Lab) -> None:
    from torch._dynamo.utils import counters

    served = torch.compile(f, mode="reduce-overhead")
    with torch.no_grad():
        for series, sizes in (("default", (10, 20, 30, 40, 50)), ("control", (20, 30))):
            for size in sizes:
                before = counters["stats"]["unique_graphs"]
                with lab.recordings() as recorded:
                    for _ in range(3):
                        served(torch.randn(size, 16, device=lab.device))
                graphs = counters["stats"]["unique_graphs"] - before
                ask = ASKS.get((series, size))
                lab.observe(
                    series,
                    {"recordings": len(recorded), "new_graphs": graphs},
                    call=f"({size}, 16)",
                    ask=ask,
                    answer=len(recorded) if ask else None,
                    why="control" if series == "control" else "compiled" if graphs else "recorded",
                )
