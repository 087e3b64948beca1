"""Optional, without points: out = layer_norm(gelu(x + bias), weight, shift) + residual, in one kernel.

One program computes one row of H bf16 values; row r of x begins at x + r * x_stride. BLOCK is the next power of two of
H, at most MAX_BLOCK: a longer row has to be taken in pieces. GELU is the exact one. Judge it with
    python -m tutor check --kernel FILE

选做，不计分：一个 kernel 里算完上面的式子。一个 program 算一行，一行 H 个 bf16；x 的第 r 行从 x + r * x_stride 开始。
BLOCK 是不小于 H 的 2 的幂，最大 MAX_BLOCK，更长的行要分段。GELU 用精确的。

This draft is right and slow: it reads every row three times. 这一版正确但慢：每行读三遍。
"""

import triton
import triton.language as tl

NUM_WARPS = 4
MAX_BLOCK = 1024


@triton.jit
def gelu_of(x, bias, c, inside):
    v = tl.load(x + c, mask=inside, other=0.0).to(tl.float32)
    v += tl.load(bias + c, mask=inside, other=0.0).to(tl.float32)
    return tl.where(inside, 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476)), 0.0)


@triton.jit
def fused_kernel(
    x, bias, weight, shift, residual, out, x_stride, residual_stride, out_stride, eps,
    H: tl.constexpr, BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    total = 0.0
    for start in range(0, H, BLOCK):
        total += tl.sum(gelu_of(x + row * x_stride, bias, start + c, start + c < H), 0)
    mean = total / H
    squares = 0.0
    for start in range(0, H, BLOCK):
        inside = start + c < H
        d = gelu_of(x + row * x_stride, bias, start + c, inside) - mean
        squares += tl.sum(tl.where(inside, d * d, 0.0), 0)
    rstd = 1.0 / tl.sqrt(squares / H + eps)
    for start in range(0, H, BLOCK):
        inside = start + c < H
        at = start + c
        y = (gelu_of(x + row * x_stride, bias, at, inside) - mean) * rstd
        y = y * tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
        y += tl.load(shift + at, mask=inside, other=0.0).to(tl.float32)
        y += tl.load(residual + row * residual_stride + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(out + row * out_stride + at, y.to(tl.bfloat16), mask=inside)
