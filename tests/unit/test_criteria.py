"""What earns points: the lesson's rule, an instructor's in its place, and the draft of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.classroom import criteria
from tutor.classroom.class_criteria import rubric_of
from tutor.classroom.criteria import SLOTS_MAX, WAYS_MAX, Criteria, CriteriaError
from tutor.classroom.criteria_draft import Draft
from tutor.classroom.intake import questions_of
from tutor.language import Bilingual
from tutor.lesson import catalog

LESSON = catalog.load(catalog.DEFAULT_LESSON)
QUESTIONS = questions_of(LESSON)


def own(question: str) -> Criteria:
    return criteria.of_lesson(question, rubric_of(LESSON, question))


def read(question: str, data: Mapping[str, Any]) -> Criteria:
    return criteria.of_data(question, rubric_of(LESSON, question), data, 7, QUESTIONS[question])


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_lessons_own_rule_can_be_and_comes_back_from_plain_data(question: str) -> None:
    rule = own(question)
    criteria.check(rule, QUESTIONS[question])
    assert read(question, rule.to_data()).ways == rule.ways
    assert rule.earned(frozenset(rule.slots)) == QUESTIONS[question]
    assert rule.earned(frozenset()) == 0


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({}, "shape"),
        ({"added": []}, "shape"),
        ({"added": {"own1": "x"}, "ways": []}, "shape"),
        ({"added": {}, "ways": []}, "many"),
        ({"added": {f"own{n}": {"zh": "x", "en": "x"} for n in range(SLOTS_MAX)}, "ways": []}, "many"),
        ({"added": {"own": {"zh": "", "en": "x"}}, "ways": [(2, ["observe"], [], 0)]}, "label"),
        ({"added": {"own": {"zh": "a\nb", "en": "x"}}, "ways": [(2, ["observe"], [], 0)]}, "label"),
        ({"added": {"mine": {"zh": "x", "en": "x"}}, "ways": [(2, ["observe"], [], 0)]}, "label"),
        ({"added": {}, "ways": [(2, ["nothing"], [], 0)]}, "shape"),
        ({"added": {}, "ways": [(2, ["observe", "observe"], [], 0)]}, "shape"),
        ({"added": {}, "ways": [(2, ["observe"], ["observe"], 1)]}, "shape"),
        ({"added": {}, "ways": [(2, "observe", [], 0)]}, "shape"),
        ({"added": {}, "ways": [(2, [["observe"]], [], 0)]}, "shape"),
        ({"added": {}, "ways": [(2.5, ["observe"], [], 0)]}, "shape"),
        ({"added": {}, "ways": [(True, ["observe"], [], 0)]}, "shape"),
        ({"added": {}, "ways": [(2, [], [], 0)]}, "least"),
        ({"added": {}, "ways": [(2, ["observe"], ["boundary"], 2)]}, "least"),
        ({"added": {}, "ways": [(2, ["observe"], ["boundary"], -1)]}, "least"),
        ({"added": {}, "ways": [(3, ["observe"], [], 0)]}, "points"),
        ({"added": {}, "ways": [(0, ["observe"], [], 0), (2, ["boundary"], [], 0)]}, "points"),
        ({"added": {}, "ways": [(1, ["observe"], [], 0)]}, "full"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_with_its_reason(change: dict[str, Any], key: str) -> None:
    names = ("points", "every", "some", "least")
    ways = [dict(zip(names, way, strict=True)) for way in change.get("ways", [])]
    data = {**change, "ways": ways} if "ways" in change else change
    with pytest.raises(CriteriaError) as caught:
        read("q1", data)
    assert str(caught.value) == f"class.criteria-{key}"


def test_a_draft_goes_round_the_marks_and_keeps_the_least_possible() -> None:
    draft = Draft(own("q1"), 2)
    assert not draft.is_changed
    assert draft.labels() == ["2 a", "1 a"]
    way = draft.ways[1]
    assert (way.some(), way.least) == (4, 2)
    for slot in ("gb_cause", "gb_effect", "gf_cause"):
        draft.cycle(slot, 1)  # from some to not
    assert (way.some(), way.least) == (1, 1)
    draft.cycle("gf_effect", 1)
    assert (way.some(), way.least) == (0, 0)
    with pytest.raises(CriteriaError, match="least"):
        draft.checked()
    draft.cycle("observe", 1)
    assert draft.mark("observe", 1) == "must"
    assert draft.checked().earned(frozenset(["observe"])) == 1
    draft.set_points(1, 3)
    with pytest.raises(CriteriaError, match="points"):
        draft.checked()


def test_slots_and_ways_come_and_go() -> None:
    draft = Draft(own("q1"), 2)
    name = draft.add_slot(Bilingual("点名日志", "names the log"))
    assert name == "own1"
    draft.cycle(name, 1)
    draft.cycle(name, 1)
    assert draft.checked().ways[1][1].some[-1] == "own1"
    assert not draft.remove_slot("observe"), "the lesson's stay"
    assert draft.remove_slot(name)
    assert draft.criteria() == Draft(own("q1"), 2).criteria()
    while draft.add_way(0):
        assert len(draft.ways) <= WAYS_MAX
    assert len(draft.labels()) == len(set(draft.labels())) == WAYS_MAX
    while draft.remove_way(0):
        assert draft.ways
    assert len(draft.ways) == 1
    while draft.add_slot(Bilingual("x", "x")):
        assert len(draft.slots) <= SLOTS_MAX
    assert len(draft.slots) == SLOTS_MAX


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("cycle"), st.sampled_from(sorted(own("q1").slots)), st.integers(0, 1)),
        st.tuples(st.just("set_least"), st.integers(0, 1), st.integers(0, 9)),
        st.tuples(st.just("set_points"), st.integers(0, 1), st.integers(0, 9)),
    ),
    max_size=12,
)


@given(_STEPS)
def test_a_draft_that_is_accepted_is_the_rule_that_is_read_back(steps: list[tuple[Any, ...]]) -> None:
    draft = Draft(own("q1"), 2)
    for name, *args in steps:
        getattr(draft, name)(*args)
    try:
        made = draft.checked()
    except CriteriaError:
        return
    assert read("q1", made.to_data()).ways == made.ways
