"""How many variants does a mix of requests need? The control is `dynamic=False` on the easy requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

EASY = ((2, 128, 64), (8, 128, 64), (16, 128, 64), (32, 128, 64))
MIXED = ((2, 128, 64), (8, 256, 64), (16, 512, 64), (2, 128, 32), (3, 7, 48), (1, 7, 48), (4, 1, 48))


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + 1)


def run(lab: Lab) -> None:
    def count(sizes: tuple[tuple[int, ...], ...], dynamic: bool | None) -> int:
        watched = lab.watch(f, dynamic=dynamic)
        return sum(watched.call(torch.randn(size, device=lab.device)).new_graphs for size in sizes)

    cases = (
        ("control", "easy, dynamic=False", EASY, False, "control", None),
        ("easy", "easy, dynamic=None", EASY, None, "easy", "easy-auto"),
        ("easy", "easy, dynamic=True", EASY, True, "easy", "easy-true"),
        ("mixed", "mixed, dynamic=None", MIXED, None, "mixed", "mixed-auto"),
        ("mixed", "mixed, dynamic=True", MIXED, True, "mixed", "mixed-true"),
        ("static", "mixed, dynamic=False", MIXED, False, "control", None),
    )
    for series, label, sizes, dynamic, why, ask in cases:
        variants = count(sizes, dynamic)
        lab.observe(series, {"variants": variants}, call=label, ask=ask, answer=variants if ask else None, why=why)
