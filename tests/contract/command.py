"""A command of the tutor as its tests run it: in folders of its own, with what it left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tutor.cli.main import run
from tutor.learner.journal import Journal
from tutor.lesson import catalog

ROOT = Path(__file__).resolve().parents[2]
LESSON = catalog.load()
RIGHT, WRONG = "guarded_shape, dtype, device", "guarded_shape, dtype"
EDGE = 'guard_key((2, 128), {2}, "bf16", "cuda") raises ValueError'
ENDLESS = "[0 for _ in iter(int, 1)]"


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
