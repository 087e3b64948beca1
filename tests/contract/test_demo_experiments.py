"""Every experiment on a real torch, once, in one warm parent: each claim comes out as the lesson says."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator

import pytest

from tutor.lab.host import LabHost, LabSettings
from tutor.lesson import catalog
from tutor.model import Demo, Verdict

LESSON = catalog.load()
HERE = [demo for demo in LESSON.demos.values() if "cuda" not in demo.needs]

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed in this environment"),
]
#: Generating code takes minutes on two cores. What their recorded runs say is judged in test_demo_files.
GENERATES = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "TUTOR_TEST_COMPILER" not in os.environ, reason="set TUTOR_TEST_COMPILER=1 to generate code too"
    ),
]


@pytest.mark.parametrize(
    "demo",
    [pytest.param(demo, id=demo.name, marks=GENERATES if "compiler" in demo.needs else ()) for demo in HERE],
)
def test_an_experiment_says_what_the_lesson_says(host: LabHost, demo: Demo) -> None:
    events = list(host.start(demo, device="cpu"))
    assert events[-1]["outcome"] == "ok", events[-1]
    observations = [event for event in events if event["event"] == "observation"]
    assert "unexpected" not in [event["why"] for event in observations]
    assert {event["ask"] for event in observations} - {None} == {ask.id for ask in demo.asks}
    result = events[-2]
    assert set(result["claims"]) == set(demo.claims)
    for claim, verdict in result["claims"].items():
        assert LESSON.claims[claim].agrees(Verdict(verdict)), result["because"][claim]


@pytest.mark.parametrize("name", ["kernel-count", "hand-kernel"])
def test_without_a_gpu_an_experiment_that_needs_one_says_so(host: LabHost, name: str) -> None:
    events = list(host.start(LESSON.demos[name], device="cpu"))
    assert [event["event"] for event in events if event["event"] in ("observation", "result")] == []
    assert events[-1]["outcome"] == "unavailable"
    assert events[-1]["message"]["key"] in ("lab.needs-cuda", "lab.needs-triton")
    assert events[-1]["recorded"]


def test_without_a_compiler_an_experiment_that_needs_one_says_so(
    demo_without_path: tuple[LabHost, Demo],
) -> None:
    host, demo = demo_without_path
    events = list(host.start(demo, device="cpu"))
    assert events[-1]["outcome"] == "unavailable"
    assert events[-1]["message"]["key"] == "lab.needs-compiler"


@pytest.fixture
def demo_without_path(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> Iterator[tuple[LabHost, Demo]]:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    own = LabHost(LabSettings())
    yield own, LESSON.demos["guard-removed"]
    own.close()
