"""What does a first call leave behind, and does another process have it? The control forces eager."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab
    from tutor.lab.probe import Watch


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + 1)


def run(lab: Lab) -> None:
    x = torch.randn(4, 8, device=lab.device)

    def step(series: str, label: str, watched: Watch, why: str, expect: int, ask: str | None = None) -> None:
        call = watched.call(x)
        entries, guards = watched.state()
        values = {"new_graphs": call.new_graphs, "entries": entries, "guards": guards, "ops": sum(call.ops)}
        lab.observe(
            series,
            {**values, "same_as_eager": call.same_as_eager},
            call=label,
            ask=ask,
            answer=call.new_graphs if ask else None,
            why=why if call.new_graphs == expect else "unexpected",
        )

    with torch.compiler.set_stance("force_eager"):
        step("control", 'set_stance("force_eager")', lab.watch(f), "control", 0)
    watched = lab.watch(f)
    step("first", "1st f(x)", watched, "captured", 1, ask="call-1")
    step("second", "2nd f(x)", watched, "hit", 0, ask="call-2")
    there = lab.fresh(__file__)["new_graphs"]
    why = "process" if there == 1 else "unexpected"
    lab.observe("process", {"new_graphs": there}, call="python", ask="process", answer=there, why=why)


if __name__ == "__main__":
    graphs: list[torch.fx.GraphModule] = []

    def keep(graph: torch.fx.GraphModule, _inputs: list[torch.Tensor]) -> object:
        graphs.append(graph)
        return graph.forward

    torch.compile(f, backend=keep)(torch.randn(4, 8))
    print(json.dumps({"new_graphs": len(graphs)}))
