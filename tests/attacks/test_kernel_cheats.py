"""Known cheats on kernel benchmarks, against the optional exercise: each is refused or fails for its own reason."""

from __future__ import annotations

import importlib.util
import json
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from threading import Timer
from typing import Any

import pytest

from tests.attacks.kernel_cheats import DRAFT, ENDLESS, GREEDY, HONEST, REFUSED, ROOT, WRONG
from tutor.fused import run, source
from tutor.lab.host import LabHost, LabSettings
from tutor.lab.protocol import Outcome
from tutor.model import Ending, Message
from tutor.strings import say

DEMOS = ROOT / "lessons" / "lesson_02_torch_compile" / "demos"
WORKER = ROOT / "tutor" / "lab" / "tasks" / "fused_worker.py"
FORKS = ROOT / "tests" / "attacks" / "kernel_forks.py"
MISSING = [name for name in ("torch", "triton", "numpy") if importlib.util.find_spec(name) is None]
interpreted = pytest.mark.skipif(bool(MISSING), reason=f"not installed in this environment: {', '.join(MISSING)}")


@pytest.fixture(scope="module")
def host() -> Iterator[LabHost]:
    host = LabHost(LabSettings())
    yield host
    host.close()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_more_than_a_kernel_is_refused_unrun(name: str) -> None:
    text, key = REFUSED[name]
    found = source.read(text)
    assert isinstance(found, Message), "admitted"
    assert found.key == f"kernel.{key}"
    assert all(say(lang, found) for lang in ("zh", "en"))


@pytest.mark.parametrize("name", [*HONEST, *WRONG])
def test_what_is_a_kernel_is_read(name: str) -> None:
    text = HONEST[name] if name in HONEST else WRONG[name][0]
    assert isinstance(source.read(text), source.Kernel)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, run.Judgement]:
    """Every kernel run by the worker and judged."""
    folder = tmp_path_factory.mktemp("kernels")
    texts = {**HONEST, **{name: text for name, (text, _) in WRONG.items()}, "greedy": GREEDY}
    asked = {}
    for number, (name, text) in enumerate(texts.items()):
        one = asked[name] = run.ask(text, demos=DEMOS, rng=random.Random(7))
        assert isinstance(one, run.Asked), name
        (folder / f"{number}.request.json").write_text(json.dumps(one.params))
    said = subprocess.run([sys.executable, FORKS, WORKER, folder], stdout=subprocess.PIPE, check=True).stdout
    found = {}
    for number, (status, (name, one)) in enumerate(zip(json.loads(said.splitlines()[-1]), asked.items(), strict=True)):
        if status < 0:
            events = [{"series": "died", "values": {"signal": -status}, "call": None}]
        else:
            events = json.loads((folder / f"{number}.said.json").read_text())
        if events[-1]["series"] == "limit":
            found[name] = run.Judgement(Ending.LIMIT, Message("lab.raised", events[-1]["values"]))
        else:
            found[name] = run.judged(one, events, "cpu")
    return found


@interpreted
@pytest.mark.torch
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_kernel_passes(judged: dict[str, run.Judgement], name: str) -> None:
    found = judged[name]
    assert found.ending is Ending.PASSED, (found.message, found.case)


@interpreted
@pytest.mark.torch
@pytest.mark.parametrize("name", WRONG)
def test_a_cheat_fails_for_the_reason_that_it_should(judged: dict[str, run.Judgement], name: str) -> None:
    found, (_, keys) = judged[name], WRONG[name]
    assert found.ending is Ending.FAILED, (found.message, found.case)
    assert found.message.key.removeprefix("kernel.") in keys, (found.message, found.case)
    assert all(say(lang, found.message) for lang in ("zh", "en"))


@interpreted
@pytest.mark.torch
def test_a_kernel_that_takes_all_memory_meets_a_limit(judged: dict[str, run.Judgement]) -> None:
    assert judged["greedy"].ending is Ending.LIMIT


@interpreted
@pytest.mark.torch
def test_the_whole_way_through_the_lab(host: LabHost) -> None:
    steps = []

    def seen(event: Mapping[str, Any]) -> None:
        if event["event"] == "progress" and event["message"]["key"] == "lab.step":
            steps.append(event["message"]["args"])

    found = run.judge(DRAFT, host, "cpu", demos=DEMOS, seen=seen)
    assert found.ending is Ending.PASSED, (found.message, found.case)
    assert (found.calls, found.device) == (17, "cpu")
    assert all(step["of"] == 18 for step in steps)
    assert found.record is not None
    assert {"memory", "row"} & set(found.record["observed"]) == set()
    again = run.remembered(found.record, DRAFT)
    assert again is not None
    assert (again.ending, again.message, again.calls) == (found.ending, found.message, found.calls)
    assert run.remembered(found.record, DRAFT + "\n") is None


@interpreted
@pytest.mark.torch
def test_a_kernel_without_end_is_stopped(host: LabHost) -> None:
    found = run.judge(ENDLESS, host, "cpu", demos=DEMOS, running=lambda ran: Timer(1.0, ran.cancel).start())
    assert found.ending is Outcome.CANCELLED
    assert found.record is None
