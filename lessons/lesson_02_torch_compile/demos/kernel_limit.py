"""From a first draft to the memory limit, one change at a time. The control leaves GELU out and keeps the bytes."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kernels import accuracy, clock
from kernels.block import fused_block
from kernels.steps import PROBES, STEPS

if TYPE_CHECKING:
    from tutor.lab.child import Lab

SIZES = ((16, 2048, 4096), (16, 2048, 8192))
#: The units that may be the limit, in the order of the choices, and the variant that would be as slow as erf then.
UNITS = ("none", "special", "adds")


def run(lab: Lab) -> None:
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    for size in SIZES:
        inputs = accuracy.usual(size, lab.device)
        replays = {"floor": clock.replay_of(clock.floor_of(inputs[0], inputs[4]))}
        for step in (*STEPS, *PROBES):
            launch = step.launch(size[0] * size[1], size[2], l2_bytes)
            replays[step.name] = clock.replay_of(partial(fused_block, *inputs, gelu=step.gelu, launch=launch))
        us = {name: lab.spread(each) for name, each in clock.device_times(replays, n=100, cold=True).items()}
        times = {name: each["p50"] / us["floor"]["p50"] for name, each in us.items()}
        observe_size(lab, str(size), us, times, asked=size == SIZES[-1])
    for name, make in {"usual": accuracy.usual, "tail": accuracy.HARD["the tail of GELU"]}.items():
        inputs = make((256, 4096), lab.device)
        wrong = {step.name: accuracy.excess(fused_block(*inputs, gelu=step.gelu), inputs) for step in STEPS}
        values = {f"{step}_wrong": round(value, 2) for step, value in wrong.items()}
        asks: dict[str, Any] = {"ask": "tail", "answer": int(wrong["tanh"] > 1)} if name == "tail" else {}
        lab.observe("wrong", values, call=name, why="wrong", **asks)


def observe_size(lab: Lab, call: str, us: dict[str, Any], times: dict[str, float], *, asked: bool) -> None:
    """Each step beside the floor; of the last size also the answers."""
    lab.observe("control", {"floor_us": us["floor"], "none_us": us["none"]}, call=call, why="control")
    for step in STEPS:
        values = {"step_us": us[step.name], "times_floor": round(times[step.name], 3)}
        lab.observe(step.name, values, call=call, why="step")
    place = limit(times)
    values = {f"{name}_times": round(times[name], 3) for name in ("erf", *UNITS)}
    lab.observe("unit", values, call=call, ask="unit" if asked else None, answer=place if asked else None, why="unit")
    if asked:
        place = sum(times["launch"] >= bound for bound in (1.1, 1.3))
        lab.observe("reached", {"times_floor": round(times["launch"], 3)}, call=call, ask="reached", answer=place)


def limit(times: dict[str, float]) -> int:
    """Which of UNITS comes closest to the time of erf."""
    return min(range(len(UNITS)), key=lambda n: abs(times[UNITS[n]] - times["erf"]))
