"""Are two sizes that were equal while tracing assumed equal later? The control traces sizes that differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

SIZES = ((8, 8), (16, 16), (8, 16), (4, 12))
EXPECTED = (1, 0, 1, 0)
WHY = ("first", "still-equal", "now-different", "hit")


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + 1)


def run(lab: Lab) -> None:
    watched = lab.watch(f, dynamic=True)
    for number, (size, expect, why) in enumerate(zip(SIZES, EXPECTED, WHY, strict=True), 1):
        x = torch.randn(size, device=lab.device)
        lab.observe_call("default", lab.describe(x), watched.call(x), why=why, expect=expect, ask=f"call-{number}")
    watched = lab.watch(f, dynamic=True)
    for number, size in enumerate(((8, 12), (16, 20), (8, 16), (4, 12))):
        x = torch.randn(size, device=lab.device)
        lab.observe_call("control", lab.describe(x), watched.call(x), why="control", expect=int(number == 0))
