"""Kernels for the optional exercise: honest ones, and one for each known way to look right or fast without being it."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DRAFT = (ROOT / "lessons/lesson_02_torch_compile/exercise/fused_kernel.py").read_text(encoding="utf-8")

_HEAD = """\
import triton
import triton.language as tl

MAX_BLOCK = 16384
{before}
@triton.jit
def gelu(v):
    {gelu}

@triton.jit
def fused_kernel(
    x, bias, weight, shift, residual, out, x_stride, residual_stride, out_stride, eps,
    H: tl.constexpr, BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    inside = c < H
    v = tl.load(x + row * x_stride + c, mask=inside, other=0.0).to(tl.float32)
    v += tl.load(bias + c, mask=inside, other=0.0).to(tl.float32)
    v = tl.where(inside, gelu(v), 0.0)
    {between}
    mean = tl.sum(v, 0) / H
    d = tl.where(inside, v - mean, 0.0)
    {variance}
    y = d / tl.sqrt(var + eps) * tl.load(weight + c, mask=inside, other=0.0).to(tl.float32)
    y += tl.load(shift + c, mask=inside, other=0.0).to(tl.float32)
    y += tl.load(residual + row * residual_stride + c, mask=inside, other=0.0).to(tl.float32)
    {store}
"""
_ERF = "return 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))"
_EXP2 = """a = tl.abs(v)
    p = -0.04944257 + a * (0.006198093 + a * -0.00035968685)
    p = -1.0000831 + a * (-1.1498495 + a * (-0.46256274 + a * p))
    return tl.maximum(v, 0.0) - a * tl.exp2(p)"""
_TANH = "return v * tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))"
_STORE = "tl.store(out + row * out_stride + c, y.to(out.dtype.element_ty), mask=inside)"


def kernel(
    *,
    before: str = "",
    gelu: str = _ERF,
    between: str = "",
    variance: str = "var = tl.sum(d * d, 0) / H",
    store: str = _STORE,
) -> str:
    return _HEAD.format(before=before, gelu=gelu, between=between, variance=variance, store=store)


#: Right ones: the draft as it is shipped, a row in registers, and the lesson's own GELU, with no erf in it.
HONEST = {
    "the draft, in pieces": DRAFT,
    "a row in registers": kernel(),
    "the lesson's GELU": kernel(gelu=_EXP2),
}

#: Refused when it is read: name -> the text and the key of the sentence that says why.
REFUSED = {
    "a library does the work": (kernel(before="import torch"), "import"),
    "the clock is patched": (kernel(before="from torch.cuda import Event"), "import"),
    "a cache between calls": (kernel(before="CACHE = {}"), "statement"),
    "the reference is overwritten": (kernel(before="triton.jit = None"), "statement"),
    "something runs at exit": (kernel(before="print(1)"), "statement"),
    "another launcher": (kernel(before="def launch():\n    pass\n"), "decorator"),
    "a wrapper that caches": (
        kernel().replace("@triton.jit\ndef fused", "@triton.heuristics({})\n@triton.jit\ndef fused"),
        "decorator",
    ),
    "a default that runs": (
        kernel().replace("BLOCK: tl.constexpr,", "BLOCK: tl.constexpr = 1,"),
        "parameters",
    ),
    "a type parameter that runs": (
        kernel().replace("def fused_kernel(", "def fused_kernel[T: print(1)](", 1),
        "parameters" if sys.version_info >= (3, 12) else "syntax",
    ),
    "a lazy class": (kernel(before="class Lazy:\n    pass\n"), "statement"),
    "attributes of an object": (kernel(between="m = v.handle"), "attribute"),
    "the stack is inspected": (kernel(between="m = v.__class__"), "attribute"),
    "tl from inside": (kernel(between="m = tl.core"), "attribute"),
    "inline assembly": (
        kernel(between='m = tl.inline_asm_elementwise("", "=f", [v], tl.float32, True, 1)'),
        "attribute",
    ),
    "atomics": (kernel(between="tl.atomic_add(out, 1.0)"), "attribute"),
    "a pointer from a number": (kernel(between="m = tl.pointer_type(tl.float32)"), "attribute"),
    "a builtin": (kernel(between="m = eval('1')"), "call"),
    "a name from outside": (kernel(between="m = print"), "unknown"),
    "an import inside": (kernel(between="import os"), "construct"),
    "a lambda": (kernel(between="m = lambda: 1"), "construct"),
    "a comprehension": (kernel(between="m = [i for i in range(3)]"), "construct"),
    "an endless loop": (kernel(between="while True:\n        pass"), "construct"),
    "tl under another meaning": (kernel(between="tl = 1"), "name"),
    "another encoding": ("# -*- coding: utf-7 -*-\n" + kernel(), "encoding"),
    "a text that hides its end": (kernel(before="# \x0c\x1b[2K"), "encoding"),
    "nested without end": (kernel(between="m = " + "-" * 15000 + "1"), "nested"),
    "other parameters": (kernel().replace("eps,", "epsilon,", 1).replace("+ eps", "+ epsilon"), "parameters"),
    "a library's own function": (kernel(between="m = tl.extra.cuda.libdevice.erf(v)"), "attribute"),
    "a flood of printing": (kernel(between='tl.device_print("v", v)'), "attribute"),
    "printing while it compiles": (kernel(between='tl.static_print("v")'), "attribute"),
    "a barrier": (kernel(between="tl.debug_barrier()"), "attribute"),
    "a lock between programs": (kernel(between="m = tl.atomic_cas(out, 0, 1)"), "attribute"),
    "settings that try themselves out": (
        kernel().replace("@triton.jit\ndef fused", "@triton.autotune(configs=[], key=['H'])\n@triton.jit\ndef fused"),
        "decorator",
    ),
    "more warps than a GPU has": (kernel(before="NUM_WARPS = 64"), "setting"),
    "a block that is everything": (kernel(before="MAX_BLOCK = 1 << 20"), "setting"),
    "no kernel": ("import triton\n", "no-kernel"),
    "no Python": ("def (", "syntax"),
    "a setting that is computed": (kernel(before="NUM_WARPS = 2 + 2"), "setting"),
}

#: Runs and comes out wrong: name -> the text and the keys of the sentences that may say why.
WRONG = {
    "nothing is written, what an earlier call left is hoped for": (kernel(store="pass"), {"wrong-unwritten"}),
    "work is skipped for all rows but the first": (
        kernel(store=f"if row == 0:\n        {_STORE}"),
        {"wrong-unwritten"},
    ),
    "the input is the cache": (
        kernel(store=_STORE + "\n    tl.store(x + row * x_stride + c, v.to(x.dtype.element_ty), mask=inside)"),
        {"wrong-input"},
    ),
    "a flag is left behind the output": (
        kernel(store=_STORE + "\n    tl.store(out - 1 + c, y.to(out.dtype.element_ty), mask=c == 0)"),
        {"wrong-outside"},
    ),
    "the block's end is written too": (
        kernel(store=_STORE.replace("mask=inside", "mask=c < H + 1")),
        {"wrong-outside", "wrong-value", "wrong-unwritten", "wrong-finite"},
    ),
    "the row's stride is taken for its length": (
        kernel(store=_STORE.replace("row * out_stride", "row * H")),
        {"wrong-outside", "wrong-unwritten"},
    ),
    "only powers of two are right": (
        kernel(variance="var = tl.sum(d * d, 0) / BLOCK"),
        {"wrong-value"},
    ),
    "precision dropped before the statistics": (
        kernel(
            between="v = v.to(tl.bfloat16).to(tl.float32) * 1.0\n    v = (v * 16.0).to(tl.int32).to(tl.float32) / 16.0"
        ),
        {"wrong-value", "wrong-finite"},
    ),
    "E[v^2] - mean^2": (kernel(variance="var = tl.sum(v * v, 0) / H - mean * mean"), {"wrong-value", "wrong-finite"}),
    "GELU by tanh": (kernel(gelu=_TANH), {"wrong-value"}),
    "no GELU": (kernel(gelu="return v"), {"wrong-value"}),
    "the residual is copied": (
        kernel(store="tl.store(out + row * out_stride + c, (y - y + 1.0).to(out.dtype.element_ty), mask=inside)"),
        {"wrong-value", "wrong-finite"},
    ),
    "NaN is made to go away": (
        kernel(store="y = tl.where(y == y, y, 0.0)\n    " + _STORE),
        {"wrong-finite"},
    ),
    "it does not compile": (kernel(between="m = tl.load(v, 3, 4, 5, 6, 7, 8, 9, 10)"), {"raised", "raised-line"}),
    "an address outside everything": (
        kernel(store=_STORE + "\n    tl.store(x + (row + 1) * 1152921504606846976, 1.0)"),
        {"died", "raised", "raised-line"},
    ),
    "something is left where no tensor is": (
        kernel(store=_STORE + "\n    tl.store(out + 5000 + row, 1.0)"),
        {"wrong-stray", "wrong-outside"},
    ),
    "only aligned tensors": (
        kernel(store="y = tl.where(x.to(tl.int64) % 16 == 0, y, 0.0)\n    " + _STORE),
        {"wrong-value", "wrong-finite"},
    ),
    "only the sizes that are usual": (
        kernel(between="if H > 8192:\n        v = (v * 8.0).to(tl.int32).to(tl.float32) / 8.0"),
        {"wrong-value"},
    ),
    "only few programs, as when it is judged": (
        kernel(store=f"if tl.num_programs(0) < 12:\n        {_STORE}"),
        {"wrong-skipped"},
    ),
    "every other row where there are many": (
        kernel(store="y = tl.where((tl.num_programs(0) < 12) | (row % 2 == 0), y, 1.0)\n    " + _STORE),
        {"wrong-value"},
    ),
    "one row where there are many": (
        kernel(store=f"y = tl.where((tl.num_programs(0) > 12) & (row == 5), 1.0, y)\n    {_STORE}"),
        {"wrong-value"},
    ),
    "only rows that lie near each other": (
        kernel().replace("row * x_stride", "row * tl.minimum(x_stride, H + 9)"),
        {"wrong-value", "wrong-finite"},
    ),
    "an input is changed where there are many rows": (
        kernel(
            store=_STORE + "\n    if tl.num_programs(0) > 12:\n"
            "        tl.store(residual + row * residual_stride + c, y.to(out.dtype.element_ty), mask=inside)"
        ),
        {"wrong-input"},
    ),
    "what is there is kept unless it is poison": (
        kernel(
            store="old = tl.load(out + row * out_stride + c, mask=inside, other=0.0)\n    "
            + _STORE.replace("mask=inside", "mask=inside & (old != old)")
        ),
        {"wrong-unwritten"},
    ),
    "a program counts on the one before": (
        kernel(
            store="old = tl.load(out + (row - 1) * out_stride + c, mask=inside & (c < c + row), other=0.0)\n"
            "    old = old.to(tl.float32)\n"
            "    late = (tl.num_programs(0) > 12) & ((old != old) | (old > 1000000.0))\n"
            "    y = tl.where(late, 1.0, y)\n    " + _STORE
        ),
        {"wrong-value"},
    ),
    "what lies behind a row is taken for zeros": (
        kernel(between="v = tl.load(x + row * x_stride + c).to(tl.float32)"),
        {"wrong-value", "wrong-finite", "died", "raised"},
    ),
    "a row without columns is written": (
        kernel(store=_STORE.replace("mask=inside", "mask=c < tl.maximum(H, 1)")),
        {"wrong-outside"},
    ),
}

#: A size to time whose number of programs no other call has.
TIMED_SHAPE = (16, 96)
_MANY = f"tl.num_programs(0) == {TIMED_SHAPE[0]}"
#: Right in every call but the timed ones: name -> the text and the keys of the sentences that may say why.
TIMED = {
    "a timed call that finds a result leaves it": (
        kernel(
            store="old = tl.load(out + row * out_stride + c, mask=inside, other=0.0)\n    "
            + _STORE.replace("mask=inside", "mask=inside & ((old != old) | (c - c + tl.num_programs(0) != 16))")
        ),
        {"wrong-skipped"},
    ),
    "half of the timed rows": (
        kernel(store=f"y = tl.where(({_MANY}) & (row % 2 == 0), 1.0, y)\n    " + _STORE),
        {"wrong-value"},
    ),
    "the timed input is changed": (
        kernel(store=_STORE + f"\n    if {_MANY}:\n        tl.store(bias + c, 1.0, mask=inside)"),
        {"wrong-input"},
    ),
    "a timed call leaves a mark": (
        kernel(store=_STORE + f"\n    if {_MANY}:\n        tl.store(out + 5000, 1.0)"),
        {"wrong-stray"},
    ),
}
#: What depends on which program is first: on a GPU it may come out right now and then, in the interpreter never.
RACY = frozenset(("a program counts on the one before",))
#: Takes more memory than there is.
GREEDY = kernel(
    between="held = (v, v)\n    for i in range(0, 1 << 20):\n        held = (held, tl.zeros((1 << 20,), tl.float64))"
)
#: Runs until it is stopped.
ENDLESS = kernel(between="for i in range(0, 1 << 60):\n        v += 1.0")
