"""The labelled answers and what the evidence finder makes of them.

Invented answers, read by one person; no learner wrote them. The rules were written on the style `first`; `second` was
held out until they stood, and `third` was written and labelled after everything else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tutor.lesson import catalog
from tutor.rubric.examine import examine
from tutor.rubric.model import Findings, Rubric

STYLES = ("first", "second", "third")


class Labelled(NamedTuple):
    """One answer: the slots that it gives, and the vetoes that it earns."""

    id: str
    style: str
    question: str
    lang: str
    kind: str
    slots: tuple[str, ...]
    vetoes: tuple[str, ...]
    answer: str


class Count(NamedTuple):
    """Of one slot: quotes that are right, quotes that are wrong, and slots that were not recognised."""

    right: int = 0
    wrong: int = 0
    unseen: int = 0

    def __add__(self, other: Count) -> Count:  # type: ignore[override]
        return Count(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.unseen)


@cache
def answers() -> tuple[Labelled, ...]:
    lines = (Path(__file__).with_name("data") / "labelled-answers.jsonl").read_text(encoding="utf-8").splitlines()
    rows = map(json.loads, lines)
    return tuple(Labelled(**{**row, "slots": tuple(row["slots"]), "vetoes": tuple(row["vetoes"])}) for row in rows)


@cache
def rubric() -> Rubric:
    return catalog.load().rubric


@cache
def found(one: Labelled) -> Findings:
    return examine(rubric(), one.question, one.answer)


def counts(style: str) -> Mapping[str, Count]:
    """By `question.slot`, what was shown of the answers of one style."""
    out: dict[str, Count] = {}
    for name, count in _counted(style):
        out[name] = out.get(name, Count()) + count
    return out


def _counted(style: str) -> Iterator[tuple[str, Count]]:
    for one in answers():
        if one.style == style:
            shown = set(found(one).slots)
            for slot in shown | set(one.slots):
                right, wrong = slot in shown and slot in one.slots, slot in shown and slot not in one.slots
                yield f"{one.question}.{slot}", Count(int(right), int(wrong), int(slot not in shown))


def total(style: str) -> Count:
    return sum(counts(style).values(), Count())
