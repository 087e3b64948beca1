"""A lab that judges the optional exercise in place of a worker: what it says of a right kernel, and of any other."""

from __future__ import annotations

import base64
import queue
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.ui.learner_app import Box80, Learner
from tutor.fused import exact, large
from tutor.fused.cases import TENSORS, all_to_bf16
from tutor.lab.host import LabBusy
from tutor.model import Demo
from tutor.ui.panes.lab_exercise import ExerciseView

Event = dict[str, Any]


def ended(outcome: str = "ok", key: str = "lab.ok", **args: Any) -> Event:
    return {"schema": 1, "event": "ended", "at": 1.0, "outcome": outcome, "message": {"key": key, "args": args}}


def seen(series: str, of: str | None = None, **values: Any) -> Event:
    return {"schema": 1, "event": "observation", "at": 0.5, "series": series, "call": of, "values": values}


def result(device: str, **observed: Any) -> Event:
    return {
        **{"schema": 1, "event": "result", "at": 1.0, "demo": "fused", "claims": {}, "because": {}, "units": {}},
        **{"predicted": {}, "answers": {}, "agreed": None, "environment": {"torch": "2.13.0", "device": device}},
        **{"where": None, "source": "measured", "when": "2026-11-30T00:00:00+00:00", "observed": observed},
    }


_ARGS = {"number": 3, "of": 18, "text": "bf16[3, 7]", "seconds": 1, "low": 2.0, "high": 60.0}
STEP = {
    **{"schema": 1, "event": "progress", "at": 0.5, "phase": "running", "elapsed": 1.0},
    "message": {"key": "lab.step", "args": _ARGS},
}
RAISED = [
    seen("raised", kind="InterpreterError", text="TypeError: \x1b[31mno\n  x = y\n      ^\nname y", line=34),
    result("cpu", raised={"kind": ["InterpreterError"]}),
    ended(),
]
SIDES = {"own": 60.0, "lesson": 52.0, "inductor": 140.0, "floor": 50.0}


class Lab:
    """A lab that answers what it is asked, in place of a worker; `stopped` when the run was cancelled."""

    def __init__(self, *events: Event, device: str = "cpu", right: bool = False) -> None:
        self.events, self.device, self.right = list(events), device, right
        self.params: Mapping[str, Any] = {}
        self.demo = ""
        self.gate: queue.Queue[None] | None = None
        self.busy = self.stopped = False

    def warm(self) -> None:
        pass

    def close(self) -> None:
        pass

    def use(self, device: str) -> None:
        pass

    def start(self, demo: Demo, device: Any = None, predicted: Any = None, params: Any = None) -> Lab:
        del device, predicted
        if self.busy:
            raise LabBusy("busy")
        self.demo, self.params = demo.name, params
        return self

    def cancel(self) -> None:
        self.stopped = True
        if self.gate is not None:
            self.gate.put(None)

    def __iter__(self) -> Iterator[Event]:
        yield STEP
        if self.gate is not None:
            self.gate.get(timeout=20)
        if self.stopped:
            yield ended("cancelled", "lab.cancelled")
            return
        if self.right:
            yield from right_answers(self.params, self.device)
        yield from self.events


def right_answers(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """What a worker would say of a kernel that is right: the memory, written as float64 has it."""
    for number, call in enumerate(params["calls"]):
        memory = {name: exact.memory_of(base64.b64decode(raw)) for name, raw in call["memory"].items()}
        rows, hidden, starts = call["rows"], call["hidden"], call["starts"]
        strides = dict(zip(("x", "residual", "out"), call["strides"], strict=True))

        def values(
            name: str,
            row: int,
            memory: Mapping[str, array[int]] = memory,
            at: Any = (hidden, starts, strides),
        ) -> list[float]:
            begin = at[1][name] + row * at[2].get(name, 0)
            return [exact.from_bf16(bits) for bits in memory[name][begin : begin + at[0]]]

        for row in range(rows if hidden else 0):
            vectors = (values(name, row) for name in ("x", "bias", "weight", "shift", "residual"))
            out, _ = exact.right_row(*vectors)  # type: ignore[call-arg]
            begin = starts["out"] + row * strides["out"]
            bits = [0x7FC0 if value != value else 0x7F80 if value == float("inf") else 0 for value in out]
            finite = [value if abs(value) < 1e30 else 0.0 for value in out]
            for column, one in enumerate(all_to_bf16(finite)):
                special = 0xFF80 if out[column] == float("-inf") else bits[column]
                memory["out"][begin + column] = special or one
        for name in TENSORS:
            yield seen("memory", call=number, name=name, raw=base64.b64encode(memory[name].tobytes()).decode())
    tables: dict[str, list[Any]] = {name: [] for name in ("call", "side", "way", "us")}
    for size in params["large"][device]:
        made = large.Large(**{**size, "samples": tuple(map(tuple, size["samples"]))})
        for number, row in made.samples:
            raw = base64.b64encode(right_row(params["seed"], made, number, row).tobytes()).decode()
            yield seen("row", made.shape, call=number, row=row, raw=raw)
        for way in ("graph", "launch") if size["timed"] else ():
            for side, p50 in SIDES.items():
                us = {"n": 100, "p50": p50, "p95": p50 + 1, "p99": p50 + 2, "max": p50 + 9}
                yield seen("timed", made.shape, side=side, way=way, us=us)
                for name, value in (("call", made.shape), ("side", side), ("way", way), ("us", us)):
                    tables[name].append(value)
        yield seen("large", made.shape, unwritten=0, same=True, excess=None)
    yield result(device, **({"timed": tables} if tables["call"] else {}))


def right_row(seed: int, size: large.Large, number: int, row: int) -> array[int]:
    def values(stream: int, first: int) -> list[float]:
        return list(map(exact.from_bf16, large.values(seed, stream, first * size.hidden, size.hidden)))

    bias, weight, shift = (values(large.STREAMS[name], 0) for name in ("bias", "weight", "shift"))
    x, residual = values(large.FIRST_X + number, row), values(large.STREAMS["residual"], row)
    return all_to_bf16(exact.right_row(x, bias, weight, shift, residual)[0])


async def opened(learner: Learner) -> ExerciseView:
    await learner.press("3", "l", "l", "l", "l", "l")
    view = learner.app.learner.active
    assert isinstance(view, ExerciseView)
    return view


async def judged(learner: Learner) -> ExerciseView:
    view = await opened(learner)
    await learner.press("r")
    await learner.until(lambda: view.found is not None)
    return view


def file_of(box: Box80) -> Path:
    (path,) = (box.folder / "state").glob("*/fused_kernel.py")
    return path
