"""The wheel, installed in a fresh environment and used from another folder: its content goes with it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tutor import __version__
from tutor.lesson import catalog

ROOT = Path(__file__).resolve().parents[2]
RIGHT = "guarded_shape, dtype, device"

pytestmark = pytest.mark.slow


def ran(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    built = ran(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment with the wheel in it, and our own dependencies within reach."""
    venv = tmp_path_factory.mktemp("fresh") / "venv"
    made = ran(sys.executable, "-m", "venv", venv, cwd=venv.parent)
    assert made.returncode == 0, made.stderr
    python = venv / "bin" / "python"
    installed = ran(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=venv.parent)
    assert installed.returncode == 0, installed.stderr
    # A line of a .pth file is a folder to look in; .pth files in there, such as an editable tutor's, do not count.
    ours = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site_packages(python) / "dependencies.pth").write_text("\n".join(sorted(ours)) + "\n", encoding="utf-8")
    return python


def site_packages(python: Path) -> Path:
    (path,) = (python.parent.parent / "lib").glob("python*/site-packages")
    return path


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TUTOR_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    return tmp_path


def test_the_wheel_holds_the_package_and_nothing_beside_it(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"tutor", f"torch_compile_tutor-{__version__}.dist-info"}
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
    inside = set(names)
    for path in [*(ROOT / "lessons").rglob("*"), *(ROOT / "checks").rglob("*")]:
        if path.is_file() and "__pycache__" not in path.parts:
            assert f"tutor/content/{path.relative_to(ROOT).as_posix()}" in inside
    for path in (ROOT / "tutor").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert path.relative_to(ROOT).as_posix() in inside


def test_no_lessons_or_checks_at_the_top_of_site_packages(python: Path) -> None:
    found = {path.name for path in site_packages(python).iterdir()}
    assert "tutor" in found
    assert not found & {"lessons", "checks", "tests"}


def test_it_is_the_installed_one_that_runs(python: Path, elsewhere: Path) -> None:
    done = ran(python, "-c", "import tutor; print(tutor.__file__)", cwd=elsewhere)
    assert done.stdout.strip() == str(site_packages(python) / "tutor" / "__init__.py")
    for command in ([python, "-m", "tutor"], [python.parent / "torch-compile-tutor"]):
        done = ran(*command, "--version", cwd=elsewhere)
        assert done.stdout == f"torch-compile-tutor {__version__}\n"


def test_check_and_doctor_from_another_folder(python: Path, elsewhere: Path) -> None:
    lesson = catalog.load()
    answer = elsewhere / "guard_key.py"
    answer.write_text(lesson.exercise.template.replace(lesson.exercise.blank, RIGHT), encoding="utf-8")
    command = python.parent / "torch-compile-tutor"
    done = ran(command, "check", answer.name, "--json", cwd=elsewhere)
    assert (done.returncode, json.loads(done.stdout)["ending"]) == (0, "passed"), done.stderr
    assert ran(command, "check", "--expr", "1", cwd=elsewhere).returncode == 1
    done = ran(command, "doctor", "--json", cwd=elsewhere)
    assert done.returncode == 0, done.stderr
    parts = {part["part"]: part for part in json.loads(done.stdout)["parts"]}
    assert str(python) in parts["python"]["text"]
    assert str(elsewhere / "state") in parts["state"]["text"]


def test_the_lesson_is_whole_in_the_wheel_too(python: Path, elsewhere: Path) -> None:
    done = ran(python, "-m", "tutor", "lesson", "check", "--json", cwd=elsewhere)
    table = json.loads(done.stdout)
    assert (done.returncode, table["problems"]) == (0, []), done.stderr
    assert table["counts"]["wrong_versions"] >= 24


@pytest.mark.torch
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed in this environment")
def test_a_demo_runs_from_the_wheel(python: Path, elsewhere: Path) -> None:
    done = ran(python, "-m", "tutor", "demo", "automatic-dynamic", "--json", "--device", "cpu", cwd=elsewhere)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[-1]["outcome"] == "ok", done.stderr
    (result,) = [event for event in events if event["event"] == "result"]
    assert (result["evidence"], result["source"]) == ("E1", "measured")
