"""The judge: points, inputs drawn anew, edge inputs, and sentences a learner can act on."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutor.exercise.judging import (
    EDGES_MAX,
    PROBES,
    Judge,
    broken_report,
    edge_from_data,
    report_from_data,
    report_json,
)
from tutor.language import LANGS
from tutor.lesson import catalog
from tutor.literals import Foreign
from tutor.model import CheckReport, Ending, Message, Raised
from tutor.sandbox import LayerState, Outcome, Returned, Sandbox, Template
from tutor.strings import say, section, text

EXERCISE = catalog.load().exercise
RIGHT = "guarded_shape, dtype, device"


class Claims:
    """Stands for a sandbox: what a call claims is what `function` does; `spoil` changes the outcome as a whole."""

    def __init__(
        self, function: Callable[..., Any], spoil: Callable[[Outcome], Outcome] = lambda outcome: outcome
    ) -> None:
        self.function = function
        self.spoil = spoil
        self.seen: list[tuple[Any, ...]] = []

    def layers(self) -> tuple[LayerState, ...]:
        return LayerState("walls", True, None), LayerState("moat", False, Message("check.wall_no_effect"))

    def run(self, template: Template, text: str, calls: Sequence[tuple[Any, ...]]) -> Outcome:
        assert text.strip()
        assert template.function == "guard_key"
        self.seen = list(calls)
        results: list[Any] = []
        for call in calls:
            try:
                results.append(Returned(self.function(*call)))
            except Exception as error:  # it is the claim
                results.append(Raised(type(error).__name__, str(error)))
        return self.spoil(Outcome("ok", results=tuple(results)))


def check(function: Callable[..., Any], edges: Sequence[str] = (), spoil: Any = lambda outcome: outcome) -> CheckReport:
    report = Judge(EXERCISE, Claims(function, spoil)).check("some text", edges)  # type: ignore[arg-type]
    every_sentence_is_fit_for_a_screen(report)
    return report


def every_sentence_is_fit_for_a_screen(report: CheckReport) -> None:
    for part in (report, *report.cases, *report.edges):
        for lang in LANGS:
            assert say(lang, part.message).isprintable(), part
    for case in (*report.cases, *report.edges):
        assert case.call.isprintable()
        assert (case.got or "").isprintable()


def key_of(shape: Any, dims: Any, dtype: Any, device: Any) -> Any:
    return EXERCISE.reference(shape, dims, dtype, device)


# --- the code ---------------------------------------------------------------------------------------------------------


def test_a_right_answer_has_both_points_and_its_inputs_are_foreseen_by_nobody() -> None:
    claims = Claims(key_of)
    judge = Judge(EXERCISE, claims)  # type: ignore[arg-type]
    report = judge.check("text", ["guard_key((), set(), 'a', 'b') == ((), 'a', 'b')"])
    assert (report.ending, report.normal, report.edge) == (Ending.PASSED, 2, 1)
    assert report.message == Message("check.passed", {"probes": PROBES})
    assert [case.id for case in report.cases] == ["given-1", "given-2"]
    assert (report.layers, report.missing) == (("walls",), ("moat",))
    assert len(claims.seen) == 2 + PROBES + 1
    orders = set()
    for _ in range(20):
        judge.check("text")
        orders.add(tuple(claims.seen.index(one.args) for one in EXERCISE.given))
    assert len(orders) > 5


GIVEN_KEY = (("*", "*", 4096), "bf16", "cuda")
WRITTEN_DOWN: list[tuple[str, Callable[..., Any], str, dict[str, Any], int]] = [
    ("the whole answer", lambda *_: (("*", "*", 4096), "bf16", "cuda"), "hidden_", {}, 0),
    ("dtype", lambda s, d, t, v: (key_of(s, d, t, v)[0], "bf16", v), "hidden_argument", {"name": "dtype"}, 0),
    ("device", lambda s, d, t, v: (key_of(s, d, t, v)[0], t, "cuda"), "hidden_argument", {"name": "device"}, 0),
    ("rank three", lambda s, d, t, v: (key_of(s, d, t, v)[0][:3], t, v), "hidden_", {}, 1),
    ("no empty shape", lambda s, d, t, v: key_of(s, d, t, v) if s else 1 / 0, "raised", {}, 1),
    ("known words", lambda *a: GIVEN_KEY if (*a[2:],) == ("bf16", "cuda") else key_of(*a), "hidden_", {}, 1),
    ("a known shape", lambda *a: GIVEN_KEY if a[0] == (2, 128, 4096) else key_of(*a), "hidden_", {}, 1),
    ("a known size", lambda *a: GIVEN_KEY if a[0][-1:] == (4096,) else key_of(*a), "hidden_", {}, 1),
    ("known dims", lambda *a: GIVEN_KEY if (a[1], a[2]) == ({0, 1}, "bf16") else key_of(*a), "hidden_", {}, 1),
    ("made-up words", lambda *a: key_of(*a) if a[2][0] == "T" else GIVEN_KEY, "hidden_", {}, 0),
    ("no list", lambda s, d, t, v: key_of(s, d, t, v) if type(d) is not list else None, "hidden_other", {}, 1),
]


@pytest.mark.parametrize(("name", "function", "key", "args", "points"), WRITTEN_DOWN, ids=lambda value: str(value)[:20])
def test_an_input_drawn_anew_shows_what_fits_the_given_ones_only(
    name: str, function: Callable[..., Any], key: str, args: dict[str, Any], points: int
) -> None:
    report = check(function)
    assert (report.ending, report.normal) == (Ending.FAILED, points), name
    assert report.message == Message("check.failed_hidden")
    hidden = report.cases[-1]
    assert (hidden.id, hidden.ending, hidden.expected, hidden.at) == ("hidden-1", Ending.FAILED, None, None)
    assert hidden.message.key.startswith(f"check.{key}")
    assert args.items() <= hidden.message.args.items()
    assert hidden.call.startswith("guard_key(")


def test_two_given_assertions_that_fail_alike_are_told_once() -> None:
    report = check(lambda s, d, t, v: key_of(s, d, t, v)[:2])
    first, second = report.cases
    assert (first.same_as, second.same_as) == (None, "given-1")
    assert first.got == '(("*", "*", 4096), "bf16")'
    assert first.expected is not None
    assert first.at is not None
    assert first.expected[slice(*first.at)] == '"cuda"'
    assert first.message == Message("check.differs_missing", {"item": 3})
    assert report.message == Message("check.failed_alike", {"number": "1", "other": "2"})
    assert report.normal == 0


def test_two_that_fail_in_different_ways_are_told_both() -> None:
    report = check(lambda *args: None if args[0][0] == 2 else ("x", *args[2:]))
    assert [case.same_as for case in report.cases] == [None, None]
    assert report.message == Message("check.failed_both", {"number": "1", "other": "2"})


def test_one_that_fails_leaves_one_point() -> None:
    report = check(lambda s, d, t, v: None if s == (8, 256, 4096) else key_of(s, d, t, v))
    assert (report.ending, report.normal) == (Ending.FAILED, 1)
    assert report.message == Message("check.failed_one", {"number": "2"})


@pytest.mark.parametrize(
    ("claim", "key", "args"),
    [
        (Returned(Foreign("dict")), "differs_type", {"got": "dict", "expected": "tuple"}),
        (Returned(Foreign("tuple", large=True)), "too_large", {"type": "tuple"}),
        (Returned((Foreign("T\x1b"), "bf16", "cuda")), "differs_type", {"got": "T\\x1b", "expected": "tuple"}),
        (
            Raised("NameError", "name 'gaurded_shape' is not defined"),
            "undefined_near",
            {"name": "gaurded_shape", "near": "guarded_shape"},
        ),
        (
            Raised("NameError", "name 'zzz' is not defined"),
            "undefined",
            {"name": "zzz", "names": "shape, dynamic_dims, dtype, device, guarded_shape"},
        ),
        (Raised("NameError", "something\x1belse"), "raised", {"kind": "NameError", "text": "something\\x1belse"}),
        (Raised("ModuleNotFoundError", "no"), "raised_walled", {"kind": "ModuleNotFoundError"}),
        (Raised("PermissionError", "no"), "raised_walled", {"kind": "PermissionError"}),
        (Raised("ValueError", ""), "raised_bare", {"kind": "ValueError"}),
        (Raised("", "Mine\x1b[2J"), "raised_own", {"name": "Mine\\x1b[2J"}),
        (Raised("TypeError", "x" * 300), "raised", {"kind": "TypeError", "text": "x" * 160 + "..."}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_came_back_is_said_so_that_a_learner_can_act(claim: Any, key: str, args: dict[str, Any]) -> None:
    report = check(key_of, spoil=lambda outcome: Outcome("ok", results=(claim,) * len(outcome.results)))
    case = report.cases[0]
    assert case.message == Message(f"check.{key}", args)
    assert case.got is None
    assert report.normal == 0


@pytest.mark.parametrize("text", ["", "  \n", "______", "  ______ "])
def test_an_unfilled_blank_is_told_without_a_run(text: str) -> None:
    claims = Claims(key_of)
    report = Judge(EXERCISE, claims).check(text)  # type: ignore[arg-type]
    assert (report.ending, report.message.key, report.cases) == (Ending.REFUSED, "check.refused_unfilled", ())
    assert claims.seen == []


@pytest.mark.parametrize("ending", ["failed", "limit", "refused", "broke"])
def test_a_run_that_ended_early_keeps_its_ending(ending: Any) -> None:
    message = Message("check.limit_time", {"seconds": 1})
    edge = 'guard_key((), set(), "a", "b") == ((), "a", "b")'
    report = check(key_of, [edge], lambda _: Outcome(ending, message, (), (1, 2), "printed", log="log"))
    assert (report.ending, report.message, report.normal, report.edge) == (Ending(ending), message, 0, 0)
    assert (report.place, report.output, report.log) == ((1, 2), "printed", "log")
    assert report.edges[0].ending is Ending(ending)
    assert (report.edges[0].prediction, report.edges[0].point) == ("right", False)
    if ending in ("refused", "broke"):
        assert report.cases == ()
    else:
        assert [(case.ending, case.same_as) for case in report.cases] == [
            (Ending(ending), None),
            (Ending(ending), "given-1"),
        ]


# --- edge inputs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "prediction", "ending", "told", "point", "key"),
    [
        ("(2, 128, 4096), {3}", "raises ValueError", "passed", "right", True, "edge_caught"),
        ("(), set()", '== ((), "bf16", "cuda")', "passed", "right", True, "edge_caught"),
        ("(2, 128, 4096), [0, 1]", '== (("*", "*", 4096), "bf16", "cuda")', "passed", "right", True, "edge_caught"),
        ("(3, 5, 64), {0, 1}", '== (("*", "*", 64), "bf16", "cuda")', "passed", "right", True, "edge_caught"),
        ("(2, 128, 4096), {0, 1}", '== (("*", "*", 4096), "bf16", "cuda")', "passed", "right", False, "edge_given"),
        ("(2, 128), {-1}", '== ((2, "*"), "bf16", "cuda")', "failed", "wrong", False, "edge_right_raises"),
        ("(2, 128), {-1}", "raises IndexError", "failed", "wrong", False, "edge_right_raises"),
        ("(2, 128), {1}", "raises ValueError", "failed", "wrong", False, "edge_right_returns"),
        ("(2, 128), {1}", '== ((2, "*"), "bf16", "cpu")', "failed", "wrong", False, "edge_right_returns"),
        ("[2, 128], {1}", "raises ValueError", "refused", "unread", False, "args_shape"),
        ("(2, 128), {1", "raises ValueError", "refused", "unread", False, "edge_comma"),
        ("\x1b[2J", "raises ValueError", "refused", "unread", False, "edge_character"),
    ],
)
def test_the_edge_rule(inputs: str, prediction: str, ending: str, told: str, point: bool, key: str) -> None:
    report = check(key_of, [f'guard_key({inputs}, "bf16", "cuda") {prediction}'])
    (edge,) = report.edges
    got = (edge.ending, edge.prediction, edge.point, edge.message.key)
    assert got == (Ending(ending), told, point, f"check.{key}")
    assert bool(edge.caught) == (key in ("edge_caught", "edge_given"))
    assert edge.wrong_versions == len(EXERCISE.wrong)
    assert (report.ending, report.normal, report.edge) == (Ending.PASSED, 2, int(point))


def test_the_learners_own_function_has_to_do_it_too() -> None:
    lines = ['guard_key((7,), {0}, "a", "b") == (("*",), "a", "b")', 'guard_key((), set(), "a", "b") == ((), "a", "b")']
    report = check(lambda s, d, t, v: key_of(s, d, t, v) if s else 1 / 0, lines)
    assert [edge.point for edge in report.edges] == [True, False]
    assert report.edges[1].message == Message("check.edge_own_raises", {"kind": "ZeroDivisionError"})
    report = check(lambda *_: "x", lines[:1])
    assert report.edges[0].message == Message("check.edge_own_returns", {"value": '"x"'})
    assert report.edges[0].got == '"x"'


def test_only_versions_that_the_given_assertions_let_live_earn_the_point() -> None:
    """one-means-all is caught by this input, and by the given assertions already: the rest is left out here."""
    dead = [wrong for wrong in EXERCISE.wrong if wrong.given_catches]
    exercise = dataclasses.replace(EXERCISE, wrong=tuple(dead))
    line = 'guard_key((3, 5, 64), {0}, "bf16", "cuda") == (("*", 5, 64), "bf16", "cuda")'
    (edge,) = Judge(exercise, Claims(key_of)).check("text", [line]).edges  # type: ignore[arg-type]
    assert edge.caught == tuple(wrong.id for wrong in dead)
    assert (edge.ending, edge.point, edge.message) == (Ending.PASSED, False, Message("check.edge_caught_none"))


def test_every_mistake_can_be_caught() -> None:
    lines = [
        'guard_key((2, 128), {2}, "a", "b") raises ValueError',
        'guard_key((2, 128), {5}, "a", "b") raises ValueError',
        'guard_key((2, 128), {-1}, "a", "b") raises ValueError',
        'guard_key((2, 128), {-9}, "a", "b") raises ValueError',
        'guard_key((2, 128), {0, 9}, "a", "b") raises ValueError',
        'guard_key((), set(), "a", "b") == ((), "a", "b")',
        'guard_key((7, 8), set(), "a", "b") == ((7, 8), "a", "b")',
        'guard_key((7, 7), [1, 1], "a", "b") == ((7, "*"), "a", "b")',
        'guard_key((1, 2, 3, 0), {0, 3}, "bfloat16", "cuda:1") == (("*", 2, 3, "*"), "bfloat16", "cuda:1")',
        'guard_key((0, 2, 3), {1}, "BF16", "cuda") == ((0, "*", 3), "BF16", "cuda")',
    ]
    report = check(key_of, lines)
    assert [edge.ending for edge in report.edges] == [Ending.PASSED] * len(lines)
    assert {name for edge in report.edges for name in edge.caught} == {wrong.id for wrong in EXERCISE.wrong}


def test_many_edges_are_bounded() -> None:
    lines = [f'guard_key(({number},), set(), "a", "b") == (({number},), "a", "b")' for number in range(EDGES_MAX + 2)]
    report = check(key_of, lines)
    assert [edge.message.key for edge in report.edges[-3:]] == ["check.edge_caught", *["check.edge_surplus"] * 2]


# --- data and JSON ----------------------------------------------------------------------------------------------------


def reports() -> Iterator[CheckReport]:
    edges = ['guard_key((2,), {3}, "a", "b") raises ValueError', "nonsense"]
    yield check(key_of, edges)
    yield check(lambda s, d, t, v: key_of(s, d, t, v)[:2], edges)
    yield check(key_of, spoil=lambda _: Outcome("refused", Message("check.refused_empty"), place=(1, 2)))
    yield broken_report(OSError("no\x1b luck"), edges)


@pytest.mark.parametrize("report", list(reports()), ids=lambda report: report.ending)
def test_a_report_comes_through_json_whole(report: CheckReport) -> None:
    data = json.loads(json.dumps(report.to_data()))
    assert report_from_data(data) == report
    assert tuple(map(edge_from_data, data["edges"])) == report.edges


@pytest.mark.parametrize("change", [{"ending": "won"}, {"cases": None}, {"place": [1]}, {"message": {}}, {"extra": 1}])
def test_damaged_data_is_no_report(change: dict[str, Any]) -> None:
    data = check(key_of).to_data()
    with pytest.raises((KeyError, TypeError, ValueError)):
        report_from_data(data | change)


@pytest.mark.parametrize("lang", LANGS)
def test_the_json_of_a_check(lang: Any) -> None:
    table = report_json(check(lambda s, d, t, v: key_of(s, d, t, v)[:2], ["guard_key(1)"]), lang)
    json.dumps(table)
    assert table["ending"] == "failed"
    assert table["points"] == {"normal": 0, "edge": 0}
    assert {"id", "call", "ending", "got", "expected", "message"} <= table["cases"][0].keys()
    assert {"call", "ending", "prediction", "got", "caught", "wrong_versions", "point", "message"} <= table["edges"][
        0
    ].keys()
    assert table["sandbox"] == {"layers": ["walls"], "missing": ["moat"]}
    assert table["cases"][0]["message"] == text(lang, "check.differs_missing", item=3)


def test_a_fault_of_the_judge_costs_nothing_and_never_passes() -> None:
    report = broken_report(OSError("disk"), ["guard_key(1)"])
    assert (report.ending, report.normal, report.edge, report.log) == (Ending.BROKE, 0, 0, "OSError: disk")
    assert report.edges[0].ending is Ending.BROKE


def test_both_languages_have_the_same_sentences_with_the_same_fields() -> None:
    from string import Formatter

    fields = [
        {k: {f for _, f, _, _ in Formatter().parse(v) if f} for k, v in section(lang, "check").items()}
        for lang in LANGS
    ]
    assert fields[0] == fields[1]


# --- with the real sandbox --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Sandbox() as sandbox:
        yield Judge(EXERCISE, sandbox)


@pytest.mark.parametrize(
    ("text", "ending", "key"),
    [
        (RIGHT, "passed", "passed"),
        (f"(\n    {RIGHT},  # 三项\n)", "passed", "passed"),
        ("guarded_shape, dtype", "failed", "failed_alike"),
        ('(("*", "*", 4096), "bf16", "cuda")', "failed", "failed_hidden"),
        ("guarded_shape, dtype, device) + (", "refused", "refused_syntax"),
        ("guarded_shape, dtype, device; import os", "refused", "refused_more"),
        ("[0 for _ in iter(int, 1) if 0]", "limit", "limit_time"),
        ("x" * 1_000_000, "refused", "refused_long"),
    ],
    ids=lambda value: value[:30],
)
def test_a_real_check(judge: Judge, text: str, ending: str, key: str) -> None:
    report = judge.check(text, ['guard_key((2,), {1}, "a", "b") raises ValueError'])
    every_sentence_is_fit_for_a_screen(report)
    assert (report.ending, report.message.key) == (Ending(ending), f"check.{key}")
    assert report.normal == (2 if ending == "passed" else 0)
    assert report.edge == (ending in ("passed", "failed"))
    assert report.seconds > 0


@given(text=st.text(alphabet="guarded_shape, dtypvic()[]*'\"=:+1\n\x00\x1b中", max_size=60))
@settings(max_examples=60)
def test_any_text_has_a_verdict(judge: Judge, text: str) -> None:
    report = judge.check(text)
    every_sentence_is_fit_for_a_screen(report)
    assert report.ending in (Ending.REFUSED, Ending.FAILED, Ending.PASSED)
