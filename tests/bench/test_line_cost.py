"""The measuring tool, on programs whose cost is known: the terminal's own echo."""

from __future__ import annotations

import json
import sys

import pytest

from tests.bench import line_cost


def run(monkeypatch: pytest.MonkeyPatch, *argv: str) -> int:
    monkeypatch.setattr(sys, "argv", ["line_cost", *argv])
    return line_cost.main()


def test_bytes_of_an_echoing_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    program = ["sh", "-c", "printf hello; exec cat"]
    assert run(monkeypatch, "--rounds", "1", "--keys", "a b 你", "--json", "--", *program) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["command"] == program
    measured = told["measured"]
    assert measured["first frame, bytes"]["program"]["max"] == len("hello")
    assert measured["key, bytes"]["program"] == {"n": 3, "p50": 1, "p95": 3, "p99": 3, "max": 3}
    assert measured["page down, bytes"]["program"]["p50"] == len("^[[6~")
    assert measured["key, bytes"]["bare"]["p50"] > 1_000
    assert measured["first frame, ms"]["ratio"] < 1


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--size", "wide", "--", "true"], "wanted is, for example, 80x24"),
        (["--keys", "ctrl+1", "--", "true"], "no such key: ctrl+1"),
        (["--", "no-such-program"], "no-such-program: No such file or directory"),
        (["--", "true"], "ended at once or drew nothing"),
        ([], "required: PROGRAM"),
    ],
)
def test_what_cannot_be_measured_is_said(
    argv: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(monkeypatch, *argv)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
