"""Is a break an error? By default it is not; under `fullgraph=True`, the control, the same line stops the call."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

LOG = logging.getLogger("tutor.demo")
LOG.addHandler(logging.NullHandler())
LOG.propagate = False


def core(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + 1)


def serve(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    LOG.info("request served")
    return torch.relu(y + 1)


def run(lab: Lab) -> None:
    x = torch.randn(4, 8, device=lab.device)
    call = lab.watch(serve).call(x)
    lab.observe(
        "default",
        {"raised": "nothing", "new_graphs": call.new_graphs, "same_as_eager": call.same_as_eager},
        call="serve(x)",
        ask="default",
        answer=0,
        said=call.breaks,
        why="partition",
    )
    for series, label, function in (
        ("fullgraph", "serve(x), fullgraph=True", serve),
        ("core", "core(x), fullgraph=True", core),
    ):
        call = lab.watch(function, fullgraph=True).attempt(x)
        expected = bool(call.raised) == (series == "fullgraph")
        lab.observe(
            series,
            {"raised": call.raised or "nothing", "new_graphs": call.new_graphs},
            call=label,
            ask=series,
            answer=int(bool(call.raised)),
            said=call.said,
            why={"fullgraph": "stopped", "core": "core"}[series] if expected else "unexpected",
        )
