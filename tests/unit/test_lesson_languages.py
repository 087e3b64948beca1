"""Facts in running text: what counts as a number that needs a source, and as a timing that needs a percentile."""

from __future__ import annotations

import pytest

from tutor.language import Bilingual, Lang
from tutor.lesson.languages import cells, facts, text_problems
from tutor.model import Step


def keys(zh: str, en: str) -> set[str]:
    step = Step("s", Bilingual("题", "T"), Bilingual(f"# 题\n\n{zh}\n", f"# T\n\n{en}\n"))
    return {message.key for _, message in text_problems(step)}


@pytest.mark.parametrize(
    ("text", "width"), [("guard", 5), ("守卫", 4), ("「a」", 5), ("，", 2), ("e\N{COMBINING ACUTE ACCENT}", 1)]
)
def test_width_in_cells(text: str, width: int) -> None:
    assert cells(text) == width


@pytest.mark.parametrize("quantity", ["3 us", "3us", "0.5 ms", "12 ns", "7.5 s", "1.5-2.5x", "3.57x"])
def test_a_quantity_needs_a_source(quantity: str) -> None:
    assert "lesson.unsourced" in keys(f"要 {quantity}，p50", f"It takes {quantity}, p50")
    assert keys(f"要 {quantity}，p50 [引用]", f"It takes {quantity}, p50 [quoted]") == set()


@pytest.mark.parametrize("words", ["(2, 128, 4096)", "H200", "lesson 2", "3 steps", "4 xor 5", "`3 us`", "0/1"])
def test_what_is_no_quantity(words: str) -> None:
    assert keys(f"见 {words}", f"See {words}") == set()


@pytest.mark.parametrize(
    ("lang", "text", "lacks"),
    [
        ("zh", "4 us", True),
        ("zh", "p99 4 us", False),
        ("zh", "平均 4 us", True),
        ("zh", "4 s（单次）", False),
        ("zh", "4 us（单次）", True),
        ("en", "4 s", True),
        ("en", "4 s (single run)", False),
        ("en", "p500 4 us", True),
        ("en", "a maximal 4 us", True),
    ],
)
def test_a_timing_names_its_percentile(lang: Lang, text: str, lacks: bool) -> None:
    assert facts(text, lang).unnamed == (("percentile",) if lacks else ())


def test_an_introduction_names_the_percentile_for_its_list() -> None:
    zh, en = "都是 p50：\n- 3 us [引用]\n- 4 us [引用]", "All p50:\n- 3 us [quoted]\n- 4 us [quoted]"
    assert keys(zh, en) == set()


def test_labels_mean_the_same_in_both_languages() -> None:
    assert keys("3x [录 CPU 2026-11]", "3x [rec CPU 2026-11]") == set()
    assert keys("3x [E7 本机]", "3x [E7 here]") == set()
    assert keys("3x [录 CPU 2026-11]", "3x [rec GPU 2026-11]") == {"lesson.sources"}
    assert keys("3x [引用]", "3x [E7 here]") >= {"lesson.sources"}


def test_numbers_are_counted_not_just_listed() -> None:
    assert keys("1、1、0 张图", "1, 1, 0 graphs") == set()
    assert keys("1、1、0 张图", "1, 0, 0 graphs") == {"lesson.numbers"}


def test_text_right_under_text_is_one_paragraph_broken() -> None:
    assert keys("一\n二", "one") == {"lesson.broken_paragraph"}
    assert keys("- 一\n二", "- one") == {"lesson.broken_paragraph"}
    assert keys("一\n\n二\n- 三\n- 四", "one\n\ntwo\n- three\n- four") == set()
    assert keys("```\na\nb\n```\n一", "```\na\nb\n```\none") == set()
