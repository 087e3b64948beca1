"""What do torch's own tools say of a break and of a recompile? The control gives them nothing to say.

Run by itself it is the program whose log is read: `TORCH_LOGS` counts only from a process's start.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

RAN: list[int] = []


@torch._dynamo.disable  # type: ignore[untyped-decorator]
def note() -> None:
    RAN.append(1)


def whole(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + 1


def straight(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    note()
    return y + 1


def skipped(x: torch.Tensor) -> torch.Tensor:
    for _ in range(2):
        x = x * 2
        note()
    return x + 1


def run(lab: Lab) -> None:
    x = torch.randn(4, 8, device=lab.device)
    for series, function, why in (
        ("control", whole, "control"),
        ("straight", straight, "explain"),
        ("skipped", skipped, "minus"),
    ):
        torch.compiler.reset()
        RAN.clear()
        said = torch._dynamo.explain(function)(x)
        ran, breaks = len(RAN), said.graph_break_count
        asked = series != "control"
        expected = breaks == {"control": 0, "straight": 1, "skipped": -1}[series]
        lab.observe(
            series,
            {"explain_graphs": said.graph_count, "explain_breaks": breaks, "ran": ran},
            call=f"explain({function.__name__})(x)",
            ask=series if asked else None,
            answer=int(ran > 0) if series == "straight" else max(breaks, -1) + 1 if asked else None,
            why=why if expected else "unexpected",
        )
    os.environ["TORCH_LOGS"] = "graph_breaks,recompiles"
    try:
        told = lab.fresh(__file__)
    finally:
        del os.environ["TORCH_LOGS"]
    for series in ("quiet", "break", "recompile"):
        lines = told[series]
        breaks = sum("__graph_breaks" in line or "raph break" in line for line in lines)
        words = [line for line in lines if "size mismatch" in line]
        lab.observe(
            series,
            {"log_lines": len(lines), "log_breaks": breaks, "log_reasons": len(words)},
            call="TORCH_LOGS=graph_breaks,recompiles",
            said=[line.split("] ", 1)[-1].strip() for line in words[:1]],
            why={"quiet": "quiet", "break": "log-break", "recompile": "log-recompile"}[series],
        )


if __name__ == "__main__":
    told: dict[str, list[str]] = {}
    with tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        for name, function, sizes in (("quiet", whole, (4, 4)), ("break", straight, (4,)), ("recompile", whole, (9,))):
            began = os.lseek(log.fileno(), 0, os.SEEK_CUR)
            for rows in sizes:
                torch.compile(function, backend="eager")(torch.ones(rows, 8))
            written = os.pread(log.fileno(), os.lseek(log.fileno(), 0, os.SEEK_CUR) - began, began)
            told[name] = [
                line
                for line in written.decode("utf-8", "replace").splitlines()
                if "/torch/" in line or "torch/" in line
            ]
    print(json.dumps(told))
