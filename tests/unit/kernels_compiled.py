"""Compiles the lesson's kernel for three GPUs on a machine that needs none and prints the events, as JSON lines."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tutor" / "lab" / "tasks"))

import kernel_code

ROOT = Path(__file__).resolve().parents[2]
POINTERS = ("x", "bias", "weight", "shift", "residual", "out")
STRIDES = ("x_stride", "residual_stride", "out_stride")
TYPES = {**dict.fromkeys(POINTERS, "*bf16"), **dict.fromkeys(STRIDES, "i32"), "eps": "fp32"}
HIDDEN = 4096


def params(gelu: str, *targets: int, **changes: Any) -> dict[str, Any]:
    constants = {"H": HIDDEN, "BLOCK": HIDDEN, "GELU": gelu, "READ": ""}
    return {
        "folder": str(ROOT / "lessons" / "lesson_02_torch_compile" / "demos"),
        "module": "kernels.block",
        "kernel": "row_kernel",
        "types": TYPES,
        "constants": constants,
        "warps": 4,
        "targets": targets,
        **changes,
    }


def events(asked: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def observe(series: str, values: dict[str, Any], *, call: str) -> None:
        found.append({"series": series, "call": call, "values": values})

    kernel_code.run(SimpleNamespace(params=asked, observe=observe))
    return found


def refused(**changes: Any) -> str:
    try:
        events(params("gelu_exp2", 90, **changes))
    except ValueError as error:
        return str(error)
    return ""


def main() -> None:
    print(json.dumps(events(params("gelu_exp2", 80, 90, 100))))
    sys.path.insert(0, params("")["folder"])
    from kernels import gelu

    first_draft = params(gelu.gelu_erf, 90)
    print(json.dumps([event for event in events(first_draft) if event["series"] == "needs"]))
    odd = params("gelu_exp2", 90)
    odd["constants"] |= {"H": 4095}
    print(json.dumps([event for event in events(odd) if event["series"] == "needs"]))
    print(json.dumps([refused(types={**TYPES, "H": "i32"}), refused(types={})]))


if __name__ == "__main__":
    main()
