"""Only the blank may change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.exercise import blanks
from tutor.exercise.blanks import FILE_MAX, Blank
from tutor.language import LANGS
from tutor.model import Message
from tutor.sandbox import policy
from tutor.strings import say

TEMPLATE = "def f(a):\n    # first\n    return ______\n\n\nassert f(1) == 2\nassert f(2) == 3\n"
BLANK = Blank.of(TEMPLATE, "______")


@given(st.text(max_size=80))
def test_what_is_filled_in_comes_out_again(text: str) -> None:
    source = BLANK.fill(text)
    assert BLANK.extract(source) == text
    assert BLANK.matches(source)
    assert BLANK.line_of_difference(source) is None


@given(
    st.text(alphabet="ab \n", max_size=20),
    st.text(alphabet="ab \n", max_size=20),
    st.text(alphabet="ab \n", max_size=20),
)
def test_for_any_template(prefix: str, suffix: str, text: str) -> None:
    blank = Blank.of(prefix + "__" + suffix, "__")
    assert blank.extract(blank.fill(text)) == text


@pytest.mark.parametrize("template", ["no blank", "a ______ b ______"])
def test_the_marker_stands_exactly_once(template: str) -> None:
    with pytest.raises(ValueError, match="not once"):
        Blank.of(template, "______")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("def f(a)", "def f(b)", 1),
        ("# first", "# second", 2),
        ("    return", "\treturn", 3),
        ("    return", "   return", 3),
        ("assert f(1) == 2", "assert f(1) == 1", 6),
        ("assert f(2) == 3\n", "", 6),
        ("assert f(2) == 3\n", "assert f(2) == 3\nprint()\n", 8),
        ("def f(a):\n", "", 1),
        (TEMPLATE, "", 1),
        (TEMPLATE, "def f(a):\n    # first\n    return", 3),
        (TEMPLATE, "def f(a):\n    # first\n    return 1", 3),
    ],
)
def test_the_changed_line_is_named(old: str, new: str, line: int) -> None:
    source = TEMPLATE.replace(old, new)
    assert not BLANK.matches(source)
    assert BLANK.line_of_difference(source) == line
    assert 1 <= line <= source.count("\n") + 1


@given(st.text(alphabet="def f(a):\n #rstun_asert=123", max_size=200))
def test_a_difference_has_a_line(source: str) -> None:
    line = BLANK.line_of_difference(source)
    assert (line is None) == BLANK.matches(source)
    assert line is None or 1 <= line <= source.count("\n") + 1


def test_the_blank_may_span_lines() -> None:
    text = "(\n        a,\n        2,  # two\n    )"
    assert BLANK.read_file(BLANK.fill(text).encode()) == text


@pytest.mark.parametrize(
    "data",
    [
        BLANK.fill("a + 1").encode(),
        b"\xef\xbb\xbf" + BLANK.fill("a + 1").encode(),
        BLANK.fill("a + 1").replace("\n", "\r\n").encode(),
        BLANK.fill("a + 1").rstrip("\n").encode(),
    ],
    ids=["plain", "byte order mark", "windows line ends", "no last line end"],
)
def test_what_editors_do_to_a_file_is_no_change(data: bytes) -> None:
    assert BLANK.read_file(data) == "a + 1"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"x" * (FILE_MAX + 1), Message("check.file_large", {"size": FILE_MAX + 1, "most": FILE_MAX})),
        (BLANK.fill("a").encode("utf-16"), Message("check.file_utf16")),
        (BLANK.fill("a").encode() + b"\xff", Message("check.file_not_utf8", {"line": 8})),
        (b"\x7fELF\x00\x01", Message("check.file_nul", {"line": 1})),
        (BLANK.fill("a\0").encode(), Message("check.file_nul", {"line": 3})),
        (BLANK.fill("a").replace("    #", "\t#").encode(), Message("check.file_tabs", {"line": 2})),
        (BLANK.fill("a").replace("== 3", "== 4").encode(), Message("check.file_changed", {"line": 7})),
        (b"", Message("check.file_changed", {"line": 1})),
    ],
)
def test_a_file_that_is_refused_says_why_and_where(data: bytes, message: Message) -> None:
    assert BLANK.read_file(data) == message
    assert all(say(lang, message).isprintable() for lang in LANGS)


def test_a_blank_takes_what_the_sandbox_takes() -> None:
    assert blanks.TEXT_MAX == policy.EXPRESSION_MAX
