"""The demos that need a GPU, run without one: what they observe answers their questions, by names of their TOML."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tutor.lesson import catalog

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed in this environment"),
    pytest.mark.skipif(
        importlib.util.find_spec("triton") is None, reason="Triton is not installed in this environment"
    ),
]
DEMOS = {name.replace("-", "_"): demo for name, demo in catalog.load().demos.items()}


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    script = Path(__file__).with_name("gpu_demos_run.py")
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize("name", ["kernel_limit", "fused_block", "cudagraph_refused", "cudagraph_keep", "launch_bound"])
def test_a_demo_observes_what_its_toml_names(seen: dict[str, Any], name: str) -> None:
    demo, told = DEMOS[name], [each for each in seen[name] if "series" in each]
    assert {each["why"] for each in told} <= {None, *demo.why}
    asks = {ask.id: len(ask.choices) for ask in demo.asks}
    answers = {each["ask"]: each["answer"] for each in told if each["ask"]}
    by_cuda_alone = {"by-hand"} if name == "cudagraph_keep" else set()
    assert set(answers) == set(asks) - by_cuda_alone
    for ask, answer in answers.items():
        assert answer >= 0
        assert asks[ask] == 0 or answer < asks[ask]
    assert set(demo.units) <= {value for each in told for value in each["values"]}
    assert any(each["series"] == "control" for each in told)


def test_a_promised_address_is_tried_without_the_cache_and_with_it(seen: dict[str, Any]) -> None:
    """The whole run stands in for a GPU, so only what is asked for can be seen here: each of the three once."""
    series = [each["series"] for each in seen["cudagraph_keep"] if "copies" in each["values"]]
    assert series == ["copied", "promised", "from_cache"]


def test_five_timelines_are_drawn_and_fit_beside_the_lesson(seen: dict[str, Any]) -> None:
    [lines] = [each["drawn"] for each in seen["launch_bound"] if "drawn" in each]
    assert [line for line in lines if not line.startswith(("CPU ", "GPU ", " us "))] == [
        *("eager, (64, 256)", "eager", "compiled", "cpp", "cudagraphs")
    ]
    assert sum(line.startswith("GPU ") for line in lines) == 5
    assert max(map(len, lines)) <= 60


def test_the_unit_is_the_one_whose_probe_is_as_slow(seen: dict[str, Any]) -> None:
    assert seen["limits"] == [0, 1, 2]


def test_a_probe_adds_work_and_changes_nothing(seen: dict[str, Any]) -> None:
    assert seen["probes"]["special"] < 1e-4
    assert seen["probes"]["adds"] < 1e-4
    assert seen["probes"]["none"] > 0.1


def test_eager_moves_three_times_what_the_fused_block_does(seen: dict[str, Any]) -> None:
    """Nine tensors: three ops read one and write one, the last reads two; the vectors are small beside them."""
    assert 9 <= seen["moved"] < 10.5


def test_the_guard_and_the_code_that_differ_are_found(seen: dict[str, Any]) -> None:
    assert seen["guard"] == "size=[8, None]"
    assert seen["lines"] == [["r0_numel = 4096"], ["r0_numel = ks0"]]
