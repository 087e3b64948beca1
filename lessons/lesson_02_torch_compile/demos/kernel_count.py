"""How many kernels does a chain of small ops take, and what do they allocate? The control is a single op."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

SIZE = (8, 512, 4096)


def block(x: torch.Tensor, b: torch.Tensor, w: torch.Tensor, g: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
    """Bias, GELU, LayerNorm and a residual: four ops on one large tensor."""
    h = torch.nn.functional.gelu(x + b)
    return torch.nn.functional.layer_norm(h, (h.shape[-1],), w, g) + r


def single(x: torch.Tensor, *_rest: torch.Tensor) -> torch.Tensor:
    return torch.relu(x)


def inputs(size: tuple[int, ...], device: str) -> list[torch.Tensor]:
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    return [torch.randn(s, device=device, dtype=kind) for s in (size, size[-1:], size[-1:], size[-1:], size)]


def run(lab: Lab) -> None:
    args = inputs(SIZE, lab.device)
    for series, function, why in (("control", single, "control"), ("default", block, "chain")):
        values: dict[str, float] = {}
        with torch.no_grad():
            for side, call in (("eager", function), ("compiled", torch.compile(function, dynamic=False))):
                call(*args)
                values[f"{side}_kernels"] = len(lab.kernels(lambda: call(*args)))  # noqa: B023
                values[f"{side}_tensors"] = allocated(call, args) / (args[0].numel() * args[0].element_size())
                if series == "default":
                    kernels = int(values[f"{side}_kernels"])
                    lab.observe("kernels", {"kernels": kernels}, call=side, ask=side, answer=kernels, why=why)
        lab.observe(series, values, call=function.__name__, why=why)


def allocated(call: Callable[..., torch.Tensor], args: list[torch.Tensor]) -> int:
    """Bytes that the caching allocator handed out during one call."""
    name = "allocated_bytes.all.allocated"
    before = torch.cuda.memory_stats()[name]
    out = call(*args)
    torch.cuda.synchronize()
    after = torch.cuda.memory_stats()[name]
    del out
    return int(after - before)
