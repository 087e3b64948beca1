"""Compiles the lesson's kernel for three GPUs on a machine that needs none and prints the events, as JSON lines."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tutor" / "lab" / "tasks"))

import inside

ROOT = Path(__file__).resolve().parents[2]
POINTERS = ("x", "bias", "weight", "shift", "residual", "out")
STRIDES = ("x_stride", "residual_stride", "out_stride")
TYPES = {**dict.fromkeys(POINTERS, "*bf16"), **dict.fromkeys(STRIDES, "i32"), "eps": "fp32"}
HIDDEN = 4096


def params(gelu: str, *targets: int, **changes: Any) -> dict[str, Any]:
    """One setting for each target."""
    setting = {
        "folder": str(ROOT / "lessons" / "lesson_02_torch_compile" / "demos"),
        "module": "kernels.block",
        "function": "row_kernel",
        "types": TYPES,
        "constants": {"H": HIDDEN, "BLOCK": HIDDEN, "GELU": gelu, "READ": "", **changes},
        "warps": 4,
    }
    return {"settings": [{**setting, "target": target} for target in targets]}


def own(file: Path, text: str, **asked: Any) -> dict[str, Any]:
    """A learner's file."""
    file.write_text(text, encoding="utf-8")
    setting: dict[str, Any] = {
        "file": str(file),
        "function": None,
        "types": {},
        "constants": {},
        "warps": 4,
        "target": 90,
    }
    return {"settings": [{**setting, **asked}]}


def events(asked: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def observe(series: str, values: dict[str, Any], *, call: str | None = None) -> None:
        found.append({"series": series, "call": call, "values": values})

    with tempfile.TemporaryDirectory() as cache:
        inside.run(SimpleNamespace(params=asked, observe=observe, cache=Path(cache)))
    return found


def inductor(function: str) -> dict[str, Any]:
    """What Inductor writes for one of the lesson's functions, as it would be launched."""
    setting = {**params("", 90)["settings"][0], "module": "kernels.accuracy", "constants": {"H": HIDDEN}, "types": {}}
    return {"settings": [{**setting, "inductor": function, "examples": "usual", "function": None, "warps": 0}]}


def needs(asked: dict[str, Any]) -> list[dict[str, Any]]:
    return [event for event in events(asked) if event["series"] in ("needs", "problem")]


HELPED = """\
import triton
import triton.language as tl

TYPES = {"x": "*bf16", "n": "i32"}


@triton.jit
def helper(v):
    return v + %s


@triton.jit
def double(x, n, BLOCK: tl.constexpr = 1024):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, helper(tl.load(x + at, mask=at < n)), mask=at < n)
"""


def main() -> None:
    erf, exp2 = "kernels.gelu:gelu_erf", "gelu_exp2"
    print(json.dumps(events(params(exp2, 80, 90, 100))))
    print(json.dumps(needs(params(erf, 90))))
    print(json.dumps(needs(params(exp2, 90, H=4095))))
    with tempfile.TemporaryDirectory() as folder:
        files = (Path(folder) / f"mine{number}.py" for number in range(9))
        asked = [
            own(next(files), HELPED % "1.0"),
            own(next(files), HELPED % "lost"),
            own(next(files), HELPED % "1.0", types={"x": "bfloat"}),
            own(next(files), HELPED % "1.0", constants={"SIZE": 1}),
            own(next(files), HELPED % "1.0", function="halve"),
            own(next(files), HELPED.replace("TYPES", "KINDS") % "1.0"),
            own(next(files), (HELPED % "1.0").replace(" = 1024", ""), function="double"),
            own(next(files), "x = 1\ndef f(:\n"),
            own(next(files), "import triton\nnothing.here\n"),
        ]
        print(json.dumps([needs(each) for each in asked]))
    print(json.dumps(events(inductor("block"))))
    print(json.dumps(needs(inductor("lost"))))


if __name__ == "__main__":
    main()
