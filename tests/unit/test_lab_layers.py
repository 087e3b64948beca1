"""The layers of a function: parts put together, noise folded away, and a missing compiler told from other trouble."""

from __future__ import annotations

import pytest

from tutor.lab import layers

CODE = """\
# AOT ID: ['0_forward']
import torch
from torch import device
aten = torch.ops.aten
cpp_fused_0 = async_compile.cpp_pybinding(['float*'], r'''
void kernel(float* p)
''')

async_compile.wait(globals())
"""


def test_parts_of_a_text_come_together_in_the_order_of_a_compilation() -> None:
    observed = {
        "layer": {"name": ["inductor-forward", "fx-graph", "inductor-forward"], "text": [CODE[:40], "g\n\n", CODE[40:]]}
    }
    fx, code = layers.gather(observed)
    assert (fx.name, fx.lines, fx.hidden) == ("fx-graph", ("g",), 0)
    assert code.text == CODE
    assert code.lines[1:] == (
        "cpp_fused_0 = async_compile.cpp_pybinding(['float*'], r'''",
        "void kernel(float* p)",
        "''')",
    )
    assert code.hidden == 4, "imports and helpers are counted, blank lines are not"


def test_a_name_that_is_no_layer_is_left_out() -> None:
    assert layers.gather({"layer": {"name": ["else"], "text": ["x"]}}) == []
    assert layers.gather({}) == []


@pytest.mark.parametrize(
    ("why", "missing"),
    [
        ("InductorError: InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx", True),
        ("RuntimeError: Failed to find C compiler. Please specify via CC environment variable.", True),
        ("RuntimeError: something else", False),
        ("", False),
    ],
)
def test_a_missing_compiler_is_told_from_other_trouble(why: str, missing: bool) -> None:
    assert layers.no_compiler(why) is missing
    assert layers.stopped({"end": {"stopped": [why or None]}}) == why
