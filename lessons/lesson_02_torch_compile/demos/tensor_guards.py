"""Which properties of a tensor are guarded besides its size? The control is a new tensor with the same properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + 1)


def run(lab: Lab) -> None:
    def new(dtype: torch.dtype = torch.float32, device: str = lab.device) -> torch.Tensor:
        return torch.randn(4, 8, device=device).to(dtype)

    elsewhere = "cpu" if lab.device == "cuda" else "meta"  # Every torch has these two devices.
    watched = lab.watch(f)
    lab.observe_call("first", "f32", watched.call(new()), why="first", expect=1)
    lab.observe_call("control", "f32", watched.call(new()), why="control", expect=0, ask="again")
    changed = (
        ("f64", new(torch.float64), "dtype"),
        ("bf16", new(torch.bfloat16), "dtype"),
        ("requires_grad", new().requires_grad_(), "grad"),
        ("device", new(device=elsewhere), "device"),
    )
    for name, x, why in changed:
        call = watched.call(x, compare=name != "device")
        lab.observe_call("metadata", name, call, why=why, expect=1, ask=name.replace("_", "-"))
    x = torch.randn(8, 4, device=lab.device).t()
    lab.observe_call("layout", "transposed", watched.call(x), why="layout", expect=1, ask="transposed")
