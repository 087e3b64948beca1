"""bias + GELU + LayerNorm + residual in one kernel: `fused_block`, as fast as the memory allows.

What has to move is the input and the residual once in and the output once out; a three-tensor add moves exactly the
same bytes, so its time is the floor. Everything between is arithmetic that has to hide behind those bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl

from kernels.gelu import gelu_exp2

#: A row up to this many columns is held in registers; a longer one is read twice, in pieces of WIDE_PIECE columns.
WIDEST_IN_REGISTERS = 16384
WIDE_PIECE = 4096


@triton.jit
def row_kernel(
    x,
    bias,
    weight,
    shift,
    residual,
    out,
    x_stride,
    residual_stride,
    out_stride,
    eps,
    H: tl.constexpr,
    BLOCK: tl.constexpr,
    GELU: tl.constexpr,
    READ: tl.constexpr,
):
    """One program, one row of H columns, in registers from the load to the store."""
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    inside = c < H
    # Both rows are asked for before anything waits: bytes in flight are what keeps the memory busy.
    v = tl.load(x + row * x_stride + c, mask=inside, other=0.0, eviction_policy=READ).to(tl.float32)
    r = tl.load(residual + row * residual_stride + c, mask=inside, other=0.0, eviction_policy=READ)
    v += tl.load(bias + c, mask=inside, other=0.0).to(tl.float32)
    v = tl.where(inside, GELU(v), 0.0)
    mean = tl.sum(v, 0) / H
    # Not E[v^2] - mean^2, which loses everything when the mean is large beside the deviation.
    d = tl.where(inside, v - mean, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(d * d, 0) / H + eps)
    # These come late on purpose: held from the start they would cost registers, and with them rows in flight.
    y = d * rstd * tl.load(weight + c, mask=inside, other=0.0).to(tl.float32)
    y += tl.load(shift + c, mask=inside, other=0.0).to(tl.float32) + r.to(tl.float32)
    tl.store(out + row * out_stride + c, y.to(out.dtype.element_ty), mask=inside)


@triton.jit
def wide_row_kernel(
    x,
    bias,
    weight,
    shift,
    residual,
    out,
    x_stride,
    residual_stride,
    out_stride,
    eps,
    H: tl.constexpr,
    BLOCK: tl.constexpr,
    GELU: tl.constexpr,
):
    """One program, one row of any length: a first pass for the statistics, a second one for the output."""
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    mean = 0.0
    squares = 0.0
    for start in range(0, H, BLOCK):
        inside = start + c < H
        v = tl.load(x + row * x_stride + start + c, mask=inside, other=0.0).to(tl.float32)
        v += tl.load(bias + start + c, mask=inside, other=0.0).to(tl.float32)
        v = tl.where(inside, GELU(v), 0.0)
        count = tl.sum(inside.to(tl.float32), 0)
        piece_mean = tl.sum(v, 0) / count
        d = tl.where(inside, v - piece_mean, 0.0)
        # Chan's rule: the statistics of `start` values joined with those of `count` more.
        apart = piece_mean - mean
        share = count / (start + count)
        mean += apart * share
        squares += tl.sum(d * d, 0) + apart * apart * start * share
    rstd = 1.0 / tl.sqrt(squares / H + eps)
    for start in range(0, H, BLOCK):
        inside = start + c < H
        v = tl.load(x + row * x_stride + start + c, mask=inside, other=0.0).to(tl.float32)
        v += tl.load(bias + start + c, mask=inside, other=0.0).to(tl.float32)
        y = (GELU(v) - mean) * rstd * tl.load(weight + start + c, mask=inside, other=0.0).to(tl.float32)
        y += tl.load(shift + start + c, mask=inside, other=0.0).to(tl.float32)
        y += tl.load(residual + row * residual_stride + start + c, mask=inside, other=0.0).to(tl.float32)
        tl.store(out + row * out_stride + start + c, y.to(out.dtype.element_ty), mask=inside)


@dataclass(frozen=True)
class Launch:
    """How a kernel is launched: warps of 32 threads a row, and what the L2 cache is told about the rows that are read
    ("evict_first": they are not needed again; empty: nothing)."""

    warps: int
    read: str = ""


def launch_for(rows: int, hidden: int, l2_bytes: int, element_bytes: int = 2) -> Launch:
    """The launch that measured best on an H200 (see recorded/kernels.md).

    Many rows: as few warps a row as hold it, 4 at least, so that many rows are in flight. When everything fits in L2
    there are only a few waves of rows: what counts is how soon the last one is done, so twice the warps, and what was
    read makes room for what is written. With more data than L2 the same advice costs a tenth.
    """
    warps = min(32, max(4, triton.next_power_of_2(hidden) // 1024))
    if 3 * rows * hidden * element_bytes <= l2_bytes:
        return Launch(min(32, 2 * warps), "evict_first")
    return Launch(warps)


def fused_block(
    x: torch.Tensor,
    bias: torch.Tensor,
    weight: torch.Tensor,
    shift: torch.Tensor,
    residual: torch.Tensor,
    eps: float = 1e-5,
    *,
    gelu: Any = gelu_exp2,
    launch: Launch | None = None,
) -> torch.Tensor:
    """layer_norm(gelu(x + bias), weight, shift) + residual over the last dimension, computed in float32.

    `x` and `residual` are [..., H] with any stride between rows; rows that are not a constant distance apart, or whose
    elements are not adjacent, are copied first. `bias`, `weight` and `shift` are [H]. The result is contiguous and has
    x's dtype. Forward only. Raises ValueError for shapes, devices or dtypes that do not fit and for inputs that need a
    gradient.
    """
    _check(x, bias, weight, shift, residual)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel() == 0:
        return out
    hidden = x.shape[-1]
    rows = out.numel() // hidden
    flat_x, flat_residual = _rows(x), _rows(residual)
    if launch is None:
        launch = launch_for(rows, hidden, _l2_bytes(x.device), x.element_size())
    args = (
        flat_x,
        bias.contiguous(),
        weight.contiguous(),
        shift.contiguous(),
        flat_residual,
        out,
        flat_x.stride(0),
        flat_residual.stride(0),
        hidden,
        eps,
        hidden,
    )
    # Multiplications and additions may be one instruction; Triton's own default for this is about to change.
    options = {"num_warps": launch.warps, "enable_fp_fusion": True}
    if hidden <= WIDEST_IN_REGISTERS:
        block = triton.next_power_of_2(hidden)
        row_kernel[(rows,)](*args, block, gelu, launch.read, **options)
    else:
        wide_row_kernel[(rows,)](*args, WIDE_PIECE, gelu, **{**options, "num_warps": 8})
    return out


def _rows(tensor: torch.Tensor) -> torch.Tensor:
    """[rows, H] with adjacent elements in a row: a view where the strides allow one."""
    flat = tensor.reshape(-1, tensor.shape[-1])
    return flat if flat.stride(1) == 1 or flat.shape[1] == 1 else flat.contiguous()


def _l2_bytes(device: torch.device) -> int:
    if device.type != "cuda":
        return 0
    return int(torch.cuda.get_device_properties(device).L2_cache_size)


def _check(
    x: torch.Tensor, bias: torch.Tensor, weight: torch.Tensor, shift: torch.Tensor, residual: torch.Tensor
) -> None:
    if x.dim() == 0:
        raise ValueError("x has no dimension to normalize over")
    if residual.shape != x.shape:
        raise ValueError(f"residual is {list(residual.shape)}, x is {list(x.shape)}: they have to be the same")
    for name, vector in (("bias", bias), ("weight", weight), ("shift", shift)):
        if vector.shape != x.shape[-1:]:
            raise ValueError(f"{name} is {list(vector.shape)}, it has to be {list(x.shape[-1:])}")
    for name, tensor in (("x", x), ("bias", bias), ("weight", weight), ("shift", shift), ("residual", residual)):
        if tensor.device != x.device:
            raise ValueError(f"{name} is on {tensor.device}, x on {x.device}")
        if not tensor.is_floating_point() or tensor.dtype == torch.float64:
            raise ValueError(f"{name} is {tensor.dtype}; the kernel computes in float32")
        if tensor.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{name} needs a gradient; this kernel has no backward")
