"""`lab --kernel` as the contract fixes it, with a host whose run is a list of events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tutor.cli import lab_kernel
from tutor.cli.main import run
from tutor.lab import protocol
from tutor.model import Message


def seen(series: str, **values: Any) -> dict[str, Any]:
    return protocol.event("observation", 0.1, series=series, call=None, values=values, said=[])


KERNEL = seen("kernel", setting=0, name="k", file="/a/mine.py", first=2, last=3)
GOOD = [
    seen("compiler", triton="3.6.0"),
    seen("file", path="/a/mine.py", text="import x\ndef k():\n"),
    seen("file", path="/a/mine.py", text="    pass\n"),
    KERNEL,
    seen("code", setting=0, stage="ttir", text="module {\n  x \x1b[31m loc(#loc)\n"),
    seen("code", setting=0, stage="ttir", text='}\n#loc = loc("/a/mine.py":2:0)\n'),
    seen("needs", setting=0, registers=76, spilled_bytes=0, shared_bytes=16, instructions={"FFMA": 288, "SHF": 2}),
]


class Host:
    """In place of the lab's host."""

    events: list[dict[str, Any]] = GOOD
    outcome = "ok"
    asked: dict[str, Any] = {}

    def __init__(self, _settings: Any) -> None:
        pass

    def start(self, _demo: Any, device: str, params: dict[str, Any]) -> Host:
        assert device == "cpu"
        [Host.asked] = params["settings"]
        return self

    def __iter__(self) -> Iterator[dict[str, Any]]:
        yield protocol.event("started", 0.0, demo="inside", usual_s=[1.0, 2.0], source="measured", device="cpu")
        yield from self.events
        message = protocol.as_json(Message("lab.ok" if self.outcome == "ok" else "lab.needs-triton-compiler"))
        yield protocol.event("ended", 0.5, demo="inside", outcome=self.outcome, message=message)

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        pass


Look = Callable[..., tuple[int, str, str]]


@pytest.fixture
def look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Look:
    for name in ("TUTOR_STATE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setattr(lab_kernel, "LabHost", Host)
    monkeypatch.setattr(Host, "events", GOOD)
    monkeypatch.setattr(Host, "outcome", "ok")
    (tmp_path / "mine.py").write_text("")
    monkeypatch.chdir(tmp_path)

    def ran(*args: str) -> tuple[int, str, str]:
        code = run(["lab", *args, "--lang", "en"])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return ran


def test_json_has_each_stage_whole_then_the_needs_and_the_end(look: Look) -> None:
    code, out, _ = look("--kernel", "block", "--json", "--target", "sm_80", "--warps", "8")
    events = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert all(event["schema"] == 1 for event in events)
    assert [event["event"] for event in events] == ["stage", "stage", "needs", "ended"]
    source, ttir, needs, _ = events
    assert (source["stage"], source["text"], source["first"]) == ("source", "def k():\n    pass", 2)
    assert ttir["text"].endswith('}\n#loc = loc("/a/mine.py":2:0)\n')
    assert (needs["target"], needs["warps"], needs["triton"], needs["registers"]) == ("sm_80", 8, "3.6.0", 76)
    assert needs["instructions"] == {"FFMA": 288, "SHF": 2}


def test_one_stage_is_all_of_standard_output_and_steers_no_terminal(look: Look) -> None:
    code, out, err = look("--kernel", "block", "--stage", "ttir")
    assert (code, out) == (0, "module {\n  x \\x1b[31m\n}\n")
    assert "registers 76 a thread" in err
    assert "compiled here by Triton 3.6.0 for sm_90, without a GPU" in err


def test_what_is_set_reaches_the_compiler(look: Look) -> None:
    look("--kernel", "mine.py:k", "--set", "BLOCK=2048", "--set", "F=gelu", "--set", "ON=True", "--target", "sm_100")
    assert Host.asked["constants"] == {"BLOCK": 2048, "F": "gelu", "ON": True}
    assert (Host.asked["file"], Host.asked["function"]) == (str(Path.cwd() / "mine.py"), "k")
    assert Host.asked["target"] == 100


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--kernel", "nobody"], "block, erf"),
        (["--kernel", "gone.py"], "no kernel gone.py"),
        (["--kernel", "block", "--target", "sm_70"], "sm_80, sm_90, sm_100"),
        (["--kernel", "block", "--warps", "3"], "1, 2, 4"),
        (["--kernel", "block", "--set", "BLOCK"], "NAME=VALUE"),
        (["--kernel", "block", "--stage", "llir"], "ttgir"),
        (["mine.py", "--kernel", "block"], "Give one of FILE"),
        (["mine.py", "--warps", "4"], "--warps belongs to --kernel"),
    ],
)
def test_wrong_usage_says_what_is_right(look: Look, args: list[str], words: str) -> None:
    code, out, err = look(*args)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize(
    ("kernel", "problem", "expected", "words"),
    [
        (
            "mine.py",
            {"kind": "compile", "file": "/a/mine.py", "line": 7, "why": "no lod"},
            1,
            "mine.py, line 7: no lod",
        ),
        (
            "mine.py",
            {"kind": "file", "file": "/a/mine.py", "line": 3, "why": "SyntaxError: x"},
            1,
            "line 3: SyntaxError",
        ),
        ("mine.py", {"kind": "stopped", "why": "PTXASError: too much"}, 1, "too much"),
        ("mine.py", {"kind": "stopped", "why": "RuntimeError: Cannot find ptxas"}, 6, "lacks a tool"),
        ("block", {"kind": "stopped", "why": "RuntimeError: Cannot find ptxas"}, 6, "lacks a tool"),
        ("block", {"kind": "stopped", "why": "PTXASError: sm_100?"}, 6, "sm_100?"),
        ("mine.py", {"kind": "which", "names": "a, b"}, 2, "a, b"),
        ("mine.py", {"kind": "none", "name": "z", "names": "k"}, 2, "It has: k"),
        ("mine.py", {"kind": "parameter", "name": "Q", "names": "k"}, 2, "no parameter Q"),
        ("mine.py", {"kind": "value", "name": "N"}, 2, "--set N=VALUE"),
        ("mine.py", {"kind": "type", "name": "x"}, 2, 'TYPES = {"x": "*bf16"}'),
        ("mine.py", {"kind": "type-unknown", "name": "x", "type": "float"}, 2, "float is no type"),
    ],
)
def test_whose_fault_it_is_decides_the_code(
    look: Look, monkeypatch: pytest.MonkeyPatch, kernel: str, problem: dict[str, Any], expected: int, words: str
) -> None:
    monkeypatch.setattr(Host, "events", [GOOD[0], seen("problem", setting=0, **problem)])
    code, _, err = look("--kernel", kernel)
    assert code == expected
    assert words in err


def test_without_triton_it_is_unavailable(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Host, "events", [])
    monkeypatch.setattr(Host, "outcome", "unavailable")
    code, out, err = look("--kernel", "block", "--json")
    assert code == 6
    assert json.loads(out)["outcome"] == "unavailable"
    assert "pip install triton" in err


def test_machine_code_that_no_tool_here_can_list_is_unavailable(look: Look) -> None:
    code, out, err = look("--kernel", "block", "--stage", "sass")
    assert (code, out) == (6, "")
    assert "cuobjdump" in err
