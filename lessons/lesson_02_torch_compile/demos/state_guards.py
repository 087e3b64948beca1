"""Is the state around a call guarded? The control enters every state a second time, when its graph is there."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + 1)


@contextlib.contextmanager
def threads(count: int) -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def run(lab: Lab) -> None:
    plain = torch.randn(4, 8, device=lab.device)
    other = 1 if torch.get_num_threads() > 1 else 2
    states: tuple[tuple[str, Any, torch.Tensor], ...] = (
        ("plain", contextlib.nullcontext, plain),
        ("no_grad", torch.no_grad, plain),
        ("inference_mode", torch.inference_mode, plain),
        ("requires_grad", contextlib.nullcontext, torch.randn(4, 8, device=lab.device, requires_grad=True)),
        ("autocast", lambda: torch.autocast(lab.device, dtype=torch.bfloat16), plain),
        ("f64", contextlib.nullcontext, plain.double()),
        ("set_num_threads", lambda: threads(other), plain),
    )
    watched = lab.watch(f)
    for series, why, expect in (("default", "new", 1), ("control", "control", 0)):
        for name, state, x in states:
            with state():
                call = watched.call(x)
            ask = name.replace("_", "-") if series == "default" else None
            lab.observe_call(series, name, call, why=why, expect=expect, ask=ask)
