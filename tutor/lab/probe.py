"""Every use of torch that is not public, in one place; each is asked of the running version and may be missing.

Used in the child; standard library and torch only, Python 3.10 and later.

* Compile ids: `torch._guards.CompileContext.current_compile_id()` inside the backend. Without it graphs are numbered.
* Recompile reasons: the logger `torch.__trace`, to which torch writes its structured trace as soon as it has a handler;
  the artifact `recompile_reasons` has one text per cache entry, in the order in which their guards were tried.
  Without it `Call.said` stays empty and `can()["reasons"]` says so. Seen on torch 2.6 to 2.14.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch


def can() -> dict[str, bool]:
    """Which private means this torch offers."""
    from torch import _guards, _logging

    return {
        "compile_id": hasattr(getattr(_guards, "CompileContext", None), "current_compile_id"),
        "reasons": hasattr(getattr(_logging, "_internal", None), "trace_structured"),
    }


@dataclass(frozen=True)
class Call:
    """One watched call. `served_by` names the graphs that ran, `0/1` or joined by `+`; `eager` when none did. `said`
    holds, for a recompile, why each cache entry refused, `0/0: tensor 'x' size mismatch ...`."""

    new_graphs: int
    served_by: str
    said: tuple[str, ...]
    same_as_eager: bool


class Watch:
    """A function under torch.compile with a backend that counts graphs, notes who served a call, and runs the graph as
    it is: no code is generated, so a compilation takes some 10 ms and needs no compiler."""

    _used = False

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        if Watch._used:  # Entries belong to the function's code. With CUDA a reset imports Inductor, some 3 s.
            torch.compiler.reset()
        Watch._used = True
        self._function = function
        self._ran: list[str] = []
        self._graphs = 0
        self._has_ids = can()["compile_id"]
        self._compiled = torch.compile(function, backend=self._backend, **options)

    def _backend(self, graph: torch.fx.GraphModule, _inputs: list[Any]) -> Callable[..., Any]:
        name = f"g{self._graphs}"
        if self._has_ids:
            compile_id = torch._guards.CompileContext.current_compile_id()
            name = str(compile_id) if compile_id is not None else name
        self._graphs += 1

        def run(*args: Any) -> Any:
            self._ran.append(name)
            return graph.forward(*args)

        return run

    def call(self, *args: Any) -> Call:
        """Call once compiled and once eager, on the same arguments, which the function must not change."""
        before = self._graphs
        self._ran.clear()
        with _Reasons() as reasons:
            got = self._compiled(*args)
        return Call(
            new_graphs=self._graphs - before,
            served_by="+".join(dict.fromkeys(self._ran)) or "eager",
            said=tuple(reasons.texts),
            same_as_eager=torch.equal(got, self._function(*args)),
        )


class _Reasons(logging.Handler):
    """Collects recompile reasons while it is entered."""

    _LOGGER = logging.getLogger("torch.__trace")

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.texts: list[str] = []

    def __enter__(self) -> _Reasons:
        self._LOGGER.addHandler(self)
        return self

    def __exit__(self, *exc: object) -> None:
        self._LOGGER.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        artifact = getattr(record, "metadata", {}).get("artifact")
        if isinstance(artifact, dict) and artifact.get("name") == "recompile_reasons":
            payload = getattr(record, "payload", None) or ""
            rows = json.loads(payload) if payload[:1] in ("[", '"') else payload
            self.texts += map(_words, rows if isinstance(rows, list) else [rows])


def _words(reason: str) -> str:
    """torch's own words, without its stack trace and the source line behind ` # `."""
    return re.split(r"\n|\s{2,}#", reason.strip(), maxsplit=1)[0].strip()


def describe(tensor: torch.Tensor) -> str:
    """`f32[2, 128]`, as the field writes it."""
    kind = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}
    name = re.sub(r"[a-z]+", lambda match: kind.get(match[0], match[0]), str(tensor.dtype).removeprefix("torch."))
    return f"{name}{list(tensor.shape)}"
