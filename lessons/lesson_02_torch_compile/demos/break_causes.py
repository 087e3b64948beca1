"""What breaks a graph? The control is code of the same kind that can be captured."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

LOG = logging.getLogger("tutor.demo")
LOG.addHandler(logging.NullHandler())
LOG.propagate = False


def straight(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    return y + 1


def chosen(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    return torch.where(y.sum() > 0, y + 1, y - 1)


def prints(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    print("step")
    return y + 1


def item(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    return y + x.sum().item()


def branch(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    if y.sum() > 0:
        return y + 1
    return y - 1


def logs(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    LOG.info("step")
    return y + 1


def clock(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    time.time()
    return y + 1


CASES = (
    ("control", "x * 2 + 1", straight, None),
    ("control", "torch.where", chosen, "where"),
    ("default", "print", prints, "print"),
    ("default", ".item()", item, "item"),
    ("default", "if y.sum() > 0", branch, "branch"),
    ("default", "logging", logs, "logging"),
    ("default", "time.time()", clock, "time"),
)


def run(lab: Lab) -> None:
    x = torch.ones(4, 8, device=lab.device)
    for series, label, function, ask in CASES:
        call = lab.watch(function).call(x)
        control = series == "control"
        expected = call.new_graphs == (1 if control else 2) and len(call.breaks) == int(not control)
        lab.observe(
            series,
            {"breaks": len(call.breaks), "new_graphs": call.new_graphs, "same_as_eager": call.same_as_eager},
            call=label,
            ask=ask,
            answer=len(call.breaks) if ask else None,
            said=call.breaks,
            why=("control" if control else "break") if expected else "unexpected",
        )
