"""`check` as the contract fixes it: names, JSON, exit codes, and one sentence for whatever is wrong."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.contract.command import (
    EDGE,
    ENDLESS,
    LESSON,
    RIGHT,
    WRONG,
    Tutor,
    exercise_file,
    journal,
    one_sentence,
    own_folders,
    tutor,
)
from tutor.exercise.judging import Judge
from tutor.learner.journal import Journal
from tutor.sandbox import Sandbox, SandboxUnavailable

__all__ = ["journal", "own_folders", "tutor"]


@pytest.mark.parametrize(
    ("expr", "ending", "code"),
    [(RIGHT, "passed", 0), (WRONG, "failed", 1), (ENDLESS, "limit", 4), ("yield", "refused", 5), ("", "refused", 5)],
)
def test_check_by_expression(tutor: Tutor, expr: str, ending: str, code: int) -> None:
    ran = tutor("check", "--expr", expr, "--json")
    table = ran.json
    assert (ran.code, table["ending"]) == (code, ending)
    assert (table["schema"], table["command"], table["lesson"]) == (1, "check", LESSON.id)
    assert set(table["points"]) == {"normal", "edge"}
    assert table["points"]["normal"] == (2 if code == 0 else 0)
    assert set(table["sandbox"]) == {"layers", "missing"}
    assert isinstance(table["seconds"], float)
    for case in table["cases"]:
        assert {"id", "call", "ending", "got", "expected", "message"} <= set(case)
    assert ran.err == ""


def test_check_says_what_came_back_and_points_at_the_first_difference(tutor: Tutor) -> None:
    lines = tutor("check", "--expr", WRONG).out.splitlines()
    assert lines[0].startswith("FAIL")
    expected = next(line for line in lines if "expected" in line)
    arrows = lines[lines.index(expected) + 1]
    start = arrows.index("^")
    assert expected[start : start + arrows.count("^")] == '"cuda"'


@pytest.mark.parametrize(
    ("edge", "code", "point"), [(EDGE, 0, True), (EDGE.replace("{2}", "{1}"), 1, False), ("nonsense", 1, False)]
)
def test_an_edge_input(tutor: Tutor, edge: str, code: int, point: bool) -> None:
    ran = tutor("check", "--expr", RIGHT, "--edge", edge, "--json")
    (judged,) = ran.json["edges"]
    assert {"call", "ending", "prediction", "got", "caught", "wrong_versions", "point", "message"} <= set(judged)
    assert (ran.code, judged["point"], bool(judged["caught"])) == (code, point, point)
    assert ran.json["points"] == {"normal": 2, "edge": int(point)}
    assert tutor("check", "--expr", RIGHT, "--edge", edge).code == code


def test_the_wrong_versions_an_edge_input_caught_are_described(tutor: Tutor) -> None:
    ran = tutor("check", "--expr", RIGHT, "--edge", EDGE, "--lang", "zh")
    told = [line for line in ran.out.splitlines() if line.startswith("    - ")]
    assert told
    assert all(line.removeprefix("    - ") in {wrong.text.zh for wrong in LESSON.exercise.wrong} for line in told)


def test_check_a_file(tutor: Tutor, tmp_path: Path) -> None:
    path = tmp_path / "guard_key.py"
    assert tutor("check", exercise_file(path, RIGHT)).code == 0
    assert tutor("check", exercise_file(path, WRONG)).code == 1
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert tutor("check", str(path)).code == 1


def test_a_file_whose_locked_text_changed_is_refused(tutor: Tutor, tmp_path: Path) -> None:
    path = tmp_path / "guard_key.py"
    exercise_file(path, RIGHT)
    path.write_text(path.read_text(encoding="utf-8").replace("dim < 0", "dim < -1"), encoding="utf-8")
    ran = tutor("check", str(path), "--json")
    assert (ran.code, ran.json["ending"], ran.json["cases"]) == (5, "refused", [])
    assert "line 4" in ran.json["message"].lower()


@pytest.mark.parametrize("content", [os.urandom(2000) + b"\xff", b"\0" * 100, b"\xff\xfef\0", None])
def test_files_that_are_no_exercise(tutor: Tutor, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "file.py"
    if content is None:
        with path.open("wb") as file:
            file.truncate(100 << 20)
    else:
        path.write_bytes(content)
    one_sentence(tutor("check", str(path)), 2)


def test_a_file_that_may_not_be_read(tutor: Tutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.py"
    path.touch()
    opened = os.open

    def refuse(name: Any, *args: Any, **more: Any) -> int:
        if name == path:
            raise PermissionError(13, "Permission denied")
        return opened(name, *args, **more)

    monkeypatch.setattr(os, "open", refuse)
    assert "Permission denied" in one_sentence(tutor("check", str(path)), 2)


@pytest.mark.parametrize(
    ("given", "code"),
    [(RIGHT.encode(), 0), (RIGHT.encode() + b"\n", 0), (b"(x", 5), (b"", 5), (b"\xff", 2), (b"1" * 70_000, 2)],
)
def test_the_expression_from_standard_input(
    tutor: Tutor, monkeypatch: pytest.MonkeyPatch, given: bytes, code: int
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    assert tutor("check", "--expr", "-").code == code


def test_text_of_a_program_reaches_a_terminal_as_escapes_and_json_as_it_is(tutor: Tutor) -> None:
    expr = "print('\\x1b[31mred\\u202e'), 1"
    ran = tutor("check", "--expr", expr)
    assert "\x1b" not in ran.out
    assert "\\x1b[31mred\\u202e" in ran.out
    assert "\x1b[31mred\u202e" in tutor("check", "--expr", expr, "--json").json["output"]


def test_the_saved_draft_counts_for_points_and_nothing_else_does(tutor: Tutor, journal: Journal) -> None:
    one_sentence(tutor("check"), 2)
    journal.append("draft", name="code", text=LESSON.exercise.blank, cursor=[0, 0])
    one_sentence(tutor("check"), 2)
    assert tutor("check", "--expr", RIGHT).code == 0
    assert tutor("status", "--json").json["points"]["self"] == 0

    journal.append("draft", name="code", text=RIGHT, cursor=[0, 0])
    journal.append("edge", id="1", line=EDGE, why="dim 2 is out of range")
    journal.append("edge", id="2", line="", why="")
    ran = tutor("check", "--json")
    assert ran.code == 0
    assert len(ran.json["edges"]) == 1
    status = tutor("status", "--json").json
    assert status["points"] == {"self": 3, "final": None, "of": 10}
    assert status["caught"] == ran.json["edges"][0]["caught"]
    journal.refresh()
    assert journal.progress.verdict_is_of(RIGHT)
    assert journal.progress.edge_points() == 1


def test_a_verdict_that_cannot_be_kept_is_still_given(
    tutor: Tutor, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append("draft", name="code", text=RIGHT, cursor=[0, 0])
    write = os.write

    def full(fd: int, raw: bytes) -> int:
        if b'"checked"' in bytes(raw):
            raise OSError(28, "No space left on device")
        return write(fd, raw)

    monkeypatch.setattr("tutor.learner.line_file.os.write", full)
    ran = tutor("check")
    assert ran.out.startswith("PASS")
    assert "No space left" in ran.err
    assert ran.code == 2


def test_a_fault_of_the_judge_is_broke_and_not_the_learner_s(tutor: Tutor, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: Any) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(Judge, "check", fault)
    ran = tutor("check", "--expr", RIGHT, "--json")
    assert (ran.code, ran.json["ending"]) == (3, "broke")
    assert "a fault" in ran.json["log"]
    assert tutor("check", "--expr", RIGHT).out.startswith("TOOL-BROKE")


def test_a_fault_anywhere_else_is_one_sentence_and_a_file(
    tutor: Tutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_: Any) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr("tutor.cli.status.score", fault)
    said = one_sentence(tutor("status"), 3)
    log = tmp_path / "xdg_cache_home" / "torch-compile-tutor" / "last-fault.txt"
    assert str(log) in said
    assert "RuntimeError: a fault" in log.read_text(encoding="utf-8")


def test_no_sandbox_is_exit_6(tutor: Tutor, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any) -> None:
        raise SandboxUnavailable("check.no_sandbox_start")

    monkeypatch.setattr(Sandbox, "start", none)
    one_sentence(tutor("check", "--expr", RIGHT), 6)
    one_sentence(tutor("lesson", "check"), 6)


def test_a_broken_settings_file_is_one_sentence(tutor: Tutor, tmp_path: Path) -> None:
    path = tmp_path / "xdg_config_home" / "torch-compile-tutor" / "settings.toml"
    path.parent.mkdir(parents=True)
    path.write_text('lang = "en"\ntheme = "pink"\n')
    assert f"{path}, line 2" in one_sentence(tutor("status"), 2)
