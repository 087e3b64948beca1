"""What a learner did with one free text: checked, committed, compared, scored by themselves, argued again (pure)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

#: The free texts: the three questions, and the explanation of an edge input.
NAMES = ("q1", "q2", "q3", "edge")
#: No more versions of a text are kept; the oldest go first.
VERSIONS = 40


def fingerprint(text: str) -> str:
    """The hash by which a committed text is known."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


class Version(NamedTuple):
    """A text as it stood at a time, and why it was kept: checked, committed."""

    text: str
    at: str
    why: str


class Commit(NamedTuple):
    """A text that is locked: its hash, when, and the version of the rubric."""

    text: str
    hash: str
    at: str
    rubric: str


class SelfScore(NamedTuple):
    """What the learner gave themselves: per slot the line of their own that earns it; the points that these ticks come
    to, whether they make a causal chain, and whether they name a boundary and a trade-off."""

    ticks: Mapping[str, str]
    points: int
    chain: bool
    boundary: bool
    tradeoff: bool
    rubric: str
    at: str


class Final(NamedTuple):
    """An instructor's score: how many points, who gave them, when, and which vetoes were spoken."""

    points: int
    who: str
    when: str
    chain: bool
    boundary: bool
    tradeoff: bool
    vetoes: tuple[str, ...]


class Again(NamedTuple):
    """The argument under a changed condition."""

    change: str
    text: str
    at: str


@dataclass(slots=True)
class Answer:
    """Everything about one free text but its draft."""

    versions: list[Version] = field(default_factory=list)
    confirmed: dict[str, str] = field(default_factory=dict)
    """By slot, the quote of which the learner said that it is their point."""
    denied: list[str] = field(default_factory=list)
    """`slot: quote` of which the learner said that it is not."""
    considered: dict[str, bool] = field(default_factory=dict)
    """By veto or misconception: thought about it (True), or went back to change the text (False)."""
    prompts: dict[str, int] = field(default_factory=dict)
    """By slot (and `ladder`), how many prompts were asked for."""
    prompted: dict[str, str] = field(default_factory=dict)
    """By slot, the hash of the text when the last prompt was asked for."""
    commit: Commit | None = None
    commits: list[Commit] = field(default_factory=list)
    unlocked: list[str] = field(default_factory=list)
    """When it was unlocked, each time."""
    score: SelfScore | None = None
    vetoes: dict[str, bool] = field(default_factory=dict)
    """By veto, what the learner answered: True admits it."""
    doubts: list[str] = field(default_factory=list)
    """The claims of which the learner doubts what the reference says."""
    change: str | None = None
    again: Again | None = None
    final: Final | None = None

    @property
    def seen(self) -> bool:
        """Whether the reference has been seen."""
        return bool(self.commits)

    @property
    def changed_after(self) -> bool:
        """Whether what is committed now is not what was committed before the reference was seen."""
        return len(self.commits) > 1 and self.commits[0].hash != self.commits[-1].hash

    def may_prompt(self, slot: str, text: str, most: int) -> bool:
        """Whether one more prompt may be asked for: at most `most`, and the next one only after an edit."""
        return self.prompts.get(slot, 0) < most and self.prompted.get(slot) != fingerprint(text)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Answer:
        """From what `dataclasses.asdict` and JSON made of it. Raises KeyError, TypeError, ValueError."""
        values = dict(data)
        values["versions"] = [Version(*one) for one in data["versions"]]
        values["commits"] = [Commit(*one) for one in data["commits"]]
        for name, kind in (("commit", Commit), ("score", SelfScore), ("again", Again), ("final", Final)):
            values[name] = kind(*data[name]) if data[name] is not None else None
        answer = cls(**values)
        if answer.final is not None:
            answer.final = answer.final._replace(vetoes=tuple(answer.final.vetoes))
        return answer


Answers = dict[str, Answer]


def _of(answers: Answers, data: Mapping[str, Any]) -> Answer:
    name = str(data["name"])
    if name not in NAMES:
        raise ValueError(name)
    return answers.setdefault(name, Answer())


def _version(answers: Answers, at: str, data: Mapping[str, Any]) -> None:
    answer = _of(answers, data)
    _keep(answer, Version(str(data["text"]), at, str(data["why"])))


def _keep(answer: Answer, version: Version) -> None:
    if answer.versions and answer.versions[-1].text == version.text:
        answer.versions[-1] = version
    else:
        answer.versions.append(version)
    del answer.versions[:-VERSIONS]


def _confirmed(answers: Answers, at: str, data: Mapping[str, Any]) -> None:
    slot, quote, yes = str(data["slot"]), str(data["quote"]), bool(data["yes"])
    answer = _of(answers, data)
    del at
    if yes:
        answer.confirmed[slot] = quote
    elif f"{slot}: {quote}" not in answer.denied:
        answer.denied.append(f"{slot}: {quote}")


def _considered(answers: Answers, at: str, data: Mapping[str, Any]) -> None:
    del at
    _of(answers, data).considered[str(data["doubt"])] = bool(data["yes"])


def _prompted(answers: Answers, at: str, data: Mapping[str, Any]) -> None:
    del at
    slot, hashed = str(data["slot"]), str(data["hash"])
    answer = _of(answers, data)
    answer.prompts[slot] = answer.prompts.get(slot, 0) + 1
    answer.prompted[slot] = hashed


def _committed(answers: Answers, at: str, data: Mapping[str, Any]) -> None:
    text, rubric = str(data["text"]), str(data["rubric"])
    answer = _of(answers, data)
    answer.commit = Commit(text, fingerprint(text), at, rubric)
    answer.commits.append(answer.commit)
    _keep(answer, Version(text, at, "committed"))
    answer.score = None


def _unlocked(answers: Answers, at: str, data: Mapping[str, Any]) -> None:
    answer = _of(answers, data)
    if answer.commit is not None:
        answer.commit, answer.score = None, None
        answer.unlocked.append(at)


def _self_scored(answers: Answers, at: str, data: Mapping[str, Any]) -> None:
    ticks = {str(slot): str(line) for slot, line in dict(data["ticks"]).items()}
    points, rubric = int(data["points"]), str(data["rubric"])
    chain, boundary, tradeoff = bool(data["chain"]), bool(data["boundary"]), bool(data["tradeoff"])
    answer = _of(answers, data)
    if answer.commit is not None:
        answer.score = SelfScore(ticks, points, chain, boundary, tradeoff, rubric, at)


def _veto(answers: Answers, at: str, data: Mapping[str, Any]) -> None:
    del at
    _of(answers, data).vetoes[str(data["veto"])] = bool(data["yes"])


def _doubted(answers: Answers, at: str, data: Mapping[str, Any]) -> None:
    del at
    claim = str(data["claim"])
    answer = _of(answers, data)
    if claim not in answer.doubts:
        answer.doubts.append(claim)


def _change(answers: Answers, at: str, data: Mapping[str, Any]) -> None:
    del at
    _of(answers, data).change = str(data["change"])


def _again(answers: Answers, at: str, data: Mapping[str, Any]) -> None:
    again = Again(str(data["change"]), str(data["text"]), at)
    _of(answers, data).again = again


def _final(answers: Answers, at: str, data: Mapping[str, Any]) -> None:
    """Without points: what was final is open again."""
    del at
    if data["points"] is None:
        _of(answers, data).final = None
        return
    final = Final(
        points=int(data["points"]),
        who=str(data["who"]),
        when=str(data["when"]),
        chain=bool(data["chain"]),
        boundary=bool(data["boundary"]),
        tradeoff=bool(data["tradeoff"]),
        vetoes=tuple(map(str, data["vetoes"])),
    )
    _of(answers, data).final = final


#: Events by kind. Each changes nothing when its data is not of its kind, and raises KeyError, TypeError or ValueError.
HANDLERS: Mapping[str, Callable[[Answers, str, Mapping[str, Any]], None]] = {
    "version": _version,
    "slot_confirmed": _confirmed,
    "considered": _considered,
    "prompted": _prompted,
    "committed": _committed,
    "unlocked": _unlocked,
    "self_scored": _self_scored,
    "veto_answered": _veto,
    "doubted": _doubted,
    "change_drawn": _change,
    "rederived": _again,
    "final": _final,
}
