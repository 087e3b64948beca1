"""A rubric as data, and what is found for it: slots, doubts, points; quotes (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from tutor.language import Bilingual
from tutor.rubric.pattern import Index, Pattern

#: Concepts that every text is searched for: talk that is no argument, and talk to a grader.
_ALWAYS = {"empty_talk", "to_grader"}
#: Subjects stand in an index beside the concepts, under names that begin so.
SUBJECT = "subject "


class Kind(StrEnum):
    """Which link of the argument a slot is."""

    CAUSE = "cause"
    MECHANISM = "mechanism"
    EFFECT = "effect"
    OBSERVE = "observe"
    BOUNDARY = "boundary"
    TRADEOFF = "tradeoff"


class Evidence(NamedTuple):
    """Concepts that must stand together; `sentence` lets them stand in one sentence, else it is one clause. `bare`
    evidence forbids, and its own words of negation do not negate it."""

    concepts: tuple[str, ...]
    sentence: bool = False
    bare: bool = False


class Slot(NamedTuple):
    """One thing that a good answer says. `core` counts for points; `shared` is asked once over all three answers.
    `about` is the subject that it must be said of, None when it does not matter."""

    id: str
    kind: Kind
    core: bool
    shared: bool
    about: str | None
    label: Bilingual
    prompts: tuple[Bilingual, ...]
    evidence: tuple[Evidence, ...]
    claim: str | None = None
    """The claim that the reference rests on here: who doubts it is shown its measurement."""


class Doubt(NamedTuple):
    """A likely misconception (or, among the vetoes, a likely veto): asked as a question, never counted. The slots that
    it `silences` show no quote while it stands."""

    id: str
    about: str | None
    question: Bilingual
    evidence: tuple[Evidence, ...]
    silences: tuple[str, ...] = ()


class Need(NamedTuple):
    """Ticks that earn points: every one of `every`, and `least` of `some`."""

    every: tuple[str, ...]
    some: tuple[str, ...]
    least: int

    def met(self, ticks: frozenset[str]) -> bool:
        return ticks.issuperset(self.every) and len(ticks.intersection(self.some)) >= self.least


@dataclass(frozen=True, slots=True)
class RubricQuestion:
    """The rubric of one free text. `points` maps a number of points to what earns it, any one of the needs."""

    id: str
    slots: tuple[Slot, ...]
    misconceptions: tuple[Doubt, ...]
    points: Mapping[int, tuple[Need, ...]]

    def slot(self, name: str) -> Slot:
        """Raises StopIteration for a name that is not in the rubric."""
        return next(slot for slot in self.slots if slot.id == name)

    def earned(self, ticks: frozenset[str]) -> int:
        """The points that a person's ticks come to; the arithmetic of whoever ticked, not a judgement."""
        return max((points for points, needs in self.points.items() if any(n.met(ticks) for n in needs)), default=0)

    def chain(self, ticks: frozenset[str]) -> bool:
        """Whether the ticks make a causal chain: a cause or a mechanism, and another link."""
        kinds = {slot.kind for slot in self.slots if slot.id in ticks}
        links = kinds - {Kind.BOUNDARY, Kind.TRADEOFF}
        return len(links) >= 2 and bool(links & {Kind.CAUSE, Kind.MECHANISM})


class Change(NamedTuple):
    """A scale or a failure condition that is changed, for arguing again; `demo` shows it where one can."""

    id: str
    text: Bilingual
    demo: str | None


@dataclass(frozen=True, slots=True)
class Rubric:
    """A lesson's rubric: its version, what it asks everybody, and the questions by id."""

    version: str
    ladder: tuple[Bilingual, ...]
    questions: Mapping[str, RubricQuestion]
    vetoes: tuple[Doubt, ...]
    subjects: Mapping[str, tuple[Pattern, ...]]
    concepts: Mapping[str, tuple[Pattern, ...]]
    common: frozenset[str]
    changes: tuple[Change, ...]
    indexes: dict[str, Index] = field(default_factory=dict)
    """By question, what its texts are searched for; made when one is first read."""

    def index(self, question: str) -> Index:
        """Raises KeyError for an unknown question."""
        if question not in self.indexes:
            about = self.questions[question]
            evidence = [one for slot in about.slots for one in slot.evidence]
            evidence += [one for doubt in (*about.misconceptions, *self.vetoes) for one in doubt.evidence]
            names = {name for one in evidence for name in one.concepts}
            wanted = {name: self.concepts[name] for name in (names | _ALWAYS) & self.concepts.keys()}
            self.indexes[question] = Index({**wanted, **{SUBJECT + n: p for n, p in self.subjects.items()}})
        return self.indexes[question]


class Quote(NamedTuple):
    """The learner's own words: `text` is `answer[start:end]`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Findings:
    """What was recognised: quotes by slot, by misconception and by veto; nothing for what was not. `notes` are ids of
    sentences in `tutor/text/*/rubric.toml`."""

    slots: Mapping[str, tuple[Quote, ...]]
    misconceptions: Mapping[str, tuple[Quote, ...]] = field(default_factory=dict)
    vetoes: Mapping[str, tuple[Quote, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    uncited: tuple[Quote, ...] = ()
    """Measured quantities in sentences that cite nothing."""
