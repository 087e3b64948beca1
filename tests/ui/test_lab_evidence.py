"""The evidence on the screen: listed, filtered, compared, cited."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.ui.learner_app import Box80, FakeLab, Learner, box
from tutor.ui.panes.answer import AnswerPane
from tutor.ui.panes.lab_evidence import EvidenceView

__all__ = ["box"]


def spread(p50: float, last: float) -> dict[str, Any]:
    return {"n": 50, "p50": p50, "p95": p50, "p99": last, "max": last}


def record(demo: str, **more: Any) -> dict[str, Any]:
    return {
        **{"demo": demo, "claims": {}, "because": {}, "observed": {}, "units": {}, "predicted": {}, "answers": {}},
        **{"agreed": None, "environment": {"torch": "2.13.0", "contended": False}, "source": "measured"},
        **{"when": "2026-11-30T00:00:00+00:00", "where": None, **more},
    }


TIMED = record(
    "fusion",
    units={"eager_us": "us", "compiled_us": "us"},
    environment={"torch": "2.11.0", "contended": True},
    observed={
        "default": {
            "call": ["(8, 8)", "(512, 512)"],
            "eager_us": [spread(10, 20), spread(100, 200)],
            "compiled_us": [spread(20, 40), spread(50, 400)],
        }
    },
)


async def opened(learner: Learner, *records: dict[str, Any]) -> EvidenceView:
    for each in records:
        learner.store.add_evidence(each)
    await learner.press("3", "l", "l", "l", "l", "l", "l")
    view = learner.app.learner.active
    assert isinstance(view, EvidenceView)
    return view


async def test_no_evidence_says_what_makes_some(box: Box80) -> None:
    async with box.open(lab=FakeLab([])) as learner:
        await opened(learner)
        await learner.press("enter", "equals_sign", "v", "c")
        assert "No evidence yet" in learner.text


@pytest.mark.parametrize(("lang", "slower"), [("en", "compiled is slower"), ("zh", "编译后更慢")])
@pytest.mark.parametrize("width", [80, 120])
async def test_timings_show_their_tail_and_where_compiled_is_slower(
    box: Box80, lang: str, slower: str, width: int
) -> None:
    async with box.open(lang=lang, lab=FakeLab([]), size=(width, 40)) as learner:
        await opened(learner, TIMED)
        assert "n 50  p50 10  p95 10  p99 20  max 20 us" in learner.text
        assert "0.50x" in learner.text
        assert "2.00x  p99 0.50x" in learner.text
        assert learner.text.count(slower) == 1
        assert ("contended" if lang == "en" else "有争用") in learner.text


@pytest.mark.parametrize(("lang", "legend"), [("en", "every row spans one factor"), ("zh", "每段首尾之比相同")])
@pytest.mark.parametrize("width", [80, 120])
async def test_a_histogram_shows_the_tail_beside_the_percentiles(
    box: Box80, lang: str, legend: str, width: int
) -> None:
    kept = {**spread(10, 160), "edges": [10, 20, 40, 80, 160], "counts": [47, 2, 0, 1]}
    timed = record("fusion", units={"us": "us"}, observed={"default": {"call": ["(8, 8)"], "us": [kept]}})
    async with box.open(lang=lang, lab=FakeLab([]), size=(width, 40)) as learner:
        await opened(learner, timed)
        assert legend in learner.text or width == 120, "the narrower pane breaks the line"
        assert "n 50  p50 10  p95 10  p99 160  max 160 us" in learner.text
        rows = re.findall(r"(\d+) [.]{2} +(\d+)  (#*)[.]? ?(\d*)", learner.text)
        assert [(low, high, len(bar), count) for low, high, bar, count in rows] == [
            ("10", "20", 32, "47"),
            ("20", "40", 1, "2"),
            ("40", "80", 0, ""),
            ("80", "160", 1, "1"),
        ]
        await learner.press("enter")
        assert "edges" not in learner.text, "the page of the run gives the numbers"
        assert "'p99': 160" in learner.text


async def test_only_one_demos_runs_are_listed_when_asked(box: Box80) -> None:
    async with box.open(lab=FakeLab([])) as learner:
        view = await opened(learner, record("requests"), TIMED, record("requests"))
        seen = []
        for _ in range(3):
            seen.append([one.id for one in view.listed])
            await learner.press("v")
        assert seen == [["E1", "E2", "E3"], ["E1", "E3"], ["E2"]]
        assert view.demo == ""


async def test_two_runs_are_compared(box: Box80) -> None:
    async with box.open(lab=FakeLab([]), size=(80, 40)) as learner:
        await opened(learner, record("requests"), TIMED)
        await learner.press("equals_sign", "j", "equals_sign")
        assert "E2 beside E1" in learner.text
        assert "environment.torch" in learner.text
        assert "2.11.0" in learner.text
        await learner.press("equals_sign", "k")
        assert "beside" not in learner.text


async def test_evidence_is_cited_in_the_answer_that_was_written_last(box: Box80) -> None:
    async with box.open(lab=FakeLab([])) as learner:
        learner.store.record("draft", name="q2", text="Because ", cursor=[0, 8])
        await opened(learner, TIMED)
        await learner.press("c")
        pane = learner.app.learner.active
        assert isinstance(pane, AnswerPane)
        assert pane.question.id == "q2"
        assert "[E1]" in learner.text


async def test_r_checks_no_code_from_here(box: Box80) -> None:
    async with box.open(lab=FakeLab([])) as learner:
        await opened(learner, TIMED)
        await learner.press("r")
        assert "Nothing is run here" in learner.text
        assert learner.store.progress.last_check is None
