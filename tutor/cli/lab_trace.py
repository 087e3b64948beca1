"""`lab --trace DIR`: a TORCH_TRACE folder explained, all ranks, running nothing and without torch."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tutor.cli.exits import Exit, Stop
from tutor.cli.output import LINE, Output
from tutor.cli.progress_line import ProgressLine
from tutor.context import Context
from tutor.literals import safe_text
from tutor.trace import advice as trace_advice
from tutor.trace import files as trace_files
from tutor.trace import story as trace_story
from tutor.trace.facts import Event
from tutor.trace.files import Found
from tutor.trace.job import Difference, FrameStory, Job
from tutor.trace.reading import Reading
from tutor.trace.story import Said

#: Bytes between two words about how far the reading is.
PROGRESS = 200 << 20
#: Events that only the reading itself needs.
_INSIDE = ("progress", "backward")


def run(_context: Context, args: argparse.Namespace, out: Output) -> int:
    """Explain the folder, or one file of it. Raises Stop."""
    path = Path(args.trace)
    try:
        found = trace_files.find_some(path)
    except trace_files.TraceError as error:
        raise Stop.saying(error.message) from error
    reading = Reading()
    for file in found.files:
        reading.add(file)
    with ProgressLine(out) as line:
        done = said = 0
        for event in reading.more():
            if event["event"] == "progress":
                done += event["bytes"]
                if done - said >= PROGRESS:
                    said = done
                    line.show(out.text("trace.reading", done=done >> 20, total=found.size >> 20))
            else:
                emit([event], out)
        line.show("")
    emit(reading.end(), out)
    if not reading.job.processes and reading.unreadable:
        name, reason = next(iter(reading.unreadable.items()))
        raise Stop("trace.unreadable", path=name, why=reason)
    unreadable = [*found.unreadable, *reading.unreadable.items()]
    if not out.as_json:
        say([trace_story.head(str(path), found, reading.job, out.lang)], out)
    conclude(reading.job, out, unreadable)
    _beside(found, unreadable, out)
    return Exit.GOOD


def _beside(found: Found, unreadable: list[tuple[str, str]], out: Output) -> None:
    for name, reason in unreadable[:8]:
        out.hint(out.text("trace.file-unreadable", name=name, why=reason))
    if found.others:
        out.hint(out.text("trace.file-others", count=len(found.others)))
    if found.left_out:
        out.hint(out.text("trace.file-too-many", most=trace_files.FILES_MAX))


def emit(events: Iterable[Event], out: Output) -> None:
    """Say events to a program, and use them up for people."""
    for event in events:
        if out.as_json and event["event"] not in _INSIDE:
            out.emit({"schema": 1, **event})


def conclude(job: Job, out: Output, unreadable: list[tuple[str, str]]) -> None:
    """What the whole job comes to: for people the story, for programs processes, frames, differences and a summary."""
    differences = job.differences()
    if not out.as_json:
        say(trace_story.tell(job, differences, out.lang), out)
        return
    for table in _tables(job, differences):
        out.emit({"schema": 1, **table})
    advice = [{"id": name, "text": out.say(message)} for name, message in trace_advice.advise(job, differences)]
    out.emit({"schema": 1, "event": "summary", **_summary(job, differences, unreadable), "advice": advice})


def say(lines: Iterable[Said], out: Output) -> None:
    """Lines for people, sentences wrapped at the width of the terminal, 80 cells where there is none."""
    from tutor.lines import wrap

    width = min(120, max(40, shutil.get_terminal_size((80, 24)).columns))
    for line in lines:
        lead = " " * line.indent
        for row in wrap([(safe_text(line.text, LINE), "plain")], width, first=lead, rest=lead + "  "):
            out.result(row.text)


def _tables(job: Job, differences: list[Difference]) -> Iterable[dict[str, Any]]:
    for process in job.told():
        facts, counts = process.facts, process.counts
        yield {
            "event": "process",
            "process": process.label,
            "rank": process.rank,
            "file": process.file,
            "pid": process.pid,
            "torch": facts.torch or None,
            "first": facts.first,
            "last": facts.last,
            "compiles": counts.compiles,
            "graphs": counts.graphs,
            "recompiles": counts.recompiles,
            "breaks": process.breaks,
            "eager_frames": process.eager + process.limits,
            "errors": process.errors,
            "unfinished": process.unfinished,
            "seconds": round(counts.seconds, 6),
            "phases": {name: round(value, 6) for name, value in process.phases.items()},
            "caches": dict(facts.caches),
            "records": dict(job.files[process.file]),
        }
    for story in job.slowest():
        yield {"event": "frame", **_frame(story)}
    for one in differences:
        yield {
            "event": "difference",
            "kind": one.kind,
            "fn": one.frame.fn,
            "file": one.frame.file,
            "line": one.frame.line,
            "groups": [
                {"ranks": list(group.ranks), "seconds": round(group.seconds, 6), **asdict(group.counts)}
                for group in one.groups
            ],
            "whys": [
                {"why": more.why.event["why"], "times": more.times, "elsewhere": more.others, "first": more.at}
                for more in one.whys
            ],
            "extra_seconds": round(one.extra_s, 6),
            "at": one.at if one.kind == "collectives" else None,
        }


def _frame(story: FrameStory) -> dict[str, Any]:
    frame = story.frame
    return {
        "fn": frame.fn,
        "file": frame.file,
        "line": frame.line,
        "resumed": frame.resumed,
        **{name: story.total(name) for name in ("compiles", "graphs", "recompiles")},
        "limit_reached": story.limit,
        "eager": story.eager or None,
        "seconds": round(story.seconds, 6),
        "processes": sorted(story.counts),
        "whys": [{"why": why.event["why"], "times": why.times} for why in story.whys.values()],
    }


def _summary(job: Job, differences: list[Difference], unreadable: list[tuple[str, str]]) -> dict[str, Any]:
    processes = job.processes.values()
    totals = {name: sum(getattr(p.counts, name) for p in processes) for name in ("compiles", "graphs", "recompiles")}
    hits, misses = job.caches()
    return {
        **totals,
        "breaks": len(job.breaks),
        "eager_calls": None,
        "eager_frames": sum(process.eager + process.limits for process in processes),
        "limit_reached": any(process.limits for process in processes),
        "errors": sum(process.errors for process in processes),
        "processes": len(processes),
        "ranks": sorted(job.ranks()),
        "differences": len(differences),
        "seconds": round(sum(process.counts.seconds for process in processes), 6),
        "phases": {name: round(value, 6) for name, value in job.phases().items()},
        "cache_hits": hits,
        "cache_misses": misses,
        "damage": dict(job.damage),
        "unknown_records": job.unknown(),
        "unreadable": [{"file": name, "why": reason} for name, reason in unreadable],
    }
