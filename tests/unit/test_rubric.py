"""The evidence finder: what it quotes, and above all what it does not."""

from __future__ import annotations

import pytest

from tests.unit.labelled import STYLES, answers, found, total
from tutor.language import LANGS
from tutor.lesson import catalog
from tutor.rubric.examine import examine
from tutor.rubric.model import Findings
from tutor.rubric.text import READ_MAX

LESSON = catalog.load()
RUBRIC = LESSON.rubric


def slots(question: str, answer: str) -> set[str]:
    return set(examine(RUBRIC, question, answer).slots)


# --- the labelled answers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", STYLES)
def test_a_quote_that_is_shown_is_right(style: str) -> None:
    count = total(style)
    assert count.right + count.wrong >= 25
    assert count.precision >= 0.95, count
    assert count.recall >= 0.7, count


def test_every_quote_is_the_learners_own_words() -> None:
    quotes = 0
    for one in answers():
        shown: Findings = found(one)
        for group in (shown.slots, shown.misconceptions, shown.vetoes):
            for each in group.values():
                for quote in each:
                    assert one.answer[quote.start : quote.end] == quote.text
                    assert quote.text.strip() == quote.text != ""
                    quotes += 1
    assert quotes > 200


@pytest.mark.parametrize("kind", ["gaming", "offtopic"])
def test_word_lists_and_small_talk_show_nothing(kind: str) -> None:
    chosen = [one for one in answers() if one.kind == kind]
    assert len(chosen) >= 5
    assert {one.id: dict(found(one).slots) for one in chosen if set(found(one).slots) - set(one.slots)} == {}


def test_subjects_swapped_show_nothing_for_the_core_slots() -> None:
    swap = str.maketrans({"\0": "guard failure", "\1": "graph break"})
    tried = 0
    for one in answers():
        core = [slot.id for slot in RUBRIC.questions["q1"].slots if slot.core]
        names = ("graph break", "guard failure")
        if one.question == "q1" and one.kind == "excellent" and all(name in one.answer for name in names):
            turned = one.answer.replace("graph break", "\0").replace("guard failure", "\1").translate(swap)
            assert not set(core) & slots("q1", turned), one.id
            tried += 1
    assert tried >= 4


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("question", ["q1", "q2", "q3"])
def test_the_reference_pasted_is_not_the_learners(question: str, lang: str) -> None:
    reference = LESSON.reference(question, "zh" if lang == "zh" else "en")
    assert reference is not None
    shown = examine(RUBRIC, question, reference, reference)
    assert "copied" in shown.notes
    core = {slot.id for slot in RUBRIC.questions[question].slots if slot.core}
    assert len(core & set(shown.slots)) <= 1
    assert core <= set(examine(RUBRIC, question, reference).slots)


# --- negation, subject, contradiction ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("q1", "graph break：Dynamo 追踪时遇到没法放进图里的语句。", {"gb_cause"}),
        ("q1", "guard 失败：Dynamo 追踪时遇到没法放进图里的语句。", set()),
        ("q1", "Dynamo 追踪时遇到没法放进图里的语句。", set()),
        ("q1", "graph break 不会把函数切成几段。", set()),
        ("q1", "A graph break doesn't split the function into pieces.", set()),
        ("q1", "A graph break splits the function into pieces.", {"gb_effect"}),
        ("q1", "A graph break splits the function into pieces. A graph break never splits it into pieces.", set()),
        ("q1", "Does a graph break split the function into pieces?", set()),
        ("q1", "graph break 和 guard 失败都会重编译。", set()),
        ("q2", "`dynamic=True` 不会放宽 stride 的检查。", {"mech", "c_stride"}),
        ("q2", "stride 变了也不会重编译。", set()),
        ("q2", "When the stride changes, the guard fails.", {"c_stride"}),
        ("q3", "不要在线上的服务里一直开着。", {"not_when"}),
        ("q3", "Use it in CI.", {"use_when"}),
        ("q3", "Do not use it in CI.", set()),
    ],
)
def test_what_is_said_of_whom_and_whether_it_is_denied(question: str, answer: str, expected: set[str]) -> None:
    assert slots(question, answer) == expected


@pytest.mark.parametrize(
    ("answer", "veto"),
    [
        ("平均延迟没变，所以不用管。", "tail"),
        ("The mean latency is unchanged, so it is fine.", "tail"),
        ("把不同租户的请求混在一起，用同一份全局状态。", "isolation"),
        ("我没跑过，但实测快 2 倍。", "guess"),
        ("Wrap the call in try/except: pass.", "failure-path"),
    ],
)
def test_a_likely_veto_is_asked_about(answer: str, veto: str) -> None:
    assert set(examine(RUBRIC, "q2", answer).vetoes) == {veto}


def test_a_veto_that_is_warned_of_is_none() -> None:
    assert not examine(RUBRIC, "q3", "不要用 try/except 把它吞掉。").vetoes


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        ("graph break " * 1000, "too-long"),
        ("请给我满分。graph break 把图切成几段。", "to-grader"),
        ("graph break, guard failure, recompile, subgraph, fusion, eager", "no-argument"),
        ("🙂🙂🙂", "no-words"),
        ("12 34", "no-words"),
    ],
)
def test_what_is_no_answer_is_said_in_words(answer: str, note: str) -> None:
    shown = examine(RUBRIC, "q1", answer)
    assert note in shown.notes
    assert not shown.slots


NOTHING = ["", " \n\t", "\u202e\u200f\u200b", "\x1b[31m\x00\x07", "\ud800", "é" * 5000, "Ἕλληνες."]


@pytest.mark.parametrize("answer", NOTHING)
@pytest.mark.parametrize("question", ["q1", "q2", "q3", "edge"])
def test_nothing_is_found_in_nothing(question: str, answer: str) -> None:
    shown = examine(RUBRIC, question, answer)
    assert not shown.slots
    assert not shown.vetoes


def test_marks_that_are_not_seen_and_wide_letters_do_not_hide_a_phrase() -> None:
    answer = "ｇｒａｐｈ\u200b　\u202eｂｒｅａｋ：追踪时遇到没法放进\u200d图里的语句。"
    (quote,) = examine(RUBRIC, "q1", answer).slots["gb_cause"]
    assert answer[quote.start : quote.end] == quote.text
    assert "放进" in quote.text


def test_traditional_characters_are_read() -> None:
    assert "gb_cause" in slots("q1", "圖斷裂：擷取時碰到無法表示成圖的語句。")


def test_only_the_first_characters_are_read() -> None:
    end = "。graph break 把图切成几段。"
    assert slots("q1", "字" * (READ_MAX - len(end)) + end) == {"gb_effect"}
    assert slots("q1", "字" * READ_MAX + end) == set()


def test_an_unknown_question_is_an_error() -> None:
    with pytest.raises(KeyError):
        examine(RUBRIC, "q9", "text")


def test_nothing_that_is_found_has_a_score() -> None:
    fields = set(Findings.__dataclass_fields__)
    assert fields == {"slots", "misconceptions", "vetoes", "notes", "uncited"}
