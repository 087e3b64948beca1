"""The experiment on a real torch, as it is and with its control or its cause taken away."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tutor.lab.host import LabHost
from tutor.lesson import catalog
from tutor.model import Demo

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed in this environment"),
]


@pytest.fixture
def demo() -> Demo:
    return catalog.load().demos["automatic-dynamic"]


def changed(demo: Demo, tmp_path: Path, old: str, new: str) -> Demo:
    text = demo.script.read_text(encoding="utf-8")
    assert text.count(old) == 1
    script = tmp_path / "changed.py"
    script.write_text(text.replace(old, new), encoding="utf-8")
    return replace(demo, script=script)


def run(host: LabHost, demo: Demo, **more: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    events = list(host.start(demo, device="cpu", **more))
    assert events[-1]["outcome"] == "ok", events[-1]
    return [event for event in events if event["event"] == "observation"], events[-2]


def test_the_claim_holds_here(host: LabHost, demo: Demo) -> None:
    observations, result = run(host, demo, predicted={"call-1": 1, "call-2": 0})
    assert result["claims"] == {"automatic-dynamic": "holds"}
    asked = [event for event in observations if event["ask"]]
    assert [event["ask"] for event in asked] == [ask.id for ask in demo.asks]
    assert [event["call"] for event in asked] == [ask.label for ask in demo.asks]
    assert [event["answer"] for event in asked] == [1, 1, 0, 0, 1]
    assert [event["agrees"] for event in asked] == [True, False, None, None, None]
    assert all(event["plain"] for event in observations)
    assert "unexpected" not in [event["why"] for event in observations]


def test_each_recompile_comes_with_torchs_own_words(host: LabHost, demo: Demo) -> None:
    observations, _ = run(host, demo)
    said = [event["said"] for event in observations if event["series"] == "default"]
    assert [bool(words) for words in said] == [False, True, False, False, True]
    assert "size mismatch at index 0. expected 2, actual 8" in said[1][0]
    assert len(said[4]) == 2  # One reason for each cache entry.
    assert not any("\n" in text or "#" in text for words in said for text in words)


def test_a_control_that_is_the_same_shows_nothing(host: LabHost, demo: Demo, tmp_path: Path) -> None:
    _, result = run(host, changed(demo, tmp_path, '{"dynamic": False}', "{}"))
    assert result["claims"] == {"automatic-dynamic": "broke"}
    assert result["because"]["automatic-dynamic"]["key"] == "lab.because-control"


OFF = "import torch._dynamo.config\n\ntorch._dynamo.config.automatic_dynamic_shapes = False\n\nSIZES ="


def test_without_automatic_dynamic_shapes_the_claim_differs(host: LabHost, demo: Demo, tmp_path: Path) -> None:
    observations, result = run(host, changed(demo, tmp_path, "SIZES =", OFF))
    assert result["claims"] == {"automatic-dynamic": "differs"}
    assert "unexpected" in [event["why"] for event in observations]


def test_with_torch_compile_off_nothing_passes(host: LabHost, demo: Demo, tmp_path: Path) -> None:
    off = "import torch._dynamo.config\n\ntorch._dynamo.config.disable = True\n\nSIZES ="
    observations, result = run(host, changed(demo, tmp_path, "SIZES =", off))
    assert {event["values"]["served_by"] for event in observations} == {"eager"}
    assert result["claims"] == {"automatic-dynamic": "broke"}


def test_a_compiled_function_that_is_wrong_is_no_proof(host: LabHost, demo: Demo, tmp_path: Path) -> None:
    wrong = "return torch.relu(x * 2 + 1) + (1 if torch.compiler.is_compiling() else 0)"
    observations, result = run(host, changed(demo, tmp_path, "return torch.relu(x * 2 + 1)", wrong))
    assert {event["values"]["same_as_eager"] for event in observations} == {False}
    assert result["claims"] == {"automatic-dynamic": "differs"}


def test_one_run_leaves_nothing_for_the_next(host: LabHost, demo: Demo) -> None:
    seen = [run(host, demo)[1]["observed"] for _ in range(2)]
    assert seen[0] == seen[1]


def test_the_child_has_its_threads_back_and_can_use_them(host: LabHost, demo: Demo, tmp_path: Path) -> None:
    """The fork trap: an operation that uses the thread pool must not hang in the child."""
    script = tmp_path / "threads.py"
    script.write_text(
        "import os, torch\n"
        "def run(lab):\n"
        "    (torch.randn(600, 600) @ torch.randn(600, 600)).sum().item()\n"
        "    lab.observe('default', {'threads': torch.get_num_threads(), 'cpus': len(os.sched_getaffinity(0))})\n"
    )
    events = list(host.start(replace(demo, script=script), device="cpu"))
    assert events[-1]["outcome"] == "ok"
    values = next(event["values"] for event in events if event["event"] == "observation")
    assert 1 <= values["threads"] <= values["cpus"]
    if "OMP_NUM_THREADS" not in os.environ:
        assert values["threads"] > 1 or values["cpus"] == 1
