"""One way of starting, in the process that is measured. Run by path, under whichever Python has torch:

    python way.py WAY DEVICE FILE

WAY is eager, compiled, artifacts (FILE holds saved ones), warmed, make (FILE is the package) or package. Says one JSON
object on its last line, and on stderr what it is about to do, so that a process that dies has said where.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

BEGAN = time.perf_counter()
import torch  # noqa: E402

IMPORTED = time.perf_counter()

from phases import Marks, split  # noqa: E402

WIDTH, BLOCKS, LATER = 256, 4, 100


class Block(torch.nn.Module):  # type: ignore[misc]
    """LayerNorm, a wide layer, GELU and back, beside a residual: a transformer's MLP."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.up, self.down = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Clock:
    """Seconds by phase. A phase is everything between its name and the next."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.taken: dict[str, float] = {}

    def settle(self) -> None:
        if self.device == "cuda":
            torch.cuda.synchronize()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        print(f"{name} ...", file=sys.stderr, flush=True)
        began = time.perf_counter()
        yield
        self.settle()
        self.add(name, time.perf_counter() - began)

    @contextmanager
    def phases(self, around: str) -> Iterator[None]:
        """The same, split by torch's own marks; what none of them covers is the first run."""
        print(f"{around}, compiler, load, run ...", file=sys.stderr, flush=True)
        began = time.perf_counter()
        with Marks() as marks:
            yield
            self.settle()
        whole, parts = time.perf_counter() - began, split(marks.seen, around)
        for name, seconds in parts.items():
            self.add(name, seconds)
        self.add("run" if parts else around, max(0.0, whole - sum(parts.values())))

    def add(self, name: str, seconds: float) -> None:
        self.taken[name] = self.taken.get(name, 0.0) + seconds


def model(device: str) -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(*(Block() for _ in range(BLOCKS))).to(device).eval()


def batch(rows: int, device: str) -> torch.Tensor:
    return torch.randn(8, rows, WIDTH, generator=torch.Generator().manual_seed(rows)).to(device)


def compiler(clock: Clock, *, probe: bool) -> None:
    """Import the compiler, and let it find out what the CPU's vectors can do, where that is asked for: otherwise both
    happen in the middle of the first call."""
    with clock.phase("start"):
        for name in ("torch._dynamo", "torch._inductor.compile_fx", "torch._inductor.codecache"):
            import_module(name)
    if probe:
        with clock.phase("probe"):
            pick = getattr(import_module("torch._inductor.cpu_vec_isa"), "pick_vec_isa", None)
            if pick is not None:
                pick()


def start(way: str, clock: Clock, file: Path) -> tuple[Callable[..., Any], torch.Tensor, dict[str, float]]:
    """Everything up to the first result: the function, what it was given, and what else was timed."""
    device, more = clock.device, dict[str, float]()
    with clock.phase("device"):
        net, x = model(device), batch(128, device)
    if way == "eager":
        with clock.phase("run"):
            net(x)
        return net, x, more
    compiler(clock, probe=device == "cpu" or way in ("make", "package"))
    if way == "make":
        with clock.phase("tracing"):
            exported = torch.export.export(net, (x,))
        with clock.phases("codegen"):
            torch._inductor.aoti_compile_and_package(exported, package_path=str(file))
        return net, x, more
    if way == "package":
        with clock.phase("load"):
            loaded = torch._inductor.aoti_load_package(str(file))
        with clock.phase("run"):
            loaded(x)
        return loaded, x, more
    if way == "artifacts":
        with clock.phase("load"):
            torch.compiler.load_cache_artifacts(file.read_bytes())
    compiled = torch.compile(net, dynamic=False)
    if way == "warmed":
        before = time.perf_counter()
        compiled(x)
        clock.settle()
        more["warmup_s"] = time.perf_counter() - before + sum(clock.taken.get(name, 0.0) for name in ("start", "probe"))
        clock.taken = {"device": clock.taken["device"]}
        with clock.phase("run"):
            compiled(x)
        return compiled, x, more
    with clock.phases("tracing"):
        compiled(x)
    if way == "compiled":
        artifacts = torch.compiler.save_cache_artifacts()
        if artifacts is not None:
            file.write_bytes(artifacts[0])
    return compiled, x, more


def main(way: str, device: str, file: Path) -> dict[str, Any]:
    clock = Clock(device)
    with torch.no_grad():
        call, x, more = start(way, clock, file)
        later = []
        for _ in range(LATER if way != "make" else 0):
            clock.settle()
            began = time.perf_counter()
            call(x)
            clock.settle()
            later.append((time.perf_counter() - began) * 1e6)
        close = bool(torch.allclose(call(x), model(device)(x), atol=1e-3))
        if way == "warmed":
            began = time.perf_counter()
            call(batch(96, device))
            clock.settle()
            more["other_s"] = time.perf_counter() - began
    device_s = clock.taken.pop("device")
    return {
        "import_s": IMPORTED - BEGAN,
        "device_s": device_s,
        "first_call_s": sum(clock.taken.values()),
        "phases": clock.taken,
        "more": more,
        "later_us": later,
        "close": close,
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))))
