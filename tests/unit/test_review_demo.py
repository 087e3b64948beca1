"""A learner's evidence run again: only a demo of the lesson, only with settings that it declares."""

from __future__ import annotations

from typing import Any

import pytest

from tutor.classroom.item_demo import NotRun, Wanted, pairs, wanted
from tutor.lab import transcripts
from tutor.lesson import catalog
from tutor.model import Lesson
from tutor.strings import say


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return catalog.load(catalog.DEFAULT_LESSON)


def entry(demo: object = "automatic-dynamic", device: object = "cpu", predicted: object = None) -> dict[str, Any]:
    return {"record": {"demo": demo, "environment": {"device": device}, "predicted": predicted or {}}}


def test_a_demo_of_the_lesson_with_declared_settings_is_run(lesson: Lesson) -> None:
    asked = wanted(lesson, entry(predicted={"call-1": 1, "call-5": 0}))
    assert asked == Wanted(lesson.demos["automatic-dynamic"], "cpu", {"call-1": 1, "call-5": 0})
    assert wanted(lesson, entry(device="cuda:1")).device == "cuda", "which of their GPUs it was is theirs"
    for demo in lesson.demos.values():
        most = {ask.id: len(ask.choices) - 1 if ask.choices else 7 for ask in demo.asks}
        assert wanted(lesson, entry(demo.name, predicted=most)).predicted == most


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (entry("breaks"), "none of this lesson's demos"),
        (entry("file"), "none of this lesson's demos"),
        (entry("../../etc/passwd"), "none of this lesson's demos"),
        (entry("\x1b[2J"), "none of this lesson's demos"),
        (entry(["automatic-dynamic"]), "none of this lesson's demos"),
        (entry(None), "none of this lesson's demos"),
        ({}, "none of this lesson's demos"),
        ({"record": [1]}, "none of this lesson's demos"),
        (3, "none of this lesson's demos"),
        (entry(device="rm -rf"), "no device"),
        (entry(device="auto"), "no device"),
        (entry(device={"cpu": 1}), "no device"),
        (entry(predicted={"call-9": 1}), "no setting 'call-9'"),
        (entry(predicted={"call-1": -1}), "0 to 1000000"),
        (entry(predicted={"call-1": True}), "says True"),
        (entry(predicted={"call-1": 1.0}), "0 to 1000000"),
        (entry(predicted={"call-1": "1; import os"}), "0 to 1000000"),
        (entry("launch-bound", predicted={"big": 2}), "takes 0 to 1 for big"),
    ],
)
def test_anything_else_is_refused_in_a_sentence(lesson: Lesson, given: object, words: str) -> None:
    with pytest.raises(NotRun) as caught:
        wanted(lesson, given)
    for lang in ("zh", "en"):
        said = say(lang, caught.value.message)
        assert said.startswith(("Not run: ", "没有运行："))
        assert said.isprintable()
    assert words in said


def test_every_value_of_both_runs_is_set_beside_the_other(lesson: Lesson) -> None:
    demo = lesson.demos["launch-bound"]
    (ours,) = [each for each in transcripts.replay(demo, transcripts.newest(demo)) if each["event"] == "result"]
    same = list(pairs(demo, ours, ours, "en"))
    assert {pair.name for pair in same if pair.kind == "claim"} == set(demo.claims)
    assert {pair.name for pair in same if pair.kind == "answer"} == {ask.label for ask in demo.asks}
    assert any(pair.kind == "observed" for pair in same)
    assert all(pair.theirs == pair.ours for pair in same)
    theirs = {
        **ours,
        "claims": {demo.claims[0]: "differs"},
        "answers": {demo.asks[0].id: 0},
        "observed": {"x": {"y": [7]}},
    }
    found = {pair.name: pair for pair in pairs(demo, theirs, ours, "zh")}
    assert found[demo.claims[0]].theirs == "differs"
    assert found[demo.claims[1]].theirs is None
    assert found[demo.asks[0].label].theirs == demo.asks[0].choices[0].zh
    assert (found["x.y"].theirs, found["x.y"].ours) == ("[7]", None)


@pytest.mark.parametrize(
    "theirs", [{}, {"claims": 3, "answers": [], "observed": "x"}, {"observed": {"a": 1, "b": {"c": 2}}}]
)
def test_a_record_of_any_shape_is_set_beside_ours(lesson: Lesson, theirs: dict[str, Any]) -> None:
    demo = lesson.demos["automatic-dynamic"]
    (ours,) = [each for each in transcripts.replay(demo, transcripts.newest(demo)) if each["event"] == "result"]
    assert all(pair.ours is not None or pair.name == "b.c" for pair in pairs(demo, theirs, ours, "en"))
