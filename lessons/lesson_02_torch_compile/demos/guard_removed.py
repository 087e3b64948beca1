"""What would the compiled code compute without its guards? The control is an input for which they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + 1)


def run(lab: Lab) -> None:
    first = torch.randn(8, 8, device=lab.device)
    alike, turned = torch.randn(8, 8, device=lab.device), torch.randn(8, 8, device=lab.device).t()
    watched = lab.watch(f)
    watched.call(first)
    lab.observe_call("guarded", "f(x.t())", watched.call(turned), why="guarded", expect=1, ask="guarded")
    code = lab.generated(f, first)
    for series, label, x, why in (
        ("control", "code(x)", alike, "control"),
        ("unguarded", "code(x.t())", turned, "unguarded"),
    ):
        same = torch.allclose(code(x), f(x))
        lab.observe(
            series,
            {"same_as_eager": same},
            call=label,
            ask="code" if series == "unguarded" else None,
            answer=int(same) if series == "unguarded" else None,
            why=why if same == (series == "control") else "unexpected",
        )
