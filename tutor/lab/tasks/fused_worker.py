"""The process that a learner's kernel runs in: `fused_worker.py REQUEST`, what was seen as JSON on the last line.

The request: `text`, `warps`, `max_block`; `eps`; `device`; `seed`; `canary`, the bits that all other memory is filled
with; `calls`, each with `rows`, `hidden`, `strides`, and for each tensor where it begins in its `memory`, which is in
base64; `large`, for each kind of device the sizes that are made here, each with `rows`, `hidden`, `calls`, whether it
is `timed`, and `samples`, the rows to hand over as [call, row]; `poison`, what the output is filled with in turns;
`demos`, the folder with the lesson's own kernel. Before the last line stands a JSON object for each step.

It never judges, and of the calls it is told nothing of what is right. All that the kernel is given lies in one arena of
canaries: a store beside a tensor, near or far, changes one; on a GPU hardly anything else of this process is mapped, so
that a store beyond the arena faults.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import random
import resource
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from tutor.lab.tasks import fused_memory
else:
    _spec = importlib.util.spec_from_file_location("tutor_fused_memory", Path(__file__).with_name("fused_memory.py"))
    fused_memory = importlib.util.module_from_spec(_spec)
    sys.modules[_spec.name] = fused_memory
    _spec.loader.exec_module(fused_memory)

TENSORS = ("x", "bias", "weight", "shift", "residual", "out")
#: Address space on the CPU, where a kernel's own arrays are NumPy's; a GPU's driver reserves far more than it uses.
MEMORY_BYTES = 12 << 30
SAID_MAX = 600
#: The name of the learner's file here.
FILE = "learner_kernel.py"
#: Rows that are made or compared at once.
ROWS = 1024
#: Streams of values, as the parent numbers them.
STREAMS = {"bias": 0, "weight": 1, "shift": 2, "residual": 3}
FIRST_X = 8


class KernelError(Exception):
    """What the learner's kernel raised is its cause."""


class Worker:
    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.device = request["device"]
        self.said: list[dict[str, Any]] = []
        self.kernel: Any = None
        self.programs = Programs(request["seed"])
        self.steps = 0

    def say(self, series: str, values: dict[str, Any], call: str | None = None) -> None:
        self.said.append({"series": series, "values": values, "call": call})

    def step(self, text: str) -> None:
        self.steps += 1
        of = len(self.request["calls"]) + len(self.request["large"][self.device])
        print(json.dumps({"number": self.steps, "of": of, "text": text}), flush=True)

    def run(self, folder: str) -> None:
        """Every call, then the sizes made here; what the kernel raises is the learner's and is said."""
        path = Path(folder) / FILE
        path.write_text(self.request["text"], encoding="utf-8")
        try:
            arena = fused_memory.Arena(self.device, self.request["canary"], self.request["seed"])
            self.kernel = _module(path).fused_kernel
            self.programs.install()
            for number, call in enumerate(self.request["calls"]):
                self.step(f"bf16[{call['rows']}, {call['hidden']}]")
                if not self._call(number, call, arena):
                    return
        except Exception as error:
            self._failed(error)
            return
        for size in self.request["large"][self.device]:
            self.step(f"bf16[{size['rows']}, {size['hidden']}]")
            try:
                if not Large(self, size, arena).run():
                    return
            except Exception as error:
                if not (isinstance(error, KernelError) or _is_memory(error) or "CUDA error" in str(error)):
                    raise
                self._failed(error)
                return

    def _failed(self, error: Exception) -> None:
        if isinstance(error, KernelError) and isinstance(error.__cause__, Exception):
            error = error.__cause__
        if _is_memory(error):
            self.say("limit", {"text": str(error)[-SAID_MAX:]})
        else:
            text = str(error).strip()[-SAID_MAX:]
            self.say("raised", {"kind": type(error).__name__, "text": text, "line": _line(error)})

    def launch(self, tensors: Sequence[torch.Tensor], strides: Sequence[int], rows: int, hidden: int) -> None:
        block = min(self.request["max_block"], 1 << max(0, hidden - 1).bit_length())
        args = (*tensors, *strides, self.request["eps"], hidden, block)
        self.programs.shuffle(rows)
        try:
            self.kernel[(rows,)](*args, num_warps=self.request["warps"], enable_fp_fusion=True)
        except Exception as error:
            raise KernelError from error

    def _call(self, number: int, call: dict[str, Any], arena: fused_memory.Arena) -> bool:
        """One call on memory that was sent; False when what follows would mean nothing."""
        given = {name: bytearray(base64.b64decode(call["memory"][name])) for name in TENSORS}
        memory = arena.take({name: len(raw) // 2 for name, raw in given.items()})
        for name, raw in given.items():
            memory[name].copy_(torch.frombuffer(raw, dtype=torch.bfloat16))
        tensors = [memory[name][call["starts"][name] :] for name in TENSORS]
        self.launch(tensors, call["strides"], call["rows"], call["hidden"])
        if self.device == "cuda":
            torch.cuda.synchronize()
        for name in TENSORS:
            self.say("memory", {"call": number, "name": name, "raw": fused_memory.raw_of(memory[name])})
        return self.watch(arena, {"call": number})

    def watch(self, arena: fused_memory.Arena, where: dict[str, Any], call: str | None = None) -> bool:
        """Look at all memory that is no tensor's; False after saying that something was stored there."""
        stray = arena.give_back()
        if stray is not None:
            self.say("stray", {**where, **stray}, call)
        return stray is None


class Large:
    """One size whose values are made here: called again and again, each time on another x, into a poisoned output."""

    def __init__(self, worker: Worker, size: dict[str, Any], arena: fused_memory.Arena) -> None:
        self.worker, self.arena, self.device = worker, arena, worker.device
        self.rows, self.hidden, self.calls, self.timed = (size[name] for name in ("rows", "hidden", "calls", "timed"))
        self.call = f"bf16[{self.rows}, {self.hidden}]"
        self.samples: dict[int, list[int]] = {}
        for number, row in size["samples"]:
            self.samples.setdefault(number, []).append(row)
        whole, one = self.rows * self.hidden, self.hidden
        sizes = {"x": whole, "bias": one, "weight": one, "shift": one, "residual": whole, "out": whole}
        self.tensors = arena.take(sizes)
        for name in ("x", "residual", "out"):
            self.tensors[name] = self.tensors[name].view(self.rows, self.hidden)
        for name in STREAMS:
            self._fill(name, STREAMS[name])
        self.unwritten = torch.zeros((), dtype=torch.int64, device=self.device)
        self.last = self.poison = 0

    @property
    def inputs(self) -> list[torch.Tensor]:
        return [self.tensors[name] for name in TENSORS[:-1]]

    def run(self) -> bool:
        """False when something was stored where no tensor is."""
        own = partial(self.worker.launch, [self.tensors[n] for n in TENSORS], [self.hidden] * 3, self.rows, self.hidden)
        if self.timed:
            self._timed(own)
        else:
            for number in range(self.calls):
                self.before(number)
                own()
                self.after(number)
        same = all(self._same(name, STREAMS.get(name, self.last)) for name in TENSORS[:-1])
        values = {"unwritten": int(self.unwritten), "same": same, "excess": self._excess()}
        self.worker.say("large", values, self.call)
        return self.worker.watch(self.arena, {"call": None}, self.call)

    def before(self, number: int) -> None:
        """x that was not there before, and an output that is not one."""
        self.last = FIRST_X + number
        self._fill("x", self.last)
        poisons = self.worker.request["poison"]
        self.poison = poisons[number % len(poisons)]
        self.tensors["out"].view(torch.int16).fill_(self.poison)

    def after(self, number: int) -> None:
        out = self.tensors["out"]
        self.unwritten += (out.view(torch.int16) == self.poison).sum()
        for row in self.samples.get(number, ()):
            self.worker.say("row", {"call": number, "row": row, "raw": fused_memory.raw_of(out[row])}, self.call)

    def _timed(self, own: Any) -> None:
        """The learner's kernel, the lesson's, Inductor's and the floor in turns, L2 cold; as graphs, then launched."""
        from kernels import accuracy, clock
        from kernels.block import fused_block

        torch._dynamo.reset()
        self.before(0)
        x, residual = self.tensors["x"], self.tensors["residual"]
        compiled = torch.compile(accuracy.block, fullgraph=True, dynamic=False)
        compiled(*self.inputs)
        sides = {
            "floor": clock.floor_of(x, residual),
            "own": own,
            "lesson": partial(fused_block, *self.inputs),
            "inductor": partial(compiled, *self.inputs),
        }
        flush = torch.empty(clock.FLUSH_BYTES, dtype=torch.int8, device=self.device)
        ways = {"graph": {name: clock.replay_of(side) for name, side in sides.items()}, "launch": sides}
        for turn, (way, calls) in enumerate(ways.items()):
            marks: dict[str, list[tuple[torch.cuda.Event, torch.cuda.Event]]] = {name: [] for name in calls}
            for side in calls.values():
                for _ in range(3):
                    side()
            for number in range(turn * self.calls // len(ways), (turn + 1) * self.calls // len(ways)):
                self.before(number)
                for name, side in calls.items():
                    flush.zero_()
                    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                    begin.record()
                    side()
                    end.record()
                    marks[name].append((begin, end))
                self.after(number)
            torch.cuda.synchronize()
            for name, pairs in marks.items():
                us = [begin.elapsed_time(end) * 1e3 for begin, end in pairs]
                self.worker.say("timed", {"side": name, "way": way, "us": us}, self.call)

    def _fill(self, name: str, stream: int) -> None:
        for at, part in self._parts(name, stream):
            self.tensors[name][at].copy_(part)

    def _same(self, name: str, stream: int) -> bool:
        return all(torch.equal(self.tensors[name][at], part) for at, part in self._parts(name, stream))

    def _parts(self, name: str, stream: int) -> Iterator[tuple[slice, torch.Tensor]]:
        """The values of a tensor, some rows at a time."""
        tensor = self.tensors[name]
        row = tensor[0].numel()
        for start in range(0, len(tensor), ROWS if row > 1 else len(tensor)):
            at = slice(start, start + ROWS) if row > 1 else slice(None)
            shape = tensor[at].shape
            made = fused_memory.drawn(self.worker.request["seed"], stream, start * row, tensor[at].numel(), self.device)
            yield at, made.view(shape)

    def _excess(self) -> float | None:
        """How far the last output is off anywhere, by the measure of the lesson's demos; None on the CPU, where the
        interpreter does not round as a GPU does."""
        if self.device == "cpu":
            return None
        from kernels import accuracy

        x, bias, weight, shift, residual = self.inputs
        parts = (slice(at, at + ROWS) for at in range(0, self.rows, ROWS))
        out = self.tensors["out"]
        worst = max(accuracy.excess(out[at], (x[at], bias, weight, shift, residual[at])) for at in parts)
        return float(min(1e30, worst))


class Programs:
    """The order of a launch's programs in Triton's interpreter: any, as on a GPU, and not by number."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._order: list[int] | None = None

    def install(self) -> None:
        """Where this Triton's interpreter has it; a GPU needs nothing."""
        from triton import runtime

        interpreter = sys.modules.get(f"{runtime.__name__}.interpreter")
        builder: Any = getattr(interpreter, "interpreter_builder", None)
        of = getattr(builder, "set_grid_idx", None)
        if os.environ["TRITON_INTERPRET"] == "1" and of is not None:
            self._order = []
            builder.set_grid_idx = lambda x, y, z: of((self._order or [])[x], y, z)

    def shuffle(self, rows: int) -> None:
        if self._order is not None:
            self._order = self._rng.sample(range(rows), rows)


def _line(error: BaseException | None) -> int:
    """The innermost line of the learner's file that an error came through, 0 where none is known."""
    found = 0
    while error is not None:
        for step in traceback.extract_tb(error.__traceback__):
            if Path(step.filename).name == FILE:
                found = step.lineno or 0
        error = error.__cause__
    return found


def _is_memory(error: BaseException | None) -> bool:
    """Whether memory ran out, also behind what the interpreter makes of it."""
    while error is not None:
        if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
            return True
        error = error.__cause__
    return False


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("learner_kernel", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    if request["device"] == "cpu":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path.insert(0, request["demos"])
    import triton.language  # noqa: F401  One that cannot be imported is no fault of the kernel's.

    # Rows that have no finite answer are among the calls, and NumPy remarks on each.
    warnings.simplefilter("ignore", RuntimeWarning)
    worker = Worker(request)
    with tempfile.TemporaryDirectory(prefix="tutor-kernel-") as folder:
        worker.run(folder)
    print(json.dumps({"said": worker.said}))


if __name__ == "__main__":
    main()
