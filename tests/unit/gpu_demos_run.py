"""Runs the demos that need a GPU without one, their clock and CUDA graphs replaced, and prints what they observed, as
JSON; see test_gpu_demos.py. Kernels run in Triton's interpreter."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lessons" / "lesson_02_torch_compile" / "demos"))

import torch

from kernels import accuracy, bench, clock
from kernels.block import fused_block
from kernels.steps import PROBES, STEPS

SMALL = (2, 3, 64)


class Heard:
    """A voice that keeps what it was to say."""

    def __init__(self) -> None:
        self.said: list[dict[str, Any]] = []

    def say(self, event: str, **fields: Any) -> None:
        self.said.append({"event": event, **fields})


def places(sides: Any, *, n: int, cold: bool) -> dict[str, list[float]]:
    """Every side called once; the times are its place, so that each is told from the others."""
    for side in sides.values():
        side()
    return {name: [float(10 + place + cold)] * n for place, name in enumerate(sides)}


def observed(name: str, **changes: Any) -> list[dict[str, Any]]:
    demo = importlib.import_module(name)
    for what, value in changes.items():
        setattr(demo, what, value)
    for part in ("machine", "gpus", "probe", "timing"):  # As the parent loads them for its child.
        sys.modules[f"tutor_lab_{part}"] = importlib.import_module(f"tutor.lab.{part}")
    voice: Any = Heard()
    lab = importlib.import_module("tutor.lab.child").Lab(voice, "cpu")
    for what in ("kernels", "gpu_work"):
        setattr(lab, what, lambda call: [("relu_kernel", 1.0)] if call() is not None else [])
    lab.race = lambda sides, *, n, **_: {name: lab.spread(us) for name, us in places(sides, n=n, cold=False).items()}
    demo.run(lab)
    return list(voice.said)


def drawn() -> list[dict[str, Any]]:
    """The launch-bound demo, whose drawings go to the printed lines and not among the events."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        said = observed("launch_bound", LARGE=64, inputs=lambda _size, device: accuracy.usual((2, 8, 64), device))
    return [*said, {"drawn": printed.getvalue().splitlines()}]


def probes() -> dict[str, float]:
    """How far the probes that do more work are from the kernel that they do it in: their results are to be its."""
    inputs = tuple(each.float() for each in accuracy.usual((4, 96), "cpu"))
    steps = {step.name: fused_block(*inputs, gelu=step.gelu) for step in (*STEPS, *PROBES)}
    return {name: float((steps[name] - steps["exp2"]).abs().max()) for name in ("special", "adds", "none")}


def main() -> None:
    torch.compile = lambda function, **_options: function
    torch.cuda.get_device_properties = lambda _device: SimpleNamespace(L2_cache_size=0)
    clock.replay_of = lambda side: side
    clock.device_times = places
    bench.compiled_sides = lambda inputs: {
        name: lambda: accuracy.block(*inputs) for name in ("eager", "inductor", "max-autotune")
    }
    usual = accuracy.usual
    accuracy.usual = lambda shape, *rest: usual(shape if len(shape) == 3 else (4, 96), *rest)
    accuracy.HARD["the tail of GELU"] = lambda _shape, device: usual((4, 96), device, seed=1)
    found: dict[str, Any] = {
        "kernel_limit": observed("kernel_limit", SIZES=(SMALL,)),
        "fused_block": observed("fused_block", SIZES=dict.fromkeys(("small", "middle", "large"), SMALL)),
        "cudagraph_refused": observed("cudagraph_refused"),
        "cudagraph_keep": observed("cudagraph_keep", by_hand=lambda _lab, _one: None, LARGE=64),
        "launch_bound": drawn(),
    }
    import fused_block as fused
    import kernel_limit as limit
    import static_dynamic

    found["limits"] = [
        limit.limit({"erf": 1.5, "none": 1.5, "special": 1.0, "adds": 1.1}),
        limit.limit({"erf": 1.5, "none": 1.0, "special": 1.6, "adds": 1.1}),
        limit.limit({"erf": 1.5, "none": 1.0, "special": 1.0, "adds": 1.4}),
    ]
    inputs = usual((8, 64), "cpu")
    found["moved"] = fused.moved_by(lambda: accuracy.block(*inputs)) / (inputs[0].numel() * 2)
    found["guard"] = static_dynamic.size_guard("| +- check_tensor(L['x'], size=[8, None], stride=[4, 1])")
    static, dynamic = "r0_numel = 4096\nsame\n# xnumel", "r0_numel = ks0\nsame\nother"
    found["lines"] = static_dynamic.differing(static, dynamic)
    found["probes"] = probes()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
