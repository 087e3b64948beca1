"""The whole bench on one GPU: the floor, the launch, eager, Inductor and the hand-written kernel, step by step.

    python bench.py --where "one H200" [--to FILE]

prints a table; FILE gets a transcript with every figure as n, p50, p95, p99 and max. A lab's child can call `run(lab)`.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import torch

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kernels import accuracy, clock
from kernels.block import Launch, fused_block
from kernels.steps import STEPS

SHAPES = ((8, 256, 4096), (16, 2048, 2048), (16, 2048, 4096), (16, 2048, 8192))
LAUNCHES = tuple(Launch(warps, read) for warps in (4, 8, 16) for read in ("", "evict_first"))
#: Calls timed of each side; of the launches, which are many, fewer.
N, N_LAUNCHES = 200, 100
Side = Callable[[], object]


class Observer(Protocol):
    """What `run` needs of a lab."""

    def observe(self, series: str, values: Mapping[str, Any], *, call: str | None = None) -> None: ...


def _lab_module(name: str) -> Any:
    """The lab's own module: the child's where there is one, else by its path in the checkout."""
    if found := sys.modules.get(f"tutor_lab_{name}"):
        return found
    path = Path(__file__).resolve().parents[4] / "tutor" / "lab" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"tutor_lab_{name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"not a Python file: {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def spread(values: Sequence[float]) -> dict[str, Any]:
    found: dict[str, Any] = _lab_module("timing").spread(values)
    return found


def compiled_sides(inputs: accuracy.Inputs) -> dict[str, Side]:
    """Eager, Inductor and max-autotune, compiled for exactly these inputs."""
    # Two entries a shape: without this the fourth shape would meet the limit.
    torch._dynamo.reset()
    sides: dict[str, Side] = {"eager": partial(accuracy.block, *inputs)}
    # Not plain max-autotune, which adds CUDA graphs; those are measured apart, for every side alike.
    for name, mode in (("inductor", "default"), ("max-autotune", "max-autotune-no-cudagraphs")):
        compiled = torch.compile(accuracy.block, fullgraph=True, dynamic=False, mode=mode)
        compiled(*inputs)
        sides[name] = partial(compiled, *inputs)
    return sides


def kernels_launched(side: Side) -> int:
    """How many kernels one call launches, by torch's profiler."""
    side()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        side()
        torch.cuda.synchronize()
    kinds = [event for event in seen.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    return len([event for event in kinds if not event.name.startswith(("Memset", "Memcpy"))])


def run(lab: Observer, shapes: Sequence[tuple[int, int, int]] = SHAPES) -> None:
    """Observe everything. Times are microseconds; `of_floor` is p50 over the floor's p50 of the same way of timing."""
    _launch_latency(lab)
    for shape in shapes:
        _one_shape(lab, shape)


def _launch_latency(lab: Observer) -> None:
    """What a call costs when there is next to nothing to compute."""
    inputs = accuracy.usual((1, 64), "cuda")
    add = clock.floor_of(inputs[0], inputs[4])

    def hundred() -> object:
        return [add() for _ in range(100)]

    compiled = torch.compile(accuracy.block, fullgraph=True, dynamic=False)
    compiled(*inputs)
    host = {
        "one op": add,
        "eager": partial(accuracy.block, *inputs),
        "inductor": partial(compiled, *inputs),
        "hand": partial(fused_block, *inputs),
        "graph replay": clock.replay_of(add),
    }
    for until in ("host", "caller"):
        for name, us in _lab_module("timing").race(host, "cuda", n=N, clock=until).items():
            lab.observe(until, {"side": name, "us": us}, call="bf16[1, 64]")
    times = clock.device_times({"one op": clock.replay_of(add), "100 ops": clock.replay_of(hundred)}, n=N, cold=False)
    for name, values in times.items():
        lab.observe("device", {"side": name, "us": spread(values)}, call="bf16[1, 64]")


def _one_shape(lab: Observer, shape: tuple[int, int, int]) -> None:
    inputs = accuracy.usual(shape, "cuda")
    x = inputs[0]
    call = f"bf16{list(shape)}"
    hidden = shape[-1]
    rows = x.numel() // hidden
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    sides: dict[str, Side] = {"floor": clock.floor_of(x, inputs[4])}
    sides |= compiled_sides(inputs)
    sides["hand"] = partial(fused_block, *inputs)

    right = accuracy.exact(*(each[:1] if each.dim() == 3 else each for each in inputs))
    for name, side in sides.items():
        values: dict[str, Any] = {"side": name, "kernels": kernels_launched(side)}
        if name != "floor":
            result: Any = side()
            values["error"] = round(accuracy.relative(result[:1], right), 6)
        lab.observe("kernels", values, call=call)

    replays = {name: clock.replay_of(side) for name, side in sides.items()}
    moved = 3 * x.numel() * x.element_size()
    for series, ways, cold in (
        ("graph cold", replays, True),
        ("graph warm", replays, False),
        ("launch cold", sides, True),
        ("launch warm", sides, False),
    ):
        _observe_times(lab, series, clock.device_times(ways, n=N, cold=cold), call, moved)
    for name, us in _lab_module("timing").race(sides, "cuda", n=N, clock="caller").items():
        lab.observe("caller", {"side": name, "us": us}, call=call)

    stepped: dict[str, Side] = {"floor": replays["floor"]}
    for step in STEPS:
        launch = step.launch(rows, hidden, l2_bytes)
        stepped[step.name] = clock.replay_of(partial(fused_block, *inputs, gelu=step.gelu, launch=launch))
    _observe_times(lab, "steps", clock.device_times(stepped, n=N, cold=True), call, moved)

    tried: dict[str, Side] = {"floor": replays["floor"]}
    for launch in LAUNCHES:
        tried[f"{launch.warps} warps, read {launch.read or 'as usual'}"] = clock.replay_of(
            partial(fused_block, *inputs, launch=launch)
        )
    for series, cold in (("launches cold", True), ("launches warm", False)):
        _observe_times(lab, series, clock.device_times(tried, n=N_LAUNCHES, cold=cold), call, moved)

    if shape == SHAPES[0]:
        _hard_inputs(lab, inputs)


def _observe_times(
    lab: Observer, series: str, times: Mapping[str, Sequence[float]], call: str, moved_bytes: int
) -> None:
    us = {name: spread(values) for name, values in times.items()}
    floor = us["floor"]["p50"]
    for name, each in us.items():
        values: dict[str, Any] = {"side": name, "us": each, "of_floor": round(each["p50"] / floor, 3)}
        if name == "floor":
            values["tb_s"] = round(moved_bytes / floor / 1e6, 2)
        lab.observe(series, values, call=call)


def _hard_inputs(lab: Observer, usual: accuracy.Inputs) -> None:
    """The largest error of each step in units of what bf16 has to be granted, on inputs where shortcuts show."""
    shape = (256, usual[0].shape[-1])
    for name, make in {"usual": accuracy.usual, **accuracy.HARD}.items():
        inputs = make(shape, "cuda")
        found = {step.name: round(accuracy.excess(fused_block(*inputs, gelu=step.gelu), inputs), 3) for step in STEPS}
        found["eager"] = round(accuracy.excess(accuracy.block(*inputs), inputs), 3)
        lab.observe("excess", {"inputs": name, "excess": found}, call=f"bf16{list(shape)}")


class _Transcript:
    """The events of a run as lines, in the form in which the lab keeps them."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.observed: list[dict[str, Any]] = []

    def observe(self, series: str, values: Mapping[str, Any], *, call: str | None = None) -> None:
        unasked: dict[str, Any] = {"said": [], "why": None, "ask": None, "answer": None}
        self.observed.append(self._event("observation", series=series, call=call, values=dict(values), **unasked))
        print(series, call, json.dumps(values), flush=True)

    def _event(self, name: str, **fields: Any) -> dict[str, Any]:
        return {"schema": 1, "event": name, "at": round(time.perf_counter() - self.began, 4), **fields}

    def lines(self, where: str, environment: dict[str, Any]) -> Iterator[str]:
        public = {name: value for name, value in environment.items() if name != "host"}
        header = {name: public[name] for name in ("gpu", "torch", "triton", "python")}
        today = datetime.date.today().isoformat()
        started = {"demo": "kernels", "source": "measured", "device": "cuda", "torch": public["torch"]}
        events = [
            {"schema": 1, "event": "transcript", "demo": "kernels", "date": today, "where": where, **header},
            {"schema": 1, "event": "started", "at": 0.0, **started},
            *self.observed,
            self._event("result", demo="kernels", environment=public, when=today),
            self._event("ended", demo="kernels", outcome="ok"),
        ]
        return (json.dumps(event, ensure_ascii=False) for event in events)


def table(observed: Sequence[Mapping[str, Any]]) -> str:
    """Every timing as a Markdown table: microseconds, n, and the share of the floor."""
    rows = ["| shape | way | side | n | p50 | p95 | p99 | max | p50 / floor |", "|---|---|---|---|---|---|---|---|---|"]
    for event in observed:
        values = event["values"]
        if "us" in values:
            us = values["us"]
            figures = [f"{us[key]:.1f}" for key in ("p50", "p95", "p99", "max")]
            share = f"{values['of_floor']:.3f}" if "of_floor" in values else ""
            cells = [event["call"], event["series"], values["side"], str(us["n"]), *figures, share]
            rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the fused block on this machine's current GPU.")
    parser.add_argument("--where", required=True, help="the machine in a few words, as learners will read it")
    parser.add_argument("--to", type=Path, help="a file for the transcript")
    args = parser.parse_args()
    if not torch.cuda.is_available():
        print("No CUDA device here; the bench measures a GPU.", file=sys.stderr)
        return 1
    machine = _lab_module("machine")
    busy = machine.busy_processors()
    before = machine.environment("cuda", busy)
    if before["contended"]:
        print("Another process computes on this GPU; the figures will say contended.", file=sys.stderr)
    transcript = _Transcript()
    run(transcript)
    environment = machine.environment("cuda", busy)
    environment["contended"] = _either(before["contended"], environment["contended"])
    if args.to:
        args.to.write_text("".join(line + "\n" for line in transcript.lines(args.where, environment)), "utf-8")
    print(table(transcript.observed))
    return 0


def _either(one: bool | None, other: bool | None) -> bool | None:
    """Contended before or after; unknown unless both are known."""
    if one or other:
        return True
    return None if one is None or other is None else False


if __name__ == "__main__":
    raise SystemExit(main())
