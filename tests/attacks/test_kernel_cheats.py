"""Known cheats on kernel benchmarks, against the optional exercise: each is refused or fails for its own reason."""

from __future__ import annotations

import importlib.util
import json
import random
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from threading import Timer
from typing import Any

import pytest

from tests.attacks.kernel_cheats import DRAFT, ENDLESS, GREEDY, HONEST, REFUSED, ROOT, TIMED, TIMED_SHAPE, WRONG
from tutor.fused import large, run, source
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


@pytest.mark.parametrize("name", [*HONEST, *WRONG, *TIMED])
def test_what_is_a_kernel_is_read(name: str) -> None:
    text = HONEST[name] if name in HONEST else {**WRONG, **TIMED}[name][0]
    assert isinstance(source.read(text), source.Kernel)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, run.Judgement]:
    """Every kernel run by the worker and judged."""
    folder = tmp_path_factory.mktemp("kernels")
    wrong = {name: text for name, (text, _) in {**WRONG, **TIMED}.items()}
    texts = {**HONEST, **wrong, "greedy": GREEDY, "timed": HONEST["a row in registers"]}
    drawn = run.ask(HONEST["a row in registers"], demos=DEMOS, rng=random.Random(7))
    assert isinstance(drawn, run.Asked)
    timed = _timed(drawn)
    asked = {}
    for number, (name, text) in enumerate(texts.items()):
        kernel = source.read(text)
        assert isinstance(kernel, source.Kernel), name
        one = timed if name in TIMED or name == "timed" else drawn
        own = {"text": kernel.text, "warps": kernel.num_warps, "max_block": kernel.max_block}
        asked[name] = one = replace(one, text=text, params={**one.params, **own})
        (folder / f"{number}.request.json").write_text(json.dumps(one.params))
    said = subprocess.run([sys.executable, FORKS, WORKER, folder], stdout=subprocess.PIPE, check=True).stdout
    found = {}
    for number, (status, (name, one)) in enumerate(zip(json.loads(said.splitlines()[-1]), asked.items(), strict=True)):
        if status < 0:
            events = [{"series": "died", "values": {"signal": -status}, "call": None}]
        else:
            events = json.loads((folder / f"{number}.said.json").read_text())
        for each in events:
            if isinstance(us := each["values"].get("us"), list):
                each["values"]["us"] = {"n": len(us), "p50": statistics.median(us)}
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


def _timed(one: run.Asked) -> run.Asked:
    """As on a GPU, where sizes are timed; what a GPU is needed for has a stand-in there."""
    sizes = [large.draw(random.Random(7), *TIMED_SHAPE, calls=4, looked_at=3, rows_each=4, timed=True)]
    params = {**one.params, "large": {"cpu": [asdict(size) for size in sizes]}, "calls": one.params["calls"][:3]}
    return replace(one, drawn=one.drawn[:3], large={"cpu": sizes}, params=params)


@interpreted
@pytest.mark.torch
def test_an_honest_kernel_is_timed_beside_the_others(judged: dict[str, run.Judgement]) -> None:
    found = judged["timed"]
    assert found.message.key == "kernel.passed-timed", (found.message, found.case)
    sides = {(row["side"], row["way"]) for row in found.timed}
    ways = ("graph", "launch")
    assert sides == {(side, way) for side in ("floor", "own", "lesson", "inductor") for way in ways}
    assert {row["of_floor"] for row in found.timed if row["side"] == "floor"} == {1.0}
    assert all(row["us"]["n"] == 2 for row in found.timed)


@interpreted
@pytest.mark.torch
@pytest.mark.parametrize("name", [*WRONG, *TIMED])
def test_a_cheat_fails_for_the_reason_that_it_should(judged: dict[str, run.Judgement], name: str) -> None:
    found, (_, keys) = judged[name], {**WRONG, **TIMED}[name]
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
