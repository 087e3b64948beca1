"""How far from the memory limit is the compiler's kernel? The control compiles an op that only memory limits."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kernels import clock
from kernels.block import fused_block

if TYPE_CHECKING:
    from tutor.lab.child import Lab

SIZES = ((16, 2048, 2048), (16, 2048, 4096))


def block(x: torch.Tensor, b: torch.Tensor, w: torch.Tensor, g: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
    """Bias, GELU, LayerNorm and a residual: four ops on one large tensor."""
    h = torch.nn.functional.gelu(x + b)
    return torch.nn.functional.layer_norm(h, (h.shape[-1],), w, g) + r


def add(x: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
    return x + r


def inputs(size: tuple[int, ...], device: str) -> list[torch.Tensor]:
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    return [torch.randn(s, device=device, dtype=kind) for s in (size, size[-1:], size[-1:], size[-1:], size)]


def run(lab: Lab) -> None:
    for size in SIZES:
        torch.compiler.reset()
        x, b, w, g, r = inputs(size, lab.device)
        compiled, compiled_add = torch.compile(block, dynamic=False), torch.compile(add, dynamic=False)
        hand = partial(fused_block, x, b, w, g, r)
        sides = {
            "floor": clock.floor_of(x, r),
            "add": partial(compiled_add, x, r),
            "hand": hand,
            "compiled": partial(compiled, x, b, w, g, r),
        }
        with torch.no_grad():
            replays = {name: clock.replay_of(side) for name, side in sides.items()}
            us = {name: lab.spread(each) for name, each in clock.device_times(replays, n=100, cold=True).items()}
            exact = block(x.double(), b.double(), w.double(), g.double(), r.double())
            error = ((hand().double() - exact).norm() / exact.norm()).item()
        lab.observe("control", {"floor_us": us["floor"], "compiled_us": us["add"]}, call=f"x + r {size}", why="control")
        asked = size == SIZES[-1]
        for side in ("hand", "compiled") if asked else ():
            ratio = us[side]["p50"] / us["floor"]["p50"]
            answer = sum(ratio >= bound for bound in (1.3, 2.0))
            lab.observe("ratio", {"times_floor": ratio}, call=f"{side} {size}", ask=side, answer=answer, why="ruler")
        values = {"floor_us": us["floor"], "hand_us": us["hand"], "compiled_us": us["compiled"], "hand_error": error}
        lab.observe("default", values, call=str(size), why="ruler")
