"""Does `dynamic=True` free sizes 0 and 1 too? The control is the same function on sizes from 2 up, where it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

SIZES = (1, 4, 1, 0, 5, 7)
EXPECTED = (1, 1, 0, 1, 0, 0)
WHY = ("first-one", "one-to-four", "one-again", "zero", "hit", "hit")


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + 1)


def run(lab: Lab) -> None:
    watched = lab.watch(f, dynamic=True)
    for number, (size, expect, why) in enumerate(zip(SIZES, EXPECTED, WHY, strict=True), 1):
        x = torch.randn(size, 8, device=lab.device)
        lab.observe_call("default", lab.describe(x), watched.call(x), why=why, expect=expect, ask=f"call-{number}")
    watched = lab.watch(f, dynamic=True)
    for number, size in enumerate((2, 4, 3, 5, 6, 7)):
        x = torch.randn(size, 8, device=lab.device)
        first = number == 0
        lab.observe_call(
            "control",
            lab.describe(x),
            watched.call(x),
            why="control-first" if first else "control-hit",
            expect=int(first),
        )
