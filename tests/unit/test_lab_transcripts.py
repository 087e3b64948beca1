"""Recorded runs: written, read again, and never taken for runs of this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tutor.lab import protocol, transcripts
from tutor.lab.evidence import Gathering
from tutor.lab.transcripts import Header, TranscriptError
from tutor.language import Bilingual
from tutor.model import Ask, Demo, Message, Source

BOTH = Bilingual("甲", "A")
DEMO = Demo(
    name="try-it",
    title=BOTH,
    shows=BOTH,
    question=BOTH,
    asks=(Ask("call-1", "f32[2]", ()),),
    claims=("a-claim",),
    verdicts={"a-claim": {"control": ["control.n == 0"], "holds": ["default.n == 1"]}},
    script=Path("try_it.py"),
    recorded=(),
    usual_s=(0.1, 0.2),
    needs=("torch",),
    why={"because": BOTH},
)
ENVIRONMENT = {
    "torch": "2.11.0",
    "triton": "3.6.0",
    "python": "3.11.7",
    "gpu": "H200",
    "device": "cuda",
    "host": "box9",
}


def run(outcome: str = "ok") -> list[dict[str, Any]]:
    """The events of a live run."""
    gathering = Gathering(DEMO, {"call-1": 7})
    said: dict[str, Any] = {"call": None, "ask": None, "answer": None, "said": [], "why": "because"}
    events = [
        protocol.event("started", 0.0, demo="try-it", source="measured", interpreter="/home/somebody/bin/python"),
        protocol.event("progress", 0.1, phase="running"),
        protocol.event("output", 0.1, text="one\nin /home/somebody/a/demo.py:3\n", stream="demo", cut=False),
        gathering.observation({**said, "series": "control", "values": {"n": 0}}, 0.2),
        gathering.observation({**said, "series": "default", "values": {"n": 1}, "ask": "call-1", "answer": 1}, 0.3),
    ]
    if outcome == "ok":
        events.append(gathering.result(ENVIRONMENT, 0.4, source=Source.MEASURED, when="2026-11-30T10:00:00+00:00"))
    message = protocol.as_json(Message("lab.ok" if outcome == "ok" else "lab.cancelled"))
    return [*events, protocol.event("ended", 0.5, demo="try-it", outcome=outcome, message=message)]


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "try_it.cuda-torch2.11.jsonl"
    path.write_text("".join(line + "\n" for line in transcripts.lines(run(), "one H200")), encoding="utf-8")
    return path


def test_the_header_says_what_was_recorded(recorded: Path) -> None:
    assert transcripts.header(recorded) == Header(
        "try-it", "2026-11-30", "one H200", "H200", "2.11.0", "3.6.0", "3.11.7"
    )


def test_nothing_of_the_machine_or_its_owner_is_kept(recorded: Path) -> None:
    text = recorded.read_text(encoding="utf-8")
    assert "somebody" not in text
    assert "box9" not in text


def test_a_replay_says_that_it_is_recorded_and_judges_anew(recorded: Path) -> None:
    events = list(transcripts.replay(DEMO, recorded, {"call-1": 1}))
    assert [event["event"] for event in events] == [
        "started", "output", "observation", "observation", "result", "ended",
    ]  # fmt: skip
    assert [event["source"] for event in events if "source" in event] == ["recorded", "recorded"]
    assert (events[3]["predicted"], events[3]["agrees"]) == (1, True)
    result = events[4]
    assert (result["source"], result["where"], result["when"]) == ("recorded", "one H200", "2026-11-30")
    assert result["claims"] == {"a-claim": "holds"}
    assert result["predicted"] == {"call-1": 1}
    assert events[5]["message"] == {"key": "lab.recorded", "args": {"where": "one H200", "when": "2026-11-30"}}
    assert [event["at"] for event in events] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]


def test_a_prediction_of_whoever_recorded_is_not_the_learners(recorded: Path) -> None:
    events = list(transcripts.replay(DEMO, recorded))
    assert [event["predicted"] for event in events if event["event"] == "observation"] == [None, None]


def test_a_verdict_in_the_file_is_not_believed(recorded: Path) -> None:
    lines = recorded.read_text(encoding="utf-8").replace('"values": {"n": 1}', '"values": {"n": 2}')
    assert '"a-claim": "holds"' in lines
    recorded.write_text(lines, encoding="utf-8")
    result = next(event for event in transcripts.replay(DEMO, recorded) if event["event"] == "result")
    assert result["claims"] == {"a-claim": "differs"}


def test_only_a_run_that_was_ok_is_recorded() -> None:
    with pytest.raises(TranscriptError) as caught:
        list(transcripts.lines(run("cancelled"), "here"))
    assert caught.value.message == Message("lab.cancelled")


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: [],
        lambda lines: lines[1:],
        lambda lines: lines[:-1],
        lambda lines: lines[:-2],
        lambda lines: [*lines[:3], lines[3][:40], *lines[4:]],
        lambda lines: [lines[0].replace("try-it", "another"), *lines[1:]],
        lambda lines: [lines[0].replace('"where"', '"place"'), *lines[1:]],
        lambda lines: [lines[0].replace('"schema": 1', '"schema": 2'), *lines[1:]],
        lambda lines: [*lines[:2], json.dumps({"schema": 1, "event": "invented", "at": 0}), *lines[2:]],
        lambda lines: [*lines[:2], json.dumps({"schema": 1, "event": "output", "text": "x"}), *lines[2:]],
        lambda lines: [*lines[:3], lines[3].replace('"values": {', '"value": {'), *lines[4:]],
        lambda _: ["\udcff\udcfe"],
    ],
)
def test_a_damaged_transcript_is_named_and_not_played(recorded: Path, damage: Any) -> None:
    lines = recorded.read_text(encoding="utf-8").splitlines()
    recorded.write_text("\n".join(damage(lines)), encoding="utf-8", errors="surrogateescape")
    with pytest.raises(TranscriptError) as caught:
        list(transcripts.replay(DEMO, recorded))
    assert caught.value.message.key == "lab.transcript-damaged"
    assert caught.value.message.args["name"] == recorded.name


def test_a_transcript_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b" " * (transcripts.MAX_SIZE + 1))
    for path in (tmp_path, tmp_path / "missing", tmp_path / "large"):
        with pytest.raises(TranscriptError):
            transcripts.header(path)
