"""What all processes of a job compiled, frame by frame and rank by rank, and how ranks differ (pure)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tutor.trace.facts import Event, Facts
from tutor.trace.fields import PHASES, Frame
from tutor.trace.records import KNOWN

#: Frames, breaks and errors of a job that are told apart; the rest is counted.
FRAMES_MAX, BREAKS_MAX, ERRORS_MAX = 5000, 2000, 100
#: Different reasons of one frame's recompiles that are kept, and of all frames'; graphs of one whose size is.
WHYS_MAX, ALL_WHYS_MAX, OPS_MAX = 50, 5000, 256

#: Seconds that ranks have to differ by for a cache that some of them found to be worth a word.
CACHE_S = 1.0

_DIGITS = re.compile(r"\d+")


@dataclass(slots=True)
class Counts:
    """One frame in one process. `seconds` with its backward graphs'; `ops` of each graph, in order."""

    compiles: int = 0
    graphs: int = 0
    recompiles: int = 0
    limit: bool = False
    eager: str = ""
    seconds: float = 0.0
    ops: list[int | None] = field(default_factory=list)

    def outcome(self) -> tuple[int, int, int, bool, str]:
        """What ranks that did the same have in common."""
        return (self.compiles, self.graphs, self.recompiles, self.limit, self.eager)


@dataclass(slots=True)
class Why:
    """Recompiles of one frame for one kind of reason: the first and the last, how often, and in which processes."""

    event: Event
    times: int = 0
    last: Event = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    """When each process met it first."""
    by_process: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class FrameStory:
    """One frame in all processes."""

    frame: Frame
    called_from: str = ""
    """The first line of the user's code that led here, as far as torch said."""
    counts: dict[str, Counts] = field(default_factory=dict)
    whys: dict[tuple[str, str], Why] = field(default_factory=dict)

    def total(self, name: str) -> int:
        """The sum over processes of `compiles`, `graphs` or `recompiles`."""
        return sum(int(getattr(count, name)) for count in self.counts.values())

    @property
    def seconds(self) -> float:
        return sum(count.seconds for count in self.counts.values())

    @property
    def limit(self) -> bool:
        return any(count.limit for count in self.counts.values())

    @property
    def eager(self) -> str:
        return next((count.eager for count in self.counts.values() if count.eager), "")


@dataclass(slots=True)
class BreakStory:
    """One break: its first event, how many processes met it, and whether it sent a whole frame to Python."""

    event: Event
    processes: set[str]
    whole: bool


@dataclass(slots=True)
class Process:
    """One process's totals."""

    facts: Facts
    file: str
    pid: int
    counts: Counts = field(default_factory=Counts)
    breaks: int = 0
    errors: int = 0
    unfinished: int = 0
    limits: int = 0
    eager: int = 0
    phases: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))

    @property
    def rank(self) -> int | None:
        return self.facts.rank

    @property
    def label(self) -> str:
        return self.facts.process


class Group(NamedTuple):
    """Ranks that did the same: which, one of their counts, and the most seconds that one of them compiled."""

    ranks: tuple[int, ...]
    counts: Counts
    seconds: float


class More(NamedTuple):
    """A reason that the odd ranks recompiled for more often: how often one of them and one of the others, and when
    first."""

    why: Why
    times: int
    others: int
    at: str


class Difference(NamedTuple):
    """One thing that ranks do not have in common, the odd ranks last.

    `kind` is `frame` (how often, with what end), `ops` (other graphs), `cache` (who found compiled code and who made
    it) or `collectives` (not the same sequence, `at` the place of the first other one). `whys` are what the odd ranks
    recompiled for more often, `extra_s` how much longer the slowest rank compiled this than the quickest.
    """

    kind: str
    frame: Frame
    groups: tuple[Group, ...]
    whys: tuple[More, ...] = ()
    extra_s: float = 0.0
    at: int = 0


@dataclass(slots=True)
class Job:
    """Folds events; ask when all are taken."""

    frames: dict[Frame, FrameStory] = field(default_factory=dict)
    breaks: dict[tuple[str, int, str], BreakStory] = field(default_factory=dict)
    errors: list[Event] = field(default_factory=list)
    unfinished: list[Event] = field(default_factory=list)
    damage: Counter[str] = field(default_factory=Counter)
    processes: dict[str, Process] = field(default_factory=dict)
    files: dict[str, Mapping[str, int]] = field(default_factory=dict)
    """How many records of each kind every file has."""
    frames_left_out: int = 0
    _whys: int = 0

    def know(self, facts: Facts, file: str, pid: int) -> None:
        """Tell of a process before its first event is taken."""
        if facts.process not in self.processes:
            self.processes[facts.process] = Process(facts, file, pid)

    def take(self, event: Event) -> None:
        """Count one event of a known process."""
        process = self.processes[event["process"]]
        match event["event"]:
            case "damage":
                self.damage[event["kind"]] += 1
            case "break":
                self._break(event, process)
            case "recompile":
                self._recompile(event, process)
            case "unfinished":
                process.unfinished += 1
                if len(self.unfinished) < ERRORS_MAX:
                    self.unfinished.append(event)
            case kind:
                self._ended(kind, event, process)

    def _break(self, event: Event, process: Process) -> None:
        key = (event["file"], event["line"], event["reason"])
        known = self.breaks.get(key)
        if known is not None:
            known.whole |= event["whole_frame_eager"]
            process.breaks += process.label not in known.processes
            known.processes.add(process.label)
            return
        process.breaks += 1
        if len(self.breaks) < BREAKS_MAX:
            self.breaks[key] = BreakStory(event, {process.label}, event["whole_frame_eager"])

    def _recompile(self, event: Event, process: Process) -> None:
        process.counts.recompiles += 1
        story = self._story(event)
        if story is None:
            return
        story.counts.setdefault(process.label, Counts()).recompiles += 1
        key = (event["kind"], _DIGITS.sub("#", event["about"]))
        why = story.whys.get(key)
        if why is None:
            if len(story.whys) >= WHYS_MAX or self._whys >= ALL_WHYS_MAX:
                return
            self._whys += 1
            why = story.whys[key] = Why(_short(event))
        why.times += 1
        why.last = _short(event)
        why.by_process[process.label] += 1
        why.first.setdefault(process.label, event["at"])

    def _ended(self, kind: str, event: Event, process: Process) -> None:
        for name in PHASES:
            process.phases[name] += event["phases"].get(name, 0.0)
        if kind == "error":
            process.errors += 1
            if len(self.errors) < ERRORS_MAX:
                self.errors.append(event)
        story = self._story(event)
        own = story.counts.setdefault(process.label, Counts()) if story is not None else None
        if story is not None:
            story.called_from = story.called_from or event.get("called_from", "")
        eager = event["why"] if kind == "eager" else "error" if kind == "error" else ""
        for counts in (process.counts, *([own] if own is not None else [])):
            counts.seconds += event["seconds"]
            counts.compiles += kind != "backward" and eager != "limit"
            counts.graphs += kind == "graph"
            counts.limit |= eager == "limit"
            counts.eager = eager or counts.eager
            if kind == "graph" and len(counts.ops) < OPS_MAX:
                counts.ops.append(event["ops"])
        process.limits += eager == "limit"
        process.eager += bool(eager) and eager not in ("limit", "error")

    def _story(self, event: Event) -> FrameStory | None:
        frame = Frame(event["fn"], event["file"], event["line"], event["resumed"])
        story = self.frames.get(frame)
        if story is None:
            if len(self.frames) >= FRAMES_MAX:
                self.frames_left_out += 1
                return None
            story = self.frames[frame] = FrameStory(frame)
        return story

    # --- what is asked ------------------------------------------------------------------------------------------------

    def told(self) -> list[Process]:
        """Processes by rank, those without one last, and each in the order they began."""
        return sorted(self.processes.values(), key=lambda p: (p.rank is None, p.rank or 0, p.facts.first, p.label))

    def ranks(self) -> dict[int, Process]:
        """The newest process of each rank: an older one belongs to a run before."""
        return {process.rank: process for process in self.told() if process.rank is not None}

    def older(self) -> int:
        """Processes of a rank that was started again."""
        return sum(process.rank is not None for process in self.processes.values()) - len(self.ranks())

    def phases(self) -> dict[str, float]:
        """Seconds by phase over all processes."""
        return {name: sum(p.phases[name] for p in self.processes.values()) for name in PHASES}

    def caches(self) -> tuple[int, int]:
        """How often compiled code was found, and made anew."""
        found = [process.facts.caches for process in self.processes.values()]
        return sum(sum(_hits(each)) for each in found), sum(sum(_misses(each)) for each in found)

    def slowest(self) -> list[FrameStory]:
        """Frames, those that cost the most time first."""
        return sorted(self.frames.values(), key=lambda story: (-story.seconds, story.frame.file, story.frame.line))

    def unknown(self) -> dict[str, int]:
        """Kinds of records that this reader has never heard of, and how many there are."""
        found: Counter[str] = Counter()
        for kinds in self.files.values():
            found.update({kind: count for kind, count in kinds.items() if kind not in KNOWN})
        return dict(found.most_common())

    def silent(self) -> list[Process]:
        """Processes that compiled and never said how it ended: killed at once, or with other records than these."""
        return [p for p in self.told() if p.facts.starts and not p.facts.metrics]

    def extremes(self) -> tuple[Process, Process] | None:
        """The rank that compiled longest and the one that compiled least; None with fewer than two."""
        ranks = sorted(self.ranks().values(), key=lambda process: process.counts.seconds)
        return (ranks[-1], ranks[0]) if len(ranks) > 1 else None

    def differences(self) -> list[Difference]:
        """Where ranks do not do the same, what costs the others most first."""
        ranks = self.ranks()
        if len(ranks) < 2:
            return []
        found = [each for story in self.frames.values() if (each := _frame_difference(story, ranks)) is not None]
        found.sort(key=lambda each: (-each.extra_s, each.frame.file, each.frame.line))
        return [*found, *_cache_difference(ranks), *_collective_difference(ranks)]


def _short(event: Event) -> Event:
    return {name: value for name, value in event.items() if name != "reasons"}


def _grouped(by_rank: Mapping[int, Any], counts: Mapping[int, Counts]) -> tuple[Group, ...]:
    """Ranks by what they did, the largest group first; of two alike the one that compiled less."""
    groups: dict[Any, list[int]] = {}
    for rank, outcome in sorted(by_rank.items()):
        groups.setdefault(outcome, []).append(rank)
    made = [
        Group(tuple(ranks), counts[ranks[0]], max(counts[rank].seconds for rank in ranks)) for ranks in groups.values()
    ]
    return tuple(sorted(made, key=lambda group: (-len(group.ranks), group.counts.compiles, group.ranks)))


def _frame_difference(story: FrameStory, ranks: Mapping[int, Process]) -> Difference | None:
    counts = {rank: story.counts.get(process.label, Counts()) for rank, process in ranks.items()}
    groups = _grouped({rank: count.outcome() for rank, count in counts.items()}, counts)
    kind = "frame"
    if len(groups) == 1:
        groups, kind = _grouped({rank: tuple(count.ops) for rank, count in counts.items()}, counts), "ops"
        if len(groups) == 1:
            return None
    usual = [ranks[rank].label for rank in groups[0].ranks]
    odd = [ranks[rank].label for group in groups[1:] for rank in group.ranks]
    whys = [more for why in story.whys.values() if (more := _more(why, usual, odd)) is not None]
    seconds = [count.seconds for count in counts.values()]
    return Difference(kind, story.frame, groups, tuple(whys), max(seconds) - min(seconds))


def _more(why: Why, usual: Sequence[str], odd: Sequence[str]) -> More | None:
    most = max(odd, key=lambda label: why.by_process[label])
    times, others = why.by_process[most], max(why.by_process[label] for label in usual)
    return More(why, times, others, why.first[most]) if times > others else None


def _cache_difference(ranks: Mapping[int, Process]) -> list[Difference]:
    """Who found compiled code where others had to make it."""
    found = {
        rank: (any(_hits(process.facts.caches)), any(_misses(process.facts.caches)))
        for rank, process in ranks.items()
        if process.facts.caches
    }
    counts = {rank: ranks[rank].counts for rank in found}
    seconds = [count.seconds for count in counts.values()]
    if len(set(found.values())) < 2 or max(seconds) - min(seconds) < CACHE_S:
        return []  # Ranks of one machine race for an entry, and who comes second finds it: that alone costs nobody.
    return [Difference("cache", Frame(), _grouped(found, counts), (), max(seconds) - min(seconds))]


def _hits(caches: Mapping[str, int]) -> Iterable[int]:
    return (count for name, count in caches.items() if name.endswith("_hit"))


def _misses(caches: Mapping[str, int]) -> Iterable[int]:
    return (count for name, count in caches.items() if not name.endswith("_hit"))


def _collective_difference(ranks: Mapping[int, Process]) -> list[Difference]:
    schedules = {rank: tuple(process.facts.collectives) for rank, process in ranks.items()}
    groups = _grouped(schedules, {rank: process.counts for rank, process in ranks.items()})
    if len(groups) == 1:
        return []
    usual, other = schedules[groups[0].ranks[0]], schedules[groups[1].ranks[0]]
    return [Difference("collectives", Frame(), groups, at=_first_other(usual, other))]


def _first_other(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
