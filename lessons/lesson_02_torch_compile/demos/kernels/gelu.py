"""Four ways to compute GELU, v * Phi(v), in a Triton kernel, from the obvious one to one that memory can keep up with.

All take and return float32. They differ in how many instructions a value costs, and in where they are wrong (bf16
itself rounds by up to 4e-3):

                     largest relative error down to v = -4     largest absolute error
    gelu_erf         5e-4, as 1 + erf cancels in float32       5e-7
    gelu_polynomial  1e-3, likewise                            5e-7
    gelu_tanh        0.45, before the GPU's own rounding       5e-4
    gelu_exp2        1e-4, with no cancellation                8e-6, where GELU is 0.1 and more

A small absolute error is not enough here. LayerNorm divides by the row's deviation, so a row of nearly equal values has
its errors multiplied by up to 1 / sqrt(eps) = 316.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def gelu_erf(v):
    return 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))


#: Whether kernels run in Triton's interpreter, on the CPU: there is no PTX there.
INTERPRETED = tl.constexpr(not isinstance(gelu_erf, triton.JITFunction))


@triton.jit
def gelu_polynomial(v):
    # Abramowitz and Stegun 7.1.26. Its division and its exp are two special-function operations a value.
    z = tl.abs(v) * 0.7071067811865476
    t = 1.0 / (1.0 + 0.3275911 * z)
    p = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    erf = 1.0 - p * tl.exp(-z * z)
    return 0.5 * v * (1.0 + tl.where(v < 0, -erf, erf))


@triton.jit
def gelu_tanh(v):
    # torch's gelu(approximate="tanh"), with the GPU's own tanh: one instruction, right to 11 bits.
    z = v * (0.7978845608028654 + 0.035677408136300125 * v * v)
    if INTERPRETED:
        t = 2.0 * tl.sigmoid(2.0 * z) - 1.0
    else:
        t = tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [z], dtype=tl.float32, is_pure=True, pack=1)
    h = 0.5 * v
    return h + h * t


@triton.jit
def gelu_exp2(v):
    # GELU(v) = max(v, 0) - a Phi(-a) with a = |v|. log2 Phi(-a) is nearly a parabola: a minimax fit of degree 5 on
    # [0, 5.6], weighted by what is left of a Phi(-a). The last coefficient is negative, so beyond that it goes to 0.
    a = tl.abs(v)
    p = -0.04944257 + a * (0.006198093 + a * -0.00035968685)
    p = -1.0000831 + a * (-1.1498495 + a * (-0.46256274 + a * p))
    return tl.maximum(v, 0.0) - a * tl.exp2(p)


# Not GELUs to be used: each shows which unit of the GPU is the limit, by what it does to the time.


@triton.jit
def no_gelu(v):
    """GELU left out: what remains are the bytes and LayerNorm."""
    return v


@triton.jit
def gelu_more_special(v):
    """gelu_exp2 with a second special-function operation a value, whose result is 1."""
    a = tl.abs(v)
    p = -0.04944257 + a * (0.006198093 + a * -0.00035968685)
    p = -1.0000831 + a * (-1.1498495 + a * (-0.46256274 + a * p))
    t = tl.exp2(p)
    return tl.maximum(v, 0.0) - a * t * tl.exp2(t * 1e-30)


@triton.jit
def gelu_more_adds(v):
    """gelu_exp2 with 24 multiply-adds a value more, which brings it to as many instructions as gelu_erf."""
    a = tl.abs(v)
    p = -0.04944257 + a * (0.006198093 + a * -0.00035968685)
    p = -1.0000831 + a * (-1.1498495 + a * (-0.46256274 + a * p))
    for _ in tl.static_range(24):
        p = p * 0.9999999 + 1e-30
    return tl.maximum(v, 0.0) - a * tl.exp2(p)
