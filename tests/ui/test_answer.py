"""A question from the empty page to the argument under a changed condition, by keys only."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.ui.learner_app import Box80, Learner, box
from tutor.ui.panes.answer import AnswerPane
from tutor.ui.panes.answer_page import ANSWER_MAX

__all__ = ["box"]

TEXTS = {
    "en": "While tracing, Dynamo meets a print that it cannot put in the graph: a graph break splits it into two graphs."  # noqa: E501
    " A guard failure comes later: the dtype does not match what was recorded, so it recompiles."
    " The average latency is unchanged, so it is fine. It was 3 x slower.",
    "zh": "graph break 发生在追踪时：碰到没法放进图里的 Python，函数被切成两段。"
    "guard 失败发生在后来的调用：形状跟记录的条件对不上，于是重编译。平均延迟没变，所以不用管。慢了 3 倍。",
}
SIZES = [(80, 24), (120, 40)]


async def written(learner: Learner, words: str) -> AnswerPane:
    await learner.press("4")
    pane = learner.app.learner.panes["q1"]
    assert isinstance(pane, AnswerPane)
    pane.area.insert(words)
    await learner.settle()
    return pane


async def committed(learner: Learner, words: str) -> AnswerPane:
    pane = await written(learner, words)
    await learner.press("C", "y")
    await learner.until(lambda: pane.mode == "committed")
    return pane


def no_number_of_points(screen: str) -> bool:
    below = screen.split("\n", 1)[1]
    return re.search(r"\d ?/ ?2\b|\d of 2\b|score|评分|得分", below) is None


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_from_the_empty_page_to_the_argument_made_again(box: Box80, lang: str, size: tuple[int, int]) -> None:
    async with box.open(lang=lang, size=size) as learner:
        pane = await written(learner, TEXTS[lang])
        shown = await learner.press("r")
        assert no_number_of_points(shown)
        reference = learner.store.lesson.reference("q1", "en" if lang == "en" else "zh")
        assert reference is not None
        assert reference[:20] not in shown
        await learner.press("y", "y", "y", "y")
        assert set(pane.answer.confirmed) == {"gb_cause", "gb_effect", "gf_cause", "gf_effect"}
        assert all(quote in TEXTS[lang] for quote in pane.answer.confirmed.values())
        assert pane.check.item == "doubt:tail"
        await learner.press("y")
        assert pane.answer.considered == {"tail": True}

        await learner.press("C")
        assert pane.answer.commit is None
        await learner.press("y")
        assert pane.answer.commit is not None
        assert pane.answer.commit.text == TEXTS[lang]
        assert any(reference[:20] in row.text for row in pane.page.lines)

        for _ in range(4):
            await learner.press("space", "down")
        assert pane.answer.score is not None
        assert (pane.answer.score.points, pane.answer.score.chain) == (2, True)
        part = learner.store.score.part("q1")
        assert (part.points, part.giver) == (2, "self")

        pane.page.select("veto:guess")
        await learner.press("y", "n", "n", "n")
        assert pane.answer.vetoes == {"guess": True, "isolation": False, "tail": False, "failure-path": False}

        pane.page.select("again")
        await learner.press("enter")
        assert learner.app.focused is pane.again
        await learner.type("then")
        await learner.press("escape", "C", "y")
        assert pane.answer.again is not None
        assert pane.answer.again.text == "then"
        assert pane.mode == "committed"
    async with box.open(lang=lang, size=size) as learner:
        await learner.press("4")
        assert "then" in "".join(row.text for row in learner.app.learner.panes["q1"].page.lines)  # type: ignore[attr-defined]


async def test_a_line_is_attached_from_the_learners_own(box: Box80) -> None:
    async with box.open() as learner:
        pane = await committed(learner, TEXTS["en"])
        shown = await learner.press("enter")
        assert "Which of your lines" in shown
        await learner.press("down", "enter")
        assert pane.answer.score is not None
        (line,) = pane.answer.score.ticks.values()
        assert line in TEXTS["en"]
        assert line.startswith("A guard failure")
        await learner.press("space")
        assert pane.answer.score.ticks == {}


async def test_unlocking_asks_is_recorded_and_hides_the_reference(box: Box80) -> None:
    async with box.open() as learner:
        pane = await committed(learner, TEXTS["en"])
        await learner.press("space", "enter")
        await learner.press("U", "n")
        assert pane.mode == "committed"
        shown = await learner.press("U", "y")
        assert (pane.mode, len(pane.answer.unlocked), pane.answer.score) == ("draft", 1, None)
        assert "Reference" not in shown
        assert pane.area.text == TEXTS["en"]
        pane.area.insert(" More.")
        await learner.press("C", "y")
        assert pane.answer.changed_after
        assert "unlocked 1x" in learner.text


async def test_prompts_are_asked_for_at_most_two_and_the_next_after_an_edit(box: Box80) -> None:
    async with box.open() as learner:
        pane = await written(learner, "something else entirely")
        slot = pane.rubric.slots[0]
        first, second = (prompt.en for prompt in slot.prompts)
        shown = await learner.press("r")
        assert first not in " ".join(shown.split())
        assert first[:30] in await learner.press("m")
        assert "Edit first" in await learner.press("m")
        pane.area.insert("more ")
        await learner.press("r")
        assert second[:30] in await learner.press("m")
        pane.area.insert("more ")
        await learner.press("r")
        assert "all there is" in await learner.press("m")


async def test_a_quote_that_is_not_the_point_is_not_asked_again(box: Box80) -> None:
    async with box.open() as learner:
        pane = await written(learner, TEXTS["en"])
        await learner.press("r")
        assert pane.check.item == "slot:gb_cause"
        await learner.press("n")
        assert "gb_cause" not in pane.answer.confirmed
        await learner.press("r")
        assert pane.check.item != "slot:gb_cause"


async def test_an_edit_makes_the_self_check_an_earlier_one(box: Box80) -> None:
    async with box.open() as learner:
        pane = await written(learner, TEXTS["en"])
        await learner.press("r")
        pane.area.insert("x")
        await learner.settle()
        assert "before your edit" in learner.text
        assert "y yes" not in learner.rows[-1]
        await learner.press("y")
        assert pane.answer.confirmed == {}


async def test_doubting_the_reference_opens_the_claim(box: Box80) -> None:
    async with box.open() as learner:
        pane = await committed(learner, TEXTS["en"])
        assert "graph-break-causes" in await learner.press("D")
        assert pane.answer.doubts == ["graph-break-causes"]
        await learner.press("escape")
        assert pane.mode == "committed"


async def test_versions_are_kept_and_can_be_read(box: Box80) -> None:
    async with box.open() as learner:
        pane = await written(learner, "first version")
        await learner.press("r")
        pane.area.insert(" and second")
        await learner.press("C", "y")
        shown = await learner.press("v")
        assert "first version and second" in shown.replace("\n", " ") or "and second" in shown
        assert shown.count("first version") >= 2


@pytest.mark.parametrize(
    ("words", "said"),
    [("", "no words"), ("🙂 12", "no words"), ("x" * (ANSWER_MAX + 1), "at most")],
)
async def test_what_is_no_answer_is_not_committed(box: Box80, words: str, said: str) -> None:
    async with box.open() as learner:
        pane = await written(learner, words)
        assert said in await learner.press("C")
        assert pane.answer.commit is None


async def test_control_characters_and_marks_never_reach_the_terminal(box: Box80) -> None:
    async with box.open() as learner:
        words = "A graph break splits it\x1b[31m into two graphs\u202e. [E9] "
        pane = await written(learner, words)
        await learner.press("r", "y")
        await learner.press("C", "y", "space")
        assert pane.answer.commit is not None
        for view in (pane.check, pane.page):
            assert not any(char in row.text for row in view.lines for char in "\x1b\u202e")


async def test_a_citation_shows_what_it_stands_for(box: Box80) -> None:
    record: dict[str, Any] = {
        "demo": "automatic-dynamic", "source": "measured", "claims": {"automatic-dynamic": "holds"},
    }  # fmt: skip
    async with box.open() as learner:
        learner.store.record("evidence", id="E1", record=record)
        pane = await written(learner, "A guard fails [E1] or so [E7].")
        await learner.press("r")
        words = "\n".join(row.text for row in pane.check.lines)
        assert "automatic-dynamic holds" in words
        assert "[E7] stands for no evidence" in words


async def test_without_a_reference_the_flow_goes_on_and_says_so(box: Box80, monkeypatch: pytest.MonkeyPatch) -> None:
    async with box.open() as learner:
        monkeypatch.setattr(type(learner.store.lesson), "reference", lambda *_: None)
        pane = await committed(learner, TEXTS["en"])
        assert any("no reference answers" in row.text for row in pane.page.lines)
        await learner.press("space", "enter")
        assert pane.answer.score is not None


async def test_the_explanation_is_locked_and_scored_by_the_learner(box: Box80) -> None:
    async with box.open() as learner:
        learner.store.record("edge", id="1", line="guard_key((2,), {1}, 'a', 'b') raises ValueError", why="too high")
        await learner.press("2", "C", "y")
        await learner.press("enter", "down", "down", "enter")
        part = learner.store.score.part("explanation")
        assert (part.points, part.of, part.giver) == (1, 1, "self")
        await learner.press("escape")
        await learner.press("U", "y")
        assert learner.store.score.part("explanation").points == 0
