"""What a job's traces say, as lines for people: 80 columns, the most expensive first, nothing repeated."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence

from tutor.cli.output import Output
from tutor.lab import trace_advice
from tutor.lab.trace_facts import PHASES, Event, Frame, short
from tutor.lab.trace_job import Counts, Difference, FrameStory, Group, Job, Process, Why
from tutor.literals import safe_text

#: Rows of each part; the rest is counted, and `--json` has it.
PROCESSES, FRAMES, WHYS, BREAKS, DIFFERENCES, ERRORS, RANKS = 24, 10, 4, 12, 8, 6, 8
#: Characters of one text of the program's or of torch's.
TEXT = 160
COLUMNS = 80

_NUMBERS = ("compiles", "graphs", "recompiles", "breaks", "python", "errors", "seconds")


class Lines:
    """Says lines, wrapped by the width of what stands in the terminal's cells."""

    def __init__(self, out: Output) -> None:
        from rich.console import Console

        self._out = out
        self._width = min(120, max(40, shutil.get_terminal_size((COLUMNS, 24)).columns))
        self._console = Console(width=self._width, color_system=None)

    def say(self, text: str, indent: int = 0) -> None:
        """One sentence, its further lines two cells further in."""
        from rich.text import Text

        room = self._width - indent - 2
        plain = Text(safe_text(text, 4 * TEXT))
        for number, line in enumerate(plain.wrap(self._console, room, overflow="fold")):
            self._out.result(" " * (indent + 2 * (number > 0)) + line.plain.rstrip())

    def part(self, title: str) -> None:
        """The title of a part, under an empty line."""
        self._out.result()
        self._out.result(title)

    def row(self, first: str, cells: Sequence[str], widths: Sequence[int], head: int) -> None:
        """A table's row: the first cell to the left, the others to the right."""
        from rich.cells import cell_len, set_cell_size

        padded = [" " * max(0, width - cell_len(cell)) + cell for cell, width in zip(cells, widths, strict=True)]
        self._out.result("  " + "  ".join([set_cell_size(safe_text(first, TEXT), head), *padded]).rstrip())


def tell(job: Job, differences: list[Difference], advice: list[str], out: Output) -> None:
    """The whole story, without its first line, which names what was read."""
    lines = Lines(out)
    _processes(job, lines, out)
    _differences(differences, lines, out)
    _frames(job, lines, out)
    _breaks(job, lines, out)
    _errors(job, lines, out)
    _time(job, lines, out)
    if advice:
        lines.part(out.text("trace.do"))
        for number, text in enumerate(advice, 1):
            lines.say(f"{number}. {text}", 2)
    _reliable(job, lines, out)


def named(process: Process) -> str:
    """A process by its rank; one that is not its rank's only one by its number too."""
    return process.label if process.rank is None else f"rank {process.rank}"


def place(frame: Frame) -> str:
    """Where a frame begins."""
    return f"{short(frame.file)}:{frame.line}" if frame.file else "?"


def guard(event: Event, out: Output) -> str:
    """The guard that failed: both sides where torch names them, else what held before and does not now."""
    if event["was"] and event["now"]:
        return _clip(event["why"])
    key = "trace.why-changed" if event["kind"] in ("grad_mode", "global") else "trace.why-no-more"
    return out.text(key, about=_clip(event["about"]))


def _clip(text: str, most: int = TEXT) -> str:
    first = text.strip().partition("\n")[0].strip()
    return first if len(first) <= most else first[:most] + "..."


# --- processes and ranks ----------------------------------------------------------------------------------------------


def _processes(job: Job, lines: Lines, out: Output) -> None:
    from rich.cells import cell_len

    told = job.told()
    newest = {process.label for process in job.ranks().values()}
    rows, hidden = _alike(told)
    heads = [out.text(f"trace.col-{name}") for name in _NUMBERS]
    names = {p.label: named(p) + ("" if p.rank is None or p.label in newest else f" ({p.label})") for p in rows}
    widths = [max(cell_len(head), 6) for head in heads]
    head = max([cell_len(out.text("trace.col-process")), *map(len, names.values())], default=0)
    out.result()
    lines.row(out.text("trace.col-process"), heads, widths, head)
    for process in rows:
        lines.row(names[process.label], _numbers(process), widths, head)
    for label, count in hidden.items():
        lines.say(out.text("trace.alike", count=count, label=names[label]), 2)
    if job.older():
        lines.say(out.text("trace.older", count=job.older()), 2)
    if len(told) > 1 and not job.ranks():
        lines.say(out.text("trace.several"), 2)
    if not any(process.facts.starts or process.counts.compiles for process in told):
        lines.say(out.text("trace.nothing"), 2)


def _numbers(process: Process) -> list[str]:
    counts = process.counts
    python = process.eager + process.limits
    whole = (counts.compiles, counts.graphs, counts.recompiles, process.breaks, python, process.errors)
    return [*map(str, whole), f"{counts.seconds:.1f}"]


def _alike(told: Sequence[Process]) -> tuple[list[Process], dict[str, int]]:
    """The rows to show when there are many: of processes with the same counts the first."""
    if len(told) <= PROCESSES:
        return list(told), {}
    first: dict[tuple[str, ...], Process] = {}
    hidden: dict[str, int] = {}
    for process in told:
        shown = first.setdefault(tuple(_numbers(process)[:-1]), process)
        if shown is not process:
            hidden[shown.label] = hidden.get(shown.label, 0) + 1
    rows = list(first.values())
    return rows, {label: count for label, count in hidden.items() if any(row.label == label for row in rows)}


def _differences(differences: list[Difference], lines: Lines, out: Output) -> None:
    if not differences:
        return
    lines.part(out.text("trace.ranks-differ"))
    for one in differences[:DIFFERENCES]:
        groups = ", ".join(_did(one, group, out) for group in one.groups[:RANKS])
        where = place(one.frame)
        lines.say(out.text(f"trace.differs-{one.kind}", fn=one.frame.fn, place=where, groups=groups, at=one.at + 1), 2)
        for why in one.whys[:WHYS]:
            shown = guard(why.event, out)
            lines.say(out.text("trace.differs-why", why=shown, times=why.times, at=why.event["at"]), 4)
    extra = sum(one.extra_s for one in differences if one.kind == "frame")
    if extra >= 0.05:
        lines.say(out.text("trace.differs-wait", seconds=f"{extra:.1f}"), 2)


def _did(one: Difference, group: Group, out: Output) -> str:
    ranks, counts = ranks_text(group.ranks), group.counts
    match one.kind:
        case "frame" if not counts.compiles:
            return out.text("trace.did-not", ranks=ranks)
        case "frame":
            return out.text("trace.did-frame", ranks=ranks, compiles=counts.compiles, end=_end(counts, out))
        case "ops":
            return out.text("trace.did-ops", ranks=ranks, ops=" ".join(map(str, counts.ops[:6])))
        case "cache":
            return out.text(f"trace.did-cache-{'found' if group is quickest(one) else 'made'}", ranks=ranks)
    return out.text("trace.did-collectives", ranks=ranks)


def quickest(one: Difference) -> Group:
    """The group that compiled least, which is the one that found its code."""
    return min(one.groups, key=lambda group: group.seconds)


def _end(counts: Counts, out: Output) -> str:
    if counts.limit:
        return out.text("trace.did-limit")
    return out.text("trace.did-eager") if counts.eager else ""


def ranks_text(ranks: Sequence[int]) -> str:
    """`rank 0-3,7`."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    shown = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs[:RANKS])
    return f"rank {shown}" + (",..." if len(runs) > RANKS else "")


# --- frames, breaks, errors -------------------------------------------------------------------------------------------


def _frames(job: Job, lines: Lines, out: Output) -> None:
    stories = [story for story in job.slowest() if story.total("compiles") or story.limit]
    if not stories:
        return
    lines.part(out.text("trace.frames"))
    limit = max((process.facts.limit for process in job.processes.values()), default=0)
    worth = sorted(stories, key=lambda story: not (story.limit or story.whys or story.eager))
    shown = set(map(id, worth[:FRAMES]))
    for story in (each for each in stories if id(each) in shown):
        _frame(story, limit, lines, out)
    if len(stories) > FRAMES:
        lines.say(out.text("trace.frames-more", count=len(stories) - FRAMES), 2)
    if job.frames_left_out:
        lines.say(out.text("trace.frames-overflow", count=job.frames_left_out), 2)


def _frame(story: FrameStory, limit: int, lines: Lines, out: Output) -> None:
    frame = story.frame
    piece = out.text("trace.piece", line=frame.resumed) if frame.resumed is not None else ""
    names = {"fn": frame.fn, "place": place(frame), "piece": piece, "seconds": f"{story.seconds:.2f}"}
    counts = {"compiled": story.total("compiles"), "graphs": story.total("graphs")}
    lines.say(out.text("trace.frame", **names, **counts), 2)
    for why in sorted(story.whys.values(), key=lambda why: -why.times)[:WHYS]:
        _why(why, lines, out)
    if story.limit:
        lines.say(out.text("trace.frame-limit", limit=limit), 4)
    elif story.eager in ("break", "gave-up", "error"):
        lines.say(out.text(f"trace.frame-{story.eager}"), 4)


def _why(why: Why, lines: Lines, out: Output) -> None:
    event = why.event
    if why.times == 1:
        lines.say(out.text("trace.why-once", why=guard(event, out)), 4)
    else:
        lines.say(out.text("trace.why-times", times=why.times, why=guard(event, out), last=_clip(why.last)), 4)
    if event["code"]:
        lines.say(out.text("trace.why-code", line=event["code_line"], code=_clip(event["code"])), 6)
    elif event["called_from"]:
        file, _, rest = event["called_from"].partition(":")
        lines.say(out.text("trace.why-called", where=_clip(f"{short(file)}:{rest}")), 6)


def _breaks(job: Job, lines: Lines, out: Output) -> None:
    if not job.breaks:
        return
    lines.part(out.text("trace.breaks"))
    stories = sorted(job.breaks.values(), key=lambda one: not one.whole)
    for one in stories[:BREAKS]:
        event = one.event
        where = f"{short(event['file'])}:{event['line']}" if event["file"] else "?"
        lines.say(out.text("trace.break", place=where, fn=event["fn"], text=_clip(event["text"]) or "-"), 2)
        key = "trace.break-whole" if one.whole else "trace.break-reason"
        lines.say(out.text(key, reason=_clip(event["reason"]) or "-"), 4)
    if len(stories) > BREAKS:
        lines.say(out.text("trace.breaks-more", count=len(stories) - BREAKS), 2)


def _errors(job: Job, lines: Lines, out: Output) -> None:
    if job.errors:
        lines.part(out.text("trace.errors"))
    for event in job.errors[:ERRORS]:
        text = next((row for row in map(str.strip, event["text"].splitlines()[1:]) if row), "")
        told = f"{_clip(event['text'])} {_clip(text)}".strip()
        where = f"{short(event['fail_file'])}:{event['fail_line']}"
        lines.say(out.text("trace.error", fn=event["fn"], place=where, type=event["type"], text=told), 2)


# --- time, and what is not there --------------------------------------------------------------------------------------


def _time(job: Job, lines: Lines, out: Output) -> None:
    phases = job.phases()
    total = sum(phases.values())
    if total <= 0:
        return
    lines.part(out.text("trace.time"))
    for name in PHASES:
        if phases[name] >= 0.005:
            percent = round(100 * phases[name] / total)
            label = out.text(f"trace.phase-{name}")
            lines.say(out.text("trace.phase", name=label, seconds=f"{phases[name]:.2f}", percent=percent), 2)
    hits, misses = caches(job.processes.values())
    if hits or misses:
        lines.say(out.text("trace.caches", hits=hits, misses=misses), 2)


def caches(processes: Iterable[Process]) -> tuple[int, int]:
    """How often compiled code was found, and made anew."""
    found = [item for process in processes for item in process.facts.caches.items()]
    hits = sum(count for name, count in found if name.endswith("_hit"))
    return hits, sum(count for _, count in found) - hits


def _reliable(job: Job, lines: Lines, out: Output) -> None:
    said = list(_doubts(job, out))
    lines.part(out.text("trace.reliable"))
    for text in [*said, out.text("trace.not-calls")]:
        lines.say(text, 2)


def _doubts(job: Job, out: Output) -> Iterator[str]:
    for kind, count in job.damage.items():
        yield out.text(f"trace.damage-{kind}", count=count)
    unknown = job.unknown()
    if unknown:
        kinds = ", ".join(f"{kind} ({count})" for kind, count in list(unknown.items())[:6])
        yield out.text("trace.unknown", kinds=kinds)
    for process in job.silent()[:4]:
        yield out.text("trace.silent", label=named(process), starts=process.facts.starts)
    for event in _some(job.unfinished, 3):
        frame = f"{event['fn']} ({short(event['file'])}:{event['line']})"
        yield f"{frame}: " + out.text("trace.frame-unfinished")


def _some(events: Sequence[Event], most: int) -> Sequence[Event]:
    return events[:most]


def advice_texts(job: Job, differences: list[Difference], say: Callable[..., str]) -> list[tuple[str, str]]:
    """The advice as (id, sentence)."""
    return [(name, say(message)) for name, message in trace_advice.advise(job, differences)]
