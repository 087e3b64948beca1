"""The fused block four ways beside the floor: kernels, bytes, device time and what a caller waits. The control is the
large input, behind which every wrapper hides."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kernels import accuracy, bench, clock
from kernels.block import fused_block

if TYPE_CHECKING:
    from tutor.lab.child import Lab

SIZES = {"small": (8, 256, 4096), "middle": (16, 2048, 4096), "large": (16, 2048, 8192)}


class Moved(TorchDispatchMode):  # type: ignore[misc]
    """Bytes that the ops called under it read and write, by the sizes of their tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes: int = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        flat, _ = torch.utils._pytree.tree_flatten((args, kwargs, result))
        self.bytes += sum(each.numel() * each.element_size() for each in flat if isinstance(each, torch.Tensor))
        return result


def moved_by(call: Callable[[], object]) -> int:
    """Bytes that a chain of eager ops moves."""
    moved = Moved()
    with moved:
        call()
    return moved.bytes


def run(lab: Lab) -> None:
    with torch.no_grad():
        for name, size in SIZES.items():
            observe_size(lab, name, size)


def observe_size(lab: Lab, name: str, size: tuple[int, ...]) -> None:
    inputs = accuracy.usual(size, lab.device)
    sides: dict[str, Callable[[], object]] = {"floor": clock.floor_of(inputs[0], inputs[4])}
    sides |= bench.compiled_sides(inputs)
    sides["hand"] = partial(fused_block, *inputs)
    sides = {side.replace("max-autotune", "autotune"): call for side, call in sides.items()}
    one_tensor = inputs[0].numel() * inputs[0].element_size()
    fused = 3 * one_tensor + sum(each.numel() * each.element_size() for each in inputs[1:4])
    for side, call in sides.items():
        read_and_written = moved_by(call) if side == "eager" else fused if side != "floor" else 3 * one_tensor
        values = {"kernels": len(lab.kernels(call)), "tensors_moved": round(read_and_written / one_tensor, 2)}
        lab.observe("kernels", values, call=f"{side} {size}", why="traffic")
    replays = {side: clock.replay_of(call) for side, call in sides.items()}
    ways = {
        "graph_cold": (replays, True),
        "graph_warm": (replays, False),
        "launch_cold": (sides, True),
        "launch_warm": (sides, False),
    }
    timed: dict[str, Any] = {
        way: {side: lab.spread(us) for side, us in clock.device_times(those, n=100, cold=cold).items()}
        for way, (those, cold) in ways.items()
    }
    timed["caller"] = lab.race(sides, n=100, clock="caller")
    for way, us in timed.items():
        values = {f"{side}_us": each for side, each in us.items()}
        values |= {f"{side}_of_floor": round(each["p50"] / us["floor"]["p50"], 3) for side, each in us.items()}
        ask, place = question(name, way, us)
        series = "control" if (name, way) == ("large", "caller") else f"{name}_{way}"
        why = "control" if series == "control" else "wrapper" if way == "caller" else "device"
        lab.observe(series, values, call=f"{size} {way}", ask=ask, answer=place, why=why)


def question(name: str, way: str, us: dict[str, Any]) -> tuple[str | None, int | None]:
    """The ask that these times answer, and its answer."""
    slower = int(us["inductor"]["p50"] > us["eager"]["p50"])
    if name == "small" and way in ("graph_cold", "caller"):
        return ("kernel" if way == "graph_cold" else "caller"), slower
    if (name, way) == ("large", "graph_cold"):
        ratio = us["inductor"]["p50"] / us["floor"]["p50"]
        return "floor", sum(ratio >= bound for bound in (1.3, 2.0))
    return None, None
