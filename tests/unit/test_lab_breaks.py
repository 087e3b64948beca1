"""The break lab without torch: its function, torch's words for a break, and what each line ran as."""

from __future__ import annotations

import pytest

from tutor import strings
from tutor.lab import breaks
from tutor.lab.breaks import FUNCTION, SWITCHES, Ran, Report
from tutor.language import LANGS

#: As torch 2.13 and 2.6 wrote them, cut to what is read.
LOOP = """\
Graph break in user code at break_lab.py:15
Graph Break Reason: Failed to handle graph break gracefully. Skipping the function and falling back to eager. Graph \
break encountered:

Failed to trace builtin operator
  Explanation: Dynamo does not know how to trace builtin operator `print` with argument types ['str', 'int']

User code traceback:
  File "break_lab.py", line 15, in f
    print("loop", i)
"""
LOGGING = """\
Graph break in user code at /usr/lib/python3.11/logging/__init__.py:1501
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

logging.Logger method not supported for non-export cases

User code traceback:
  File "break_lab.py", line 11, in f
    log.warning("step 2")
  File "/usr/lib/python3.11/logging/__init__.py", line 1501, in warning
    if self.isEnabledFor(WARNING):

Traceback (most recent call last):
  File "/site-packages/torch/_dynamo/x.py", line 1, in y
"""
OLD = """\
Graph break in user code at break_lab.py:9
Reason: Unsupported: Tensor.item
User code traceback:
  File "break_lab.py", line 9, in f
    h = h * h.sum().item()
"""


def test_a_line_keeps_its_number_whatever_is_on() -> None:
    for on in ((), ("B1",), tuple(SWITCHES)):
        lines = breaks.source(on).split("\n")
        for place, line in enumerate(FUNCTION):
            there = lines[breaks.number_of(place) - 1]
            assert there == (line.text if not line.switch or line.switch in on else "")
        compile(breaks.source(on), breaks.FILE, "exec")


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("switch", SWITCHES)
def test_every_switch_has_its_sentence(lang: str, switch: str) -> None:
    assert strings.text("zh" if lang == "zh" else "en", f"lab_views.break-{SWITCHES[switch]}")


@pytest.mark.parametrize(
    ("payload", "line", "reason", "whole"),
    [
        (LOOP, 15, "Failed to trace builtin operator", True),
        (LOGGING, 11, "logging.Logger method not supported for non-export cases", False),
        (OLD, 9, "Unsupported: Tensor.item", False),
        ("", 0, "", False),
        ("Graph break in user code at a.py:3\nReason: x", 3, "x", False),
    ],
)
def test_a_break_is_placed_in_the_users_own_code(payload: str, line: int, reason: str, whole: bool) -> None:
    one = breaks.read_break(payload)
    assert (one.line, one.reason, one.whole_frame) == (line, reason, whole)


def test_a_break_that_is_told_twice_is_one() -> None:
    softly = LOOP.replace("Skipping the function and falling back to eager. ", "")
    (one,) = breaks.distinct([softly, LOOP, softly])
    assert one.whole_frame
    assert len(breaks.distinct([LOOP, LOGGING])) == 2


def report(graphs: tuple[tuple[int, ...], ...], *payloads: str, raised: str = "") -> Report:
    return Report(graphs, tuple(breaks.distinct(payloads)), True, (len(graphs), len(graphs) - 1), raised)


def line_of(switch: str) -> int:
    return next(n for n, line in enumerate(FUNCTION) if line.switch == switch)


def test_a_break_in_the_loop_leaves_everything_to_python() -> None:
    ran = breaks.ran_as(report((), LOOP), {"B6"})
    for place, line in enumerate(FUNCTION):
        is_off = line.switch not in ("", "B6")
        assert ran[place] == (Ran() if is_off else Ran((), True) if place else ran[place]), line.text
    assert report((), LOOP).explain_differs


def test_a_line_can_be_in_two_graphs_and_in_python() -> None:
    ran = breaks.ran_as(report(((6, 8, 9), (9, 14, 17, 22, 24)), OLD), {"B2"})
    assert ran[line_of("B2")] == Ran((1, 2), True)
    assert ran[1] == Ran((1,), False)
    assert ran[-1] == Ran((2,), False)
    assert not any(each.python for place, each in enumerate(ran) if place != line_of("B2"))


def test_nothing_ran_when_the_call_raised() -> None:
    assert set(breaks.ran_as(report((), raised="Unsupported: no"), {"B1"})) == {Ran()}


def test_a_run_is_read_from_what_was_observed() -> None:
    end = {"same_as_eager": [True], "explain_graphs": [0], "explain_breaks": [-1], "raised": [None]}
    read = breaks.report({"break": {"payload": [LOOP]}, "end": end})
    assert read.eager
    assert read.explained == (0, -1)
    assert read.explain_differs
    unknown = {**end, "explain_graphs": [None]}
    assert breaks.report({"graph": {"lines": [[6]]}, "end": unknown}).explained is None
