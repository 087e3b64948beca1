"""Is code for fixed sizes faster than for symbolic ones? The control times the static code as if it were two."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

SMALL, LARGE = ((1, 64, 1024), (1, 256, 1024)), ((8, 256, 4096), (16, 2048, 4096))


def block(x: torch.Tensor, b: torch.Tensor, w: torch.Tensor, g: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
    """Bias, GELU, LayerNorm and a residual: four ops on one large tensor."""
    h = torch.nn.functional.gelu(x + b)
    return torch.nn.functional.layer_norm(h, (h.shape[-1],), w, g) + r


def fixed(*args: torch.Tensor) -> torch.Tensor:
    return block(*args)


def symbolic(*args: torch.Tensor) -> torch.Tensor:
    """The same again: entries belong to a function's code, and these two shall not share theirs."""
    return block(*args)


def inputs(size: tuple[int, ...], device: str) -> list[torch.Tensor]:
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    return [torch.randn(s, device=device, dtype=kind) for s in (size, size[-1:], size[-1:], size[-1:], size)]


def run(lab: Lab) -> None:
    if lab.device == "cpu":
        torch.set_num_threads(1)  # Threads that wait for each other on a shared machine drown what is measured.
    for name, size in zip(("small", "large"), LARGE if lab.device == "cuda" else SMALL, strict=True):
        torch.compiler.reset()
        args = inputs(size, lab.device)
        static, dynamic = torch.compile(fixed, dynamic=False), torch.compile(symbolic, dynamic=True)
        with torch.no_grad():
            us = lab.race(
                {
                    "static": lambda: static(*args),  # noqa: B023
                    "again": lambda: static(*args),  # noqa: B023
                    "dynamic": lambda: dynamic(*args),  # noqa: B023
                },
                n=200,
            )
        if name == "small":
            observe_code(lab, args)
        ratio = us["dynamic"]["p50"] / us["static"]["p50"]
        lab.observe("control", {"static_us": us["static"], "again_us": us["again"]}, call=str(size), why="control")
        lab.observe(
            "default",
            {"static_us": us["static"], "dynamic_us": us["dynamic"]},
            call=str(size),
            ask=name,
            answer=sum(ratio >= bound for bound in (1 / 1.15, 1.15)),
            why="ratio",
        )


def observe_code(lab: Lab, args: list[torch.Tensor]) -> None:
    """The guard on the first input and the lines of generated code in which the two builds differ."""
    guards, code = [], []
    for dynamic in (False, True):
        torch.compiler.reset()
        function = symbolic if dynamic else fixed
        with torch.no_grad(), lab.compiled_anew(), lab.artefacts() as made:
            torch.compile(function, dynamic=dynamic)(*args)
            guards.append(size_guard(made.get("dynamo_cpp_guards_str", "")))
            code.append(made.get("inductor_output_code", ""))
    for side, guard, lines in zip(("static", "dynamic"), guards, differing(code[0], code[1]), strict=True):
        values = {"build": side, "guard": guard, "lines": lines}
        lab.observe("code", values, call=side, said=[guard, *lines[:5]], why="code")


def size_guard(guards: str) -> str:
    """The sizes that the guard on the first tensor asks for, `size=[8, 256, 4096]` or `size=[None, None, None]`."""
    found = re.search(r"size=\[[^\]]*\]", guards)
    return found[0] if found else ""


#: Lines of generated code in which a size or a bound stands, and those that only pass them on.
TELLING = re.compile(r"numel|size_hints|\bks\d|\bs\d+\b|for\(")
PASSING = ("#", "def ", "triton_meta", "inductor_meta", "extern ")


def differing(static: str, dynamic: str, most: int = 8) -> tuple[list[str], list[str]]:
    """The lines about sizes that only one of two generated codes has, those of each, at most so many."""
    one, other = (list(dict.fromkeys(line.strip() for line in text.splitlines())) for text in (static, dynamic))
    return _telling(one, set(other))[:most], _telling(other, set(one))[:most]


def _telling(lines: list[str], known: set[str]) -> list[str]:
    new = (line for line in lines if line not in known and not line.startswith(PASSING))
    return [line[:200] for line in new if TELLING.search(line)]
