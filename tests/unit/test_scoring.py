"""The ten points: what is earned, who gave it, what is missing, and nothing claimed that is not earned."""

from __future__ import annotations

from typing import Any

import pytest

from tutor import catalog
from tutor.model import LANGS
from tutor.progress import Event, Progress, apply
from tutor.scoring import Giver, Score, score
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


def test_what_is_written_is_not_yet_scored() -> None:
    now = after(edge("because"), draft("q1", "an answer"), draft("q2", "  \n"))
    assert [needs(now, name) for name in ("explanation", "q1", "q2", "q3")] == [
        "scoring",
        "scoring",
        "answer",
        "answer",
    ]
    assert needs(after(edge(" ")), "explanation") == "explanation"
    assert now.points == 0


def test_nothing_is_passed_before_an_instructor_has_scored() -> None:
    full = after(
        draft("code", "x"), checked("x", 2), edge("why"), judged(True), *(draft(q, "a") for q in ("q1", "q2", "q3"))
    )
    assert full.points == 3
    assert full.final is None
    assert {rule.id: rule.met for rule in full.rules} == {
        "blank": True,
        "chain": False,
        "boundary": False,
        "trade-off": False,
        "points": False,
        "vetoes": False,
    }
