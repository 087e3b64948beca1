"""Does `dynamic=True` free memory layouts as it frees sizes? The control passes contiguous copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + 1)


def run(lab: Lab) -> None:
    def new(*size: int) -> torch.Tensor:
        return torch.randn(size, device=lab.device)

    sizes = {"(8, 16)": new(8, 16), "(9, 17)": new(9, 17)}
    layouts = {
        "(16, 8).t()": new(16, 8).t(),
        "(8, 32)[:, :16]": new(8, 32)[:, :16],
        "(8, 32)[:, ::2]": new(8, 32)[:, ::2],
        "(1, 16).expand(8, 16)": new(1, 16).expand(8, 16),
    }
    watched = lab.watch(f, dynamic=True)
    for number, (label, x) in enumerate(sizes.items(), 1):
        why = "first" if number == 1 else "size"
        lab.observe_call("sizes", label, watched.call(x), why=why, expect=2 - number, ask=f"call-{number}")
    for number, (label, x) in enumerate(layouts.items(), 3):
        lab.observe_call("layouts", label, watched.call(x), why="layout", expect=1, ask=f"call-{number}")
    watched = lab.watch(f, dynamic=True)
    watched.call(sizes["(8, 16)"])
    for label, x in layouts.items():
        call = watched.call(x.contiguous())
        lab.observe_call("control", f"{label}.contiguous()", call, why="control", expect=0)
