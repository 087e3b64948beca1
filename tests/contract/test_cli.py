"""The command line as the contract fixes it: names, JSON, exit codes, and one sentence for whatever is wrong."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import stat
import subprocess
import sys
import threading
from array import array
from collections.abc import Callable, Iterator, Mapping
from fcntl import ioctl
from pathlib import Path
from termios import FIONREAD
from typing import Any
from unicodedata import east_asian_width

import pytest

from tutor import catalog
from tutor.cli import demo as demo_command
from tutor.cli.main import run
from tutor.journal import Journal
from tutor.judging import Judge
from tutor.lab import protocol
from tutor.model import LANGS, Message
from tutor.sandbox import Sandbox, SandboxUnavailable

ROOT = Path(__file__).resolve().parents[2]
LESSON = catalog.load()
RIGHT, WRONG = "guarded_shape, dtype, device", "guarded_shape, dtype"
EDGE = 'guard_key((2, 128), {2}, "bf16", "cuda") raises ValueError'
ENDLESS = "[0 for _ in iter(int, 1)]"


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TUTOR_STATE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    for name in ("TUTOR_LANG", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "en_US.UTF-8")


class Ran:
    """What one command left behind."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> dict[str, Any]:
        (line,) = self.out.splitlines()
        table: dict[str, Any] = json.loads(line)
        return table

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


Tutor = Callable[..., Ran]


@pytest.fixture
def tutor(capfd: pytest.CaptureFixture[str]) -> Tutor:
    """Runs a command in this process."""

    def ran(*argv: str) -> Ran:
        capfd.readouterr()
        code = run(argv)
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return Ran(int(code), out, err)

    return ran


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = Journal.open(tmp_path / "tutor_state" / LESSON.id)
    yield opened
    opened.close()


def exercise_file(path: Path, expr: str) -> str:
    path.write_text(LESSON.exercise.template.replace(LESSON.exercise.blank, expr), encoding="utf-8")
    return str(path)


def program(*argv: str, **env: str) -> subprocess.Popen[bytes]:
    """The tutor as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "tutor", *argv],
        cwd=ROOT,
        env={**os.environ, **env},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def one_sentence(ran: Ran, code: int) -> str:
    assert ran.code == code
    assert ran.out == ""
    assert ran.err.count("\n") == 1, ran.err
    return ran.err


# --- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize(
    "command",
    ["", "check", "demo", "verify", "lab", "rubric", "report", "status", "watch", "doctor", "lesson", "class"],
)
def test_help_fits_a_screen(tutor: Tutor, command: str, lang: str) -> None:
    ran = tutor(*command.split(), "--help", "--lang", lang)
    assert ran.code == 0
    assert ran.err == ""
    lines = ran.out.splitlines()
    assert len(lines) <= 24
    for line in lines:
        assert sum(2 if east_asian_width(char) in "WF" else 1 for char in line) <= 80, line
    assert f"python -m tutor {command}".rstrip() in lines[0]
    assert bool(re.search("[一-鿿]", ran.out)) is (lang == "zh")


def test_help_names_every_command_and_common_option(tutor: Tutor) -> None:
    said = tutor("--help").out
    for word in (
        "check",
        "demo",
        "lab FILE",
        "verify",
        "status",
        "watch",
        "doctor",
        "lesson check",
        "rubric QUESTION",
        "report",
        "review DIR",
        "--state",
        "--lang",
        "--lesson",
        "--python",
    ):
        assert word in said


def test_version(tutor: Tutor) -> None:
    ran = tutor("--version")
    assert ran.code == 0
    assert re.fullmatch(r"torch-compile-tutor \d+\.\d+\.\d+\n", ran.out)


@pytest.mark.parametrize(
    "argv",
    [
        ("--nonsense",),
        ("chek",),
        ("check", "--nonsense"),
        ("check", "a", "b"),
        ("check", "--expr"),
        ("check", "--edg", "x"),
        ("check", "--lang", "fr"),
        ("check", "--json=yes"),
        ("check", "x.py", "--expr", "y"),
        ("check", "--lesson", "lesson_99"),
        ("demo", "nonsense"),
        ("demo", "--predict", "1"),
        ("demo", "automatic-dynamic", "--predict", "1,x"),
        ("demo", "automatic-dynamic", "--predict", "1"),
        ("demo", "automatic-dynamic", "--device", "tpu"),
        ("watch",),
        ("watch", "/nowhere/file.py"),
        ("lesson",),
        ("lesson", "prove"),
        ("lesson", "check", "/nowhere"),
        ("--theme", "pink"),
        ("check", "/nowhere/file.py"),
        ("check", "a\0b"),
        ("check", "/"),
        ("check", "x" * 5000),
        (),
    ],
)
@pytest.mark.parametrize("lang", LANGS)
def test_wrong_usage_is_one_sentence_and_exit_2(tutor: Tutor, lang: str, argv: tuple[str, ...]) -> None:
    one_sentence(tutor("--lang", lang, *argv), 2)


def test_the_language_of_an_error_is_the_one_asked_for(tutor: Tutor) -> None:
    assert "没有" in tutor("--lang", "zh", "--nonsense").err
    assert "没有" in tutor("--nonsense", "--lang=zh").err
    assert "no such option" in tutor("--nonsense").err


def test_options_stand_before_or_after_the_command(tutor: Tutor, tmp_path: Path) -> None:
    for argv in (
        ("--state", str(tmp_path / "s"), "--lang", "zh", "status", "--json"),
        ("status", "--json", "--state", str(tmp_path / "s"), "--lang", "zh"),
    ):
        table = tutor(*argv).json
        assert table["state"] == str(tmp_path / "s" / LESSON.id)
        assert "自" in json.dumps(table, ensure_ascii=False) or "空" in json.dumps(table, ensure_ascii=False)


def test_a_language_chosen_on_the_screen_is_spoken_by_commands(tutor: Tutor, journal: Journal) -> None:
    journal.append("setting", name="lang", value="zh")
    assert "给定断言" in tutor("check", "--expr", RIGHT).out
    assert "given assertions" in tutor("check", "--expr", RIGHT, "--lang", "en").out


# --- check ------------------------------------------------------------------------------------------------------------


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

    monkeypatch.setattr("tutor.line_file.os.write", full)
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
        raise SandboxUnavailable(Message("check.no_sandbox_start"))

    monkeypatch.setattr(Sandbox, "start", none)
    one_sentence(tutor("check", "--expr", RIGHT), 6)
    one_sentence(tutor("lesson", "check"), 6)


def test_a_broken_settings_file_is_one_sentence(tutor: Tutor, tmp_path: Path) -> None:
    path = tmp_path / "xdg_config_home" / "torch-compile-tutor" / "settings.toml"
    path.parent.mkdir(parents=True)
    path.write_text('lang = "en"\ntheme = "pink"\n')
    assert f"{path}, line 2" in one_sentence(tutor("status"), 2)


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


# --- demo -------------------------------------------------------------------------------------------------------------


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


# --- as a process -----------------------------------------------------------------------------------------------------


def test_watch_judges_at_every_save_and_ends_at_ctrl_c(tmp_path: Path) -> None:
    path = tmp_path / "guard_key.py"
    exercise_file(path, WRONG)
    watching = program("watch", str(path), "--json")
    assert watching.stdout is not None
    endings = [json.loads(watching.stdout.readline())]
    exercise_file(path, RIGHT)
    endings.append(json.loads(watching.stdout.readline()))
    other = tmp_path / "new"
    exercise_file(other, "1 +")
    other.replace(path)
    endings.append(json.loads(watching.stdout.readline()))
    assert [table["ending"] for table in endings] == ["failed", "passed", "refused"]
    assert {(table["schema"], table["event"]) for table in endings} == {(1, "check")}
    watching.send_signal(signal.SIGINT)
    out, err = watching.communicate(timeout=30)
    assert (watching.returncode, out) == (0, b"")
    assert err.count(b"\n") == 1


def test_ctrl_c_is_quiet() -> None:
    waiting = program("check", "--expr", "-")
    assert waiting.stdin is not None
    waiting.stdin.write(b"1")
    waiting.stdin.flush()
    unread = array("i", [1])
    while unread[0]:  # It waits for more once it has taken what there is.
        ioctl(waiting.stdin, FIONREAD, unread)
    waiting.send_signal(signal.SIGINT)
    assert waiting.wait(timeout=30) == 130
    assert waiting.communicate() == (b"", b"")


def test_a_reader_that_goes_away_is_quiet() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "tutor", "--help"],
        cwd=ROOT,
        stdout=write,
        stderr=subprocess.PIPE,
        timeout=30,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


def test_json_is_utf8_and_text_never_fails_whatever_the_locale() -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii", "TUTOR_LANG": "zh"}
    out, err = program("status", "--json", **ascii_only).communicate(timeout=30)
    assert "先把空判一次" in json.loads(out)["parts"][0]["needs"]
    assert err == b""
    started = program("status", **ascii_only)
    out, err = started.communicate(timeout=30)
    assert started.returncode == 0
    assert b"\\u" in out


def test_without_a_terminal_the_screen_is_one_sentence() -> None:
    started = program()
    out, err = started.communicate(timeout=30)
    assert (started.returncode, out) == (2, b"")
    assert err.count(b"\n") == 1
    assert b"--help" in err
