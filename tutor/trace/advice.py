"""What to do about what a job compiled, the most expensive first, each with its reason and its place (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from tutor.lab.breaks import is_library
from tutor.lab.watched import RECOMPILES
from tutor.model import Message
from tutor.trace.facts import Event
from tutor.trace.fields import short
from tutor.trace.job import BreakStory, Difference, FrameStory, Job

BreakKind = Literal["print", "item", "branch", "asked", "shape", "other"]

#: Characters of a guard or a line inside a sentence.
ABOUT_MAX = 60
#: Seconds of compiling from which a cache that is kept is worth a word.
COLD_S = 30.0

_BREAKS: tuple[tuple[BreakKind, re.Pattern[str]], ...] = (
    ("asked", re.compile(r"graph_break\b")),
    ("print", re.compile(r"\bprint\b|\blogg?(?:er|ing)?\.|\bwarnings\.warn", re.IGNORECASE)),
    ("branch", re.compile(r"data-dependent (?:branch|jump)|generic_jump", re.IGNORECASE)),
    ("item", re.compile(r"\bitem\b|\btolist\b|capture_scalar_outputs", re.IGNORECASE)),
    ("shape", re.compile(r"dynamic.(?:output.)?shape|nonzero", re.IGNORECASE)),
)


def kind_of(broke: Event) -> BreakKind:
    """Which of the usual causes a break has, from torch's reason and the line it stands on."""
    for kind, pattern in _BREAKS:
        if pattern.search(broke["reason"]):
            # Of a break that a library asks for the line in the user's code is a call like any other.
            return kind if kind != "asked" or "graph_break" in broke["text"] else "other"
    return "print" if "builtin" in broke["reason"] and _BREAKS[1][1].search(broke["text"]) else "other"


def advise(job: Job, differences: list[Difference]) -> list[tuple[str, Message]]:
    """An id and a sentence each, without repeating a kind."""
    return [*_errors(job), *_ranks(differences), *_limits(job), *_breaks(job), *_recompiles(job), *_cold(job)]


def _clip(words: str) -> str:
    return words if len(words) <= ABOUT_MAX else words[:ABOUT_MAX] + "..."


def _said(name: str, **fields: str | int | float) -> tuple[str, Message]:
    return name, Message(f"trace.advice-{name}", fields)


def _errors(job: Job) -> Iterator[tuple[str, Message]]:
    for error in job.errors[:1]:
        place = f"{short(error['fail_file'])}:{error['fail_line']}"
        yield _said("error", fn=error["fn"], place=place, type=error["type"], times=len(job.errors))


def _ranks(differences: list[Difference]) -> Iterator[tuple[str, Message]]:
    kinds = [difference.kind for difference in differences]
    if "collectives" in kinds:
        yield _said("collectives")
    frames = [difference for difference in differences if difference.kind == "frame"]
    guarded = next((difference for difference in frames if difference.whys), None)
    if guarded is not None:
        yield _said("ranks", about=_clip(guarded.whys[0].why.event["about"]), fn=guarded.frame.fn)
    elif frames:
        yield _said("ranks-some", fn=frames[0].frame.fn)
    if "ops" in kinds:
        yield _said("ops", fn=differences[kinds.index("ops")].frame.fn)
    if "cache" in kinds:
        yield _said("cache")


def _limits(job: Job) -> Iterator[tuple[str, Message]]:
    full = [story for story in job.slowest() if story.limit]
    if full:
        story = full[0]
        why = max(story.whys.values(), key=lambda why: why.times, default=None)
        about = why.event["about"] if why is not None else "-"
        limit = max((process.facts.limit for process in job.processes.values()), default=0)
        yield _said("limit", fn=story.frame.fn, place=_of(story), about=_clip(about), limit=limit, times=len(full))


def _breaks(job: Job) -> Iterator[tuple[str, Message]]:
    whole = [one for one in job.breaks.values() if one.whole]
    if whole:
        first = whole[0].event
        yield _said("whole-frame", fn=first["fn"], place=_place(first), times=len(whole))
    by_kind: dict[BreakKind, list[BreakStory]] = {}
    for one in job.breaks.values():
        by_kind.setdefault(kind_of(one.event), []).append(one)
    for kind, ones in sorted(by_kind.items(), key=lambda pair: -len(pair[1])):
        first = ones[0].event
        line = first["text"] or first["reason"]
        yield _said(f"break-{kind}", place=_place(first), text=_clip(line), times=len(ones))


def _recompiles(job: Job) -> Iterator[tuple[str, Message]]:
    found: dict[str, tuple[FrameStory, str, int]] = {}
    for story in job.slowest():
        for why in story.whys.values():
            name = RECOMPILES.get(why.event["kind"], "guards")
            first, about, times = found.get(name, (story, why.event["about"], 0))
            found[name] = (first, about, times + why.times)
    for name, (story, about, times) in sorted(found.items(), key=lambda pair: -pair[1][2]):
        yield _said(name, fn=story.frame.fn, place=_of(story), about=_clip(about), times=times)


def _cold(job: Job) -> Iterator[tuple[str, Message]]:
    hits, misses = job.caches()
    slowest = max((process.counts.seconds for process in job.processes.values()), default=0.0)
    if misses and not hits and slowest >= COLD_S:
        yield _said("cold", seconds=round(slowest))


def _place(event: Event) -> str:
    return f"{short(event['file'])}:{event['line']}"


def _of(story: FrameStory) -> str:
    """Where a frame begins; for one of a library's, where the user's code calls it, as far as torch said."""
    if story.called_from and is_library(story.frame.file):
        return short(story.called_from.split(" ", 1)[0])
    return f"{short(story.frame.file)}:{story.frame.line}"
