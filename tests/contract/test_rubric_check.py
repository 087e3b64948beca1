"""The rubric's own rules can fail: each is broken once and has to be reported."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tutor import strings
from tutor.language import LANGS
from tutor.lesson import catalog, rubric_check

FOLDER = catalog.root() / "lessons" / catalog.DEFAULT_LESSON
CHECKS = catalog.root() / "checks" / catalog.DEFAULT_LESSON


def edited(file: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} no longer has {old!r}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


MUTATIONS = {
    "a reference without a core slot": ("reference-slot", edited("reference/en/q3.md", "Use it first", "Try it")),
    "a reference with a misconception": (
        "reference-doubt",
        edited("reference/en/q2.md", "Special", "dynamic=True turns off the guards. Special"),
    ),
    "a prompt that tells": (
        "prompt-tells",
        edited("rubric.toml", "Has any kernel run by then?", "What cannot be traced?"),
    ),
    "labels that fill a slot": (
        "pasted",
        edited("rubric.toml", "graph break: what follows", "a graph break splits it into pieces"),
    ),
    "points out of reach": ("points", edited("rubric.toml", "points.2", "points.3")),
    "a demo that is not there": ("change-demo", edited("rubric.toml", 'demo = "automatic-dynamic"', 'demo = "gone"')),
    "no rubric for a question": ("question-missing", edited("lesson.toml", 'id = "q3"', 'id = "q4"')),
}


def problems(folder: Path) -> list[str]:
    found = list(rubric_check.problems(catalog.load_folder(folder, CHECKS)))
    assert all(strings.say(lang, problem.what) for problem in found for lang in LANGS)
    return [problem.what.key.removeprefix("rubric.proof-") for problem in found]


def test_the_shipped_rubric_keeps_its_promises() -> None:
    assert problems(FOLDER) == []


def test_a_reference_may_be_left_out(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDER, tmp_path / FOLDER.name))
    for lang in LANGS:
        shutil.rmtree(folder / "reference" / lang)
    assert problems(folder) == []


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_broken_promise_is_reported(name: str, tmp_path: Path) -> None:
    key, change = MUTATIONS[name]
    folder = Path(shutil.copytree(FOLDER, tmp_path / FOLDER.name))
    change(folder)
    assert key in problems(folder)
