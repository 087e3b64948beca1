"""Where a compilation's time goes, from the marks that torch itself sets while it compiles.

torch times its own parts and writes each one's begin and end to its structured trace as soon as the logger
`torch.__trace` has a handler (`chromium_event`; seen on torch 2.11 and 2.13). Where a torch writes none, `Marks.seen`
stays empty and the whole call is one phase, `codegen`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any

#: The parts that begin another phase than the one around them; every other part belongs to what is around it. With one
#: compile thread `async_compile.precompile` is Triton, or the loading of what it had made before.
PHASES: Mapping[str, str] = {
    **dict.fromkeys(("entire_frame_compile", "_compile.compile_inner"), "tracing"),
    **dict.fromkeys(("backend_compile", "OutputGraph.call_user_compiler"), "codegen"),
    **dict.fromkeys(("PyCodeCache.load_by_key_path", "AOTAutogradCache.inductor_load"), "load"),
    **dict.fromkeys(("TritonBundler.read_and_emit", "TritonBundler.load_cached_static_autotuners"), "load"),
    **dict.fromkeys(("compile_file", "aoti_precompile_header", "aoti_compile_fatbin"), "compiler"),
    **dict.fromkeys(("async_compile.precompile", "async_compile.wait"), "compiler"),
    **dict.fromkeys(("CachingAutotuner.slow_precompile_config",), "compiler"),
}


class Marks(logging.Handler):
    """Collects torch's marks while it is entered."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.seen: list[Mapping[str, Any]] = []

    def __enter__(self) -> Marks:
        logging.getLogger("torch.__trace").addHandler(self)
        return self

    def __exit__(self, *exc: object) -> None:
        logging.getLogger("torch.__trace").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        if "chromium_event" in getattr(record, "metadata", {}):
            payload = getattr(record, "payload", None)
            self.seen.append(json.loads(payload() if callable(payload) else payload or "{}"))


def split(marks: Iterable[Mapping[str, Any]], around: str) -> dict[str, float]:
    """Seconds of each phase, each moment counted once, for the innermost part that it lies in.

    What lies in no part that PHASES names belongs to `around`; what lies in no part at all is not counted.
    """
    taken: dict[str, float] = {}
    inside: list[tuple[str, str]] = []
    last = 0.0
    for mark in marks:
        kind, name, at = mark.get("ph"), str(mark.get("name")), mark.get("ts")
        if kind not in ("B", "E") or not isinstance(at, (int, float)):
            continue
        if inside:
            phase = inside[-1][1]
            taken[phase] = taken.get(phase, 0.0) + (at - last) / 1e6
        last = at
        if kind == "B":
            outer = inside[-1][1] if inside else around
            inside.append((name, _phase(name, outer)))
        elif name in (open_name for open_name, _ in inside):  # An end without its begin was begun before we listened.
            while inside.pop()[0] != name:
                pass
    return taken


def _phase(name: str, outer: str) -> str:
    """What a cache gives back needs code generation again only when the compiler itself is not asked."""
    inner = PHASES.get(name, outer)
    return outer if outer == "compiler" else inner
