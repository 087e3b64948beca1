"""What is right: the block in float64 with the exact GELU, the error that bf16 allows, and inputs that are hard."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812

Inputs = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
Block = Callable[..., torch.Tensor]

#: The most that rounding to nearest is off by, as a share of the value: bf16 keeps 8 bits, the leading one included.
ROUNDING = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11, torch.float32: 2.0**-24}


def block(
    x: torch.Tensor, bias: torch.Tensor, weight: torch.Tensor, shift: torch.Tensor, residual: torch.Tensor
) -> torch.Tensor:
    """The block as a model writes it: four ops."""
    return F.layer_norm(F.gelu(x + bias), x.shape[-1:], weight, shift) + residual


def exact(*inputs: torch.Tensor) -> torch.Tensor:
    """The block in float64."""
    return block(*(each.double() for each in inputs))


def relative(got: torch.Tensor, right: torch.Tensor) -> float:
    """|got - right| / |right|, both as vectors. bf16 rounding alone is 0.0017 for the usual inputs."""
    return float((got.double() - right).norm() / right.norm())


def excess(got: torch.Tensor, inputs: Inputs) -> float:
    """The largest error in units of what bf16 has to be granted, over all elements: at most 1 is right.

    Granted are the rounding of the result, and an error in GELU of bf16's rounding, as storing it in bf16 would make:
    LayerNorm carries that to the output times weight / deviation, for the element itself and through the mean.
    """
    x, bias, weight, _, _ = (each.double() for each in inputs)
    right = exact(*inputs)
    rounding = ROUNDING[got.dtype]
    gelu = F.gelu(x + bias)
    rstd = (gelu.var(-1, correction=0, keepdim=True) + 1e-5).rsqrt()
    normal = (gelu - gelu.mean(-1, keepdim=True)) * rstd
    # First order: an error e in GELU moves the output by rstd * (e - mean(e) - normal * mean(normal * e)).
    e = gelu.abs() * rounding + 1e-7
    moved = rstd * (e + e.mean(-1, keepdim=True) + normal.abs() * (normal.abs() * e).mean(-1, keepdim=True))
    granted = right.abs() * rounding + moved * weight.abs() + 1e-6
    wrong = (got.double() - right).abs() / granted
    return float("inf") if bool(wrong.isnan().any()) else float(wrong.max())


def usual(shape: tuple[int, ...], device: str, dtype: torch.dtype = torch.bfloat16, seed: int = 0) -> Inputs:
    """x, bias, weight, shift and residual of a normal distribution."""
    generator = torch.Generator(device=device).manual_seed(seed)

    def draw(*size: int) -> torch.Tensor:
        return torch.randn(size, generator=generator, device=device).to(dtype)

    hidden = shape[-1]
    return draw(*shape), draw(hidden), draw(hidden), draw(hidden), draw(*shape)


def _moved(by: float, spread: float) -> Callable[..., Inputs]:
    def make(shape: tuple[int, ...], device: str, dtype: torch.dtype = torch.bfloat16, seed: int = 0) -> Inputs:
        x, bias, weight, shift, residual = usual(shape, device, dtype, seed)
        return (x.float() * spread + by).to(dtype), bias * 0, weight, shift, residual

    return make


#: Inputs on which a shortcut shows: name -> how they are drawn.
HARD: dict[str, Callable[..., Inputs]] = {
    "the tail of GELU": _moved(-3.5, 0.25),
    "nearly equal rows": _moved(-1.0, 0.01),
    "a large mean": _moved(1000.0, 8.0),
    "large values": _moved(0.0, 1000.0),
    "tiny values": _moved(0.0, 1e-4),
}
