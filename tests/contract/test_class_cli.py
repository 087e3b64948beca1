"""A class from `class init` to feedback, by command only: what an instructor's scripts rely on."""

from __future__ import annotations

import csv
import json
import os
import runpy
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tutor.classroom import handed_in, returned
from tutor.classroom.exchange import ClassFolder, Receipt
from tutor.cli.main import run
from tutor.lesson import catalog
from tutor.sandbox import Sandbox

ROOT = Path(__file__).resolve().parents[2]
MAKE = runpy.run_path(str(ROOT / "tests" / "bench" / "make_class.py"))
ME = handed_in.login_of(os.geteuid())


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


class Tutor(NamedTuple):
    capfd: pytest.CaptureFixture[str]

    def __call__(self, *argv: str) -> Ran:
        self.capfd.readouterr()
        code = run(["--lang", "en", *argv])
        out, err = self.capfd.readouterr()
        assert "Traceback" not in err
        assert "\x1b" not in out + err
        return Ran(code, out, err)


@pytest.fixture
def tutor(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Tutor:
    monkeypatch.setenv("TUTOR_STATE", str(tmp_path / "state"))
    return Tutor(capfd)


@pytest.fixture
def place() -> Iterator[str]:
    """A new class folder's path that every user of the machine can reach."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield f"{name}/class"


def weak() -> list[str]:
    """What this machine needs to re-grade at all."""
    with Sandbox() as sandbox:
        from tutor.sandbox import MINIMUM

        lacking = any(layer.name in MINIMUM and not layer.active for layer in sandbox.layers())
    return ["--allow-weak-sandbox"] if lacking else []


def generated(place: str, learners: int = 40) -> list[str]:
    """Fill the inbox; the logins. Not as root, all files are one user's: one learner with as many hand-ins."""
    folder = ClassFolder.open(Path(place))
    if os.geteuid() == 0:
        MAKE["fill"](folder, catalog.load(), learners, 1)
        return [f"uid-{MAKE['FIRST_UID'] + number}" for number in range(learners)]
    _, raw = next(MAKE["hand_ins"](catalog.load(), 1, 1, first_uid=os.geteuid()))
    (folder.inbox / "one.json").write_bytes(raw)
    return [ME]


def test_from_init_to_feedback(tutor: Tutor, place: str, tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    uids = [MAKE["FIRST_UID"] + number for number in range(40)]
    roster.write_text("login,name\n" + "".join(f"uid-{uid},=1+{uid}\n" for uid in uids) + f"{ME},Me\nabsent,\n")
    made = tutor("class", "init", place, "--roster", str(roster), "--json")
    assert made.code == 0, made
    assert made.json[0]["roster"] == 42
    assert made.json[0]["broken_promises"] == []
    logins = generated(place)

    handed = tutor("submit", "--to", place, "--json")
    assert handed.code == 0, handed
    receipt = Receipt(**{name: handed.json[0]["receipt"][name] for name in Receipt._fields})
    (Path(place) / "inbox" / "bad.json").symlink_to("/etc/passwd")

    listed = tutor("class", "list", place, "--json").json[0]
    state = {one["learner"]: one["handed_in"] for one in listed["learners"]}
    assert state["absent"] == 0
    assert all(state[login] for login in {*logins, ME})
    assert [(one["file"], one["reason"]) for one in listed["refused"]] == [("bad.json", "link")]

    graded = tutor("class", "regrade", place, "--json", "--jobs", "2", *weak())
    assert graded.code == 0, graded
    *lines, summary = graded.json
    assert summary["event"] == "summary"
    assert summary["of"] == len({*logins, ME})
    assert summary["changed"] == 0
    good = [line for line in lines if "file" not in line]
    assert {line["learner"] for line in good} == {*logins, ME}
    assert {line["ending"] for line in lines if "file" in line} == {"refused"}
    assert next(line for line in good if line["learner"] == ME)["ending"] == "refused" or logins == [ME]
    if os.geteuid() == 0:
        assert {line["ending"] for line in good} >= {"passed", "failed", "refused"}

    for question in ("explanation", "q1", "q2", "q3"):
        scored = tutor("class", "score", place, "--learner", ME, "--question", question, "--points", "1", "--json")
        assert (scored.code, scored.json[0]["from"], scored.json[0]["to"]) == (0, None, 1)
    veto = ("--veto", "guess", "--comment", "name the log \x1b[31m")
    assert tutor("class", "score", place, "--learner", ME, "--question", "q1", "--points", "0", *veto).code == 0

    assert tutor("class", "grades", place, "--csv", str(tmp_path / "grades.csv")).code == 0
    with (tmp_path / "grades.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["learner"]: row for row in csv.DictReader(file)}
    piped = tutor("class", "grades", place, "--csv", "-")
    assert (piped.code, piped.err) == (0, "")
    assert piped.out.encode() == (tmp_path / "grades.csv").read_bytes()
    assert rows[ME]["state"] == "final"
    assert rows[ME]["vetoes"] == "guess"
    assert rows["absent"]["state"] == "missing"
    assert all(row["name"][:1] != "=" for row in rows.values()), "no spreadsheet runs a learner's name"
    assert tutor("class", "grades", place, "--json").json[0]["grades"][0].keys() == rows[ME].keys()

    told = tutor("class", "feedback", place, "--json")
    assert told.json[0]["final"] == 1
    found = returned.find([receipt])
    assert found is not None
    assert (found.final, found.questions["q1"].points, found.questions["q1"].vetoes) == (True, 0, ("guess",))
    assert found.questions["q1"].comment == "name the log \x1b[31m"
    assert stat.S_IMODE((Path(place) / "feedback").stat().st_mode) == 0o711

    figures = tutor("class", "figures", place, "--json").json[0]
    assert figures["total"]["n"] == 1
    assert figures["vetoes"] == {"guess": 1}
    assert figures["handed_in"] == len({*logins, ME})


def test_what_changed_is_shown_and_taken_when_asked_for(tutor: Tutor, place: str) -> None:
    tutor("class", "init", place)
    (login, *_) = generated(place, 1)
    tutor("class", "regrade", place, *weak())
    from tutor.classroom import class_book
    from tutor.gradebook.results import Result

    folder = ClassFolder.open(Path(place))
    book, _ = class_book.open_book(folder)
    (number,) = book.results.standing()
    made = book.results.begin("older", "ada", weak_sandbox=False)
    book.results.add(made.id, [(Result(number, "failed", 0, 1, {}), True)])
    book.results.end(made.id)
    book.close()
    *lines, summary = tutor("class", "regrade", place, "--json", *weak()).json
    assert [(line["learner"], line["changed"], line["before"]["edge"]) for line in lines] == [(login, True, 1)]
    assert summary["changed"] == 1
    before = tutor("class", "list", place, "--json").json[0]["learners"][0]["points"]
    assert before == {"normal": 0, "edge": 1}
    assert tutor("class", "regrade", place, "--take", "--json").json[0]["taken"] == 1
    assert tutor("class", "list", place, "--json").json[0]["learners"][0]["points"] == lines[0]["points"]


def test_a_rule_is_changed_for_everybody_after_a_preview(tutor: Tutor, place: str, tmp_path: Path) -> None:
    tutor("class", "init", place)
    (login, *_) = generated(place, 1)
    one = (place, "--learner", login, "--question", "q1")
    by_slot = tutor("class", "score", *one, "--slot", "gb_cause", "--slot", "gb_effect", "--json").json[0]
    assert (by_slot["to"], by_slot["by_hand"], by_slot["second"]) == (1, False, False)
    before = tutor("class", "criteria", place, "--question", "q1", "--json").json[0]["questions"]
    assert list(before) == ["q1"]
    assert before["q1"]["version"] is None
    rule = {**before["q1"]["rule"], "added": {"own1": {"zh": "说了日志", "en": "names the log"}}}
    rule["ways"] = [{"points": 2, "every": ["gb_cause", "gb_effect"], "some": [], "least": 0}]
    file = tmp_path / "rule.json"
    file.write_text(json.dumps(rule))
    change = ("class", "criteria", place, "--question", "q1", "--rule", str(file))
    rises = {"rise": 1, "fall": 0, "same": 0, "by_hand": 0, "conflicts": 0, "published": 0}
    assert tutor(*change, "--preview", "--json").json[0]["effect"] == rises
    assert tutor("class", "criteria", place, "--question", "q1", "--json").json[0]["questions"] == before
    told = tutor(*change)
    assert (told.code, "1 rise, 0 fall" in told.out) == (0, True)
    after = tutor("class", "criteria", place, "--question", "q1", "--json").json[0]["questions"]["q1"]
    assert after["rule"] == rule
    assert after["slots"]["own1"]["en"] == "names the log"
    assert "2 points for all of gb_cause, gb_effect" in tutor("class", "criteria", place, "--question", "q1").out
    assert tutor("class", "list", place, "--json").json[0]["learners"][0]["questions"]["q1"]["points"] == 2
    by_hand = tutor("class", "score", *one, "--slot", "own1", "--points", "1", "--second", "--json").json[0]
    assert (by_hand["to"], by_hand["by_hand"], by_hand["second"]) == (1, True, True)
    assert tutor("class", "list", place, "--json").json[0]["learners"][0]["questions"]["q1"]["state"] == "second"
    assert tutor("class", "score", *one, "--slot", "mood").code == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"ways": []}, "1 to 8 ways"),
        ({"ways": [{"points": 2, "every": [["observe"]], "some": [], "least": 0}]}, "right shape"),
        ({"ways": [{"points": float("inf"), "every": ["observe"], "some": [], "least": 0}]}, "right shape"),
        ({"ways": [{"points": 1, "every": ["observe"], "some": [], "least": 0}]}, "all the points"),
        ({"ways": [{"points": 2, "every": [], "some": ["observe"], "least": 2}]}, "at least one"),
        ({"added": {"own1": {"zh": "\ud800", "en": "x"}}}, "label"),
        ({"added": {"observe": {"zh": "x", "en": "x"}}}, "begins with own"),
    ],
)
def test_a_rule_that_cannot_be_is_said(
    tutor: Tutor, place: str, tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    tutor("class", "init", place)
    rule = tutor("class", "criteria", place, "--json").json[0]["questions"]["q1"]["rule"]
    (tmp_path / "rule.json").write_text(json.dumps({**rule, **change}))
    ran = tutor("class", "criteria", place, "--question", "q1", "--rule", str(tmp_path / "rule.json"))
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_a_memo_and_a_hand_over(tutor: Tutor, place: str) -> None:
    tutor("class", "init", place)
    (login, *_) = generated(place, 1)
    one = (place, "--learner", login, "--question", "q1")
    assert tutor("class", "memo", *one, "--text", "seen this sentence before").code == 0
    mine = tutor("class", "hand-over", *one, "--to", ME)
    assert (mine.code, "knows no user" in mine.err) == (0, False)
    ben = tutor("class", "hand-over", *one, "--to", "ben", "--json")
    assert (ben.json[0]["to"], "knows no user ben" in ben.err) == ("ben", True)
    assert tutor("class", "list", place, "--json").json[0]["learners"][0]["questions"]["q1"]["for"] == "ben"
    assert "q1 - (for ben)" in tutor("class", "list", place).out
    from tutor.classroom import class_book

    book, _ = class_book.open_book(ClassFolder.open(Path(place)))
    item = book.queue.find(login, "q1")
    assert item is not None
    assert [(memo.grader, memo.text) for memo in book.scores.notes(item.id)] == [(ME, "seen this sentence before")]
    assert book.queue.claim("ada", "a", ["q1"]) is None
    given = book.queue.claim("ben", "b", ["q1"])
    assert given is not None
    assert given.id == item.id
    book.close()
    held = tutor("class", "hand-over", *one, "--to", "ada")
    assert (held.code, "ben is working" in held.err) == (2, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a class of several users")
def test_a_regrade_that_is_killed_goes_on_where_it_was(tutor: Tutor, place: str) -> None:
    tutor("class", "init", place)
    generated(place, 80)
    command = [sys.executable, "-m", "tutor", "class", "regrade", place, "--json", "--jobs", "2", *weak()]
    killed = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert killed.stdout is not None
    with killed.stdout:
        first = json.loads(killed.stdout.readline())
        killed.send_signal(signal.SIGKILL)
        killed.wait(30)
        # The end of the file comes when the last worker has gone too: none outlives its parent.
        seen = [first, *(json.loads(line) for line in killed.stdout.read().splitlines() if line.endswith(b"}"))]
    *rest, summary = tutor("class", "regrade", place, "--json", *weak()).json
    assert summary["of"] == 80
    assert summary["continued"] >= len(seen)
    assert len(rest) == 80 - summary["continued"]
    assert not {line["learner"] for line in seen} & {line["learner"] for line in rest}


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["class", "list"], "Name the class folder"),
        (["class", "list", "/nowhere"], "no class folder"),
        (["class", "destroy", "x"], "no command destroy"),
        (["class", "regrade", "DIR", "--jobs", "0"], "--jobs"),
        (["class", "regrade", "DIR", "--jobs", "many"], "whole number"),
        (["class", "score", "DIR", "--learner", "x"], "--question"),
        (["class", "score", "DIR", "--learner", "x", "--question", "q9", "--points", "1"], "q9"),
        (["class", "score", "DIR", "--learner", "x", "--question", "q1", "--points", "9"], "0 to 2"),
        (["class", "score", "DIR", "--learner", "x", "--question", "q1", "--points", "1"], "handed in nothing"),
        (["class", "score", "DIR", "--learner", "x", "--question", "q1", "--points", "1", "--veto", "v"], "--veto"),
        (["class", "grades", "DIR", "--csv", "/nowhere/x.csv"], "cannot be written"),
        (["class", "score", "DIR", "--learner", "x", "--question", "q1"], "--points"),
        (["class", "criteria", "DIR", "--question", "q9"], "q9"),
        (["class", "criteria", "DIR", "--preview"], "--rule"),
        (["class", "criteria", "DIR", "--question", "q1", "--rule", "/nowhere"], "cannot be read"),
        (["class", "criteria", "DIR", "--question", "q1", "--rule", "/dev/null"], "no JSON"),
        (["class", "memo", "DIR", "--learner", "x", "--question", "q1"], "--text"),
        (["class", "memo", "DIR", "--learner", "x", "--question", "q1", "--text", " "], "1 to"),
        (["class", "hand-over", "DIR", "--learner", "x", "--question", "q1", "--to", "ben"], "handed in nothing"),
        (["class", "hand-over", "DIR", "--learner", "x", "--question", "q1"], "--to"),
        (["class", "init", "DIR", "--roster", "/nowhere"], "no file"),
        (["class", "init", "DIR", "--db", "mysql://x"], "URL"),
        (["submit"], "Where to"),
        (["submit", "--to", "/nowhere"], "no class folder"),
    ],
)
def test_what_is_wrong_is_one_sentence(tutor: Tutor, place: str, argv: list[str], says: str) -> None:
    tutor("class", "init", place)
    ran = tutor(*(place if word == "DIR" else word for word in argv))
    assert ran.code == 2, ran
    assert ran.out == ""
    assert says in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_gradebook_that_is_gone_or_old_is_told(tutor: Tutor, place: str) -> None:
    tutor("class", "init", place)
    (login, *_) = generated(place, 1)
    file = Path(place) / "private" / "gradebook.sqlite"
    tutor("class", "list", place)
    yesterday = file.read_bytes()
    tutor("class", "score", place, "--learner", login, "--question", "q1", "--points", "1")
    for path in file.parent.glob("gradebook.sqlite*"):
        path.unlink()
    gone = tutor("class", "list", place)
    assert (gone.code, "is gone" in gone.err) == (2, True)
    file.write_bytes(yesterday)
    assert "older copy" in tutor("class", "list", place).err
    file.unlink()
    assert tutor("class", "init", place).code == 0
    assert tutor("class", "list", place, "--json").json[0]["learners"][0]["handed_in"] == 1


def test_an_inbox_that_is_read_only_or_gone(tutor: Tutor, place: str) -> None:
    tutor("class", "init", place)
    (Path(place) / "inbox").rmdir()
    ran = tutor("submit", "--to", place)
    assert (ran.code, "no inbox" in ran.err) == (2, True)
    assert tutor("class", "list", place).code == 2


def test_help_needs_no_gradebook_and_the_screen_neither() -> None:
    code = (
        "import sys; from tutor.cli.main import run; run(['class', '--help']); run(['submit', '--help']);"
        "import tutor.ui.app, tutor.cli.submit; print('sqlalchemy' in sys.modules, 'psycopg' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False False"
