"""A run of the lab that goes well: the host, its parent and its child, and what they say meanwhile."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.lab_rig import GOOD, PIDS, demo, ended, fake_torch, hold, host, make_host, printed, until_pids, wait_for
from tutor.lab.host import LabBusy, LabHost
from tutor.model import Demo

__all__ = ["demo", "fake_torch", "hold", "host", "make_host"]


def test_a_run_says_all_in_order_and_is_judged_here(host: LabHost, demo: Callable[..., Demo]) -> None:
    events = list(host.start(demo(GOOD + "print('done')"), predicted={"call-1": 0}))
    kinds = [event["event"] for event in events]
    assert kinds[0] == "started"
    assert kinds[-2:] == ["result", "ended"]
    assert "progress" in kinds
    assert ended(events) == ("ok", "lab.ok")
    assert [event["at"] for event in events] == sorted(event["at"] for event in events)
    assert all(event["schema"] == 1 for event in events)
    observation = [event for event in events if event["event"] == "observation"][1]
    assert (observation["predicted"], observation["agrees"]) == (0, False)
    assert observation["plain"] == {"zh": "甲", "en": "A"}
    result = events[-2]
    assert result["claims"] == {"a-claim": "holds"}
    assert result["source"] == "measured"
    assert result["environment"]["torch"] == "2.99.0"
    assert (result["predicted"], result["answers"], result["agreed"]) == ({"call-1": 0}, {"call-1": 1}, 0)
    assert printed(events) == "done\n"


def test_an_observation_is_seen_while_the_demo_goes_on(
    host: LabHost, demo: Callable[..., Demo], tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    wait = f"\nwhile not os.path.exists({str(seen)!r}):\n    time.sleep(0.002)\n"
    run = host.start(demo(GOOD + wait + "print('went on')"))
    for event in run:
        if event["event"] == "observation":
            seen.touch()
    assert seen.exists()


def test_the_warm_parent_is_used_again(host: LabHost, demo: Callable[..., Demo]) -> None:
    parents = set()
    for _ in range(3):
        run = host.start(demo(PIDS))
        parents.add(until_pids(run)["parent"])
        run.close()
    assert len(parents) == 1
    host.close()
    assert host.state == "cold"
    run = host.start(demo(PIDS))
    assert until_pids(run)["parent"] not in parents
    run.close()


def test_states_from_cold_to_warm(host: LabHost, hold: Path) -> None:
    hold.touch()
    states = [host.state]
    host.warm()
    host.warm()
    states.append(host.state)
    hold.unlink()
    wait_for(lambda: host.state == "warm", "warm")
    host.close()
    states.append(host.state)
    assert states == ["cold", "warming", "cold"]
    assert host.interpreter is None


def test_a_warm_run_says_at_once_what_it_runs_on(host: LabHost, demo: Callable[..., Demo]) -> None:
    host.warm()
    wait_for(lambda: host.state == "warm", "warm")
    first, *rest = host.start(demo(GOOD))
    assert (first["event"], first["interpreter"]) == ("started", sys.executable)
    assert first["torch"] is not None
    assert rest[0]["event"] == "progress"
    assert rest[0]["phase"] == "running"


def test_a_cold_run_tells_that_torch_is_imported(host: LabHost, demo: Callable[..., Demo], hold: Path) -> None:
    hold.touch()
    phases = []
    for event in host.start(demo(GOOD)):
        if event["event"] == "progress":
            phases.append(event["phase"])
            if event["phase"] == "importing torch":
                hold.unlink(missing_ok=True)
    assert "importing torch" in phases
    assert event["outcome"] == "ok"


def test_one_run_at_a_time(host: LabHost, demo: Callable[..., Demo]) -> None:
    run = host.start(demo("time.sleep(600)"))
    with pytest.raises(LabBusy):
        host.start(demo(GOOD))
    run.close()
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


def test_the_demo_has_no_input_and_the_usual_names(host: LabHost, demo: Callable[..., Demo]) -> None:
    body = "assert sys.stdin.read() == ''\nassert not any('tutor' in entry for entry in sys.path[:1])\n"
    assert ended(list(host.start(demo(body + GOOD)))) == ("ok", "lab.ok")


def test_what_the_shell_says_to_torch_is_not_heard(
    make_host: Callable[..., LabHost], demo: Callable[..., Demo], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_JOB_ID", "TORCH_LOGS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("KEPT", "1")
    body = "print(sorted(set(os.environ) & {'TORCHDYNAMO_DISABLE', 'TORCH_COMPILE_JOB_ID', 'TORCH_LOGS', 'KEPT'}))\n"
    assert printed(list(make_host().start(demo(body + GOOD)))) == "['KEPT']\n"


def test_a_run_says_which_of_its_parts_goes_on(host: LabHost, demo: Callable[..., Demo], hold: Path) -> None:
    """The hold file keeps the experiment from going on until the step was shown."""
    body = f"lab.step(2, 3, 'the second')\nwhile os.path.exists({str(hold)!r}): time.sleep(0.005)\n" + GOOD
    run = host.start(demo(f"open({str(hold)!r}, 'w').close()\n" + body))
    seen = []
    for event in run:
        if event["event"] == "progress" and event["message"]["key"] == "lab.step":
            seen.append(event["message"]["args"])
            hold.unlink(missing_ok=True)
    assert (seen[0]["number"], seen[0]["of"], seen[0]["text"]) == (2, 3, "the second")
    assert ended([event]) == ("ok", "lab.ok")


def test_a_process_that_dies_is_an_answer(host: LabHost, demo: Callable[..., Demo], tmp_path: Path) -> None:
    script = tmp_path / "way.py"
    script.write_text(
        "import json, os, sys\n"
        "print('about to', sys.argv[1], file=sys.stderr, flush=True)\n"
        "if sys.argv[1] != 'live': os.kill(os.getpid(), int(sys.argv[1])) if sys.argv[1] != '3' else sys.exit(3)\n"
        "print(json.dumps({'n': 1, 'cache': os.environ['TORCHINDUCTOR_CACHE_DIR']}))\n"
    )
    body = f"""
import pathlib
for way in ("11", "3", "live"):
    got = lab.outcome({str(script)!r}, way, caches=pathlib.Path({str(tmp_path)!r}))
    lab.observe("ended", {{"how": got.how, "n": (got.answer or {{}}).get("n")}}, said=got.last_words)
"""
    events = list(host.start(demo(body + GOOD)))
    said = [event for event in events if event["event"] == "observation" and event["series"] == "ended"]
    assert [event["values"]["how"] for event in said] == ["SIGSEGV", "exit status 3", "exit status 0"]
    assert [event["values"]["n"] for event in said] == [None, None, 1]
    assert [event["said"] for event in said] == [["about to 11"], ["about to 3"], ["about to live"]]
    assert ended(events) == ("ok", "lab.ok")


def test_a_demo_that_usually_takes_long_may_take_twice_that(
    make_host: Callable[..., LabHost], demo: Callable[..., Demo]
) -> None:
    run = make_host(limit_s=0.05).start(demo("time.sleep(0.3)\n" + GOOD, usual_s=(5.0, 20.0)))
    assert ended(list(run)) == ("ok", "lab.ok")
