"""A watched function without torch: observations become the contract's events, counts and advice."""

from __future__ import annotations

from typing import Any

import pytest

from tutor import strings
from tutor.lab.watched import Watched
from tutor.language import LANGS

SIZE = "0/0: tensor 'x' size mismatch at index 0. expected 2, actual 8"
PRINT = """\
Graph break in user code at a.py:5
Reason: print
User code traceback:
  File "a.py", line 5, in fn
    print(1)
"""
LOOP = PRINT.replace("Reason:", "falling back to eager\nReason:")


def call(watched: Watched, served_by: str, new: int, *said: str, **more: Any) -> dict[str, Any]:
    values = {
        **{"i": len(watched.calls), "served_by": served_by, "new_graphs": new, "same_as_eager": True},
        **{"seconds": 0.1, "raised": None, "eager_raised": None, **more},
    }
    (event,) = watched.take("call", "f32[2]", values, said)
    return event


def graph(watched: Watched, name: str) -> dict[str, Any]:
    (event,) = watched.take("graph", None, {"i": 0, "name": name, "ops": 1, "guards": 3, "lines": [2]}, ())
    return event


def test_a_call_is_told_in_the_users_names() -> None:
    watched = Watched()
    first = call(watched, "0/0", 1)
    assert (first["served_by"], first["compiled"], first["why"]) == ("g0", True, None)
    assert graph(watched, "0/0")["id"] == "g0"
    later = call(watched, "0/1", 1, SIZE)
    assert (later["served_by"], later["why"]) == ("g1", "x.size(0) 2 -> 8")
    again = call(watched, "0/0+0/1", 0)
    assert (again["served_by"], again["compiled"]) == ("g0+g1", False)
    assert call(watched, "eager", 0)["served_by"] == "eager"
    assert call(watched, "eager", 0, raised="ValueError: no")["served_by"] == "error"


def test_a_break_is_told_once_and_again_when_it_is_worse() -> None:
    watched = Watched()
    assert [each["line"] for each in watched.take("break", None, {"payload": PRINT}, ())] == [5]
    assert watched.take("break", None, {"payload": PRINT}, ()) == []
    assert [each["whole_frame_eager"] for each in watched.take("break", None, {"payload": LOOP}, ())] == [True]
    assert watched.take("break", None, {"payload": PRINT}, ()) == []
    assert watched.summary()["breaks"] == 1


def test_the_limit_is_reached_when_as_many_calls_compiled_and_one_ran_eager() -> None:
    watched = Watched()
    assert watched.take("limit", None, {"entries": 2}, ()) == []
    for number in range(2):
        call(watched, f"0/{number}", 1, *([SIZE] if number else []))
    assert not watched.summary()["limit_reached"]
    call(watched, "eager", 0, SIZE)
    counts = watched.summary()
    assert counts["limit_reached"]
    assert (counts["eager_calls"], counts["recompiles"]) == (1, 1), "a call that met the limit compiled nothing"


def test_errors_of_the_function_itself_are_not_the_compilers() -> None:
    watched = Watched()
    call(watched, "eager", 0, raised="ValueError: no", eager_raised="ValueError: no")
    assert watched.summary()["errors"] == 0
    call(watched, "eager", 0, raised="Unsupported: print")
    assert watched.summary()["errors"] == 1


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (SIZE, "sizes"),
        ("0/0: 2 <= L['x'].size()[0]", "zero-one"),
        ("0/0: L['n'] == 3", "values"),
        ("0/0: tensor 'x' stride mismatch at index 0. expected 2, actual 8", "layouts"),
        ("0/0: tensor 'x' dtype mismatch. expected Float, actual Half", "kinds"),
        ("0/0: GLOBAL_STATE changed: grad_mode", "grad"),
        ("0/0: what nobody knows", "guards"),
    ],
)
def test_each_kind_of_recompile_has_its_advice(said: str, wanted: str) -> None:
    watched = Watched()
    call(watched, "0/1", 1, said)
    ((name, message),) = watched.advice()
    assert name == wanted
    assert all(strings.say(lang, message) for lang in LANGS)


def test_the_most_important_advice_comes_first() -> None:
    watched = Watched(limit=1)
    call(watched, "0/0", 1)
    watched.take("break", None, {"payload": PRINT}, ())
    watched.take("break", None, {"payload": LOOP}, ())
    call(watched, "eager", 0, SIZE, same_as_eager=False)
    assert [name for name, _ in watched.advice()] == ["differs", "whole-frame", "limit"]


def test_a_file_without_the_function_is_a_problem() -> None:
    watched = Watched()
    watched.take("problem", None, {"missing": "fn", "names": "a, b"}, ())
    assert watched.problem == ("fn", "a, b")
    assert watched.advice() == []
