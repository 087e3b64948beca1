"""The notation of edge inputs: what is read, and what each unreadable line is told."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutor.exercise.edge_lines import LINE_MAX, EdgeLine, parse_edge
from tutor.language import LANGS
from tutor.literals import same, show, show_call
from tutor.model import Message, Raised
from tutor.strings import say


@pytest.mark.parametrize(
    ("line", "args", "prediction"),
    [
        (
            'guard_key((2, 128, 4096), {3}, "bf16", "cuda") raises ValueError',
            ((2, 128, 4096), {3}, "bf16", "cuda"),
            Raised("ValueError"),
        ),
        (
            'guard_key((), set(), "bf16", "cuda") == ((), "bf16", "cuda")',
            ((), set(), "bf16", "cuda"),
            ((), "bf16", "cuda"),
        ),
        ("guard_key((2,),[0,0],'a','b',)==(('*',),'a','b')", ((2,), [0, 0], "a", "b"), (("*",), "a", "b")),
        ("  guard_key ( ( 2 ) , -1 )  ==  -1.5e3  ", (2, -1), -1500.0),
        ("guard_key(frozenset(), 1_000, .5, 1., 2e3) == None", (frozenset(), 1000, 0.5, 1.0, 2000.0), None),
        ("guard_key() == True", (), True),
        ("guard_key(((1,), (), [(),]),) == {(1, 2), 3, 3}", (((1,), (), [()]),), {(1, 2), 3}),
        (
            'guard_key("a == b raises ValueError") == "raises KeyError"',
            ("a == b raises ValueError",),
            "raises KeyError",
        ),
        ('guard_key("it\'s") raises OSError', ("it's",), Raised("OSError")),
        ("guard_key(9223372036854775807, -9223372036854775807) == 0", (2**63 - 1, -(2**63) + 1), 0),
        ("guard_key(-0, 0_0) == -0.0", (0, 0), -0.0),
        ('guard_key("中文") == "（）"', ("中文",), "（）"),
    ],
)
def test_a_line_is_read_with_pythons_meaning(line: str, args: tuple[Any, ...], prediction: Any) -> None:
    edge = parse_edge(line, "guard_key")
    assert isinstance(edge, EdgeLine)
    assert same(edge.args, args)
    if isinstance(prediction, Raised):
        assert edge.raises == prediction.kind
    else:
        assert edge.raises is None
        assert same(edge.value, prediction)


@pytest.mark.parametrize(
    ("line", "key", "column"),
    [
        ("", "empty", None),
        (" \t", "empty", None),
        ("x" * (LINE_MAX + 1), "long", None),
        ("guard_key(1)\n== 1", "lines", None),
        ("guard_key(1)\r== 1", "lines", None),
        ("guard_kee(1) == 1", "start", None),
        ("guard_key", "start", None),
        ("(guard_key)(1) == 1", "start", None),
        ("guard_key.__call__(1) == 1", "start", None),
        ("guard_key('\x00') == 1", "character", 12),
        ("guard_key('a\\n') == 1", "character", 13),
        ("guard_key('\u202e') == 1", "character", 12),
        ("guard_key(1) == 1 # comment", "character", 19),
        ("guard_key(1;) == 1", "character", 12),
        ("guard_key(（1）) == 1", "wide", 11),
        ("guard_key(1，2) == 1", "wide", 12),
        ("guard_key(“a”) == 1", "wide", 11),
        ("guard_key(\u3000(1,)) == 1", "space", 11),
        ("guard_key(\xa01) == 1", "space", 11),
        ("guard_key(4\u0661) == 1", "number", 11),
        ("guard_key(4.\u0661) == 1", "number", 11),
        ("guard_key(１) == 1", "number", 11),
        ('guard_key("a) == 1', "open_text", 11),
        ("guard_key(1 == 1", "comma", 13),
        ("guard_key(1, (2", "open_bracket", 14),
        ("guard_key(1] == 1", "comma", 12),
        ("guard_key(1 2) == 1", "comma", 13),
        ('guard_key("a" "b") == 1', "comma", 15),
        ("guard_key(1,,2) == 1", "value", 13),
        ("guard_key(--1) == 1", "value", 11),
        ("guard_key(+1) == 1", "value", 11),
        ("guard_key(*(1,)) == 1", "value", 11),
        ("guard_key(range(3)) == 1", "call", 11),
        ("guard_key(set([1])) == 1", "call", 11),
        ("guard_key(frozenset({1})) == 1", "call", 11),
        ("guard_key([x for x in (1,)]) == 1", "comprehension", 12),
        ("guard_key(shape=(1,)) == 1", "keyword", 11),
        ("guard_key(nan) == 1", "name", 11),
        ("guard_key(true) == 1", "name", 11),
        ('guard_key(b"a") == 1', "name", 11),
        ("guard_key({}) == 1", "dict", 11),
        ("guard_key({1: 2}) == 1", "dict", 11),
        ("guard_key({[1]}) == 1", "unhashable", 11),
        ("guard_key({{1}}) == 1", "unhashable", 11),
        ("guard_key(" + "(" * 500, "deep", None),
        ("guard_key(" + "[" * 11 + "]" * 11 + ") == 1", "deep", None),
        ("guard_key(" + "1," * 300 + ") == 1", "many", None),
        ("guard_key(007) == 1", "number", 11),
        ("guard_key(0x10) == 1", "number", 11),
        ("guard_key(1e999) == 1", "number", 11),
        ("guard_key(1j) == 1", "number", 11),
        ("guard_key(9223372036854775808) == 1", "number_large", 11),
        ("guard_key(" + "9" * 1500 + ") == 1", "number_large", 11),
        ("guard_key(1)", "no_prediction", None),
        ("guard_key(1) ==", "no_prediction", None),
        ("guard_key(1) = 1", "one_equals", 14),
        ("guard_key(1) is 1", "verb", 14),
        ("guard_key(1) != 1", "character", 14),
        ("guard_key(1) raises", "exception", None),
        ("guard_key(1) raises Nothing", "exception", None),
        ("guard_key(1) raises KeyboardInterrupt", "exception", None),
        ("guard_key(1) raises ValueError('x')", "trailing", 31),
        ("guard_key(1) == 1 or True", "trailing", 19),
        ("guard_key(1) == 1, 2", "trailing", 18),
    ],
)
def test_an_unreadable_line_is_told_what_to_write(line: str, key: str, column: int | None) -> None:
    message = parse_edge(line, "guard_key")
    assert isinstance(message, Message)
    assert message.key == f"check.edge_{key}"
    assert message.args.get("column") == column
    for lang in LANGS:
        assert say(lang, message).isprintable()


@given(st.text(alphabet=string.printable + "（）“中\x00\u202e\ud800", max_size=60))
@settings(max_examples=500)
def test_any_text_is_read_or_told(text: str) -> None:
    for line in (text, f"guard_key({text}", f"guard_key(1, {text}) == {text}"):
        told = parse_edge(line, "guard_key")
        if isinstance(told, Message):
            assert all(say(lang, told).isprintable() for lang in LANGS)


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.text(string.ascii_letters + " :.", max_size=9),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.lists(inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(PLAIN, max_size=4).map(tuple), PLAIN)
def test_what_is_shown_is_read_again(args: tuple[Any, ...], value: Any) -> None:
    edge = parse_edge(f"{show_call('f', args)} == {show(value, 2000)}", "f")
    assert isinstance(edge, EdgeLine)
    assert same(edge.args, args)
    assert same(edge.value, value)


@pytest.mark.parametrize("piece", ["(", "-", "1", "_", "1_", "'", ",", " ", "a", "1e", ".", "{1,", "=", "raises "])
def test_the_longest_lines_are_told_too(piece: str) -> None:
    """A reader that took quadratic time over any of these would hang here."""
    line = "guard_key(" + piece * ((LINE_MAX - 10) // len(piece))
    assert isinstance(parse_edge(line, "guard_key"), Message)
