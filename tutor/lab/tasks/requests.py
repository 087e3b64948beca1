"""The request lab's child: the same requests, one after the other, through one compiled function.

params: `requests`, a list of tables (shape, dtype, device, layout, grad); `dynamic`, one of None, False, True, mark.
Each request is observed in the series `dynamo`, in order; the first observation, `limit`, is how many entries
fit and where a request that names no device is made.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

DTYPES = {
    "f32": torch.float32,
    "f64": torch.float64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
    "bool": torch.bool,
}


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x + 1)


def run(lab: Lab) -> None:
    mode = lab.params["dynamic"]
    options = {} if mode in ("None", "mark") else {"dynamic": mode == "True"}
    watched = lab.watch(f, **options)
    lab.observe("limit", {"entries": lab.entry_limit(), "device": lab.device})
    for asked in lab.params["requests"]:
        device = asked["device"] or lab.device
        if device == "cuda" and not torch.cuda.is_available():
            lab.observe("dynamo", {"ended": "unavailable", "text": "cuda"}, call=str(asked["shape"]))
            continue
        x = make(asked, device)
        if mode == "mark":
            for dim in (0, 1)[: x.dim()]:
                torch._dynamo.mark_dynamic(x, dim)
        try:
            with torch.no_grad() if asked["grad"] == "no_grad" else contextlib.nullcontext():
                call = watched.call(x)
        except Exception as error:  # Of torch or of the request; the next one may go well.
            text = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
            lab.observe("dynamo", {"ended": "error", "text": text[:500]}, call=lab.describe(x))
            continue
        lab.observe(
            "dynamo",
            {
                "ended": "ok",
                "new_graphs": call.new_graphs,
                "served_by": call.served_by,
                "same_as_eager": call.same_as_eager,
                "strides": list(x.stride()),
            },
            call=lab.describe(x),
            said=call.said,
        )


def make(asked: Mapping[str, Any], device: str) -> torch.Tensor:
    """The tensor of a request; its values do not matter, its layout does."""
    shape, dtype = list(asked["shape"]), DTYPES[asked["dtype"]]
    layout = asked["layout"]
    if layout == "transposed":
        x = torch.ones([*shape[:-2], shape[-1], shape[-2]], dtype=dtype, device=device).transpose(-1, -2)
    elif layout == "sliced":
        x = torch.ones([*shape[:-1], 2 * shape[-1]], dtype=dtype, device=device)[..., ::2]
    elif layout == "expanded":
        x = torch.ones([1, *shape[1:]], dtype=dtype, device=device).expand(shape)
    else:
        x = torch.ones(shape, dtype=dtype, device=device)
    return x.requires_grad_() if asked["grad"] == "requires_grad" else x
