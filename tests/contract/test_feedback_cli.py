"""A learner's way through a class by command: hand in, feedback, "please look again", and what is refused."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tutor.classroom import handed_in, look_again
from tutor.cli.main import run

ME = handed_in.login_of(os.geteuid())


@pytest.fixture
def place() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield f"{name}/class"


def test_from_a_hand_in_to_the_queue_again(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TUTOR_STATE", str(tmp_path / "state"))

    def tutor(*argv: str) -> tuple[int, str]:
        capfd.readouterr()
        code = run(["--lang", "en", *argv])
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return code, out + err

    ask = ("look-again", "--question", "q1", "--why", "I name the log in line 2 \x1b[31m")
    assert "handed in nothing" in tutor("feedback")[1]
    tutor("class", "init", place)
    assert "Where to?" in tutor("submit")[1]
    assert tutor("submit", "--to", place)[0] == 0
    assert tutor("submit")[0] == 0, "the folder is remembered"
    assert "with your class" in tutor("feedback")[1]
    code, said = tutor(*ask)
    assert (code, "no published score" in said) == (2, True)
    tutor("class", "score", place, "--learner", ME, "--question", "q1", "--points", "1", "--comment", "see \x1b[2J")
    tutor("class", "feedback", place)
    (back,) = (Path(place) / "feedback").iterdir()
    whole = back.read_bytes()
    for hostile in (b"", b"\x1b[2J" * 999, b"[" * 99_999, whole[:-2], whole.replace(b"see", b"sea")):
        back.write_bytes(hostile)
        for argv in (("feedback",), ("feedback", "--json"), ask):
            code, said = tutor(*argv)
            assert (code, said.count("\n"), "\x1b" in said) == (2, 1, False)
            assert "is not feedback to your hand-in" in said
    back.write_bytes(whole)
    code, said = tutor("feedback")
    assert (code, "Q1: 1/2, by an instructor" in said, "\x1b" in said) == (0, True, False)
    assert "see \\x1b[2J" in said
    assert "Q2: no score yet" in said
    parts = {part["id"]: part for part in json.loads(tutor("status", "--json")[1])["parts"]}
    assert (parts["q1"]["giver"], parts["q1"]["who"], parts["q1"]["points"]) == ("final", "instructor", 1)

    assert "empty" in tutor("look-again", "--question", "q1", "--why", " ")[1]
    assert "2001 characters" in tutor("look-again", "--question", "q1", "--why", "x" * (look_again.TEXT_MAX + 1))[1]
    assert tutor(*ask)[0] == 0
    assert "it can be done once" in tutor(*ask)[1]
    assert "asked to look again" in tutor("feedback")[1]

    for path in (Path(place) / "inbox").glob("*.json"):
        raw = path.read_bytes()
        if look_again.KIND.encode() in raw:
            (path.parent / "copy.json").write_bytes(raw)
    listed = json.loads(tutor("class", "list", place, "--json")[1].splitlines()[0])
    item = next(one for one in listed["learners"] if one["learner"] == ME)["questions"]["q1"]
    assert item["state"] == "open"
    assert [(one["file"], one["reason"]) for one in listed["refused"]] == [("copy.json", "twice")]
    again = json.loads(tutor("class", "list", place, "--json")[1].splitlines()[0])
    assert again["refused"] == listed["refused"], "nothing is refused because it was taken before"

    tutor("submit", "--to", place)
    assert "handed in number 3 since" in tutor("feedback")[1]
    parts = {part["id"]: part for part in json.loads(tutor("status", "--json")[1])["parts"]}
    assert parts["q1"]["giver"] == "nobody", "what was final was of the hand-in before"
