"""How much does fusing give? The control times the same eager function as if it were two."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

SMALL = (("pointwise", (256, 1024)), ("tiny", (1, 1, 1024)), ("block", (1, 256, 1024)))
LARGE = (("pointwise", (16, 2048, 4096)), ("tiny", (8, 256, 4096)), ("block", (16, 2048, 4096)))


def block(x: torch.Tensor, b: torch.Tensor, w: torch.Tensor, g: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
    """Bias, GELU, LayerNorm and a residual: four ops on one large tensor."""
    h = torch.nn.functional.gelu(x + b)
    return torch.nn.functional.layer_norm(h, (h.shape[-1],), w, g) + r


def pointwise(x: torch.Tensor, b: torch.Tensor, _w: torch.Tensor, _g: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.gelu(x + b) * 0.5 + r


def inputs(size: tuple[int, ...], device: str) -> list[torch.Tensor]:
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    return [torch.randn(s, device=device, dtype=kind) for s in (size, size[-1:], size[-1:], size[-1:], size)]


def run(lab: Lab) -> None:
    if lab.device == "cpu":
        torch.set_num_threads(1)  # Threads that wait for each other on a shared machine drown what is measured.
    for name, size in LARGE if lab.device == "cuda" else SMALL:
        function: Callable[..., torch.Tensor] = pointwise if name == "pointwise" else block
        torch.compiler.reset()
        args, compiled = inputs(size, lab.device), torch.compile(function, dynamic=False)
        with torch.no_grad():
            us = lab.race(
                {
                    "eager": lambda: function(*args),  # noqa: B023
                    "again": lambda: function(*args),  # noqa: B023
                    "compiled": lambda: compiled(*args),  # noqa: B023
                },
                n=200,
            )
        label = f"{'bias+GELU+scale+add' if name == 'pointwise' else 'bias+GELU+LayerNorm+add'} {size}"
        ratio = us["eager"]["p50"] / us["compiled"]["p50"]
        lab.observe("control", {"eager_us": us["eager"], "again_us": us["again"]}, call=label, why="control")
        lab.observe(
            "default",
            {"eager_us": us["eager"], "compiled_us": us["compiled"]},
            call=label,
            ask=name,
            answer=sum(ratio >= bound for bound in (1.0, 1.5, 2.5)),
            why="speedup",
        )
