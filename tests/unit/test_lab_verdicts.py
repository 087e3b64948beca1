"""Rules, and what they say of observations."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.lab import verdicts
from tutor.lab.verdicts import RuleError
from tutor.model import Verdict

SEEN: dict[str, dict[str, list[Any]]] = {
    "default": {
        "new_graphs": [1, 1, 0],
        "same": [True, True, True],
        "reason": ["a print", "an item"],
        "said": [["x is 1", "y is 2"], ["z"]],
        "p50_us": [10.0],
        "eager_us": [{"n": 30, "p50": 12.5, "max": 90}],
    },
    "control": {"new_graphs": [1, 1, 1], "p50_us": [20.0]},
}


def says(condition: str, observed: Any = SEEN) -> Verdict:
    rules = {"control": ["control.new_graphs == [1, 1, 1]"], "holds": [condition]}
    return verdicts.judge(rules, observed).verdict


@pytest.mark.parametrize(
    "condition",
    [
        "default.new_graphs == [1, 1, 0]",
        "default.new_graphs != [1, 1, 1]",
        "default.new_graphs != [1, 1]",
        "default.new_graphs <= 1",
        "default.new_graphs >= 0",
        "some default.new_graphs == 0",
        "some default.new_graphs > 0",
        "default.same == true",
        'some default.reason has "print"',
        "default.said != []",
        'some default.said has "y is"',
        "default.p50_us < control.p50_us",
        "default.p50_us <= 0.5 * control.p50_us",
        "default.eager_us.p50 > default.p50_us",
        "default.eager_us.n == 30",
        "default.new_graphs <= control.new_graphs",
        "default.new_graphs < default.p50_us",
        "default.p50_us == 10",
        "  default.p50_us   ==   10  ",
    ],
)
def test_a_true_condition_earns_its_verdict(condition: str) -> None:
    assert says(condition) is Verdict.HOLDS


@pytest.mark.parametrize(
    "condition",
    [
        "default.new_graphs == [1, 1]",
        "default.new_graphs == [1, 1, 0, 0]",
        "default.new_graphs == [true, true, false]",
        "default.new_graphs == 1",
        "default.new_graphs > 0",
        "default.same == 1",
        'default.reason has "print"',
        'some default.reason has "log"',
        "default.p50_us < 0.5 * control.p50_us",
        "some default.new_graphs == 2",
        "default.new_graphs == control.new_graphs",
    ],
)
def test_a_false_condition_differs(condition: str) -> None:
    judged = verdicts.judge({"control": ["control.p50_us == 20"], "holds": [condition]}, SEEN)
    assert judged.verdict is Verdict.DIFFERS
    assert judged.because.key == "lab.because-differs"
    assert judged.because.args["rule"] == condition


@pytest.mark.parametrize(
    ("condition", "key"),
    [
        ("default.other == 1", "lab.because-missing"),
        ("nobody.new_graphs == 1", "lab.because-missing"),
        ("default.eager_us.p42 == 1", "lab.because-missing"),
        ("default.new_graphs.p50 == 1", "lab.because-missing"),
        ("default.p50_us < nobody.p50_us", "lab.because-missing"),
        ("default.reason < 1", "lab.because-kind"),
        ("default.same < 1", "lab.because-kind"),
        ('default.new_graphs has "x"', "lab.because-kind"),
        ("default.new_graphs == default.reason", "lab.because-kind"),
        ("default.p50_us < 2 * default.same", "lab.because-kind"),
    ],
)
def test_what_was_not_observed_breaks_and_never_passes(condition: str, key: str) -> None:
    judged = verdicts.judge({"control": ["control.p50_us == 20"], "holds": [condition]}, SEEN)
    assert (judged.verdict, judged.because.key) == (Verdict.BROKE, key)


def test_an_observation_that_is_null_was_not_made() -> None:
    assert says("a.b == 1", {**SEEN, "a": {"b": [1, None]}}) is Verdict.BROKE


def test_nothing_observed_at_all_breaks() -> None:
    assert says("default.new_graphs == []", {}) is Verdict.BROKE
    assert says("default.new_graphs == []", {**SEEN, "default": {"new_graphs": []}}) is Verdict.BROKE


def test_a_control_that_comes_out_the_same_way_breaks() -> None:
    rules = {"control": ["control.new_graphs == [1, 1, 1]"], "holds": ["default.new_graphs == [1, 1, 0]"]}
    same = {**SEEN, "control": {"new_graphs": [1, 1, 0]}}
    judged = verdicts.judge(rules, same)
    assert (judged.verdict, judged.because.key) == (Verdict.BROKE, "lab.because-control")
    assert judged.because.args["seen"] == "[1, 1, 0]"


def test_verdicts_are_tried_as_written() -> None:
    control = ["control.p50_us > 0"]
    first = {"control": control, "conditional": ["default.p50_us > 5"], "holds": ["default.p50_us > 1"]}
    assert verdicts.judge(first, SEEN).verdict is Verdict.CONDITIONAL
    second = {"control": control, "conditional": ["default.p50_us > 50"], "holds": ["default.p50_us > 1"]}
    assert verdicts.judge(second, SEEN).verdict is Verdict.HOLDS


def test_all_conditions_of_a_verdict_are_needed() -> None:
    rules = {"control": ["control.p50_us > 0"], "holds": ["default.p50_us > 1", "default.p50_us > 50"]}
    judged = verdicts.judge(rules, SEEN)
    assert judged.verdict is Verdict.DIFFERS
    assert judged.because.args["rule"] == "default.p50_us > 50"


def test_a_long_observation_is_cut_in_the_sentence() -> None:
    rules = {"control": ["control.p50_us > 0"], "holds": ["many.n == 1"]}
    judged = verdicts.judge(rules, {**SEEN, "many": {"n": list(range(1000))}})
    assert len(str(judged.because.args["seen"])) < 220


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"holds": ["a.b == 1"]},
        {"control": ["a.b == 1"]},
        {"control": [], "holds": ["a.b == 1"]},
        {"control": ["a.b == 1"], "holds": []},
        {"control": ["a.b == 1"], "holds": "a.b == 1"},
        {"control": ["a.b == 1"], "holds": [1]},
        {"control": ["a.b == 1"], "passes": ["a.b == 1"]},
        *(
            {"control": ["a.b == 1"], "holds": [bad]}
            for bad in (
                "",
                "a == 1",
                "a.b = 1",
                "a.b == ",
                "a.b == x",
                "a.b == {}",
                "a.b < [1]",
                "some a.b == [1]",
                "a.b has 1",
                "a.b has c.d",
                "a.b < true",
                'a.b < "1"',
                "A.b == 1",
                "a.b.c.d == 1",
                "not a.b == 1",
                "a.b == 1 or a.b == 2",
                "__import__('os').system('true') == 0",
                "a.b == __import__('os')",
                "a.b == -1 * c.d",
            )
        ),
    ],
)
def test_a_rule_that_cannot_be_read_is_said_so(rules: dict[str, Any]) -> None:
    with pytest.raises(RuleError):
        verdicts.check(rules)
    with pytest.raises(RuleError):
        verdicts.judge(rules, SEEN)


VALUE = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)


@given(
    st.lists(VALUE | st.lists(VALUE, max_size=2) | st.dictionaries(st.just("p50"), VALUE), max_size=4),
    st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "has"]),
    st.sampled_from(["1", '"a"', "true", "[1, 1]", "control.p50_us", "2 * control.p50_us", "null"]),
    st.booleans(),
)
def test_any_rule_on_any_observation_has_an_answer(values: list[Any], op: str, operand: str, some: bool) -> None:
    try:
        verdict = says(f"{'some ' if some else ''}default.n {op} {operand}", {**SEEN, "default": {"n": values}})
    except RuleError:
        return
    assert verdict in (Verdict.HOLDS, Verdict.DIFFERS, Verdict.BROKE)
    if not values or None in values:
        assert verdict is Verdict.BROKE
