"""A run that is stopped, or whose tutor is gone, leaves no process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.lab_rig import (
    GOOD,
    PIDS,
    ROOT,
    alive,
    all_gone,
    demo,
    ended,
    fake_torch,
    hold,
    host,
    make_host,
    until_pids,
    wait_for,
)
from tutor.lab.host import LabHost
from tutor.model import Demo

__all__ = ["demo", "fake_torch", "hold", "host", "make_host"]

# --- cancel -----------------------------------------------------------------------------------------------------------

DEAF = "for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):\n    signal.signal(number, signal.SIG_IGN)\n"


@pytest.mark.parametrize("body", ["time.sleep(600)", "while True: pass", "os.kill(os.getpid(), signal.SIGSTOP)"])
def test_cancel_ends_the_whole_tree(host: LabHost, demo: Callable[..., Demo], body: str) -> None:
    run = host.start(demo(DEAF + PIDS + body))
    pids = until_pids(run)
    run.cancel()
    assert ended(list(run)) == ("cancelled", "lab.cancelled")
    assert not any(map(alive, [pids["child"], pids["near"], pids["far"]]))
    assert alive(pids["parent"])
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


@pytest.mark.parametrize("after", range(5))
def test_cancel_after_any_number_of_events(host: LabHost, demo: Callable[..., Demo], after: int) -> None:
    run = host.start(demo(GOOD + "time.sleep(600)"))
    events = [next(run) for _ in range(min(after, 4))]
    run.cancel()
    run.cancel()
    events += run
    assert ended(events) == ("cancelled", "lab.cancelled")
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


def test_cancel_while_torch_is_imported_keeps_the_import(host: LabHost, demo: Callable[..., Demo], hold: Path) -> None:
    hold.touch()
    run = host.start(demo(GOOD))
    events = [next(run)]
    run.cancel()
    events += run
    assert ended(events) == ("cancelled", "lab.cancelled")
    assert host.state == "warming"
    hold.unlink()
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


def test_a_cancel_that_comes_too_late_does_nothing(host: LabHost, demo: Callable[..., Demo]) -> None:
    run = host.start(demo(GOOD))
    assert ended(list(run)) == ("ok", "lab.ok")
    run.cancel()
    assert list(run) == []
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


def test_a_parent_that_does_not_obey_is_ended(
    host: LabHost, demo: Callable[..., Demo], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tutor.lab.run.OBEY_S", 0.1)
    run = host.start(demo(PIDS + "time.sleep(600)"))
    pids = until_pids(run)
    os.kill(pids["parent"], signal.SIGSTOP)
    run.cancel()
    assert ended(list(run)) == ("cancelled", "lab.cancelled")
    all_gone([pids["parent"], pids["child"], pids["near"]])
    os.kill(pids["far"], signal.SIGKILL)  # Only the parent knew of it.
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


def test_closing_the_host_ends_a_run_and_everything(host: LabHost, demo: Callable[..., Demo]) -> None:
    run = host.start(demo(PIDS + "time.sleep(600)"))
    pids = until_pids(run)
    host.close()
    assert ended(list(run)) == ("cancelled", "lab.cancelled")
    all_gone(list(pids.values()))


def test_closing_the_host_while_torch_is_imported(host: LabHost, hold: Path) -> None:
    hold.touch()
    host.warm()
    wait_for(lambda: host._link is not None and host._link.stage == "importing", "importing")
    assert host._link is not None
    assert host._link._process is not None
    pid = host._link._process.pid
    host.close()
    all_gone([pid])


def test_a_run_that_nobody_read_can_be_closed(host: LabHost, demo: Callable[..., Demo]) -> None:
    host.start(demo(PIDS + "time.sleep(600)")).close()
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


# --- the lifeline -----------------------------------------------------------------------------------------------------

TUTOR = """\
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tutor.lab.host import LabHost, LabSettings
from tutor.model import Bilingual, Demo
both = Bilingual("", "")
demo = Demo("d", both, both, both, (), (), {{}}, Path({script!r}), (), (0.0, 1.0), ())
host = LabHost(LabSettings(python=sys.executable))
host.warm()
for event in host.start(demo):
    print(event, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
def test_no_process_outlives_the_tutor(demo: Callable[..., Demo], number: signal.Signals) -> None:
    script = demo(DEAF + PIDS + "while True: pass").script
    with subprocess.Popen(
        [sys.executable, "-c", TUTOR.format(root=str(ROOT), script=str(script))], stdout=subprocess.PIPE, text=True
    ) as tutor:
        assert tutor.stdout is not None
        pids = until_pids(eval(line) for line in tutor.stdout)  # Our own dicts, printed three lines above.
        assert all(map(alive, pids.values()))
        tutor.send_signal(number)
        all_gone(list(pids.values()))


def test_no_process_outlives_a_tutor_that_still_imports(demo: Callable[..., Demo], hold: Path) -> None:
    hold.touch()
    script = demo(GOOD).script
    with subprocess.Popen(
        [sys.executable, "-c", TUTOR.format(root=str(ROOT), script=str(script)).replace("host.warm()", SHOW_PARENT)],
        stdout=subprocess.PIPE,
        text=True,
    ) as tutor:
        assert tutor.stdout is not None
        pid = int(tutor.stdout.readline())
        assert alive(pid)
        tutor.kill()
        all_gone([pid])


SHOW_PARENT = """\
import time
host.warm()
while host._link.stage != "importing":
    time.sleep(0.002)
print(host._link._process.pid, flush=True)
"""
