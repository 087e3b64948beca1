"""`lab FILE` as the contract fixes it, with a host whose run is a list of events."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tutor.cli import lab as lab_command
from tutor.cli.main import run
from tutor.lab import protocol
from tutor.language import LANGS
from tutor.model import Message

SIZE = "0/0: tensor 'x' size mismatch at index 0. expected 2, actual 8"
PRINT = """\
Graph break in user code at mine.py:5
Reason: a builtin

User code traceback:
  File "mine.py", line 5, in fn
"""


def observation(series: str, call: str | None = None, said: tuple[str, ...] = (), **values: Any) -> dict[str, Any]:
    return protocol.event("observation", 0.1, series=series, call=call, values=values, said=list(said))


def called(i: int, by: str, new: int, *said: str, **more: Any) -> dict[str, Any]:
    values = {"same_as_eager": True, "seconds": 0.01, "raised": None, "eager_raised": None, **more}
    return observation("call", f"f32[{i}] \x1b", said, i=i, served_by=by, new_graphs=new, **values)


GOOD = [
    observation("limit", entries=8),
    called(0, "0/0", 1),
    observation("graph", i=0, name="0/0", ops=2, guards=5, lines=[3]),
    observation("break", i=0, payload=PRINT),
    called(1, "0/1", 1, SIZE),
]


class Host:
    """In place of the lab's host."""

    events: list[dict[str, Any]] = GOOD
    outcome = "ok"
    message = Message("lab.ok")
    params: dict[str, Any] = {}

    def __init__(self, _settings: Any) -> None:
        pass

    def start(self, _demo: Any, device: str, params: dict[str, Any]) -> Host:
        Host.params = {"device": device, **params}
        return self

    def __iter__(self) -> Iterator[dict[str, Any]]:
        yield protocol.event("started", 0.0, demo="file", usual_s=[1.0, 2.0], source="measured", device="cpu")
        yield from self.events
        said = protocol.as_json(self.message)
        yield protocol.event("ended", 0.5, demo="file", outcome=self.outcome, message=said)

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        pass


Lab = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Lab:
    for name in ("TUTOR_STATE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setattr(lab_command, "LabHost", Host)
    monkeypatch.setattr(Host, "events", GOOD)
    monkeypatch.setattr(Host, "outcome", "ok")
    monkeypatch.setattr(Host, "message", Message("lab.ok"))
    (tmp_path / "mine.py").write_text("fn = print\ncalls = []\n")
    monkeypatch.chdir(tmp_path)

    def ran(*args: str) -> tuple[int, str, str]:
        code = run(["lab", *args])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return ran


def test_json_has_the_contracts_events(lab: Lab) -> None:
    code, out, _ = lab("mine.py", "--json", "--lang", "en")
    events = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert all(event["schema"] == 1 for event in events)
    assert [event["event"] for event in events] == ["call", "graph", "break", "call", "summary", "ended"]
    first, graph, broke, later, summary, _ = events
    assert (first["i"], first["args"], first["served_by"], first["compiled"]) == (0, "f32[0] \x1b", "g0", True)
    assert (graph["id"], graph["ops"], graph["guards"]) == ("g0", 2, 5)
    assert (broke["file"], broke["line"], broke["reason"], broke["whole_frame_eager"]) == (
        "mine.py",
        5,
        "a builtin",
        False,
    )
    assert (later["served_by"], later["why"]) == ("g1", "x.size(0) 2 -> 8")
    counts = {name: summary[name] for name in ("graphs", "breaks", "recompiles", "eager_calls", "limit_reached")}
    assert counts == {"graphs": 1, "breaks": 1, "recompiles": 1, "eager_calls": 0, "limit_reached": False}
    assert [each["id"] for each in summary["advice"]] == ["break", "sizes"]
    assert all(each["text"] for each in summary["advice"])


@pytest.mark.parametrize("lang", LANGS)
def test_people_get_lines_without_raw_text(lab: Lab, lang: str) -> None:
    code, out, err = lab("mine.py", "--lang", lang)
    assert code == 0
    assert "x.size(0) 2 -> 8" in out
    assert "\x1b" not in out + err


def test_options_reach_the_child(lab: Lab, tmp_path: Path) -> None:
    options = ("--fn", "f", "--calls", "c", "--dynamic", "true", "--fullgraph", "--device", "cpu")
    assert lab("mine.py", *options, "--mode", "max-autotune")[0] == 0
    assert Host.params == {
        **{"file": str(tmp_path / "mine.py"), "fn": "f", "calls": "c", "dynamic": "true", "fullgraph": True},
        **{"mode": "max-autotune", "backend": "inductor", "device": "cpu"},
    }
    assert lab("mine.py", "--backend", "eager")[0] == 0
    assert Host.params["backend"] is None, "a graph is run as it is"


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (called(2, "0/0", 0, same_as_eager=False), 1),
        (called(2, "eager", 0, raised="Unsupported: no"), 1),
        (called(2, "eager", 0, raised="ValueError: no", eager_raised="ValueError: no"), 0),
    ],
)
def test_a_difference_or_an_error_of_the_compiler_fails(lab: Lab, event: Any, code: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(Host, "events", [*GOOD, event])
    assert lab("mine.py", "--json")[0] == code


@pytest.mark.parametrize(
    ("outcome", "code"), [("failed", 1), ("limit", 4), ("cancelled", 130), ("unavailable", 6), ("broke", 3)]
)
def test_a_run_that_does_not_end_well(lab: Lab, outcome: str, code: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(Host, "outcome", outcome)
    assert lab("mine.py")[0] == code


@pytest.mark.parametrize(
    ("message", "began", "code"),
    [
        (Message("lab.silent", {"code": 9}), True, 1),
        (Message("lab.died", {"signal": "SIGSEGV"}), True, 1),
        (Message("lab.died", {"signal": "SIGKILL"}), True, 3),
        (Message("lab.silent", {"code": 9}), False, 3),
        (Message("lab.died", {"signal": "SIGSEGV"}), False, 3),
        (Message("lab.garbled"), True, 1),
        (Message("lab.garbled"), False, 3),
    ],
)
def test_a_process_that_died_of_the_file_is_not_the_tools_fault(
    lab: Lab, monkeypatch: Any, message: Message, began: bool, code: int
) -> None:
    monkeypatch.setattr(Host, "events", [observation("begins")] if began else [])
    monkeypatch.setattr(Host, "outcome", "broke")
    monkeypatch.setattr(Host, "message", message)
    given, out, _ = lab("mine.py", "--json", "--lang", "en")
    assert given == code
    ended = json.loads(out.splitlines()[-1])
    assert ended["outcome"] == {1: "failed", 3: "broke"}[code]
    assert ("file" in ended["message"]) is (code == 1)


def test_a_pipe_is_not_read_at_all(lab: Lab, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    code, out, err = lab("pipe.py", "--lang", "en")
    assert (code, out) == (2, "")
    assert "is a pipe" in err


def test_a_file_without_the_function_says_what_it_has(lab: Lab, monkeypatch: Any) -> None:
    monkeypatch.setattr(Host, "events", [observation("problem", missing="fn", names="g, calls")])
    code, out, err = lab("mine.py", "--lang", "en")
    assert (code, out) == (2, "")
    assert "The file has no fn. It has: g, calls." in err


@pytest.mark.parametrize("args", [(), ("nothing.py",), (".",), ("mine.py", "--mode", "x", "--backend", "eager")])
def test_bad_usage_is_one_sentence(lab: Lab, args: tuple[str, ...]) -> None:
    code, out, err = lab(*args)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("content", [b"\0\1\2", b"#" * (lab_command.FILE_MAX + 1)])
def test_a_file_that_is_no_source_is_refused(lab: Lab, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.py").write_bytes(content)
    code, _, err = lab("bad.py")
    assert code == 2
    assert len(err.splitlines()) == 1
