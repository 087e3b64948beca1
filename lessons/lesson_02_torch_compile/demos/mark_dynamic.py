"""Do `dynamic=True` and `mark_dynamic` only skip the static compile? The control marks nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab
    from tutor.lab.probe import Watch


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + 1)


def compares(x: torch.Tensor) -> torch.Tensor:
    return x + 1 if x.shape[0] == 4 else x * 2


def run(lab: Lab) -> None:
    def new(rows: int) -> torch.Tensor:
        return torch.randn(rows, 8, device=lab.device)

    def marked(rows: int) -> torch.Tensor:
        x = new(rows)
        torch._dynamo.mark_dynamic(x, 0)
        return x

    def step(
        series: str, label: str, watched: Watch, x: torch.Tensor, why: str, expect: int, ask: bool = False
    ) -> None:
        lab.observe_call(series, label, watched.call(x), why=why, expect=expect, ask=series if ask else None)

    watched = lab.watch(f)
    step("control", "(4, 8)", watched, new(4), "first", 1)
    step("control", "(9, 8)", watched, new(9), "control", 1)
    watched = lab.watch(f, dynamic=True)
    step("true", "(4, 8)", watched, new(4), "first", 1)
    step("true", "(9, 8)", watched, new(9), "skipped", 0, ask=True)
    watched = lab.watch(f)
    step("mark", "(4, 8) marked", watched, marked(4), "first", 1)
    step("mark", "(9, 8) marked", watched, marked(9), "skipped", 0, ask=True)
    watched = lab.watch(f)
    step("view", "(4, 8) marked, then [:]", watched, marked(4)[:], "first", 1)
    step("view", "(9, 8) marked, then [:]", watched, marked(9)[:], "view", 1, ask=True)
    watched = lab.watch(f)
    step("late", "(4, 8)", watched, new(4), "first", 1)
    step("late", "(4, 8) marked", watched, marked(4), "late", 1, ask=True)
    watched = lab.watch(f)
    step("one", "(1, 8) marked", watched, marked(1), "first", 1)
    step("one", "(9, 8) marked", watched, marked(9), "one", 1, ask=True)
    call = lab.watch(compares).attempt(marked(4))
    why = "constant" if call.raised else "unexpected"
    lab.observe("constant", {"raised": call.raised or "nothing"}, call="x.shape[0] == 4", said=call.said, why=why)
