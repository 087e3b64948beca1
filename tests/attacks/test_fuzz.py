"""A short run of the fuzzer, always the same one; `fuzz.py` runs for longer by hand."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("attack_fuzz", Path(__file__).with_name("fuzz.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


fuzz = _load()


def test_generated_answers_and_lines_get_the_verdict_that_is_true() -> None:
    seen = fuzz.run(600, 5, 1, print)
    assert {"passed", "failed", "refused", "read"} <= set(seen)
    assert set(seen) & {"broke", "limit"} == set()


@pytest.mark.parametrize(
    ("text", "share"), [("guarded_shape, dtype, device", 1.0), ("None", 0.0), ("(", None), ("yield", None)]
)
def test_the_fuzzers_own_truth(text: str, share: float | None) -> None:
    exercise = fuzz.catalog.load().exercise
    assert fuzz.truth(exercise, text, [one.args for one in exercise.given]) == share
