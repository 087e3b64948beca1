"""Which Python is taken for the demos."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tutor.lab import interpreter
from tutor.lab.interpreter import Interpreter, InterpreterError, find


@pytest.fixture
def no_own_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "_own_version", lambda: None)


def python(folder: Path, answer: str) -> Path:
    """An environment whose Python gives this answer, whatever it is asked."""
    path = folder / "bin" / "python"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{answer}\n")
    path.chmod(0o755)
    return path


def test_the_setting_wins_with_torch_or_without(tmp_path: Path) -> None:
    with_torch, without = python(tmp_path / "a", "echo 2.8.0"), python(tmp_path / "b", "true")
    assert find(str(with_torch), {}) == Interpreter(str(with_torch), "setting", "2.8.0")
    assert find(str(without), {}) == Interpreter(str(without), "setting", None)


def test_the_tutors_own_comes_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "_own_version", lambda: "2.13.0")
    python(tmp_path, "echo 2.8.0")
    assert find(None, {"VIRTUAL_ENV": str(tmp_path)}) == Interpreter(sys.executable, "own", "2.13.0")


@pytest.mark.usefixtures("no_own_torch")
def test_the_first_environment_with_torch_is_taken(tmp_path: Path) -> None:
    venv, conda = python(tmp_path / "venv", "echo 2.8.0"), python(tmp_path / "conda", "echo 2.6.0")
    both = {"VIRTUAL_ENV": str(tmp_path / "venv"), "CONDA_PREFIX": str(tmp_path / "conda")}
    assert find(None, both) == Interpreter(str(venv), "virtual-env", "2.8.0")
    venv.write_text("#!/bin/sh\n")
    assert find(None, both) == Interpreter(str(conda), "conda-prefix", "2.6.0")


@pytest.mark.usefixtures("no_own_torch")
@pytest.mark.parametrize("answer", ["exit 1", "true", "kill -9 $$"])
def test_none_has_torch(tmp_path: Path, answer: str) -> None:
    python(tmp_path, answer)
    for environ in ({}, {"VIRTUAL_ENV": str(tmp_path)}, {"VIRTUAL_ENV": "", "CONDA_PREFIX": "/nowhere"}):
        assert find(None, environ) == Interpreter(sys.executable, "own", None)


@pytest.mark.parametrize("answer", ["echo broken >&2; exit 1", "exit 3"])
def test_a_setting_that_does_not_run_as_python_is_said_so(tmp_path: Path, answer: str) -> None:
    path = python(tmp_path, answer)
    with pytest.raises(InterpreterError) as caught:
        find(str(path), {})
    assert caught.value.message.args["path"] == str(path)
    assert caught.value.message.args["why"] in ("broken", "exit status 3")


def test_a_python_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "PATIENCE_S", 0.05)
    with pytest.raises(InterpreterError) as caught:
        find(str(python(tmp_path, "exec sleep 600")), {})
    assert caught.value.message.key == "lab.python-unusable"


def test_a_folder_called_torch_is_not_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an empty one on the path, nor a whole one in the folder that one happens to be in."""
    (tmp_path / "path" / "torch").mkdir(parents=True)
    (tmp_path / "here" / "torch").mkdir(parents=True)
    (tmp_path / "here" / "torch" / "__init__.py").write_text("")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "path"))
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    bare.chmod(0o755)
    assert find(str(bare), {}).torch_version is None


def test_torch_is_found_without_being_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise SystemExit('imported')")
    (tmp_path / "torch-2.99.0.dist-info").mkdir()
    (tmp_path / "torch-2.99.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: torch\nVersion: 2.99.0\n"
    )
    # In a process of its own: other tests have torch imported here.
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{Path(interpreter.__file__).parents[2]}")
    program = (
        "import sys; from tutor.lab.interpreter import find; "
        "print(find(sys.executable, {}).torch_version, find(None, {}).torch_version, 'torch' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["2.99.0", "2.99.0", "False"]
