"""How a run of the lab may end, and what is told where there is no torch to run it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.lab_rig import (
    GOOD,
    PIDS,
    alive,
    all_gone,
    demo,
    ended,
    fake_torch,
    hold,
    host,
    make_host,
    printed,
    until_pids,
)
from tutor.lab import interpreter
from tutor.lab.host import LabHost
from tutor.model import Demo

__all__ = ["demo", "fake_torch", "hold", "host", "make_host"]

# --- how it may end ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "outcome", "key"),
    [
        ("os._exit(0)", "broke", "lab.silent"),
        ("os._exit(3)", "broke", "lab.silent"),
        (GOOD + "os.kill(os.getpid(), signal.SIGSEGV)", "broke", "lab.died"),
        ("os.abort()", "broke", "lab.died"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "broke", "lab.died"),
        ("raise ValueError('no good')", "failed", "lab.raised"),
        ("sys.exit(0)", "failed", "lab.raised"),
        ("raise KeyboardInterrupt", "failed", "lab.raised"),
        ("raise MemoryError", "limit", "lab.raised"),
        ("lab.observe('default', {'n': float('nan')})", "failed", "lab.raised"),
        ("import nowhere", "failed", "lab.raised"),
        ("lab.device = 'gone'\n1 / 0", "failed", "lab.raised"),
    ],
)
def test_an_end_without_a_result_is_told_apart(
    host: LabHost, demo: Callable[..., Demo], body: str, outcome: str, key: str
) -> None:
    events = list(host.start(demo(body)))
    assert ended(events) == (outcome, key)
    assert "result" not in [event["event"] for event in events]
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")  # The parent has come to no harm.


def test_a_result_before_a_crash_does_not_count(host: LabHost, demo: Callable[..., Demo]) -> None:
    body = GOOD + "lab._voice.say('result', environment={})\nos.kill(os.getpid(), signal.SIGSEGV)\n"
    events = list(host.start(demo(body)))
    assert ended(events) == ("broke", "lab.died")
    assert "result" not in [event["event"] for event in events]


def test_a_syntax_error_in_a_demo_shows_its_traceback(host: LabHost, demo: Callable[..., Demo]) -> None:
    events = list(host.start(demo("return (")))
    assert ended(events) == ("failed", "lab.raised")
    assert "SyntaxError" in printed(events)


def test_time_runs_out_and_all_is_gone(make_host: Callable[..., LabHost], demo: Callable[..., Demo]) -> None:
    run = make_host(limit_s=0.5).start(demo(PIDS + "while True: pass"))
    pids = until_pids(run)
    assert ended(list(run)) == ("limit", "lab.limit-time")
    all_gone([pids["child"], pids["near"], pids["far"]])
    assert alive(pids["parent"])


def test_a_claim_whose_rules_cannot_be_read_breaks(host: LabHost, demo: Callable[..., Demo]) -> None:
    events = list(host.start(demo(GOOD, verdicts={"a-claim": {"holds": ["default.n == 1"]}})))
    assert ended(events) == ("broke", "lab.rules")


def test_a_gpu_that_is_not_there_is_unavailable(host: LabHost, demo: Callable[..., Demo]) -> None:
    events = list(host.start(demo(GOOD), device="cuda"))
    assert ended(events) == ("unavailable", "lab.needs-cuda")
    assert events[-1]["shows"] == {"zh": "甲", "en": "A"}


def test_the_parent_is_killed_from_outside(host: LabHost, demo: Callable[..., Demo]) -> None:
    run = host.start(demo(PIDS + "time.sleep(600)"))
    pids = until_pids(run)
    os.kill(pids["parent"], signal.SIGKILL)
    assert ended(list(run)) == ("broke", "lab.parent-gone")
    all_gone([pids["child"], pids["parent"], pids["near"]])
    os.kill(pids["far"], signal.SIGKILL)  # Nobody is left who would know of it.
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


# --- no torch ---------------------------------------------------------------------------------------------------------


def test_without_torch_there_is_one_event(
    make_host: Callable[..., LabHost], demo: Callable[..., Demo], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreter, "_own_version", lambda: None)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    host = make_host(python=None)
    recorded = (Path("try_it.cpu-torch2.13.jsonl"),)
    events = list(host.start(demo(GOOD, recorded=recorded)))
    assert len(events) == 1
    assert ended(events) == ("unavailable", "lab.no-torch")
    assert events[0]["recorded"] == ["try_it.cpu-torch2.13.jsonl"]
    assert events[0]["shows"] == {"zh": "甲", "en": "A"}
    assert host.state == "unavailable"


def test_a_torch_that_cannot_be_imported_is_unavailable(
    host: LabHost, demo: Callable[..., Demo], fake_torch: Path
) -> None:
    (fake_torch / "__init__.py").write_text("raise ImportError('libcudart.so.13: cannot open shared object file')")
    events = list(host.start(demo(GOOD)))
    assert ended(events) == ("unavailable", "lab.torch-broken")
    assert "libcudart.so.13" in events[-1]["message"]["args"]["why"]
    assert host.state == "unavailable"


def test_a_torch_that_takes_python_down_is_a_broken_tool(
    host: LabHost, demo: Callable[..., Demo], fake_torch: Path
) -> None:
    (fake_torch / "__init__.py").write_text("import os, sys; sys.stderr.write('bad luck\\n'); os._exit(9)")
    events = list(host.start(demo(GOOD)))
    assert ended(events) == ("broke", "lab.parent-gone")
    assert "bad luck" in events[-1]["message"]["args"]["why"]


@pytest.mark.parametrize("path", ["/nowhere/python", "/etc/passwd", "/", "bad\0path"])
def test_a_python_that_is_none(make_host: Callable[..., LabHost], demo: Callable[..., Demo], path: str) -> None:
    assert ended(list(make_host(python=path).start(demo(GOOD)))) == ("unavailable", "lab.python-unusable")


def test_what_torch_prints_while_imported_is_no_event(
    host: LabHost, demo: Callable[..., Demo], fake_torch: Path
) -> None:
    code = (fake_torch / "__init__.py").read_text()
    forged = '{"schema": 1, "event": "missing", "why": "forged"}\\n'
    (fake_torch / "__init__.py").write_text(code + f"\nimport os, sys\nprint('{forged}')\nos.write(1, b'{forged}')\n")
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


LEAVES = """\
import tempfile
folder = tempfile.mkdtemp()
open(os.path.join(folder, "left"), "w").close()
there = subprocess.run([sys.executable, "-c", "import tempfile; print(tempfile.mkdtemp())"], stdout=subprocess.PIPE)
lab.observe("left", {"folder": folder, "there": there.stdout.decode().strip()})
"""


@pytest.mark.parametrize("end", ["", "time.sleep(600)\n", "os.kill(os.getpid(), 9)\n"])
def test_temporary_files_end_with_the_run(host: LabHost, demo: Callable[..., Demo], end: str) -> None:
    run = host.start(demo(GOOD + LEAVES + end))
    left = next(event["values"] for event in run if event.get("series") == "left")
    if "sleep" in end:
        assert Path(left["folder"], "left").is_file()
        run.cancel()
    list(run)
    assert Path(left["there"]).parent == Path(left["folder"]).parent
    assert not Path(left["folder"]).parent.exists()
