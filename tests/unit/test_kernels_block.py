"""The lesson's fused kernels, in Triton's interpreter on the CPU: right for any size, stride and input, or refused."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed in this environment"),
    pytest.mark.skipif(
        importlib.util.find_spec("triton") is None, reason="Triton is not installed in this environment"
    ),
]


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """What one process saw; the interpreter takes some seconds for all of it."""
    script = Path(__file__).with_name("kernels_interpreted.py")
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_the_four_gelus_are_as_wrong_as_their_module_says(seen: dict[str, Any]) -> None:
    errors = seen["gelu"]
    assert errors["erf"]["relative"] < 5e-4
    assert errors["polynomial"]["relative"] < 1e-3
    assert max(errors["erf"]["absolute"], errors["polynomial"]["absolute"]) < 5e-7
    assert 0.4 < errors["tanh"]["relative"] < 0.5
    assert 4e-4 < errors["tanh"]["absolute"] < 5e-4
    assert errors["exp2"]["relative"] < 1.1e-4
    assert errors["exp2"]["absolute"] < 8e-6


def test_every_hidden_size_is_right_to_what_bf16_rounds(seen: dict[str, Any]) -> None:
    assert len(seen["shapes"]) == 8
    assert {shape: excess for shape, excess in seen["shapes"].items() if not excess <= 1} == {}


def test_a_result_stored_as_bf16_is_right_too(seen: dict[str, Any]) -> None:
    """Within twice as much: the interpreter cuts off where a GPU rounds to nearest."""
    assert {shape: excess for shape, excess in seen["stored"].items() if not excess <= 2} == {}


def test_an_empty_input_gives_an_empty_output(seen: dict[str, Any]) -> None:
    assert seen["empty"] == [[0], [0, 8], [3, 0], [2, 0, 4]]


@pytest.mark.parametrize("step", ["erf", "polynomial", "exp2", "launch"])
def test_hard_inputs_are_right_too(seen: dict[str, Any], step: str) -> None:
    assert len(seen["hard"]) == 6
    assert {name: found[step] for name, found in seen["hard"].items() if not found[step] <= 1} == {}


def test_the_short_cut_shows_in_the_tail_of_gelu_and_nowhere_else(seen: dict[str, Any]) -> None:
    wrong = {name for name, found in seen["hard"].items() if not found["tanh"] <= 1}
    assert wrong == {"the tail of GELU"}
    assert seen["hard"]["the tail of GELU"]["tanh"] > 10


def test_eps_is_the_caller_s(seen: dict[str, Any]) -> None:
    assert seen["eps"] < 0.0025


def test_rows_may_lie_in_any_way(seen: dict[str, Any]) -> None:
    assert len(seen["strided"]) == 7
    assert {name: excess for name, excess in seen["strided"].items() if not excess <= 1} == {}


def test_a_nan_spoils_its_own_row_and_no_other(seen: dict[str, Any]) -> None:
    assert seen["bad row"] == [False, True, False, False]


def test_the_inputs_are_left_as_they_were(seen: dict[str, Any]) -> None:
    assert seen["unchanged"] is True


def test_what_does_not_fit_is_refused_by_name(seen: dict[str, Any]) -> None:
    assert seen["refused"] == {
        "no dimension": "x has no dimension to normalize over",
        "residual": "residual is [1, 8], x is [2, 8]: they have to be the same",
        "bias": "bias is [7], it has to be [8]",
        "weight": "weight is [1, 8], it has to be [8]",
        "dtype": "x is torch.float64; the kernel computes in float32",
        "whole numbers": "shift is torch.int64; the kernel computes in float32",
        "gradient": "x needs a gradient; this kernel has no backward",
        "device": "weight is on meta, x on cpu",
    }


def test_the_launch_follows_the_size(seen: dict[str, Any]) -> None:
    few, many, wide, tiny, one_long = seen["launches"]
    assert few == [8, "evict_first"]
    assert many == [4, ""]
    assert wide == [8, ""]
    assert tiny == [4, ""]
    assert one_long == [32, "evict_first"]
