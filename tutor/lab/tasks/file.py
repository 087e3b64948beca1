"""Runs a learner's own function under torch.compile, call by call, and beside eager.

params: `file`, `fn`, `calls` (a list in the file, or a function that yields), `dynamic` (true, false, auto),
`fullgraph`, `mode` and `backend` (None: each graph runs as it is).
Observed: `begins` before anything of the learner's runs, `limit`, then `call`, `graph` and `break` as they happen;
`problem` when the file is not of that kind.
"""

from __future__ import annotations

import copy
import importlib.machinery
import importlib.util
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

#: Of one text from torch, in characters, and of one argument as it is shown.
PAYLOAD, SHOWN = 12_000, 60


def run(lab: Lab) -> None:
    asked = lab.params
    lab.observe("begins", {})
    module = load(Path(asked["file"]))
    function, calls = getattr(module, asked["fn"], None), getattr(module, asked["calls"], None)
    for name, found in ((asked["fn"], callable(function)), (asked["calls"], calls is not None)):
        if not found:
            there = [each for each in vars(module) if not each.startswith("_")]
            lab.observe("problem", {"missing": name, "names": ", ".join(there)[:500]})
            return
    assert function is not None
    lab.observe("limit", {"entries": lab.entry_limit()})
    dynamic = {"true": True, "false": False}.get(asked["dynamic"])
    watched = lab.watch(
        function, inner=asked["backend"], mode=asked["mode"], dynamic=dynamic, fullgraph=bool(asked["fullgraph"])
    )
    for number, (args, kwargs) in enumerate(each(calls)):
        one(lab, watched, function, number, args, kwargs)


def one(lab: Lab, watched: Any, function: Any, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """One call: eager on a copy first, then compiled, then both compared."""
    shown = ", ".join([*map(show, args), *(f"{name}={show(value)}" for name, value in kwargs.items())])
    graphs = len(watched.lines)
    try:
        mine, others = copy.deepcopy((args, kwargs)), copy.deepcopy((args, kwargs))
    except Exception:  # A tensor that is no leaf, a generator, a lock: the call itself may go well.
        mine, others = (args, kwargs), None
    random = torch.get_rng_state()
    eager, eager_raised = attempt(function, others) if others is not None else (None, None)
    torch.set_rng_state(random)
    began = time.perf_counter()
    call = watched.attempt(*mine[0], **mine[1])
    seconds = time.perf_counter() - began
    same = None
    if others is not None and eager_raised is None and call.raised is None:
        same = equal((watched.got, mine), (eager, others))
    lab.observe(
        "call",
        {
            "i": number,
            "served_by": call.served_by,
            "new_graphs": call.new_graphs,
            "same_as_eager": same,
            "seconds": round(seconds, 6),
            "raised": f"{call.raised}: {call.said[-1]}" if call.raised else None,
            "eager_raised": eager_raised,
        },
        call=shown[:500],
        said=call.said[:-1] if call.raised else call.said,
    )
    for place, lines in enumerate(watched.lines[graphs:]):
        ops = call.ops[place]
        guards = call.guards[place] if place < len(call.guards) else None
        where = sorted({line for file, line in lines if file == lab.params["file"]})
        lab.observe(
            "graph", {"i": number, "name": watched.names[graphs + place], "ops": ops, "guards": guards, "lines": where}
        )
    for payload in call.told:
        lab.observe("break", {"i": number, "payload": payload[:PAYLOAD]})


def attempt(function: Any, asked: tuple[tuple[Any, ...], dict[str, Any]]) -> tuple[Any, str | None]:
    try:
        return function(*asked[0], **asked[1]), None
    except Exception as error:  # The function's own: it would raise without torch.compile too.
        return None, f"{type(error).__name__}: {str(error)[:200]}"


def equal(one: Any, other: Any) -> bool | None:
    """Whether results, and the arguments afterwards, are the same within torch's own tolerances; None when they are of
    a kind that cannot be compared."""
    flat, spec = torch.utils._pytree.tree_flatten(one)
    flat_other, spec_other = torch.utils._pytree.tree_flatten(other)
    if spec != spec_other:
        return False
    for a, b in zip(flat, flat_other):  # noqa: B905  The trees have the same shape.
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
            try:
                torch.testing.assert_close(a, b, equal_nan=True)
            except AssertionError:
                return False
        elif isinstance(a, (bool, int, float, str, bytes, type(None))):
            if a != b and not (a != a and b != b):  # NaN equals NaN.
                return False
        elif type(a) is not type(b):
            return False
        else:
            return None
    return True


def each(calls: Any) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Every call as (args, kwargs)."""
    for asked in calls() if callable(calls) else calls:
        if isinstance(asked, tuple) and len(asked) == 2 and isinstance(asked[0], tuple) and isinstance(asked[1], dict):
            yield asked[0], asked[1]
        else:
            yield (asked if isinstance(asked, tuple) else (asked,)), {}


def show(value: Any) -> str:
    """`f32[2, 128]`, a number, or the name of a type."""
    if isinstance(value, torch.Tensor):
        return describe(value)
    if isinstance(value, (list, tuple)):
        inside = ", ".join(map(show, value[:4])) + (", .." if len(value) > 4 else "")
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if isinstance(value, (bool, int, float, str, type(None))):
        return repr(value)[:SHOWN]
    return type(value).__name__


def describe(tensor: torch.Tensor) -> str:
    words: str = sys.modules["tutor_lab_probe"].describe(tensor)
    return words


def load(path: Path) -> ModuleType:
    """The learner's file as a module, with its folder on the path as Python itself would have it."""
    sys.path.insert(0, str(path.parent))
    loader = importlib.machinery.SourceFileLoader("lab_file", str(path))  # Whatever the file's name ends with.
    spec = importlib.util.spec_from_loader(loader.name, loader, origin=str(path))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module
