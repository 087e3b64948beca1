"""Wrapping and fitting of prepared lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tutor.lines import Part, crop, fit, wrap

words = st.text(alphabet="ab c，。「」（编译图)(.", max_size=80)


def texts(parts: list[Part], width: int, first: str = "", rest: str = "") -> list[str]:
    return [row.text for row in wrap(parts, width, first=first, rest=rest)]


def test_english_breaks_at_spaces() -> None:
    assert texts([("one two three", "plain")], 8) == ["one two", "three"]


def test_chinese_breaks_between_ideographs() -> None:
    assert texts([("编译一次", "plain")], 4) == ["编译", "一次"]


def test_a_closing_mark_never_starts_a_line() -> None:
    assert texts([("编译一次，再来", "plain")], 8) == ["编译一", "次，再来"]


def test_an_opening_mark_never_ends_a_line() -> None:
    assert texts([("他说「编译」", "plain")], 6) == ["他说", "「编", "译」"]


def test_an_ascii_word_after_chinese_stays_whole() -> None:
    assert texts([("守卫 guard 失败", "plain")], 8) == ["守卫", "guard 失", "败"]
    assert texts([("守卫 guard 失败", "plain")], 7) == ["守卫", "guard", "失败"]
    assert texts([("守卫guard失败", "plain")], 8) == ["守卫", "guard失", "败"]


def test_a_word_longer_than_the_line_is_chopped() -> None:
    assert texts([("abcdefgh", "plain")], 3) == ["abc", "def", "gh"]


def test_leads_stand_before_the_first_and_the_other_lines() -> None:
    assert texts([("one two", "plain")], 6, "- ", "  ") == ["- one", "  two"]


def test_roles_survive_a_break() -> None:
    rows = wrap([("one ", "plain"), ("two three", "code")], 7)
    assert [row.parts for row in rows] == [(("one ", "plain"), ("two", "code")), (("three", "code"),)]


@given(words, st.integers(4, 30))
def test_no_line_is_too_wide_and_nothing_is_lost(text: str, width: int) -> None:
    rows = texts([(text, "plain")], width)
    assert "".join(rows).replace(" ", "") == text.replace(" ", "")
    for row in rows:
        # A run of marks that cling together may be longer than a narrow line; it is then chopped, never cut off.
        assert cell_len(row) <= width


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("abc", 5, "abc  "),
        ("abcdef", 5, "abc.."),
        ("编译一次", 5, "编 .."),
        ("编译", 4, "编译"),
        ("abc", 2, ".."),
        ("", 3, "   "),
    ],
)
def test_fit_gives_exactly_the_width(text: str, width: int, shown: str) -> None:
    assert fit(text, width) == shown
    assert cell_len(fit(text, width)) == width


def test_crop_marks_what_it_cut() -> None:
    assert crop((("abc", "good"), ("defgh", "plain")), 6) == (("abc", "good"), ("d..", "plain"))
    assert crop((("abc", "good"),), 6) == (("abc", "good"),)
