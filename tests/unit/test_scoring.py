"""The ten points: what is earned, who gave it, what is missing, and nothing claimed that is not earned."""

from __future__ import annotations

from typing import Any

import pytest

from tutor.language import LANGS
from tutor.learner.progress import Event, Progress, apply
from tutor.learner.scoring import VETOES, Giver, Score, score
from tutor.lesson import catalog
from tutor.strings import say

LESSON = catalog.load()


def after(*events: tuple[str, dict[str, Any]]) -> Score:
    progress = Progress()
    for number, (kind, data) in enumerate(events, 1):
        apply(progress, Event(f"a-{number}", f"2026-11-30T10:{number:02}:00Z", kind, data))
    return score(progress, LESSON)


def draft(name: str, text: str) -> tuple[str, dict[str, Any]]:
    return "draft", {"name": name, "text": text, "cursor": [0, 0]}


def checked(expr: str, normal: int) -> tuple[str, dict[str, Any]]:
    return "checked", {"expr": expr, "report": {"ending": "passed", "normal": normal}}


def edge(why: str = "") -> tuple[str, dict[str, Any]]:
    return "edge", {"id": "1", "line": "line", "why": why}


def judged(point: bool) -> tuple[str, dict[str, Any]]:
    result = {"ending": "passed", "point": point, "caught": ["a", "b"] if point else []}
    return "edge_checked", {"id": "1", "line": "line", "result": result}


def needs(now: Score, part: str) -> str | None:
    message = now.part(part).needs
    if message is None:
        return None
    assert all(say(lang, message) for lang in LANGS)
    return message.key.removeprefix("scoring.needs-")


def test_there_are_ten_points_and_none_to_begin_with() -> None:
    now = after()
    assert (now.points, now.of, now.final) == (0, 10, None)
    assert [(part.id, part.of) for part in now.parts] == [
        ("normal", 2),
        ("edge", 1),
        ("explanation", 1),
        ("q1", 2),
        ("q2", 2),
        ("q3", 2),
    ]
    assert {part.giver for part in now.parts} == {Giver.NOBODY}
    assert not any(rule.met for rule in now.rules)
    assert all(say(lang, rule.says) for lang in LANGS for rule in now.rules)


@pytest.mark.parametrize(
    ("events", "points", "giver", "missing"),
    [
        ([], 0, Giver.NOBODY, "check"),
        ([draft("code", "x")], 0, Giver.NOBODY, "check"),
        ([draft("code", "x"), checked("x", 1)], 1, Giver.MACHINE, "assertions"),
        ([draft("code", "x"), checked("x", 2)], 2, Giver.MACHINE, None),
        ([draft("code", "x"), checked("x", 2), draft("code", "y")], 2, Giver.MACHINE, "recheck"),
    ],
)
def test_the_given_assertions(events: list[Any], points: int, giver: Giver, missing: str | None) -> None:
    now = after(*events)
    assert (now.part("normal").points, now.part("normal").giver, needs(now, "normal")) == (points, giver, missing)
    assert now.rules[0].met is (points == 2)


@pytest.mark.parametrize(
    ("events", "points", "giver", "missing"),
    [
        ([], 0, Giver.NOBODY, "edge"),
        ([edge()], 0, Giver.NOBODY, "edge-check"),
        ([edge(), judged(False)], 0, Giver.MACHINE, "edge-point"),
        ([edge(), judged(True)], 1, Giver.MACHINE, None),
    ],
)
def test_the_edge_input(events: list[Any], points: int, giver: Giver, missing: str | None) -> None:
    now = after(*events)
    assert (now.part("edge").points, now.part("edge").giver, needs(now, "edge")) == (points, giver, missing)


def event(kind: str, name: str, **data: Any) -> tuple[str, dict[str, Any]]:
    return kind, {"name": name, **data}


def scored(
    name: str, points: int, *, boundary: bool = False, tradeoff: bool = False
) -> list[tuple[str, dict[str, Any]]]:
    given = {"points": points, "chain": points > 0, "boundary": boundary, "tradeoff": tradeoff, "rubric": "1"}
    vetoes = [event("veto_answered", name, veto=veto, yes=False) for veto in VETOES]
    return [
        event("committed", name, text="an answer", rubric="1"),
        *vetoes,
        event("self_scored", name, ticks={"slot": "line"}, **given),
    ]


CODE = [draft("code", "x"), checked("x", 2), edge("why"), judged(True)]
ALL = [
    *CODE,
    *scored("edge", 1),
    *scored("q1", 2, boundary=True),
    *scored("q2", 2, tradeoff=True),
    *scored("q3", 1),
]
AGAIN = [event("rederived", q, change="batch-one", text="then") for q in ("q1", "q2", "q3")]


def test_what_is_written_is_to_be_committed_then_scored_then_argued_again() -> None:
    assert needs(after(), "q1") == "answer"
    assert needs(after(draft("q1", "  \n")), "q1") == "answer"
    assert needs(after(edge(" ")), "explanation") == "explanation"
    assert needs(after(edge("because")), "explanation") == "commit"
    assert needs(after(draft("q1", "text")), "q1") == "commit"
    assert needs(after(*scored("q1", 2)[:1]), "q1") == "self-score"
    assert needs(after(*scored("q1", 1)), "q1") == "slots"
    assert needs(after(*scored("q1", 2)), "q1") == "again"
    assert needs(after(*scored("q1", 2), AGAIN[0]), "q1") is None
    assert needs(after(*scored("edge", 1)), "explanation") is None


def test_a_self_score_is_named_as_one_and_never_a_pass() -> None:
    now = after(*ALL, *AGAIN)
    assert (now.points, now.own, now.final, now.state) == (9, 9, None, "self")
    assert now.part("q1").giver is Giver.SELF
    assert all(rule.met for rule in now.rules)


@pytest.mark.parametrize(
    ("change", "open_rule"),
    [
        (event("unlocked", "q2"), {"chain", "trade-off", "points"}),
        (event("veto_answered", "q3", veto="tail", yes=True), {"vetoes"}),
        (checked("x", 1), {"blank"}),
    ],
)
def test_a_rule_that_is_not_met_is_said(change: tuple[str, dict[str, Any]], open_rule: set[str]) -> None:
    now = after(*ALL, change)
    assert {rule.id for rule in now.rules if not rule.met} == open_rule
    assert now.state == "open"
    assert all(say(lang, rule.says) for lang in LANGS for rule in now.rules)


def test_vetoes_have_to_be_answered() -> None:
    now = after(*CODE, event("committed", "q1", text="t", rubric="1"))
    (rule,) = [rule for rule in now.rules if rule.id == "vetoes"]
    assert not rule.met
    assert "Q1, Q2, Q3" in say("en", rule.says)


def final(name: str, points: int, **more: Any) -> tuple[str, dict[str, Any]]:
    given = {"who": "Lin", "when": "2026-12-01", "chain": True, "boundary": True, "tradeoff": True, "vetoes": []}
    return event("final", name, points=points, **{**given, **more})


def test_an_instructors_score_is_final_and_says_who_and_when() -> None:
    now = after(*ALL, *(final(name, 1) for name in ("edge", "q1", "q2", "q3")))
    assert (now.final, now.state) == (7, "not-passed")
    assert (now.points, now.own) == (7, 9), "what one gave oneself stays what it was"
    assert (now.part("q1").giver, now.part("q1").who, now.part("q1").when) == (Giver.FINAL, "Lin", "2026-12-01")
    passed = after(*ALL, final("edge", 1), *(final(q, 2) for q in ("q1", "q2", "q3")))
    assert (passed.final, passed.state) == (10, "passed")
    vetoed = after(*ALL, final("edge", 1), final("q1", 2, vetoes=["tail"]), final("q2", 2), final("q3", 2))
    assert (vetoed.final, vetoed.state) == (10, "not-passed")


def test_what_the_class_judged_again_counts_for_the_code_until_the_next_hand_in() -> None:
    frees = [final("edge", 1), *(final(q, 2) for q in ("q1", "q2", "q3"))]
    regraded = ("regraded", {"normal": 1, "edge": 0})
    now = after(*ALL, *frees, regraded)
    assert [(now.part(name).points, now.part(name).giver) for name in ("normal", "edge")] == [
        (1, Giver.FINAL),
        (0, Giver.FINAL),
    ]
    assert (needs(now, "normal"), needs(now, "edge")) == ("regraded", "regraded")
    assert (now.final, now.state) == (8, "not-passed"), "the blank is wrong where it counts"
    better = after(*CODE[:1], *frees, ("regraded", {"normal": 2, "edge": 1}))
    assert (better.final, better.state, needs(better, "normal")) == (10, "passed", None)
    for gone in (("regraded", {"normal": None, "edge": None}), ("handed_in", {"number": 2, "sha256": "x"})):
        again = after(*ALL, regraded, gone)
        assert (again.part("normal").points, again.part("normal").giver) == (2, Giver.MACHINE)


def test_some_final_scores_are_not_a_final_result() -> None:
    now = after(*ALL, final("q1", 2))
    assert now.final is None
    assert now.part("q2").giver is Giver.SELF
