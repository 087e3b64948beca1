"""`status`, `doctor` and `lesson`, and a journal in any state by way of the commands."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.contract.command import (
    LESSON,
    RIGHT,
    WRONG,
    Tutor,
    journal,
    one_sentence,
    own_folders,
    tutor,
)

__all__ = ["journal", "own_folders", "tutor"]


# --- the journal by way of the commands -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", ""),
        (b'{"schema":1,"id":"a-1"', "1 damaged line"),
        (b"\0" * 4096, "1 damaged line"),
        (b"x\ny\n", "2 damaged lines"),
    ],
)
def test_a_journal_in_any_state_is_read(tutor: Tutor, tmp_path: Path, content: bytes, said: str) -> None:
    folder = tmp_path / "tutor_state" / LESSON.id
    folder.mkdir(parents=True)
    (folder / "journal.jsonl").write_bytes(content)
    ran = tutor("status", "--json")
    assert ran.code == 0
    assert ran.json["schema"] == 1
    assert said.rstrip("s") in ran.err
    assert tutor("status").err == ""


def test_a_state_folder_that_cannot_be_one(tutor: Tutor) -> None:
    one_sentence(tutor("status", "--state", "/dev/null"), 2)
    assert tutor("check", "--expr", RIGHT, "--state", "/dev/null").code == 0, "judging needs no state"


def test_commands_that_need_no_state_make_none(tutor: Tutor, tmp_path: Path) -> None:
    assert tutor("check", "--expr", RIGHT).code == 0
    assert not (tmp_path / "tutor_state").exists()


# --- status, doctor, lesson -------------------------------------------------------------------------------------------


def test_status(tutor: Tutor) -> None:
    table = tutor("status", "--json").json
    assert [part["id"] for part in table["parts"]] == ["normal", "edge", "explanation", "q1", "q2", "q3"]
    assert sum(part["of"] for part in table["parts"]) == 10
    assert {part["giver"] for part in table["parts"]} == {"nobody"}
    assert all(part["needs"] for part in table["parts"])
    assert not any(rule["met"] for rule in table["rules"])
    assert table["points"] == {"self": 0, "final": None, "of": 10}
    assert "0/10" in tutor("status").out


def test_doctor(tutor: Tutor, tmp_path: Path) -> None:
    ran = tutor("doctor", "--json")
    assert ran.code == 0
    table = ran.json
    assert [part["part"] for part in table["parts"]] == [
        "python",
        "terminal",
        "locale",
        "state",
        "sandbox",
        "torch",
        "triton",
        "compiler",
        "gpu",
        "editor",
    ]
    for part in table["parts"]:
        assert part["status"] in ("ok", "limited", "missing")
        assert part["text"]
        assert (part["costs"] is None) is (part["status"] == "ok")
    assert len(tutor("doctor").out.splitlines()) == len(table["parts"])
    assert stat.S_IMODE((tmp_path / "tutor_state" / LESSON.id).stat().st_mode) == 0o700


def test_the_shipped_lesson_is_whole(tutor: Tutor) -> None:
    ran = tutor("lesson", "check", "--json")
    assert ran.json["problems"] == []
    assert ran.code == 0
    assert tutor("lesson", "check", str(LESSON.folder)).code == 0


def test_a_lesson_with_a_fault_fails(tutor: Tutor, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "lessons" / LESSON.id
    shutil.copytree(LESSON.folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
    reference = copy / "reference" / "guard_key.py"
    reference.write_text(reference.read_text(encoding="utf-8").replace(RIGHT, WRONG), encoding="utf-8")
    script = next((copy / "demos").glob("*.py"))
    script.write_text("def broken(:\n", encoding="utf-8")
    ran = tutor("lesson", "check", str(copy), "--json")
    assert ran.code == 1
    assert {problem["where"] for problem in ran.json["problems"]} == {"reference/guard_key.py", f"demos/{script.name}"}
    (copy / "lesson.toml").write_text("number = ", encoding="utf-8")
    ran = tutor("lesson", "check", str(copy))
    assert ran.code == 1
    assert "lesson.toml" in ran.out
