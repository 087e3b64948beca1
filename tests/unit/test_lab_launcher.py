"""Demos that a launcher runs on another machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.lab_rig import GOOD, alive, all_gone, demo, ended, fake_torch, hold, host, make_host, until_pids
from tutor.lab import link
from tutor.lab.host import LabHost
from tutor.model import Demo

__all__ = ["demo", "fake_torch", "hold", "host", "make_host"]


@pytest.fixture
def launcher(tmp_path: Path) -> Callable[[str], tuple[str, ...]]:
    def make(body: str) -> tuple[str, ...]:
        path = tmp_path / "launcher"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return str(path), "--gres=gpu:1"

    return make


QUEUED = 'shift\necho "job 7 queued and waiting for resources" >&2\n'


def test_a_launcher_starts_each_run_and_nothing_stays(
    make_host: Callable[..., LabHost], demo: Callable[..., Demo], launcher: Callable[[str], tuple[str, ...]]
) -> None:
    host = make_host(launcher=launcher(QUEUED + 'exec "$@"'))
    host.warm()
    assert host.state == "cold"
    parents = []
    for _ in range(2):
        events = list(host.start(demo(GOOD + "lab.observe('pids', {'parent': os.getppid()})")))
        assert ended(events) == ("ok", "lab.ok")
        said = [event for event in events if event["event"] == "output" and event["stream"] == "launcher"]
        assert said[0]["text"] == "job 7 queued and waiting for resources\n"
        parents.append(until_pids(iter(events))["parent"])
        all_gone(parents)
        assert host.state == "cold"
    assert len(set(parents)) == 2


def test_a_launcher_that_waits_gets_sigterm_at_once(
    make_host: Callable[..., LabHost], demo: Callable[..., Demo], launcher: Callable[[str], tuple[str, ...]]
) -> None:
    host = make_host(launcher=launcher(QUEUED + "echo $$ >&2\nexec sleep 600"))
    run = host.start(demo(GOOD))
    events = []
    for event in run:
        events.append(event)
        if event["event"] == "output" and event["text"].strip().isdigit():
            run.cancel()
    pid = next(int(e["text"]) for e in events if e["event"] == "output" and e["text"].strip().isdigit())
    assert ended(events) == ("cancelled", "lab.cancelled")
    assert events[-1]["at"] < link.GRACE_S["launcher"][0]
    all_gone([pid])


def test_a_launchers_group_is_never_killed(
    make_host: Callable[..., LabHost],
    demo: Callable[..., Demo],
    launcher: Callable[[str], tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A deaf launcher is killed by its pid; the helper in its group, which ends the other side, lives."""
    monkeypatch.setitem(link.GRACE_S, "launcher", (0.1, 0.1))
    deaf = "trap '' TERM\nsleep 600 >/dev/null 2>&1 &\necho $! >&2\nwhile :; do sleep 0.05; done"
    run = make_host(launcher=launcher(deaf)).start(demo(GOOD))
    helper = 0
    for event in run:
        if event["event"] == "output" and event["text"].strip().isdigit():
            helper = int(event["text"])
            run.cancel()
    assert event["outcome"] == "cancelled"
    assert alive(helper)
    os.kill(helper, signal.SIGKILL)


def test_a_launcher_that_refuses_says_why(
    make_host: Callable[..., LabHost], demo: Callable[..., Demo], launcher: Callable[[str], tuple[str, ...]]
) -> None:
    events = list(make_host(launcher=launcher("echo 'invalid partition' >&2\nexit 1")).start(demo(GOOD)))
    assert ended(events) == ("broke", "lab.parent-gone")
    assert events[-1]["message"]["args"]["why"] == "invalid partition"


def test_a_launcher_that_ends_with_0_has_not_succeeded(
    make_host: Callable[..., LabHost], demo: Callable[..., Demo], launcher: Callable[[str], tuple[str, ...]]
) -> None:
    events = list(make_host(launcher=launcher("exit 0")).start(demo(GOOD)))
    assert ended(events) == ("broke", "lab.parent-gone")


def test_a_launcher_that_is_not_there(make_host: Callable[..., LabHost], demo: Callable[..., Demo]) -> None:
    events = list(make_host(launcher=("no-such-launcher",)).start(demo(GOOD)))
    assert ended(events) == ("unavailable", "lab.cannot-start")
