"""How many graphs does each call compile, when one size changes, then again, then another one?

The control is the same function and the same calls with `dynamic=False`, which takes automatic dynamic shapes away: the
third size must compile there, and must not here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab
    from tutor.lab.probe import Call

SIZES = ((2, 128), (8, 128), (16, 128), (2, 128), (2, 256))


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + 1)


def run(lab: Lab) -> None:
    for series, options in (("default", {}), ("control", {"dynamic": False})):
        watched = lab.watch(f, **options)
        served: dict[tuple[int, int], str] = {}
        for number, size in enumerate(SIZES, 1):
            x = torch.randn(size, device=lab.device)
            call = watched.call(x)
            asked = series == "default"
            lab.observe(
                series,
                {
                    "new_graphs": call.new_graphs,
                    "served_by": call.served_by,
                    "same_as_eager": call.same_as_eager,
                },
                call=lab.describe(x),
                ask=f"call-{number}" if asked else None,
                answer=call.new_graphs if asked else None,
                said=call.said,
                why=_why(series, number, call, served),
            )
            served.setdefault(size, call.served_by)


def _why(series: str, number: int, call: Call, served: dict[tuple[int, int], str]) -> str:
    """The sentence for what was observed, or the one that admits that it was not expected."""
    size = SIZES[number - 1]
    compiled, expected = call.new_graphs == 1, "unexpected"
    if number == 1:
        return "first" if compiled else expected
    if series == "control":
        if size in served:
            return "control-hit" if not compiled and call.served_by == served[size] else expected
        return "control-new" if compiled else expected
    if number == 2:
        return "second-size" if compiled else expected
    if number == 3:
        return "third-size" if not compiled else expected
    if number == 4:
        if compiled:
            return expected
        return "old-size-static" if call.served_by == served[size] else "old-size-dynamic"
    return "other-dimension" if compiled else expected
