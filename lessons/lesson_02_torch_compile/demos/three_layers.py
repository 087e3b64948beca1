"""Which layer makes which artefact? The controls stop after the first and after the second layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.tanh(torch.sin(x).cos()).sum()


def run(lab: Lab) -> None:
    def saved(function: object) -> int:
        """How many tensors autograd keeps for backward."""
        kept = 0

        def pack(tensor: torch.Tensor) -> torch.Tensor:
            nonlocal kept
            kept += 1
            return tensor

        x = torch.randn(64, 64, device=lab.device, requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            loss = function(x)  # type: ignore[operator]
        loss.backward()
        return kept

    lab.observe("autograd", {"saved": saved(f)}, call="eager", why="autograd")
    for series, backend, why in (
        ("dynamo", "eager", "dynamo"),
        ("aot", "aot_eager", "aot"),
        ("default", "inductor", "inductor"),
    ):
        torch.compiler.reset()
        with lab.artefacts() as made:
            kept = saved(torch.compile(f, backend=backend))
        code = made.get("inductor_output_code", "")
        fx, joint = "dynamo_output_graph" in made, "aot_joint_graph" in made
        values = {
            "fx_graph": fx,
            "joint_graph": joint,
            "backward_graph": "aot_backward_graph" in made,
            "code": "triton" if "triton.jit" in code else "cpp" if "cpp_fused" in code else "other" if code else "none",
            "saved": kept,
        }
        lab.observe(
            series,
            values,
            call=f'backend="{backend}"',
            ask=backend,
            answer=sum((fx, joint, bool(code))),
            why=why,
        )
