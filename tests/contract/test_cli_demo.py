"""`demo` as the contract fixes it, with a host whose run is a list of events."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.contract.command import (
    LESSON,
    Tutor,
    journal,
    own_folders,
    tutor,
)
from tutor.cli import demo as demo_command
from tutor.lab import protocol
from tutor.learner.journal import Journal
from tutor.model import Message

__all__ = ["journal", "own_folders", "tutor"]


class FakeHost:
    """In place of the lab's host: a run with a given outcome and verdict."""

    outcome, verdict, closed = "ok", "holds", False

    def __init__(self, _settings: Any) -> None:
        FakeHost.closed = False

    def start(self, demo: Any, device: str, predicted: Mapping[str, int] | None) -> FakeHost:
        self.demo, self.device, self.predicted = demo, device, predicted
        return self

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        FakeHost.closed = True

    def __iter__(self) -> Iterator[dict[str, Any]]:
        said = protocol.as_json(Message("lab.ok"))
        name = self.demo.name
        if self.outcome != "unavailable":
            yield protocol.event("started", 0.0, demo=name, source="measured", device=self.device, usual_s=[1.0, 2.0])
            yield protocol.event("progress", 0.1, phase="running", elapsed=0.1, message=said)
            yield protocol.event("output", 0.2, text="\x1b[2J raw", stream="demo")
            yield protocol.event(
                "observation",
                0.3,
                series="default",
                call="f",
                values={"new_graphs": 1},
                said=["why \x1b"],
                why=None,
                plain=None,
                ask="call-1",
                answer=1,
                predicted=0,
                agrees=False,
            )
        if self.outcome == "ok":
            yield protocol.event(
                "result",
                0.4,
                demo=name,
                claims={name: self.verdict},
                because={name: said},
                observed={},
                units={},
                predicted={},
                answers={},
                agreed=None,
                environment={"torch": "2", "device": "cpu", "contended": True},
                source="measured",
                when="2026-11-30T00:00:00+00:00",
                where=None,
            )
        yield protocol.event("ended", 0.5, demo=name, outcome=self.outcome, message=said)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> type[FakeHost]:
    monkeypatch.setattr(demo_command, "LabHost", FakeHost)
    monkeypatch.setattr(FakeHost, "outcome", "ok")
    monkeypatch.setattr(FakeHost, "verdict", "holds")
    return FakeHost


@pytest.mark.parametrize(
    ("outcome", "verdict", "code"),
    [
        ("ok", "holds", 0), ("ok", "differs", 1), ("ok", "broke", 3), ("failed", "", 1), ("limit", "", 4),
        ("cancelled", "", 130), ("unavailable", "", 6), ("broke", "", 3),
    ],
)  # fmt: skip
def test_a_demo_and_its_exit_code(
    tutor: Tutor, host: type[FakeHost], monkeypatch: pytest.MonkeyPatch, outcome: str, verdict: str, code: int
) -> None:
    monkeypatch.setattr(host, "outcome", outcome)
    monkeypatch.setattr(host, "verdict", verdict)
    ran = tutor("demo", "automatic-dynamic", "--json")
    assert ran.code == code
    assert all(event["schema"] == 1 for event in ran.events)
    assert [event["event"] for event in ran.events][-1] == "ended"
    assert ran.events[-1]["outcome"] == outcome
    assert isinstance(ran.events[-1]["message"], str)
    assert host.closed
    ran = tutor("demo", "automatic-dynamic")
    assert ran.code == code
    assert "\x1b" not in ran.out + ran.err


def test_a_demo_leaves_evidence(tutor: Tutor, host: type[FakeHost], journal: Journal) -> None:
    assert host.outcome == "ok"
    events = tutor("demo", "automatic-dynamic", "--json", "--predict", "1,1,0,0,1").events
    results = [event for event in events if event["event"] == "result"]
    assert [result["evidence"] for result in results] == ["E1"]
    assert results[0]["because"] == {"automatic-dynamic": "The run is complete."}
    assert "[E2 here]" in tutor("demo", "automatic-dynamic").out
    journal.refresh()
    assert journal.progress.claims["automatic-dynamic"].evidence == "E2"
    assert journal.progress.predictions["automatic-dynamic"]["call-1"] == 1
    (listed,) = (event for event in tutor("demo", "--json").events if event["name"] == "automatic-dynamic")
    assert (listed["event"], listed["name"], listed["last_s"]) == ("demo", "automatic-dynamic", 0.4)
    assert {"shows", "claims", "available", "usual_s"} <= set(listed)
    assert "0.4 s" in tutor("demo").out


def test_a_demo_runs_where_nothing_can_be_saved(tutor: Tutor, host: type[FakeHost]) -> None:
    ran = tutor("demo", "automatic-dynamic", "--json", "--state", "/dev/null")
    assert ran.code == 0
    assert next(event for event in ran.events if event["event"] == "result")["evidence"] is None
    assert "/dev/null" in ran.err
    assert host.closed


def test_ctrl_c_ends_a_demo_and_its_stream(tutor: Tutor, monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled = threading.Event()

    class Interrupted(FakeHost):
        def cancel(self) -> None:
            cancelled.set()

        def __iter__(self) -> Iterator[dict[str, Any]]:
            os.kill(os.getpid(), signal.SIGINT)
            assert cancelled.wait(30)
            said = protocol.as_json(Message("lab.cancelled"))
            yield protocol.event("ended", 0.1, demo=self.demo.name, outcome="cancelled", message=said)

    monkeypatch.setattr(demo_command, "LabHost", Interrupted)
    before = signal.getsignal(signal.SIGINT)
    ran = tutor("demo", "automatic-dynamic", "--json")
    assert (ran.code, ran.events[-1]["outcome"]) == (130, "cancelled")
    assert signal.getsignal(signal.SIGINT) is before


def test_a_python_without_torch_is_exit_6(tutor: Tutor, tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n', encoding="utf-8")
    bare.chmod(0o755)
    ran = tutor("demo", "automatic-dynamic", "--json", "--python", str(bare))
    assert ran.code == 6
    assert ran.events[-1]["event"] == "ended"
    assert ran.events[-1]["outcome"] == "unavailable"
    recorded = LESSON.demos["automatic-dynamic"].recorded
    sources = {event["source"] for event in ran.events if "source" in event}
    assert sources == ({"recorded"} if recorded else set())
    assert tutor("demo", "automatic-dynamic", "--python", "/nowhere/python").code == 6
