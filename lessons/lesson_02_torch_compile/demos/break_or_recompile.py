"""Are a graph break and a recompile the same event? The control has neither."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab


def plain(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    return y + 1


def prints(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    print("step")
    return y + 1


def run(lab: Lab) -> None:
    def new(rows: int) -> torch.Tensor:
        return torch.randn(rows, 8, device=lab.device)

    for series, label, function, second, expect, why in (
        ("control", "(4, 8), (4, 8)", plain, 4, (0, 0), "control"),
        ("break", "print: (4, 8), (4, 8)", prints, 4, (1, 0), "break"),
        ("recompile", "(4, 8), (9, 8)", plain, 9, (0, 1), "recompile"),
    ):
        watched = lab.watch(function)
        calls = [watched.call(new(rows)) for rows in (4, second)]
        breaks, recompiles = (
            sum(len(each) for each in (call.breaks for call in calls)),
            sum(bool(c.said) for c in calls),
        )
        graphs = sum(call.new_graphs for call in calls)
        lab.observe(
            series,
            {"breaks": breaks, "recompiles": recompiles, "new_graphs": graphs},
            call=label,
            ask=series,
            answer=1 if breaks and not recompiles else 2 if recompiles and not breaks else 3 if breaks else 0,
            said=[*calls[0].breaks, *calls[1].said],
            why=why if (breaks, recompiles) == expect else "unexpected",
        )
