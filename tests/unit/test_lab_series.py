"""Observations that a learner's file made up are no observations."""

from __future__ import annotations

from typing import Any

import pytest

from tutor.lab import series
from tutor.lab.inside import Looks
from tutor.lab.protocol import LineError
from tutor.lab.watched import Watched

CALL = {
    **{"i": 0, "served_by": "0/0", "new_graphs": 1, "same_as_eager": None},
    **{"seconds": 0.5, "raised": None, "eager_raised": None},
}
GRAPH = {"i": 0, "name": "0/0", "ops": 2, "guards": None, "lines": [3]}
NEEDS = {"setting": 0, "registers": 32, "spilled_bytes": 0, "shared_bytes": 16, "instructions": {"FADD": 3}}
KERNEL = {"setting": 0, "name": "k", "file": "a.py", "first": 3, "last": 9}
SAID: dict[tuple[str, str], dict[str, Any]] = {
    ("file", "begins"): {},
    ("file", "limit"): {"entries": 8},
    ("file", "problem"): {"missing": "fn", "names": "-"},
    ("file", "call"): CALL,
    ("file", "graph"): GRAPH,
    ("file", "break"): {"i": 0, "payload": "Graph break"},
    ("inside", "compiler"): {"triton": "3.6.0"},
    ("inside", "file"): {"path": "a.py", "text": "x"},
    ("inside", "kernel"): KERNEL,
    ("inside", "code"): {"setting": 0, "stage": "ttir", "text": "x"},
    ("inside", "needs"): NEEDS,
    ("inside", "problem"): {"setting": 0, "kind": "file", "file": "a.py", "line": 1, "why": "x"},
}


@pytest.mark.parametrize(("task", "name"), SAID)
def test_what_a_task_says_is_taken_and_nothing_less(task: str, name: str) -> None:
    values = SAID[task, name]
    series.check(task, name, values)
    if task == "file":
        Watched().take(name, None, values, ())
    else:
        Looks().take(name, values)
    for field in values:
        for wrong in ({**values, field: {"a": []}}, {each: value for each, value in values.items() if each != field}):
            with pytest.raises(LineError):
                series.check(task, name, wrong)


@pytest.mark.parametrize(
    ("task", "name", "values"),
    [
        ("file", "default", {}),
        ("file", "call", {**CALL, "same_as_eager": "what"}),
        ("file", "call", {**CALL, "new_graphs": 1e300}),
        ("file", "call", {**CALL, "i": True}),
        ("file", "graph", {**GRAPH, "lines": 5}),
        ("inside", "problem", {"setting": 0, "kind": "another", "why": "x"}),
        ("inside", "problem", {"setting": 0, "kind": "compile", "why": "x"}),
        ("inside", "kernel", {**KERNEL, "setting": "0"}),
    ],
)
def test_what_is_made_up_is_not_taken(task: str, name: str, values: dict[str, Any]) -> None:
    with pytest.raises(LineError):
        series.check(task, name, values)


def test_a_demo_of_a_lesson_says_what_it_likes() -> None:
    series.check("cold-warm", "default", {"n": 1})
