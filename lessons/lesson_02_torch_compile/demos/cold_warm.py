"""What does a first call cost with empty caches, and what helps? The control is a first call in eager.

Run by itself it is the fresh process that is measured.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab


def block(x: torch.Tensor, b: torch.Tensor, w: torch.Tensor, g: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
    """Bias, GELU, LayerNorm and a residual: four ops on one large tensor."""
    h = torch.nn.functional.gelu(x + b)
    return torch.nn.functional.layer_norm(h, (h.shape[-1],), w, g) + r


def inputs(size: tuple[int, ...], device: str) -> list[torch.Tensor]:
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    return [torch.randn(s, device=device, dtype=kind) for s in (size, size[-1:], size[-1:], size[-1:], size)]


def run(lab: Lab) -> None:
    folder = lab.cache / "cold"
    shutil.rmtree(folder, ignore_errors=True)
    cold = lab.fresh(__file__, lab.device, caches=folder)
    seconds = cold["first_s"]
    lab.observe("control", {"first_call_s": cold["eager_s"]}, call="eager", why="control")
    lab.observe(
        "cold",
        {"first_call_s": seconds},
        call="f(x), empty caches",
        ask="cold",
        answer=sum(seconds >= bound for bound in (1, 10, 60)),
        why="cold" if seconds >= 1 else "unexpected",
    )
    warm = lab.fresh(__file__, lab.device, caches=folder)["first_s"]
    lab.observe(
        "warm",
        {"first_call_s": warm},
        call="f(x), same caches, another process",
        ask="warm",
        answer=sum(warm >= share * seconds for share in (0.05, 0.5, 0.95)),
        why="warm" if 0.05 * seconds < warm < seconds else "unexpected",
    )
    lab.observe("warmed", {"first_call_s": cold["again_s"]}, call="f(x) after a warm-up", why="warmed")
    lab.observe("uncovered", {"first_call_s": cold["other_s"]}, call="f(x), a size not warmed up", why="uncovered")
    shutil.rmtree(folder, ignore_errors=True)


def measure(device: str) -> dict[str, float]:
    """Seconds of one call each: eager, compiled for the first time, once more, and at another size."""
    small, large = inputs((4, 64, 512), device), inputs((4, 96, 512), device)
    compiled = torch.compile(block, dynamic=False)

    def seconds(call: Callable[[], object]) -> float:
        began = time.perf_counter()
        call()
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - began

    with torch.no_grad():
        return {
            "eager_s": seconds(lambda: block(*small)),
            "first_s": seconds(lambda: compiled(*small)),
            "again_s": seconds(lambda: compiled(*small)),
            "other_s": seconds(lambda: compiled(*large)),
        }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
