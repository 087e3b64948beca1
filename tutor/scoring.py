"""The lesson's ten points: what is earned so far, by whose judgement, and what is still missing (pure)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from tutor.model import Lesson, Message
from tutor.progress import Progress

PASS_AT = 8
#: Points of the given assertions.
NORMAL = 2

#: The vetoes of the lesson; an instructor alone speaks them.
VETOES = ("guess", "isolation", "tail", "failure-path")


class Giver(StrEnum):
    """Who gave the points of a part. No score is shown without its giver."""

    MACHINE = "machine"
    SELF = "self"
    NOBODY = "nobody"


class Part(NamedTuple):
    """One part of the score. `needs` says what is still missing, None when it is full."""

    id: str
    points: int
    of: int
    giver: Giver
    needs: Message | None


class Rule(NamedTuple):
    """One line of what it takes to pass, and whether it is met; `says` names it."""

    id: str
    met: bool
    says: Message


class Score(NamedTuple):
    """The parts in the lesson's order, their sum, and the pass rule. `final` is what an instructor has scored, None as
    long as none has; nothing is passed before that."""

    parts: tuple[Part, ...]
    rules: tuple[Rule, ...]
    final: int | None = None

    @property
    def points(self) -> int:
        return sum(part.points for part in self.parts)

    @property
    def of(self) -> int:
        return sum(part.of for part in self.parts)

    def part(self, name: str) -> Part:
        return next(part for part in self.parts if part.id == name)


def score(progress: Progress, lesson: Lesson) -> Score:
    """The learner's score so far. The explanation and the questions are not scored yet, and count as nothing."""
    normal = _normal(progress)
    edge = _edge(progress)
    parts = (normal, edge, _explanation(progress), *(_question(progress, q.id, q.points) for q in lesson.questions))
    points = sum(part.points for part in parts)
    rules = (
        Rule("blank", normal.points == normal.of, Message("scoring.rule-blank")),
        Rule("chain", False, Message("scoring.rule-chain", {"open": len(lesson.questions)})),
        Rule("boundary", False, Message("scoring.rule-boundary")),
        Rule("trade-off", False, Message("scoring.rule-trade-off")),
        Rule("points", points >= PASS_AT, Message("scoring.rule-points", {"points": points, "needed": PASS_AT})),
        Rule("vetoes", False, Message("scoring.rule-vetoes")),
    )
    return Score(parts, rules)


def _normal(progress: Progress) -> Part:
    points, of = progress.normal_points(), NORMAL
    needs: Message | None = None
    if progress.judged is None:
        needs = Message("scoring.needs-check")
    elif points < of:
        needs = Message("scoring.needs-assertions", {"points": points, "of": of})
    elif progress.judged.expr != progress.text("code"):
        needs = Message("scoring.needs-recheck")
    return Part("normal", points, of, Giver.NOBODY if progress.judged is None else Giver.MACHINE, needs)


def _edge(progress: Progress) -> Part:
    points = progress.edge_points()
    judged = any(edge.current is not None for edge in progress.edges.values())
    needs: Message | None = None
    if not progress.edges:
        needs = Message("scoring.needs-edge")
    elif not judged:
        needs = Message("scoring.needs-edge-check")
    elif not points:
        needs = Message("scoring.needs-edge-point")
    return Part("edge", points, 1, Giver.MACHINE if judged else Giver.NOBODY, needs)


def _explanation(progress: Progress) -> Part:
    written = any(edge.why.strip() for edge in progress.edges.values())
    needs = Message("scoring.needs-scoring" if written else "scoring.needs-explanation")
    return Part("explanation", 0, 1, Giver.NOBODY, needs)


def _question(progress: Progress, name: str, of: int) -> Part:
    needs = Message("scoring.needs-scoring" if progress.text(name).strip() else "scoring.needs-answer")
    return Part(name, 0, of, Giver.NOBODY, needs)
