"""The lesson's ten points: what is earned so far, by whose judgement, and what is still missing (pure)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from tutor.language import Lang
from tutor.learner.answers import Answer
from tutor.learner.progress import Progress
from tutor.model import Lesson, Message
from tutor.strings import say, text

PASS_AT = 8
#: Points of the given assertions.
NORMAL = 2

#: Who gave a final score, as the journal has it: the learner is not told which grader it was.
INSTRUCTOR = "instructor"

#: The vetoes of the lesson. The learner answers for each; an instructor has the last word.
VETOES = ("guess", "isolation", "tail", "failure-path")


class Giver(StrEnum):
    """Who gave the points of a part. No score is shown without its giver."""

    MACHINE = "machine"
    SELF = "self"
    FINAL = "final"
    NOBODY = "nobody"


class Part(NamedTuple):
    """One part of the score. `needs` says what is still missing, None when it is full. `who` and `when` name the
    instructor of a final score; the code's is the machine's, and has none."""

    id: str
    points: int
    of: int
    giver: Giver
    needs: Message | None
    who: str = ""
    when: str = ""


class Rule(NamedTuple):
    """One line of what it takes to pass, and whether it is met; `says` names it, and what is missing."""

    id: str
    met: bool
    says: Message


class Score(NamedTuple):
    """The parts in the lesson's order, their sum, and the pass rule. `final` is the sum when an instructor has scored
    every free text, None before; nothing is passed before that."""

    parts: tuple[Part, ...]
    rules: tuple[Rule, ...]
    final: int | None = None
    own: int = 0
    """What the machine here and the learner's own ticks give, whatever an instructor gave."""

    @property
    def points(self) -> int:
        return sum(part.points for part in self.parts)

    @property
    def of(self) -> int:
        return sum(part.of for part in self.parts)

    @property
    def state(self) -> Literal["open", "self", "passed", "not-passed"]:
        """`self`: every rule is met by the learner's own score; `passed` and `not-passed` are an instructor's."""
        met = all(rule.met for rule in self.rules)
        if self.final is not None:
            return "passed" if met else "not-passed"
        return "self" if met else "open"

    @property
    def is_partly_final(self) -> bool:
        """Whether an instructor has scored some of it, and not yet every free text."""
        return self.final is None and any(part.giver is Giver.FINAL for part in self.parts)

    def part(self, name: str) -> Part:
        return next(part for part in self.parts if part.id == name)


class _Given(NamedTuple):
    """What somebody gave one free text."""

    points: int
    chain: bool
    boundary: bool
    tradeoff: bool
    vetoes: Collection[str]


def score(progress: Progress, lesson: Lesson) -> Score:
    """The learner's score so far: what the class gave where there is such, else their own."""
    normal = _normal(progress)
    edge = _edge(progress)
    names = [question.id for question in lesson.questions]
    free = [
        _free(progress, "edge", "explanation", 1),
        *(_free(progress, q.id, q.id, q.points) for q in lesson.questions),
    ]
    parts = (normal, edge, *free)
    given = {name: _given(progress.answer(name)) for name in ("edge", *names)}
    final = all(part.giver is Giver.FINAL for part in free)
    points = sum(part.points for part in parts)
    open_chains = [name.upper() for name in names if not given[name].chain]
    rules = (
        Rule("blank", normal.points == normal.of, Message("scoring.rule-blank")),
        _rule("chain", not open_chains, questions=", ".join(open_chains)),
        _rule("boundary", any(one.boundary for one in given.values())),
        _rule("trade-off", any(one.tradeoff for one in given.values())),
        Rule("points", points >= PASS_AT, Message("scoring.rule-points", {"points": points, "needed": PASS_AT})),
        _vetoes(progress, names, given, final),
    )
    ticked = (progress.answer(name).score for name in ("edge", *names))
    own = progress.normal_points() + progress.edge_points() + sum(one.points for one in ticked if one is not None)
    return Score(parts, rules, points if final else None, own)


def _rule(name: str, met: bool, **args: str) -> Rule:
    return Rule(name, met, Message(f"scoring.rule-{name}") if met else Message(f"scoring.rule-{name}-open", args))


def _vetoes(progress: Progress, names: Collection[str], given: Mapping[str, _Given], final: bool) -> Rule:
    spoken = sorted({veto for one in given.values() for veto in one.vetoes})
    if spoken:
        return Rule("vetoes", False, Message("scoring.rule-vetoes-spoken", {"count": len(spoken)}))
    if final:
        return Rule("vetoes", True, Message("scoring.rule-vetoes-final"))
    asked = [name.upper() for name in names if not set(VETOES) <= progress.answer(name).vetoes.keys()]
    if asked:
        return Rule("vetoes", False, Message("scoring.rule-vetoes-open", {"questions": ", ".join(asked)}))
    return Rule("vetoes", True, Message("scoring.rule-vetoes"))


def _given(answer: Answer) -> _Given:
    if answer.final is not None:
        one = answer.final
        return _Given(one.points, one.chain, one.boundary, one.tradeoff, one.vetoes)
    admitted = [veto for veto, yes in answer.vetoes.items() if yes]
    if answer.score is not None:
        own = answer.score
        return _Given(own.points, own.chain, own.boundary, own.tradeoff, admitted)
    return _Given(0, False, False, False, admitted)


def _free(progress: Progress, name: str, part: str, of: int) -> Part:
    """A free text: the explanation or a question."""
    answer = progress.answer(name)
    given = _given(answer)
    if answer.final is not None:
        needs = Message("scoring.needs-final") if given.points < of else None
        return Part(part, given.points, of, Giver.FINAL, needs, answer.final.who, answer.final.when)
    needs = None
    if answer.commit is None:
        written = progress.text(name) if name != "edge" else "".join(e.why for e in progress.edges.values())
        unwritten = "answer" if name != "edge" else "explanation"
        needs = Message("scoring.needs-commit" if written.strip() else f"scoring.needs-{unwritten}")
    elif answer.score is None:
        needs = Message("scoring.needs-self-score")
    elif given.points < of:
        needs = Message("scoring.needs-slots", {"points": given.points, "of": of})
    elif answer.again is None and name != "edge":
        needs = Message("scoring.needs-again")
    return Part(part, given.points, of, Giver.NOBODY if answer.score is None else Giver.SELF, needs)


def _final_code(part: str, points: int, of: int) -> Part:
    """A part of the code as the class's own judging has it."""
    return Part(part, points, of, Giver.FINAL, Message("scoring.needs-regraded") if points < of else None)


def _normal(progress: Progress) -> Part:
    if progress.regraded is not None:
        return _final_code("normal", progress.regraded.normal, NORMAL)
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
    if progress.regraded is not None:
        return _final_code("edge", progress.regraded.edge, 1)
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


def as_data(now: Score, lang: Lang) -> dict[str, Any]:
    """A score as JSON has it: `points`, `parts` and `rules`, sentences in one language."""
    return {
        "points": {"self": now.own, "final": now.final, "of": now.of},
        "parts": [{**part._asdict(), "needs": say(lang, part.needs) if part.needs else None} for part in now.parts],
        "rules": [{"id": rule.id, "met": rule.met, "text": say(lang, rule.says)} for rule in now.rules],
    }


def when_words(when: str) -> str:
    """When a final score was given, for a reader: UTC as the local time; anything else stays as it is."""
    try:
        at = datetime.fromisoformat(when)
        return f"{at.astimezone():%Y-%m-%d %H:%M}" if at.tzinfo is not None else when
    except (ValueError, OverflowError):
        return when


def who_words(who: str, lang: Lang) -> str:
    """Who gave a final score, for a reader; a name that an older journal has stays as it is."""
    return text(lang, "scoring.who-instructor") if who == INSTRUCTOR else who
