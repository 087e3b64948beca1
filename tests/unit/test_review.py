"""What a grader gives: points that follow ticks or do not, vetoes, undo, pace, what is kept."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tutor.classroom.criteria import Criteria
from tutor.classroom.sitting import COMMENT_MAX, Draft, Given, Pace, Sitting, digits, start_from
from tutor.language import Bilingual
from tutor.learner.scoring import VETOES
from tutor.rubric.model import Need

LABEL = Bilingual("点", "slot")
CRITERIA = Criteria(
    "q1", dict.fromkeys(("a", "b", "c"), LABEL), ((2, Need(("a", "b"), (), 0)), (1, Need(("a",), (), 0)))
)


def draft(*flagged: str, start: Given | None = None) -> Draft:
    return Draft(CRITERIA, 2, flagged, start)


def test_points_follow_the_ticks_until_they_are_set() -> None:
    one = draft()
    assert one.points == 0
    one.tick("a")
    assert one.points == 1
    one.tick("b")
    assert one.points == 2
    one.step(-1)
    assert (one.points, one.given.by_hand) == (0, 0)
    one.tick("c")
    assert one.points == 0
    one.by_ticks()
    assert (one.points, one.given.by_hand) == (2, None)


@pytest.mark.parametrize(
    ("steps", "points"), [((1,), 2), ((-1,), 0), ((1, 1), 2), ((-1, -1), 0), ((1, -1), 1), ((-1, 1, 1, 1), 2)]
)
def test_the_first_step_goes_all_the_way_and_the_others_one(steps: tuple[int, ...], points: int) -> None:
    one = draft()
    one.tick("a")
    for way in steps:
        one.step(way)
    assert one.points == points


def test_each_veto_is_answered_and_a_flagged_one_by_itself() -> None:
    one = draft("tail")
    assert one.open_vetoes == list(VETOES)
    one.deny_rest()
    assert one.open_vetoes == ["tail"]
    one.deny_rest()
    assert one.open_vetoes == ["tail"]
    one.answer("tail", True)
    assert one.open_vetoes == []
    assert one.vetoes == {veto: veto == "tail" for veto in VETOES}


def test_undo_takes_back_each_change_and_then_nothing() -> None:
    one = draft()
    one.tick("a")
    one.step(1)
    one.write(" why ")
    one.deny_rest()
    one.deny_rest()  # changes nothing, so there is nothing to take back
    seen = []
    while one.undo():
        seen.append((one.points, one.given.comment, len(one.open_vetoes)))
    assert seen == [(2, "why", 4), (2, "", 4), (1, "", 4), (0, "", 4)]
    assert not one.changed
    assert not one.undo()


def test_a_comment_has_an_end() -> None:
    one = draft()
    one.write("x" * (COMMENT_MAX + 1))
    assert len(one.given.comment) == COMMENT_MAX


def test_a_new_rule_scores_the_same_ticks_and_forgets_slots_that_are_gone() -> None:
    one = draft()
    one.tick("c")
    one.tick("a")
    rule = Criteria("q1", {"a": LABEL, "own1": LABEL}, ((2, Need(("a",), (), 0)),), 7)
    assert one.rule(rule) == (1, 2)
    assert one.given.ticks == {"a"}
    one.undo()
    assert one.given.ticks == frozenset()


def test_points_by_hand_stay_under_a_new_rule() -> None:
    one = draft()
    one.step(1)
    assert one.rule(Criteria("q1", {"a": LABEL}, ((2, Need(("a",), (), 0)),), 7)) == (2, 2)


def test_a_score_is_gone_on_from_with_its_vetoes_only_when_it_is_corrected() -> None:
    score = SimpleNamespace(
        points=1, slots={"a": True, "b": False, "gone": True}, vetoes={"tail": True}, comment="why", by_hand=False
    )
    assert start_from(score, CRITERIA, with_vetoes=True) == Given(frozenset("a"), None, (("tail", True),), "why")
    assert start_from(score, CRITERIA, with_vetoes=False).vetoes == ()
    by_hand = SimpleNamespace(points=2, slots={}, vetoes={}, comment="", by_hand=True)
    assert start_from(by_hand, CRITERIA, with_vetoes=True).by_hand == 2


@pytest.mark.parametrize(
    ("slots", "page", "shown"),
    [
        (4, 0, range(4)),
        (4, 1, range(4)),
        (10, 1, range(10)),
        (13, 0, range(10)),
        (13, 1, range(10, 13)),
        (0, 3, range(0)),
    ],
)
def test_ten_slots_have_digits_at_a_time_and_pages_go_round(slots: int, page: int, shown: range) -> None:
    assert digits(slots, page) == shown


def test_a_pace_is_told_from_three_items_on() -> None:
    pace = Pace()
    pace.seconds += [10, 900]
    assert pace.typical is None
    assert pace.left(5) is None
    pace.seconds.append(20)
    assert pace.typical == 20
    assert pace.left(5) == 100


def test_what_is_begun_is_kept_until_it_is_saved() -> None:
    sitting, begun, untouched = Sitting(), draft(), draft()
    begun.tick("a")
    sitting.leave(1, begun)
    sitting.leave(2, untouched)
    assert sitting.kept == {1: begun}
    sitting.sent(1, 5.0)
    sitting.sent(3, 6.0)
    assert (sitting.kept, sitting.saved, sitting.pace.seconds) == ({}, [1, 3], [5.0, 6.0])
    sitting.refused(1, begun)
    assert (sitting.kept, sitting.saved) == ({1: begun}, [3, 1])
