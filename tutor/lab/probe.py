"""Every use of torch that is not public, in one place; each is asked of the running version and may be missing.

Used in the child; standard library and torch only, Python 3.10 and later.

* Compile ids: `torch._guards.CompileContext.current_compile_id()` inside the backend. Without it graphs are numbered.
* Recompile reasons: the logger `torch.__trace`, to which torch writes its structured trace as soon as it has a handler;
  the artifact `recompile_reasons` has one text per cache entry, in the order in which their guards were tried.
  Without it `Call.said` stays empty and `can()["reasons"]` says so. Seen on torch 2.6 to 2.14.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import json
import logging
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch


def can() -> dict[str, bool]:
    """Which private means this torch offers."""
    from torch import _guards, _logging

    return {
        "compile_id": hasattr(getattr(_guards, "CompileContext", None), "current_compile_id"),
        "reasons": hasattr(getattr(_logging, "_internal", None), "trace_structured"),
        "entries": hasattr(torch._dynamo.eval_frame, "_debug_get_cache_entry_list"),
    }


def entry_limit() -> int:
    """How many entries one function may have before calls run without a graph; it was `cache_size_limit` up to 2.6."""
    config = torch._dynamo.config
    return int(getattr(config, "recompile_limit", None) or config.cache_size_limit)


def entries(function: Callable[..., Any]) -> list[Any]:
    """The cache entries of a compiled function's own code, the one that served last first."""
    return list(torch._dynamo.eval_frame._debug_get_cache_entry_list(function.__code__))


def guards(entry: Any) -> list[str]:
    """The rows of an entry's guards as torch prints them."""
    return [row.strip() for row in str(entry.guard_manager).splitlines() if "+-" in row]


def guard_check(entry: Any, local: dict[str, Any]) -> Callable[[], bool]:
    """A function that evaluates an entry's guards, and does nothing else, for these local variables."""
    check: Callable[[dict[str, Any]], bool] = entry.guard_manager.check
    return lambda: check(local)


def generated(function: Callable[..., Any], *examples: torch.Tensor) -> Callable[..., Any]:
    """The code that Inductor generates for these arguments, without the guards that stand before it and without its own
    checks of sizes and strides."""
    from torch._inductor import config
    from torch._inductor.compile_fx import compile_fx

    kept: list[Callable[..., Any]] = []

    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
        kept.append(compile_fx(graph, inputs))
        run_as_is: Callable[..., Any] = graph.forward
        return run_as_is

    with config.patch(size_asserts=False), torch.no_grad():
        torch.compile(function, backend=backend, dynamic=False)(*examples)
    (code,) = kept

    def run(*args: torch.Tensor) -> Any:
        with torch.no_grad():
            (out,) = code(*args)
        return out

    return run


@contextlib.contextmanager
def compiled_anew() -> Iterator[None]:
    """While this is entered, Inductor takes nothing that was generated before from its caches."""
    from torch._inductor import config

    with warnings.catch_warnings(), config.patch(force_disable_caches=True):
        warnings.filterwarnings("ignore", "dynamo_pgo force disabled")  # It is no more than what was asked for.
        yield


@dataclass(frozen=True)
class Call:
    """One watched call. `served_by` names the graphs that ran, `0/1` or joined by `+`; `eager` when none did. `said`
    holds, for a recompile, why each cache entry refused, `0/0: tensor 'x' size mismatch ...`."""

    new_graphs: int
    served_by: str
    said: tuple[str, ...]
    same_as_eager: bool | None
    """None when it was not compared."""
    breaks: tuple[str, ...] = ()
    """torch's own words for each graph break that this call ran into while it was traced, one a line of code."""
    ops: tuple[int, ...] = ()
    """How many operations each new graph has."""
    told: tuple[str, ...] = ()
    """The whole text of each graph break as torch told it, often more than once."""
    guards: tuple[int, ...] = ()
    """How many guards each new entry has."""
    raised: str | None = None
    """The kind of exception that the compiled call raised, None normally; its first line then ends `said`."""


class Watch:
    """A function under torch.compile with a backend that counts graphs, notes who served a call, and runs the graph as
    it is: no code is generated, so a compilation takes some 10 ms and needs no compiler. `compiled` is what
    torch.compile gave, for calls that are timed and not watched."""

    _used = False

    def __init__(
        self, function: Callable[..., Any], *, inner: str | None = None, mode: str | None = None, **options: Any
    ) -> None:
        """`inner` names the backend that makes each graph's code, with Inductor's `mode`; None runs it as it is."""
        self._inner = _named_backend(inner, mode) if inner is not None else None
        self.got: Any = None
        """What the last call returned; None when it raised."""
        if Watch._used:  # Entries belong to the function's code. With CUDA a reset imports Inductor, some 3 s.
            torch.compiler.reset()
        Watch._used = True
        self._function = function
        self._ran: list[str] = []
        self._graphs = 0
        self._ops: list[int] = []
        self.lines: list[list[tuple[str, int]]] = []
        """For each graph, the lines of the user's code that it holds, as (file, line)."""
        self.names: list[str] = []
        """What each graph is called where it serves."""
        self._has_ids = can()["compile_id"]
        self.compiled = torch.compile(function, backend=self._backend, **options)

    def _backend(self, graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        name = f"g{self._graphs}"
        if self._has_ids:
            compile_id = torch._guards.CompileContext.current_compile_id()
            name = str(compile_id) if compile_id is not None else name
        self._graphs += 1
        self.lines.append(lines_of(graph))
        self.names.append(name)
        self._ops.append(sum(node.op.startswith("call_") for node in graph.graph.nodes))

        code = graph.forward if self._inner is None else self._inner(graph, inputs)

        def run(*args: Any) -> Any:
            self._ran.append(name)
            return code(*args)

        run._boxed_call = getattr(code, "_boxed_call", False)  # type: ignore[attr-defined]
        return run

    def call(self, *args: Any, compare: bool = True) -> Call:
        """Call compiled and, to `compare`, eager too, on the same arguments, which the function must not change."""
        return self._call(args, compare, may_raise=False)

    def attempt(self, *args: Any, **kwargs: Any) -> Call:
        """The same for a call that may raise; what it raised is part of the answer and nothing is compared."""
        return self._call(args, compare=False, may_raise=True, kwargs=kwargs)

    def state(self) -> tuple[int, int]:
        """How many cache entries the function has now, and how many guards they have together."""
        found = entries(self._function)
        return len(found), sum(len(guards(entry)) for entry in found)

    def _call(
        self, args: tuple[Any, ...], compare: bool, *, may_raise: bool, kwargs: dict[str, Any] | None = None
    ) -> Call:
        before, raised, got = self._graphs, None, None
        self._ran.clear()
        with Events() as events:
            try:
                got = self.compiled(*args, **(kwargs or {}))
            except Exception as error:
                if not may_raise:
                    raise
                raised = type(error).__name__
                events.reasons.append(str(error).strip().split("\n", 1)[0])
        self.got = got
        return Call(
            new_graphs=self._graphs - before,
            served_by="+".join(dict.fromkeys(self._ran)) or "eager",
            said=tuple(events.reasons),
            same_as_eager=torch.equal(got, self._function(*args)) if compare else None,
            breaks=tuple(events.breaks.values()),
            told=tuple(events.told),
            guards=tuple(events.guards),
            ops=tuple(self._ops[before:]),
            raised=raised,
        )


#: What torch's layers make, by the names that its structured trace gives them.
ARTEFACTS = {
    *("dynamo_cpp_guards_str", "dynamo_output_graph", "inductor_output_code"),
    *("aot_joint_graph", "aot_forward_graph", "aot_backward_graph"),
}


class Events(logging.Handler):
    """Collects torch's structured trace while it is entered: recompile reasons, graph breaks, and which artefacts its
    layers made (`dynamo_output_graph`, `aot_joint_graph`, `inductor_output_code`, ...)."""

    _LOGGER = logging.getLogger("torch.__trace")

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.reasons: list[str] = []
        self.breaks: dict[tuple[str, str], str] = {}
        """Words by place and cause: a break is told again by every frame that it goes through."""
        self.guards: list[int] = []
        """How many guards each new entry has."""
        self.told: list[str] = []
        """The whole text of each break."""
        self.made: dict[str, str] = {}
        """The newest text by the artefact's name."""

    def __enter__(self) -> Events:
        self._LOGGER.addHandler(self)
        return self

    def __exit__(self, *exc: object) -> None:
        self._LOGGER.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        metadata = getattr(record, "metadata", {})
        payload = getattr(record, "payload", None) or ""
        artifact = metadata.get("artifact")
        name = artifact.get("name") if isinstance(artifact, dict) else None
        if name == "recompile_reasons":
            rows = json.loads(payload) if payload[:1] in ("[", '"') else payload
            self.reasons += map(_words, rows if isinstance(rows, list) else [rows])
        elif name == "dynamo_graph_break_reason":
            self.told.append(payload)
            place, cause = _break(payload)
            self.breaks[place, cause] = cause
        if "dynamo_cpp_guards_str" in metadata:
            self.guards.append(sum(row.lstrip("| ").startswith("+- ") for row in payload.splitlines()))
        for artefact in ARTEFACTS & metadata.keys():
            self.made[artefact] = payload


def _named_backend(name: str, mode: str | None) -> Callable[..., Any]:
    """A registered backend, or Inductor in a mode. Raises what torch raises for a name that it does not know."""
    if mode is None:
        backend: Callable[..., Any] = torch._dynamo.lookup_backend(name)
        return backend
    from torch._inductor import list_mode_options
    from torch._inductor.compile_fx import compile_fx

    return functools.partial(compile_fx, config_patches=list_mode_options(mode))


def lines_of(graph: torch.fx.GraphModule) -> list[tuple[str, int]]:
    """The lines that a graph holds, from its nodes' stack traces, whose last frame is the innermost."""
    found = set()
    for node in graph.graph.nodes:
        frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
        if frames:
            found.add((frames[-1][0], int(frames[-1][1])))
    return sorted(found)


def explained(function: Callable[..., Any], *args: Any) -> tuple[int, int] | None:
    """Graphs and breaks as `torch._dynamo.explain` counts them, which runs the function; None where it cannot."""
    torch.compiler.reset()
    try:
        report = torch._dynamo.explain(function)(*args)
        return int(report.graph_count), int(report.graph_break_count)
    except (AttributeError, RuntimeError):
        return None


class _Overheard(logging.Handler):
    """Collects what some of torch's loggers say while it is entered, and keeps it from going anywhere else."""

    LOGGERS: tuple[str, ...] = ()
    BEGINS: str = ""
    """How the messages begin that are kept, after the place in brackets that torch may put before them."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.said: list[str] = []
        self._before: list[tuple[logging.Logger, int, bool]] = []

    def __enter__(self) -> _Overheard:
        for logger in map(logging.getLogger, self.LOGGERS):
            self._before.append((logger, logger.level, logger.propagate))
            logger.addHandler(self)
            logger.setLevel(logging.DEBUG)
            logger.propagate = False
        return self

    def __exit__(self, *exc: object) -> None:
        for logger, level, propagate in self._before:
            logger.removeHandler(self)
            logger.setLevel(level)
            logger.propagate = propagate
        self._before.clear()

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        if said.lstrip("[0123456789/] ").startswith(self.BEGINS):
            self.said.append(said)


class Recordings(_Overheard):
    """Collects what torch says of each CUDA graph that it records while this is entered."""

    LOGGERS = ("torch._inductor.cudagraph_trees.__cudagraphs",)
    BEGINS = "Recording function"


class Skips(_Overheard):
    """Collects why torch made no CUDA graph where it was asked for one; up to torch 2.8 this was a hint on speed."""

    LOGGERS = tuple(f"torch._inductor.cudagraph_utils.__{name}" for name in ("cudagraphs", "perf_hints"))
    BEGINS = "skipping cudagraph"


#: What torch writes above the cause of a break.
_ABOVE = ("Encountered graph break", "Failed to handle graph break gracefully")


def _break(payload: str) -> tuple[str, str]:
    """Where a break is and torch's headline for why."""
    first, *rest = payload.strip().splitlines() or [""]
    lines = [line.strip().removeprefix("Graph Break Reason:").strip() for line in rest]
    cause = next((line for line in lines if line and not line.startswith(_ABOVE)), "")
    return first, re.sub(r"^Reason: ", "", cause)


def _words(reason: str) -> str:
    """torch's own words, without its stack trace and the source line behind ` # `."""
    return re.split(r"\n|\s{2,}#", reason.strip(), maxsplit=1)[0].strip()


def describe(tensor: torch.Tensor) -> str:
    """`f32[2, 128]`, as the field writes it."""
    kind = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}
    name = re.sub(r"[a-z]+", lambda match: kind.get(match[0], match[0]), str(tensor.dtype).removeprefix("torch."))
    return f"{name}{list(tensor.shape)}"


def layers(function: Callable[..., Any], *args: Any) -> tuple[dict[str, str], str | None]:
    """What each layer makes of a function whose result is a scalar with a gradient, newest compilation only: bytecode
    before and after Dynamo, guards, the FX graph, AOTAutograd's joint, forward and backward graph, Inductor's code for
    both directions. Beside it what stopped the rest, None when nothing did; without a C++ compiler that is Inductor.
    """
    found = {"bytecode-before": dis.Bytecode(function).dis()}
    torch.compiler.reset()
    hook = getattr(torch._dynamo.convert_frame, "register_bytecode_hook", None)
    after: list[str] = []
    code = ""
    handle = hook(lambda _old, new: after.append(dis.Bytecode(new).dis())) if hook is not None else None
    stopped = None
    try:
        with compiled_anew(), Events() as events:
            try:
                result = torch.compile(function)(*args)
                code = events.made.get("inductor_output_code", "")
                result.backward()
            except Exception as error:  # What was made before it stands; the reader is told the rest.
                stopped = f"{type(error).__name__}: {str(error).strip()}"
    finally:
        if handle is not None:
            handle.remove()
    made = events.made
    found["bytecode-after"] = after[0] if after else ""
    found["guards"] = made.get("dynamo_cpp_guards_str", "")
    found["fx-graph"] = made.get("dynamo_output_graph", "")
    for name in ("joint", "forward", "backward"):
        found[f"aot-{name}"] = made.get(f"aot_{name}_graph", "")
    newest = made.get("inductor_output_code", "")
    found["inductor-forward"], found["inductor-backward"] = code or newest, newest if code else ""
    return {name: text for name, text in found.items() if text.strip()}, stopped
