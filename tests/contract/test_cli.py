"""The command line as the contract fixes it: its options, and the tutor as a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from array import array
from fcntl import ioctl
from pathlib import Path
from termios import FIONREAD
from unicodedata import east_asian_width

import pytest

from tests.contract.command import (
    LESSON,
    RIGHT,
    ROOT,
    WRONG,
    Tutor,
    exercise_file,
    journal,
    one_sentence,
    own_folders,
    program,
    tutor,
)
from tutor.language import LANGS
from tutor.learner.journal import Journal

__all__ = ["journal", "own_folders", "tutor"]


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
