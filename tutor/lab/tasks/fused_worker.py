"""The process that a learner's kernel runs in: `fused_worker.py REQUEST`, what was seen as JSON on the last line.

The request: `text`, `warps`, `max_block`; `eps`; `guard`; `device`; `calls`, each with `rows`, `hidden`, `strides` and
`memory`, base64 of each tensor's memory; `timed`, shapes [rows, hidden] to time on a GPU; `demos`, the folder with the
lesson's own kernel. It never judges, and of the calls it is told nothing of what is right.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import resource
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import torch

TENSORS = ("x", "bias", "weight", "shift", "residual", "out")
#: Address space on the CPU, where a kernel's own arrays are NumPy's; a GPU's driver reserves far more than it uses.
MEMORY_BYTES = 12 << 30
SAID_MAX = 600
#: Calls timed of each side, and rows that are compared at once.
N, ROWS = 100, 1024


class Worker:
    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.device = request["device"]
        self.said: list[dict[str, Any]] = []
        self.kernel: Any = None

    def say(self, series: str, values: dict[str, Any], call: str | None = None) -> None:
        self.said.append({"series": series, "values": values, "call": call})

    def run(self, folder: str) -> None:
        """Every call, then the timing; what the kernel raises is the learner's and is said."""
        path = Path(folder) / "learner_kernel.py"
        path.write_text(self.request["text"], encoding="utf-8")
        calls = [(call, self._memory(call)) for call in self.request["calls"]]
        try:
            self.kernel = _module(path).fused_kernel
            for number, (call, memory) in enumerate(calls):
                self._call(number, call, memory)
        except MemoryError as error:
            self.say("limit", {"text": str(error)[:SAID_MAX]})
            return
        except Exception as error:
            self.say("raised", {"kind": type(error).__name__, "text": str(error).strip()[-SAID_MAX:]})
            return
        if self.device == "cuda":
            for rows, hidden in self.request["timed"]:
                self._time(rows, hidden)

    def _memory(self, call: dict[str, Any]) -> dict[str, torch.Tensor]:
        held = {name: bytearray(base64.b64decode(call["memory"][name])) for name in TENSORS}
        return {name: torch.frombuffer(raw, dtype=torch.bfloat16).clone().to(self.device) for name, raw in held.items()}

    def _launch(self, tensors: list[torch.Tensor], strides: list[int], rows: int, hidden: int) -> None:
        block = 1
        while block < min(hidden, self.request["max_block"]):
            block *= 2
        args = (*tensors, *strides, self.request["eps"], hidden, block)
        self.kernel[(rows,)](*args, num_warps=self.request["warps"], enable_fp_fusion=True)

    def _call(self, number: int, call: dict[str, Any], memory: dict[str, torch.Tensor]) -> None:
        tensors = [memory[name][self.request["guard"] :] for name in TENSORS]
        self._launch(tensors, call["strides"], call["rows"], call["hidden"])
        if self.device == "cuda":
            torch.cuda.synchronize()
        for name in TENSORS:
            raw = memory[name].cpu().view(torch.uint8).numpy().tobytes()
            self.say("memory", {"call": number, "name": name, "raw": base64.b64encode(raw).decode()})

    def _time(self, rows: int, hidden: int) -> None:
        """The learner's kernel, the lesson's, Inductor's and the floor in turns, L2 cold; then the learner's once more
        on an input that was not there before, into a poisoned output, compared in float64."""
        from kernels import accuracy, clock
        from kernels.block import fused_block

        call = f"bf16[{rows}, {hidden}]"
        torch._dynamo.reset()
        inputs = accuracy.usual((rows, hidden), "cuda", seed=self.request["seed"])
        x, bias, weight, shift, residual = inputs
        out = torch.empty_like(x)
        compiled = torch.compile(accuracy.block, fullgraph=True, dynamic=False)
        compiled(*inputs)
        sides = {
            "floor": clock.floor_of(x, residual),
            "own": partial(self._launch, [*inputs, out], [hidden] * 3, rows, hidden),
            "lesson": partial(fused_block, *inputs),
            "inductor": partial(compiled, *inputs),
        }
        replays = {name: clock.replay_of(side) for name, side in sides.items()}
        for way, timed in (("graph", replays), ("launch", sides)):
            for name, us in clock.device_times(timed, n=N, cold=True).items():
                self.say("timed", {"side": name, "way": way, "us": us}, call)
        x.normal_()
        before = [each.clone() for each in inputs]
        out.fill_(float("nan"))
        replays["own"]()
        torch.cuda.synchronize()
        parts = (slice(at, at + ROWS) for at in range(0, rows, ROWS))
        excess = [accuracy.excess(out[at], (x[at], bias, weight, shift, residual[at])) for at in parts]
        same = all(torch.equal(a, b) for a, b in zip(before, inputs, strict=True))
        self.say("large", {"excess": min(max(excess), 1e30), "same": same}, call)


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
    worker = Worker(request)
    with tempfile.TemporaryDirectory(prefix="tutor-kernel-") as folder:
        worker.run(folder)
    print(json.dumps({"said": worker.said}))


if __name__ == "__main__":
    main()
