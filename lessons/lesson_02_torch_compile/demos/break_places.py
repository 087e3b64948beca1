"""Does every break split a frame in two? The control has no break."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab


def control(x: torch.Tensor) -> torch.Tensor:
    y = torch.relu(x * 2)
    return torch.relu(y + 1)


def straight(x: torch.Tensor) -> torch.Tensor:
    y = torch.relu(x * 2)
    print("step")
    return torch.relu(y + 1)


def loop(x: torch.Tensor) -> torch.Tensor:
    y = torch.relu(x * 2)
    for _ in range(2):
        print("step")
    return torch.relu(y + 1)


def guarded(x: torch.Tensor) -> torch.Tensor:
    try:
        y = torch.relu(x * 2)
        print("step")
    except ValueError:
        y = x
    return torch.relu(y + 1)


def before(x: torch.Tensor) -> torch.Tensor:
    y = torch.relu(x * 2)
    try:
        print("step")
    except ValueError:
        y = x
    return torch.relu(y + 1)


CASES = (
    ("control", "no break", control, 1, "control"),
    ("straight", "straight", straight, 2, "split"),
    ("inside", "for", loop, 0, "skipped"),
    ("inside", "try", guarded, 0, "skipped"),
    ("before", "ops, then try", before, 1, "partial"),
)


def run(lab: Lab) -> None:
    x = torch.randn(4, 8, device=lab.device)
    for series, label, function, expect, why in CASES:
        call = lab.watch(function).call(x)
        ask = {"straight": "straight", "inside": label}.get(series)
        lab.observe(
            series,
            {
                "new_graphs": call.new_graphs,
                "longest": max(call.ops, default=0),
                "served_by": call.served_by,
                "same_as_eager": call.same_as_eager,
            },
            call=label,
            ask=ask,
            answer=call.new_graphs if ask else None,
            said=call.breaks,
            why=why if call.new_graphs == expect else "unexpected",
        )
