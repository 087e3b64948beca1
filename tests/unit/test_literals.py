"""Plain values as text, compared, and foreign text made fit for a screen."""

from __future__ import annotations

import ast
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutor.literals import SHOWN_MAX, Foreign, first_difference, is_plain, safe_text, same, show, show_call

HASHABLE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)
PLAIN = st.recursive(
    HASHABLE | st.sets(HASHABLE, max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((("*", "*", 4096), "bf16", "cuda"), '(("*", "*", 4096), "bf16", "cuda")'),
        ({10, 9, -1}, "{-1, 9, 10}"),
        (set(), "set()"),
        (frozenset(), "frozenset()"),
        (frozenset({2, 1}), "frozenset({1, 2})"),
        ((1,), "(1,)"),
        ((), "()"),
        ([1.0, True, None], "[1.0, True, None]"),
        ('a"b\\c', '"a\\"b\\\\c"'),
        ("\x1b[2J\u202e", '"\\x1b[2J\\u202e"'),
        (Foreign("dict"), "<dict>"),
        ((Foreign("T\x1b"), 1), "(<T\\x1b>, 1)"),
        ({"b", 2, "a", 1, None}, '{1, 2, None, "a", "b"}'),
    ],
)
def test_show(value: Any, text: str) -> None:
    assert show(value) == text


def test_show_is_cut_and_a_call_is_not() -> None:
    long = tuple(range(400))
    assert len(show(long)) == SHOWN_MAX + 3
    assert show_call("f", (tuple(range(200)), "a")).endswith('198, 199), "a")')


def test_show_refuses_what_is_no_plain_value() -> None:
    with pytest.raises(TypeError):
        show({1: 2})


@given(PLAIN)
def test_shown_values_are_printable_python(value: Any) -> None:
    text = show(value, 10**6)
    assert text.isprintable()
    assert same(eval(text, {"__builtins__": {"set": set, "frozenset": frozenset}}), value)


@given(PLAIN, PLAIN)
def test_same_is_equality_of_the_shown_text(one: Any, other: Any) -> None:
    # -0.0 equals 0.0, and is shown as it is.
    texts = show(one, 10**6).replace("-0.0", "0.0"), show(other, 10**6).replace("-0.0", "0.0")
    assert same(one, other) == (texts[0] == texts[1])


@pytest.mark.parametrize(
    ("one", "other"), [(True, 1), (1, 1.0), ((1,), [1]), ({True}, {1}), ({1}, frozenset({1})), (((True,),), ((1,),))]
)
def test_types_are_compared_on_every_level(one: Any, other: Any) -> None:
    assert not same(one, other)
    assert same(one, one)


def test_foreign_equals_nothing() -> None:
    assert not same(Foreign("tuple"), Foreign("tuple"))
    assert not same((Foreign("str"),), ("a",))
    assert not is_plain([(1, {Foreign("x")})])
    assert is_plain([(1, {2})])


EXPECTED = (("*", "*", 4096), "bf16", "cuda")


@pytest.mark.parametrize(
    ("got", "key", "args", "pointed"),
    [
        ((("*", "*", 4096), "bf16"), "missing", {"item": 3}, '"cuda"'),
        ((("*", "*", 4096), "cuda"), "missing", {"item": 2}, '"bf16"'),
        ((), "missing", {"item": 1}, '("*", "*", 4096)'),
        ((("*", 4096), "bf16", "cuda"), "missing", {"item": 2}, '"*"'),
        ((*EXPECTED, 1), "extra", {"item": 4, "value": "1"}, show(EXPECTED)),
        ((7, *EXPECTED), "extra", {"item": 1, "value": "7"}, show(EXPECTED)),
        (list(EXPECTED), "type", {"got": "list", "expected": "tuple"}, show(EXPECTED)),
        ((["*", "*", 4096], "bf16", "cuda"), "type", {"got": "list", "expected": "tuple"}, '("*", "*", 4096)'),
        ((("*", "*", 4096.0), "bf16", "cuda"), "type", {"got": "float", "expected": "int"}, "4096"),
        ((("*", 128, 4096), "bf16", "cuda"), "type", {"got": "int", "expected": "str"}, '"*"'),
        ((("*", "*", 4096), "cuda", "bf16"), "value", {"got": '"cuda"', "expected": '"bf16"'}, '"bf16"'),
        (None, "type", {"got": "NoneType", "expected": "tuple"}, show(EXPECTED)),
        (Foreign("T\x1b"), "type", {"got": "T\\x1b", "expected": "tuple"}, show(EXPECTED)),
    ],
)
def test_first_difference(got: Any, key: str, args: dict[str, Any], pointed: str) -> None:
    difference = first_difference(got, EXPECTED)
    assert difference is not None
    assert (difference.reason.key, difference.reason.args) == (f"check.differs_{key}", args)
    assert difference.at is not None
    assert show(EXPECTED)[slice(*difference.at)] == pointed


def test_differences_of_sets() -> None:
    for got, key in (({1}, "set_missing"), ({1, 2, 3}, "set_extra"), ({True, 2}, "set_missing")):
        difference = first_difference(got, {1, 2})
        assert difference is not None
        assert difference.reason.key == f"check.differs_{key}"


@given(PLAIN, PLAIN)
def test_a_difference_is_found_where_there_is_one(got: Any, expected: Any) -> None:
    difference = first_difference(got, expected)
    assert (difference is None) == same(got, expected)
    if difference is not None and difference.at is not None:
        start, end = difference.at
        assert 0 <= start < end <= len(show(expected, 10**6))


def test_no_place_is_named_beyond_the_shown_text() -> None:
    expected = (*range(200), "end")
    difference = first_difference((*range(200), "other"), expected)
    assert difference is not None
    assert difference.at is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, 中文，標點。 é ü", "plain text, 中文，標點。 é ü"),
        ("\x1b]52;c;AAAA\x07", "\\x1b]52;c;AAAA\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("a\nb\r\tc\x00", "a\\nb\\r\\tc\\x00"),
        ("\u200b\U000e0041\u2028", "\\u200b\\U000e0041\\u2028"),
        ("\ud800", "\\ud800"),
        ("e\u0301\u0301", "e\u0301\u0301"),
        ("e\u0301\u0301\u0301\u0301", "e\u0301\u0301\\u0301\\u0301"),
        ("[@click=app.quit]", "[@click=app.quit]"),
    ],
)
def test_safe_text(text: str, shown: str) -> None:
    assert safe_text(text) == shown


def test_safe_text_is_cut() -> None:
    assert safe_text("x" * 301) == "x" * 300 + "..."
    assert safe_text("\x1b" * 10, 3) == "\\x1b\\x1b\\x1b..."


@given(st.text(alphabet=st.characters(), max_size=40))
@settings(max_examples=300)
def test_safe_text_is_one_printable_line_that_utf8_can_hold(text: str) -> None:
    shown = safe_text(text)
    assert "\n" not in shown
    assert all(ch == " " or ch.isprintable() or ch in text for ch in shown)
    shown.encode("utf-8")
    assert set(string.ascii_letters) & set(text) <= set(shown)


def test_literal_eval_agrees_with_shown_text() -> None:
    assert ast.literal_eval(show(EXPECTED)) == EXPECTED
