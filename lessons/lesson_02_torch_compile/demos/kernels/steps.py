"""From a first draft to the limit: the same kernel, one thing changed at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kernels.block import Launch, launch_for
from kernels.gelu import (
    gelu_erf,
    gelu_exp2,
    gelu_more_adds,
    gelu_more_special,
    gelu_polynomial,
    gelu_tanh,
    no_gelu,
)


@dataclass(frozen=True)
class Step:
    """`gelu` is a function for use in a kernel; `tuned` says whether the launch is chosen for the size."""

    name: str
    gelu: Any
    tuned: bool

    def launch(self, rows: int, hidden: int, l2_bytes: int) -> Launch:
        return launch_for(rows, hidden, l2_bytes) if self.tuned else Launch(8)


#: In the order in which they are taught. `tanh` looks done until its errors are seen, see `accuracy.HARD`.
STEPS = (
    Step("erf", gelu_erf, tuned=False),
    Step("polynomial", gelu_polynomial, tuned=False),
    Step("tanh", gelu_tanh, tuned=False),
    Step("exp2", gelu_exp2, tuned=False),
    Step("launch", gelu_exp2, tuned=True),
)

#: Which unit is the limit: `exp2` without any GELU, with more work for the special-function unit, and with as many
#: instructions as `erf`. Whichever is as slow as `erf` names what `erf` waits for.
PROBES = (
    Step("none", no_gelu, tuned=False),
    Step("special", gelu_more_special, tuned=False),
    Step("adds", gelu_more_adds, tuned=False),
)
