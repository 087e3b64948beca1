"""What the layers of torch.compile make of one small function.

Observed: `layer`, a name and a part of its text, in order; `source`, the function; `end`, what stopped the rest.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

#: Characters of one part: a line of events has a bound in bytes, and a character may take six of them.
PART = 10_000


def f(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    h = torch.nn.functional.gelu(x @ w)
    return (h * h).sum()


def run(lab: Lab) -> None:
    x = torch.randn(8, 16, device=lab.device)
    w = torch.randn(16, 4, device=lab.device, requires_grad=True)
    lab.observe("source", {"text": inspect.getsource(f)})
    made, stopped = lab.layers(f, x, w)
    for name, text in made.items():
        for start in range(0, len(text), PART):
            lab.observe("layer", {"name": name, "text": text[start : start + PART]})
    lab.observe("end", {"stopped": stopped[:2000] if stopped else None})
