"""Does a test of a size in the code split what one dynamic graph can serve? The control has no such test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

SIZES = (32, 48, 40, 64, 41)
EXPECTED = (1, 0, 1, 0, 0)
WHY = ("first", "same-side", "other-side", "same-side", "same-side")


def tiled(x: torch.Tensor) -> torch.Tensor:
    if x.shape[0] % 16 == 0:
        return x.view(-1, 16, 4).sum(1)
    return x * 2


def plain(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def run(lab: Lab) -> None:
    watched = lab.watch(tiled, dynamic=True)
    for number, (size, expect, why) in enumerate(zip(SIZES, EXPECTED, WHY, strict=True), 1):
        x = torch.randn(size, 4, device=lab.device)
        lab.observe_call("default", lab.describe(x), watched.call(x), why=why, expect=expect, ask=f"call-{number}")
    watched = lab.watch(plain, dynamic=True)
    for number, size in enumerate(SIZES):
        x = torch.randn(size, 4, device=lab.device)
        lab.observe_call("control", lab.describe(x), watched.call(x), why="control", expect=int(number == 0))
