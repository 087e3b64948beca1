"""Runs the lesson's kernels in Triton's interpreter and prints what came out, as JSON; see test_kernels_block.py.

The interpreter is chosen when Triton decorates a function, so this is a process of its own.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lessons" / "lesson_02_torch_compile" / "demos"))

import torch
import triton
import triton.language as tl

from kernels import accuracy
from kernels.block import WIDEST_IN_REGISTERS, fused_block, launch_for
from kernels.steps import STEPS

BF16 = torch.bfloat16
SHAPES = [(1, 1), (5, 3), (4,), (2, 3, 17), (3, 64), (2, 1000), (2, 4096), (2, WIDEST_IN_REGISTERS + 7)]
EMPTY = [(0,), (0, 8), (3, 0), (2, 0, 4)]


@triton.jit
def apply(x, out, N: tl.constexpr, GELU: tl.constexpr):  # noqa: N803
    at = tl.arange(0, N)
    tl.store(out + at, GELU(tl.load(x + at)))


def in_float32(inputs: Any, **options: Any) -> torch.Tensor:
    """The kernel's own result rounded to bf16 by torch: the interpreter cuts bf16 off where a GPU rounds."""
    return fused_block(*(each.float() for each in inputs), **options).to(BF16)


def gelu_errors() -> dict[str, dict[str, float]]:
    """The largest errors of each GELU against float64: absolute, and relative where GELU is not yet nothing."""
    found = {}
    for step in STEPS:
        for name, low, high in (("relative", -4.0, 8.0), ("absolute", -50.0, 50.0)):
            x = torch.linspace(low, high, 1 << 16)
            x = torch.where(x == 0, 0.5, x)
            got = torch.full_like(x, float("nan"))
            apply[(1,)](x, got, x.numel(), step.gelu)
            right = torch.nn.functional.gelu(x.double())
            wrong = (got.double() - right).abs() / (right.abs() if name == "relative" else 1.0)
            found.setdefault(step.name, {})[name] = float(wrong.max())
    return found


def strided() -> dict[str, float]:
    """Tensors whose rows are apart, shared, not a constant distance apart, or whose elements are not adjacent."""
    x, bias, weight, shift, residual = accuracy.usual((4, 6, 96), "cpu")
    wide = accuracy.usual((4, 6, 200), "cpu", seed=1)[0]
    cases = {
        "rows apart": (wide[..., :96], residual),
        "a row left out": (wide[:, :-1, :96], residual[:, :-1]),
        "transposed": (x.transpose(0, 1), residual.transpose(0, 1)),
        "every other element": (wide[..., 4:196:2], residual),
        "one row for all": (x, residual[:1, :1].expand(4, 6, 96)),
        "an offset of one element": (wide[..., 1:97], wide[..., 3:99]),
    }
    found = {}
    for name, (rows, added) in cases.items():
        inputs = (rows, bias, weight, shift, added)
        found[name] = max(
            accuracy.excess(fused_block(*inputs), inputs) / 2, accuracy.excess(in_float32(inputs), inputs)
        )
    vectors = (x, wide[0, 0, ::2][:96], wide[0, 1, ::2][:96], wide[0, 2, ::2][:96], residual)
    found["vectors with gaps"] = accuracy.excess(in_float32(vectors), vectors)
    return found


def refusals() -> dict[str, str]:
    x, bias, weight, shift, residual = accuracy.usual((2, 8), "cpu")
    cases = {
        "no dimension": (x[0, 0], bias, weight, shift, x[0, 0]),
        "residual": (x, bias, weight, shift, residual[:1]),
        "bias": (x, bias[:7], weight, shift, residual),
        "weight": (x, bias, weight[None], shift, residual),
        "dtype": (x.double(), bias, weight, shift, residual),
        "whole numbers": (x, bias, weight, shift.long(), residual),
        "gradient": (x.clone().requires_grad_(), bias, weight, shift, residual),
        "device": (x, bias, weight.to("meta"), shift, residual),
    }
    found = {}
    for name, inputs in cases.items():
        try:
            fused_block(*inputs)
        except ValueError as error:
            found[name] = str(error)
    return found


def one_bad_row() -> list[bool]:
    inputs = accuracy.usual((3, 40), "cpu")
    inputs[0][1, 7] = float("nan")
    return [*fused_block(*inputs).isnan().all(-1).tolist(), bool(fused_block(*inputs)[[0, 2]].isnan().any())]


def main() -> None:
    inputs = accuracy.usual((5, 200), "cpu")
    before = [each.clone() for each in inputs]
    fused_block(*inputs)
    hard = {"usual": accuracy.usual, **accuracy.HARD}
    drawn = {name: make((4, 1000), "cpu") for name, make in hard.items()}
    by_shape = {str(shape): accuracy.usual(shape, "cpu", seed=3) for shape in SHAPES}
    said = {
        "gelu": gelu_errors(),
        "shapes": {name: accuracy.excess(in_float32(each), each) for name, each in by_shape.items()},
        "stored": {name: accuracy.excess(fused_block(*each), each) for name, each in by_shape.items()},
        "empty": [list(fused_block(*accuracy.usual(shape, "cpu")).shape) for shape in EMPTY],
        "hard": {
            name: {step.name: accuracy.excess(in_float32(each, gelu=step.gelu), each) for step in STEPS}
            for name, each in drawn.items()
        },
        "eps": accuracy.relative(
            in_float32(inputs, eps=0.5),
            torch.nn.functional.layer_norm(
                torch.nn.functional.gelu(inputs[0].double() + inputs[1].double()),
                (200,),
                inputs[2].double(),
                inputs[3].double(),
                0.5,
            )
            + inputs[4].double(),
        ),
        "strided": strided(),
        "refused": refusals(),
        "bad row": one_bad_row(),
        "unchanged": all(torch.equal(a, b) for a, b in zip(before, inputs, strict=True)),
        "launches": [
            [launch.warps, launch.read]
            for launch in (
                launch_for(2048, 4096, 60 << 20),
                launch_for(32768, 4096, 60 << 20),
                launch_for(32768, 8192, 60 << 20),
                launch_for(1, 1, 0),
                launch_for(1, 16384, 60 << 20),
            )
        ],
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main()
