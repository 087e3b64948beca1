"""The record of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tutor.lab import predictions
from tutor.lab.evidence import Gathering
from tutor.lab.predictions import PredictionError
from tutor.language import Bilingual
from tutor.model import Ask, Demo, Source

BOTH = Bilingual("甲", "A")
YES_NO = (Bilingual("是", "yes"), Bilingual("否", "no"))


def demo(**more: Any) -> Demo:
    fields: dict[str, Any] = {
        "name": "try-it",
        "title": BOTH,
        "shows": BOTH,
        "question": BOTH,
        "asks": (Ask("call-1", "f32[2]", ()), Ask("call-2", "f32[8]", ()), Ask("hit", "hit?", YES_NO)),
        "claims": ("a-claim", "b-claim"),
        "verdicts": {
            "a-claim": {"control": ["control.n == 0"], "holds": ["default.n == [1, 2]"]},
            "b-claim": {"control": ["control.n == 0"], "holds": ["default.n == [3]"]},
        },
        "script": Path("try_it.py"),
        "recorded": (),
        "usual_s": (0.1, 0.2),
        "needs": ("torch",),
        "why": {"because": BOTH},
        "units": {"n": "graphs"},
    }
    return Demo(**{**fields, **more})


def said(series: str, n: int, **more: Any) -> dict[str, Any]:
    return {
        "series": series, "call": None, "ask": None, "answer": None, "values": {"n": n}, "said": [], "why": None, **more
    }  # fmt: skip


def test_the_record_holds_all_that_an_answer_may_cite() -> None:
    gathering = Gathering(demo(), {"call-1": 1, "call-2": 0})
    gathering.observation(said("control", 0), 0.1)
    gathering.observation(said("default", 1, ask="call-1", answer=1, call="f32[2]"), 0.2)
    gathering.observation(said("default", 2, ask="call-2", answer=2, call="f32[8]"), 0.3)
    record = gathering.result({"torch": "2.13.0"}, 0.4, source=Source.MEASURED, when="2026-11-30T10:00:00+00:00")
    assert record["claims"] == {"a-claim": "holds", "b-claim": "differs"}
    assert record["because"]["b-claim"]["key"] == "lab.because-differs"
    assert record["observed"]["default"] == {"call": ["f32[2]", "f32[8]"], "n": [1, 2]}
    assert record["units"] == {"n": "graphs"}
    assert (record["predicted"], record["answers"]) == ({"call-1": 1, "call-2": 0}, {"call-1": 1, "call-2": 2})
    assert record["agreed"] == 1
    assert record["environment"] == {"torch": "2.13.0", "contended": None}
    assert (record["source"], record["when"], record["where"]) == ("measured", "2026-11-30T10:00:00+00:00", None)


def test_a_child_cannot_say_that_it_was_not_disturbed_by_saying_nothing() -> None:
    gathering = Gathering(demo())
    record = gathering.result({"contended": True}, 0.0, source=Source.MEASURED, when="")
    assert record["environment"]["contended"] is True
    assert record["claims"] == {"a-claim": "broke", "b-claim": "broke"}


@pytest.mark.parametrize(
    ("predicted", "answer", "agrees"),
    [({}, 1, None), ({"call-1": 1}, 1, True), ({"call-1": 0}, 1, False), ({"call-1": 1}, None, None)],
)
def test_a_prediction_stands_beside_what_was_observed(
    predicted: dict[str, int], answer: int | None, agrees: bool | None
) -> None:
    event = Gathering(demo(), predicted).observation(said("default", 1, ask="call-1", answer=answer, why="because"), 0)
    assert (event["predicted"], event["agrees"]) == (predicted.get("call-1"), agrees)
    assert event["plain"] == {"zh": "甲", "en": "A"}


def test_a_sentence_that_the_demo_does_not_have_is_left_out() -> None:
    assert Gathering(demo()).observation(said("default", 1, why="invented"), 0)["plain"] is None


def test_the_record_is_a_copy() -> None:
    gathering = Gathering(demo())
    gathering.observation(said("default", 1), 0.1)
    record = gathering.result({}, 0.2, source=Source.MEASURED, when="")
    gathering.observation(said("default", 2), 0.3)
    assert record["observed"]["default"]["n"] == [1]


# --- predictions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["1,0,2", "1 0 2", " +1 , 0,2 ", "1，0，2", "1\n0\n2"])
def test_predictions_are_read_in_the_order_of_the_asks(text: str) -> None:
    assert predictions.read(demo(), text) == {"call-1": 1, "call-2": 0, "hit": 1}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("", "lab.predict-count"),
        ("1,0", "lab.predict-count"),
        ("1,0,1,1", "lab.predict-count"),
        ("one,0,1", "lab.predict-number"),
        ("-1,0,1", "lab.predict-number"),
        ("1.0,0,1", "lab.predict-number"),
        ("１,0,1", "lab.predict-number"),
        ("9999999,0,1", "lab.predict-number"),
        ("1,0,0", "lab.predict-choice"),
        ("1,0,3", "lab.predict-choice"),
    ],
)
def test_a_prediction_that_cannot_be_read_says_what_is_wanted(text: str, key: str) -> None:
    with pytest.raises(PredictionError) as caught:
        predictions.read(demo(), text)
    assert caught.value.message.key == key
