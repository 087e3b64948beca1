"""Exceptions that say a sentence go from process to process whole: judging and grading run in several."""

from __future__ import annotations

import importlib
import pickle
from pathlib import Path

import pytest

from tutor.cli.exits import Exit, Stop
from tutor.gradebook.queue import LeaseLost
from tutor.model import TutorError

ROOT = Path(__file__).resolve().parents[2]


def kinds() -> list[type[TutorError]]:
    """TutorError and everything that derives from it, wherever it is written."""
    for path in sorted((ROOT / "tutor").rglob("*.py")):
        if "TutorError" in path.read_text(encoding="utf-8"):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    found = [TutorError]
    for kind in found:
        found += kind.__subclasses__()
    return found


KINDS = kinds()


def test_kinds_are_found() -> None:
    assert {"StateError", "SettingsError", "ExchangeError", "ConnectionLost"} <= {kind.__name__ for kind in KINDS}


@pytest.mark.parametrize(
    "error",
    [
        *(kind("state.unusable", path="/x", why="y") for kind in KINDS),
        Stop("cli.lesson-broken", Exit.BROKE, why="x"),
        LeaseLost("ada"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_goes_from_process_to_process_whole(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert vars(again) == vars(error)
    assert str(again) == str(error)


def test_what_a_traceback_shows_names_the_sentence_and_its_fields() -> None:
    assert str(TutorError("state.unusable", path="/x")) == "state.unusable {'path': '/x'}"
