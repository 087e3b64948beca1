"""Which values outside the arguments are guarded? The control changes one that the code does not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab


CONFIG = {"scale": 2}
OFFSET = 3
UNREAD = 1


class Scaled(torch.nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.gain = 2
        self.dropout = torch.nn.Dropout(0.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.dropout(x) * self.gain * CONFIG["scale"] + OFFSET


def run(lab: Lab) -> None:
    global OFFSET, UNREAD
    model = Scaled()
    watched = lab.watch(model, dynamic=False)

    def again(series: str, label: str, why: str, expect: int, size: int = 4, ask: str | None = None) -> None:
        call = watched.call(torch.randn(size, 8, device=lab.device))
        lab.observe_call(series, label, call, why=why, expect=expect, ask=ask)

    again("first", "f32[4, 8]", "first", 1)
    UNREAD += 1
    again("control", "UNREAD += 1", "control", 0, ask="unread")
    CONFIG["scale"] = 5
    again("default", 'CONFIG["scale"] = 5', "value", 1, ask="dict")
    OFFSET = 4
    again("default", "OFFSET = 4", "value", 1, ask="global")
    model.gain = 3
    again("default", "model.gain = 3", "value", 1, ask="attribute")
    model.eval()
    again("default", "model.eval()", "mode", 1, ask="eval")
    again("default", "f32[5, 8]", "size", 1, size=5, ask="size")
