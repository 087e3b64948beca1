"""With small kernels, who waits for whom, and what does less Python between them give? The control is a large input."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kernels import timeline

if TYPE_CHECKING:
    from tutor.lab.child import Lab

LAYERS, WIDTH, LARGE = 12, 256, 1 << 19
#: Columns of a drawn timeline, which fits the Lab beside the lesson on a terminal of 120.
COLUMNS = 60


def block(x: torch.Tensor, b: torch.Tensor, w: torch.Tensor, g: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
    """Bias, GELU, LayerNorm and a residual: four ops on one large tensor."""
    h = torch.nn.functional.gelu(x + b)
    return torch.nn.functional.layer_norm(h, (h.shape[-1],), w, g) + r


def inputs(size: tuple[int, ...], device: str) -> list[torch.Tensor]:
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    return [torch.randn(s, device=device, dtype=kind) for s in (size, size[-1:], size[-1:], size[-1:], size)]


def show_timeline(lab: Lab, series: str, name: str, side: Callable[[], object]) -> None:
    """Print one call's timeline and say what can be counted in it; a profiled CPU is slower than one that is not."""
    events = lab.trace(side)
    seen = timeline.activity_of(events, "the call")
    print(name)
    print("\n".join(timeline.draw(seen, COLUMNS)), flush=True)
    values = {"launches": len(seen.launches), "gpu_busy": round(seen.busy_share(), 3), "gaps": len(seen.gaps())}
    lab.observe(series, values, call=name, why="timeline")


def run(lab: Lab) -> None:
    parts = [part for _ in range(LAYERS) for part in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU())]
    model = torch.nn.Sequential(*parts).to(lab.device, torch.bfloat16)

    def plain(x: torch.Tensor) -> torch.Tensor:
        return model(x)

    def through_cpp(x: torch.Tensor) -> torch.Tensor:
        return model(x)

    def through_graphs(x: torch.Tensor) -> torch.Tensor:
        return model(x)

    with torch.no_grad():
        for series, rows, why in (("control", LARGE, "control"), ("eager", 8, "starved")):
            x = torch.randn(rows, WIDTH, device=lab.device, dtype=torch.bfloat16)
            taken = lab.race({"eager": lambda: model(x)}, n=30 if rows == LARGE else 300, clock="caller")  # noqa: B023
            kernels = sum(us for _name, us in lab.kernels(lambda: model(x)))  # noqa: B023
            if series == "control":
                show_timeline(lab, "filled", f"eager, ({rows}, {WIDTH})", lambda: model(x))  # noqa: B023
            share = kernels / taken["eager"]["p50"]
            lab.observe(
                series,
                {"call_us": taken["eager"], "kernels_us": kernels},
                call=f"({rows}, {WIDTH})",
                ask="eager" if series == "eager" else None,
                answer=sum(share < bound for bound in (0.9, 0.5)) if series == "eager" else None,
                why=why,
            )
        sides = {
            "compiled": torch.compile(plain, dynamic=False),
            "cpp": torch.compile(through_cpp, dynamic=False, options={"cpp_wrapper": True}),
            "cudagraphs": torch.compile(through_graphs, dynamic=False, mode="reduce-overhead"),
        }
        us = lab.race({name: partial(side, x) for name, side in sides.items()}, n=300, clock="caller")
        slower = us["cudagraphs"]["p50"] > us["compiled"]["p50"]
        values = {f"{name}_us": spread for name, spread in us.items()}
        lab.observe("mlp", values, call=f"(8, {WIDTH})", ask="mlp", answer=int(slower), why="wrapper")
        for name, side in {"eager": model, **sides}.items():
            show_timeline(lab, "timeline", name, partial(side, x))
        large = inputs((16, 2048, 4096), lab.device)
        torch.compiler.reset()
        default = torch.compile(block, dynamic=False)
        us = lab.race({"compiled": lambda: default(*large)}, n=50, clock="caller")
        torch.compiler.reset()
        graphs = torch.compile(block, dynamic=False, mode="reduce-overhead")
        us |= lab.race({"cudagraphs": lambda: graphs(*large)}, n=50, clock="caller")
        slower = us["cudagraphs"]["p50"] > us["compiled"]["p50"]
        values = {f"{name}_us": spread for name, spread in us.items()}
        lab.observe("big", values, call="(16, 2048, 4096)", ask="big", answer=int(slower), why="copies")
