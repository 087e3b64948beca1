"""`rubric` and `report`: the fields of the contract, nothing that is a machine's score, bad input in one sentence."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tutor.cli.main import run
from tutor.learner.journal import Journal
from tutor.lesson import catalog

ANSWER = "A graph break splits the function into two graphs. The mean latency is unchanged, so it is fine: 3 x."


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUTOR_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("TUTOR_LANG", "en")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def journal(tmp_path: Path) -> Journal:
    return Journal.open(tmp_path / "state" / catalog.DEFAULT_LESSON)


def tables(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        return [value, *(one for inner in value.values() for one in tables(inner))]
    return [one for inner in value for one in tables(inner)] if isinstance(value, list) else []


def test_rubric_quotes_a_file_and_has_no_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answer.txt"
    path.write_text(ANSWER, encoding="utf-8")
    assert run(["rubric", "q1", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["command"], told["question"]) == (1, "rubric", "q1")
    slots = {slot["id"]: slot for slot in told["slots"]}
    assert set(slots) == {"gb_cause", "gb_effect", "gf_cause", "gf_effect", "observe", "boundary", "tradeoff"}
    assert set(slots["gb_effect"]) >= {"id", "kind", "found", "quotes", "prompts"}
    ((start, end, words),) = slots["gb_effect"]["quotes"]
    assert ANSWER[start:end] == words
    assert not slots["gf_cause"]["found"]
    assert [veto["id"] for veto in told["vetoes"]] == ["tail"]
    assert told["uncited"][0][2] == "3 x"
    assert not any(re.search("score|points|grade|total", key) for table in tables(told) for key in table)


def test_rubric_reads_standard_input_and_the_saved_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ANSWER.encode())))
    assert run(["rubric", "q1", "-"]) == 0
    assert "splits the function into two graphs" in capsys.readouterr().out
    assert run(["rubric", "q1"]) == 2
    assert "saved nothing" in capsys.readouterr().err
    book = journal(tmp_path)
    book.append("draft", name="q1", text=ANSWER, cursor=[0, 0])
    book.close()
    assert run(["rubric", "q1", "--lang", "zh"]) == 0
    assert "不打分" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "said"), [(b"\xff\xfe\x00", "not UTF-8"), (b"x" * 100_000, "more than 64 KB"), (None, "no file")]
)
def test_rubric_says_what_is_wrong_with_a_file(
    content: bytes | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answer"
    if content is not None:
        path.write_bytes(content)
    assert run(["rubric", "q1", str(path)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize("question", [[], ["q9"]])
def test_rubric_knows_its_questions(question: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rubric", *question]) == 2
    assert "q1, q2, q3, edge" in capsys.readouterr().err


EVIL = "<script>alert(1)</script> ```` \x1b[31m\u202e [E9] & graph"


def story(tmp_path: Path) -> None:
    book = journal(tmp_path)
    book.append("draft", name="q1", text=EVIL, cursor=[0, 0])
    book.append("committed", name="q1", text=EVIL, rubric="1")
    given = {"points": 1, "chain": True, "boundary": False, "tradeoff": False, "rubric": "1"}
    book.append("self_scored", name="q1", ticks={"gb_cause": EVIL}, **given)
    book.append("unlocked", name="q1")
    book.append("committed", name="q1", text="after the reference", rubric="1")
    book.append("self_scored", name="q1", ticks={"gb_cause": "after"}, **given)
    book.append("rederived", name="q1", change="batch-one", text="then")
    book.close()


def test_report_holds_what_was_written_and_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story(tmp_path)
    files = {kind: tmp_path / f"report.{kind}" for kind in ("html", "md", "json")}
    assert run(["report", *(part for kind, path in files.items() for part in (f"--{kind}", str(path)))]) == 0
    assert capsys.readouterr().out == ""
    data = json.loads(files["json"].read_text(encoding="utf-8"))
    (answer,) = [one for one in data["answers"] if one["id"] == "q1"]
    assert (answer["text"], answer["changed_after_reference"]) == ("after the reference", True)
    assert answer["first_committed"]["text"] == EVIL
    assert answer["again"]["text"] == "then"
    assert answer["self_score"]["giver"] == "self"
    assert {part["giver"] for part in data["parts"]} <= {"machine", "self", "final", "nobody"}
    assert all({"giver"} <= set(table) for table in data["parts"])
    html = files["html"].read_text(encoding="utf-8")
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    for kind in ("html", "md"):
        shown = files[kind].read_text(encoding="utf-8")
        assert not any(char in shown for char in "\x1b\u202e")
        assert "self-assessed" in shown
        assert "after the reference" in shown
    assert "`````text" in files["md"].read_text(encoding="utf-8")


def test_report_goes_to_standard_output_without_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story(tmp_path)
    assert run(["report", "--lang", "zh"]) == 0
    assert capsys.readouterr().out.startswith("# 报告")


@pytest.mark.parametrize("name", ["", "gone/report.md"])
def test_report_says_why_it_cannot_be_written(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "--md", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_status_says_who_gave_what(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story(tmp_path)
    assert run(["status", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (part,) = [part for part in told["parts"] if part["id"] == "q1"]
    assert (part["points"], part["giver"]) == (1, "self")
    assert (told["points"]["final"], told["state_of_score"]) == (None, "open")
    assert run(["status"]) == 0
    assert "self-assessed" in capsys.readouterr().out
