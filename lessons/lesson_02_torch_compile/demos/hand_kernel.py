"""How far from the memory limit is the compiler's kernel? The control compiles an op that only memory limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

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


@triton.jit  # type: ignore[untyped-decorator]
def row(x, b, w, g, r, out, width: tl.constexpr, eps: tl.constexpr):  # type: ignore[no-untyped-def]
    """One program does one row, which stays in registers from the first load to the only store."""
    at = tl.arange(0, width)
    place = tl.program_id(0) * width + at
    v = tl.load(x + place).to(tl.float32) + tl.load(b + at).to(tl.float32)
    inner = v * (0.7978845608 + 0.0356774081 * v * v)
    bent = tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [inner], dtype=tl.float32, is_pure=True, pack=1)
    h = 0.5 * v * (1.0 + bent)
    centred = h - tl.sum(h, 0) / width
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / width + eps)
    y = centred * scale * tl.load(w + at).to(tl.float32) + tl.load(g + at).to(tl.float32)
    tl.store(out + place, (y + tl.load(r + place).to(tl.float32)).to(tl.bfloat16))


def run(lab: Lab) -> None:
    for size in SIZES:
        torch.compiler.reset()
        x, b, w, g, r = inputs(size, lab.device)
        out, width = torch.empty_like(x), size[-1]
        compiled, compiled_add = torch.compile(block, dynamic=False), torch.compile(add, dynamic=False)

        def hand() -> torch.Tensor:
            row[(out.numel() // width,)](x, b, w, g, r, out, width, 1e-5, num_warps=8)  # noqa: B023
            return out  # noqa: B023

        with torch.no_grad():
            us = lab.race(
                {
                    "floor": lambda: torch.add(x, r, out=out),  # noqa: B023
                    "add": lambda: compiled_add(x, r),  # noqa: B023
                    "hand": hand,
                    "compiled": lambda: compiled(x, b, w, g, r),  # noqa: B023
                },
                n=100,
            )
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
