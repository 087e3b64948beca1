"""What mode="reduce-overhead" makes no CUDA graph of, and why by torch's own words. The control is a plain function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

SIZE = 64


def plain(x: torch.Tensor, _host: torch.Tensor) -> torch.Tensor:
    return torch.relu(x) + 1


def host_tensor(x: torch.Tensor, host: torch.Tensor) -> torch.Tensor:
    return torch.relu(x) + host.to(x.device)


def mutated(x: torch.Tensor, _host: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return torch.relu(x) * 2


def by_data(x: torch.Tensor, _host: torch.Tensor) -> torch.Tensor:
    return torch.relu(x)[x > 0] * 2


#: The function by its ask.
CASES: dict[str, Callable[..., torch.Tensor]] = {
    "plain": plain,
    "host-tensor": host_tensor,
    "mutated": mutated,
    "by-data": by_data,
}
#: In parts, as newer torch does by default, and the whole graph or nothing.
WAYS: dict[str, dict[str, object]] = {"parts": {}, "whole": {"graph_partition": False}}


def run(lab: Lab) -> None:
    for way, options in WAYS.items():
        for ask, function in CASES.items():
            torch.compiler.reset()
            recordings, said = tried(lab, function, options)
            values = {"recordings": recordings, "skips": len(said)}
            series = "control" if ask == "plain" else way
            why = "control" if ask == "plain" else "recorded" if recordings else "refused"
            mine, answer = (ask, recordings) if way == "parts" else (None, None)
            lab.observe(series, values, call=f"{ask}, {way}", ask=mine, answer=answer, said=said[:3], why=why)


def tried(lab: Lab, function: Callable[..., torch.Tensor], options: dict[str, object]) -> tuple[int, list[str]]:
    """How many CUDA graphs are recorded in four calls of one size, and what torch says where it makes none.

    The options are those of reduce-overhead, which cannot be named together with others.
    """
    served = torch.compile(function, dynamic=False, options={"triton.cudagraphs": True, **options})
    host = torch.ones(SIZE)
    with torch.no_grad(), lab.recordings() as recorded, lab.cudagraph_skips() as skipped:
        for _ in range(4):
            # As many are positive each time, so that nothing else than the data's place changes.
            x = torch.ones(SIZE, device=lab.device)
            x[: SIZE // 2] = -1
            served(x, host)
        lab.settle()
    return len(recorded), skipped
