"""What does `fullgraph=True` assert? The control is a function without a break."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab


def whole(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + 1)


def prints(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    print("step")
    return y + 1


def clock(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    time.time()
    return y + 1


def branch(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    if y.sum() > 0:
        return y + 1
    return y - 1


def item(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + x.sum().item()


def nonzero(x: torch.Tensor) -> torch.Tensor:
    return torch.nonzero(x * 2) + 1


CASES = (
    ("control", "no break", whole, None, "control"),
    ("stops", "print", prints, "print", "stops"),
    ("stops", "time.time()", clock, None, "stops"),
    ("stops", "if y.sum() > 0", branch, "branch", "stops"),
    ("captured", ".item()", item, "item", "captured"),
    ("captured", "torch.nonzero", nonzero, "nonzero", "captured"),
)


def run(lab: Lab) -> None:
    x = torch.ones(4, 8, device=lab.device)
    for series, label, function, ask, why in CASES:
        breaks = len(lab.watch(function).attempt(x).breaks)
        call = lab.watch(function, fullgraph=True).attempt(x)
        lab.observe(
            series,
            {"raised": call.raised or "nothing", "default_breaks": breaks},
            call=label,
            ask=ask,
            answer=int(bool(call.raised)) if ask else None,
            said=call.said,
            why=why if bool(call.raised) == (series == "stops") else "unexpected",
        )
    watched = lab.watch(whole, fullgraph=True, dynamic=False)
    for rows in range(2, 11):
        call = watched.attempt(torch.ones(rows, 8, device=lab.device))
        if rows in (9, 10):
            ninth = rows == 10
            lab.observe(
                "limit" if ninth else "below",
                {"raised": call.raised or "nothing"},
                call=f"({rows}, 8)",
                ask="limit" if ninth else None,
                answer=int(bool(call.raised)) if ninth else None,
                why="limit" if ninth else "control",
            )
