"""Reading the blank: one expression, as legal after `return`, and places in the learner's own text."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.sandbox.child import Refused, build, read_blank

TEMPLATE = "def key(a, b):\n    c = (a, b)\n    # a comment\n    return ______\n"


def refusal(text: str) -> list[object]:
    with pytest.raises(Refused) as caught:
        build(TEMPLATE, "______", "key", text)
    return caught.value.document


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("c", (1, 2)),
        ("  c  ", (1, 2)),
        ("\n\n\tc\n", (1, 2)),
        ("*c, 3", (1, 2, 3)),
        ("a, b,", (1, 2)),
        ("(\n  a,  # one\n  b\n)", (1, 2)),
        ("c  # 注释", (1, 2)),
        ("(k := c)", (1, 2)),
        ("(lambda: (yield))() and c", (1, 2)),
        ("a if b else c", 1),
        ("______ if False else c", (1, 2)),
        ('f"{a}{b}"', "12"),
        ("(a,\nb)", (1, 2)),
    ],
)
def test_one_expression_is_taken(text: str, value: object) -> None:
    assert build(TEMPLATE, "______", "key", text)(1, 2) == value


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("", "empty", (0, 0)),
        (" \n ", "empty", (0, 0)),
        ("# only this", "empty", (0, 0)),
        ("(", "syntax", (1, 1)),
        ("a)", "syntax", (1, 2)),
        ("   a b", "syntax", (1, 6)),
        ("\n\n  a b", "syntax", (3, 5)),
        ("(a,\n  b c)", "syntax", (2, 3)),
        ("(a,\n  'b)", "syntax", (2, 3)),
        ("a \\", "syntax", None),
        ("*", "syntax", None),
        ("a; b", "more", (1, 4)),
        ("a\nb", "more", (2, 1)),
        ("a\n b", "more", (2, 2)),
        ("a\n\ndef key(*a):\n    return 1", "more", (3, 1)),
        ("x = 1", "statement", None),
        ("return a", "statement", (1, 1)),
        ("import os", "statement", (1, 1)),
        ("pass", "statement", (1, 1)),
        ("(yield)", "generator", (1, 2)),
        ("[(yield) for x in a]", "generator", (1, 3)),
        ("(a,\n await b)", "generator", (2, 2)),
        ("(yield from a)", "generator", (1, 2)),
        ("-" * 3000 + "1", "deep", (0, 0)),
        ("'\ud800'", "characters", (0, 0)),
        ("(x := 1 for x in a)", "syntax", None),
        ("[x := 1 for x in a]", "syntax", (1, 2)),
    ],
)
def test_anything_else_is_refused_with_its_place(text: str, code: str, place: tuple[int, int] | None) -> None:
    _, got, _, line, column = refusal(text)
    assert got == code
    if place is None:
        assert line == 1
        assert column >= 1
    else:
        assert (line, column) == place


@given(st.text(alphabet="ab()[]'\"\\,:=#\n \tyield*", max_size=40))
def test_any_text_is_taken_or_refused_with_a_place_inside_it(text: str) -> None:
    try:
        tree = read_blank(text)
    except Refused as refused:
        _, _, _, line, column = refused.document
        assert line == column == 0 or 1 <= line <= text.count("\n") + 1
        assert column <= len(text) + 1
    else:
        assert isinstance(tree, ast.expr)


def test_the_blank_cannot_leave_its_place() -> None:
    """The tree that is compiled has the template's statements and one expression more."""
    scope = build(TEMPLATE, "______", "key", "globals()")(1, 2)
    assert set(scope) == {"__name__", "__builtins__", "key"}
