"""Hand-ins made by hand: whatever the reader takes, a grader can look at, compare and count."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.test_submission import body, committed, scored
from tutor.classroom import figures, item_demo
from tutor.classroom.submission import Submission, Unacceptable, read, seal
from tutor.language import LANGS
from tutor.lesson import catalog
from tutor.rubric import examine
from tutor.ui.review.evidence_lines import evidence_lines
from tutor.ui.review.item_lines import answer_lines, side_lines

LESSON = catalog.load()
RECORD = {
    **{"demo": "cold-warm", "source": "measured", "where": "here", "when": "2026-01-01T00:00:00Z"},
    **{"claims": {"a": "holds"}, "predicted": {"call-1": 0}, "answers": {"call-1": 1}},
    "observed": {"default": {"n": [1, 2], "us": [{"n": 3, "p50": 1.0, "bins": [1]}]}},
    "environment": {"gpu": None, "platform": "x", "device": "cpu", "contended": True, "torch": "2"},
}
JUNK: list[Any] = [
    *(None, True, 0, -1, 1.5, "", "\ud800\x1b[31m", "x" * 3000, 10**30, [], {}, [[]], [None]),
    *({"a": None}, {"p50": None}, {"bins": 1}, [{"p50": {}}], {"a": {"b": {"c": [1]}}}),
]


def whole() -> dict[str, Any]:
    """A hand-in that has something in every part."""
    return body(
        ("evidence", {"id": "E9", "record": RECORD}),
        committed("q1", "see E9"),
        ("draft", {"name": "q1", "text": "later E9", "cursor": [0, 0]}),
        committed("q1", "later E9"),
        scored("q1", effect="because"),
        ("prediction", {"demo": "cold-warm", "answers": {"call-1": 1}}),
    )


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with every key in it."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def looked_at(hand_in: Submission) -> None:
    """All that is drawn and counted of a hand-in."""
    for question in ("q1", "q2", "explanation"):
        answer = hand_in.answer(question)
        name = "edge" if question == "explanation" else question
        loaded: Any = SimpleNamespace(
            **{"hand_in": hand_in, "question": question, "answer": answer, "most": 2, "result": None},
            **{"asks": None, "memos": [], "references": {}, "history": []},
            standing=SimpleNamespace(other=None, asks=False),
            findings=examine.examine(LESSON.rubric, name, answer, ""),
        )
        for lang in LANGS:
            assert answer_lines(loaded, [], lang, 60, alone=True)
            assert side_lines(loaded, lang, 60, alone=True)
            assert evidence_lines(loaded, lang, 60)
    list(figures._predicted(hand_in.body["evidence"].values()))
    ours: dict[str, Any] = {"claims": {}, "answers": {}, "observed": {}}
    for entry in hand_in.body["evidence"].values():
        try:
            wanted = item_demo.wanted(LESSON, entry)
        except item_demo.NotRun:
            continue
        list(item_demo.pairs(wanted.demo, item_demo.table(entry, "record"), ours, "en"))


@pytest.mark.parametrize("seed", range(8))
def test_whatever_is_taken_can_be_looked_at(seed: int) -> None:
    rng = random.Random(seed)
    base, taken = whole(), 0
    for _ in range(120):
        made = copy.deepcopy(base)
        for _ in range(rng.randint(1, 3)):
            inside, key = rng.choice(list(places(made)))
            if rng.random() < 0.2:
                del inside[key]
            else:
                inside[key] = copy.deepcopy(rng.choice(JUNK))
        try:
            hand_in = read(seal(made))
        except Unacceptable:
            continue
        looked_at(hand_in)
        taken += 1
    assert taken > 10
