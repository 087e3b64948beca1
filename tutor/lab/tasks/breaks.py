"""The break lab's child: one function, compiled once, beside eager and beside `explain`.

params: `source`, a file with a function `f(x, w)`; `file`, the name that it goes by; `fullgraph`.
Observed: `graph` for each graph (the lines it holds), `break` for each that torch told of (its payload), `end`.
"""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

#: Of one text from torch, in characters: an event has a bound, and the place stands well before this.
PAYLOAD = 12_000


def run(lab: Lab) -> None:
    f = load(str(lab.params["source"]), str(lab.params["file"]))
    x, w = torch.ones(4, 4, device=lab.device), torch.eye(4, device=lab.device)
    watched = lab.watch(f, fullgraph=bool(lab.params["fullgraph"]))
    call = watched.attempt(x, w)
    graphs = watched.lines[: call.new_graphs]
    same = watched.call(x, w).same_as_eager if call.raised is None else None
    for places in graphs:
        lab.observe("graph", {"lines": [line for file, line in places if file == lab.params["file"]]})
    for payload in call.told:
        lab.observe("break", {"payload": payload[:PAYLOAD]})
    explained = lab.explain(f, x, w)
    lab.observe(
        "end",
        {
            "same_as_eager": same,
            "explain_graphs": explained[0] if explained else None,
            "explain_breaks": explained[1] if explained else None,
            "raised": f"{call.raised}: {call.said[-1]}" if call.raised else None,
        },
    )


def load(source: str, name: str) -> Any:
    """The function `f` of a file that is nowhere on a disk; torch reads its lines from `linecache`."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    space: dict[str, Any] = {"__name__": "break_lab"}
    exec(compile(source, name, "exec"), space)
    return space["f"]
