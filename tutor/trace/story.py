"""What a job's traces say, as lines for people: the most expensive first, nothing repeated (pure).

What comes from a trace is in the lines as it is there: whoever shows them makes it safe for the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from unicodedata import east_asian_width

from tutor.lab.breaks import is_library
from tutor.language import Lang
from tutor.strings import say, text
from tutor.trace.advice import advise
from tutor.trace.facts import Event
from tutor.trace.fields import PHASES, Frame, short
from tutor.trace.files import Found
from tutor.trace.job import Counts, Difference, FrameStory, Group, Job, Process, Why

#: Rows of each part; the rest is counted, and `--json` has it.
PROCESSES, FRAMES, WHYS, BREAKS, DIFFERENCES, ERRORS, RANKS = 24, 10, 4, 12, 8, 6, 8
#: Characters of one text of the program's or of torch's.
TEXT = 160

_NUMBERS = ("compiles", "graphs", "recompiles", "breaks", "python", "errors", "seconds")


class Said(NamedTuple):
    """One sentence, title or row of a table; an empty text is an empty line. Only a sentence may be wrapped."""

    text: str
    indent: int = 0
    title: bool = False
    row: bool = False


class Telling:
    """Gathers lines in one language."""

    def __init__(self, lang: Lang) -> None:
        self.lang = lang
        self.lines: list[Said] = []

    def text(self, key: str, /, **fields: str | int | float) -> str:
        """A sentence of the section."""
        return text(self.lang, f"trace.{key}", **fields)

    def say(self, words: str, indent: int = 0) -> None:
        """One sentence."""
        self.lines.append(Said(words, indent))

    def part(self, title: str) -> None:
        """The title of a part, under an empty line."""
        self.lines += [Said(""), Said(title, title=True)]

    def row(self, first: str, cells: Sequence[str], widths: Sequence[int], head: int) -> None:
        """A table's row: the first cell to the left, the others to the right."""
        padded = [" " * max(0, width - _cells(cell)) + cell for cell, width in zip(cells, widths, strict=True)]
        self.lines.append(Said(" ".join([first + " " * max(0, head - _cells(first)), *padded]), row=True))


def tell(job: Job, differences: list[Difference], lang: Lang) -> list[Said]:
    """The whole story, without the line that names what was read."""
    told = Telling(lang)
    _span(job, told)
    _processes(job, told)
    _differences(job, differences, told)
    _frames(job, told)
    _breaks(job, told)
    _errors(job, told)
    _time(job, told)
    advice = advise(job, differences)
    if advice:
        told.part(told.text("do"))
        for number, (_, message) in enumerate(advice, 1):
            told.say(f"{number}. {say(lang, message)}", 2)
    _reliable(job, told)
    return told.lines


def head(path: str, found: Found, job: Job, lang: Lang) -> Said:
    """The line that names what was read."""
    told = Telling(lang)
    versions = sorted({process.facts.torch for process in job.processes.values() if process.facts.torch})
    size = f"{found.size / 1e6:.1f} MB" if found.size >= 1e6 else f"{found.size / 1e3:.0f} KB"
    torch = ", ".join(versions[:3]) or told.text("torch-unsaid")
    return Said(told.text("head", path=path, files=len(found.files), size=size, torch=torch))


def _span(job: Job, told: Telling) -> None:
    """When the job compiled, and how long in all."""
    facts = [process.facts for process in job.processes.values() if process.facts.first]
    if facts:
        first, last = min(each.first for each in facts), max(each.last for each in facts)
        seconds = sum(process.counts.seconds for process in job.processes.values())
        told.say(told.text("span", first=first, last=last, seconds=f"{seconds:.1f}"))


def _cells(words: str) -> int:
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in words)


def named(process: Process) -> str:
    """A process by its rank, by its number where it has none."""
    return process.label if process.rank is None else f"rank {process.rank}"


def place(frame: Frame) -> str:
    """Where a frame begins."""
    return f"{short(frame.file)}:{frame.line}" if frame.file else "?"


def guard(event: Event, told: Telling, last: Event | None = None) -> str:
    """The guard that failed: both sides where torch names them, else what held before and does not now.

    `last` is the last failure of many of one kind.
    """
    sides = bool(event["was"] and event["now"])
    if event["about"].startswith("Unexpected recompilation"):  # From torch 2.14 on.
        return told.text("why-unsaid")
    ends = [_clip(each["why" if sides else "about"]) for each in (event, last or event)]
    words = ends[0] if ends[0] == ends[1] else " ... ".join(ends)
    if sides:
        return words
    if event["kind"] in ("grad_mode", "global"):
        return told.text("why-changed", about=words)
    # Of a length torch says what it is not, of everything else what it should be.
    return told.text("why-now" if event["about"].startswith("len(") else "why-no-more", about=words)


def _clip(text: str, most: int = TEXT) -> str:
    first = text.strip().partition("\n")[0].strip()
    return first if len(first) <= most else first[:most] + "..."


# --- processes and ranks ----------------------------------------------------------------------------------------------


def _processes(job: Job, told: Telling) -> None:
    processes = job.told()
    if not any(process.facts.starts or process.counts.compiles for process in processes):
        told.say(told.text("nothing"))
        return
    newest = {process.label for process in job.ranks().values()}
    rows, hidden = _alike(processes)
    heads = [told.text(f"col-{name}") for name in _NUMBERS]
    names = {p.label: named(p) + ("" if p.rank is None or p.label in newest else f" ({p.label})") for p in rows}
    numbers = [heads, *map(_numbers, rows)]
    widths = [max(5, *map(_cells, column)) for column in zip(*numbers, strict=True)]
    head = max(map(len, names.values()))
    told.say("")
    told.row("", heads, widths, head)
    for process in rows:
        told.row(names[process.label], _numbers(process), widths, head)
    for label, count in hidden.items():
        told.say(told.text("alike", count=count, label=names[label]), 2)
    if job.older():
        told.say(told.text("older", count=job.older()), 2)
    if len(processes) > 1 and not job.ranks():
        told.say(told.text("several"), 2)


def _numbers(process: Process) -> list[str]:
    counts = process.counts
    python = process.eager + process.limits
    whole = (counts.compiles, counts.graphs, counts.recompiles, process.breaks, python, process.errors)
    return [*map(str, whole), f"{counts.seconds:.1f}"]


def _alike(processes: Sequence[Process]) -> tuple[list[Process], dict[str, int]]:
    """The rows to show when there are many: of processes with the same counts the first."""
    if len(processes) <= PROCESSES:
        return list(processes), {}
    first: dict[tuple[str, ...], Process] = {}
    hidden: dict[str, int] = {}
    for process in processes:
        shown = first.setdefault(tuple(_numbers(process)[:-1]), process)
        if shown is not process:
            hidden[shown.label] = hidden.get(shown.label, 0) + 1
    rows = list(first.values())
    return rows, {label: count for label, count in hidden.items() if any(row.label == label for row in rows)}


def _differences(job: Job, differences: list[Difference], told: Telling) -> None:
    if not differences:
        return
    told.part(told.text("ranks-differ"))
    for one in differences[:DIFFERENCES]:
        groups = told.text("and").join(_did(one, group, told) for group in one.groups[:RANKS])
        where = place(one.frame)
        told.say(told.text(f"differs-{one.kind}", fn=one.frame.fn, place=where, groups=groups, at=one.at + 1), 2)
        for more in one.whys[:WHYS]:
            counts = {"times": more.times, "others": more.others}
            told.say(told.text("differs-why", why=guard(more.why.event, told), at=more.at, **counts), 4)
    ends = job.extremes()
    if ends is not None and ends[0].counts.seconds - ends[1].counts.seconds >= 0.05:
        slow, quick = ({"who": named(process), "s": f"{process.counts.seconds:.1f}"} for process in ends)
        fields = {"slow": slow["who"], "most": slow["s"], "quick": quick["who"], "least": quick["s"]}
        told.say(told.text("differs-wait", **fields), 2)


def _did(one: Difference, group: Group, told: Telling) -> str:
    ranks, counts = ranks_text(group.ranks), group.counts
    match one.kind:
        case "frame" if not counts.compiles:
            return told.text("did-not", ranks=ranks)
        case "frame":
            return told.text("did-frame", ranks=ranks, compiles=counts.compiles, end=_end(counts, told))
        case "ops":
            return told.text("did-ops", ranks=ranks, ops=" ".join(map(str, counts.ops[:6])))
        case "cache":
            return told.text(f"did-cache-{'found' if group is quickest(one) else 'made'}", ranks=ranks)
    return told.text("did-collectives", ranks=ranks)


def quickest(one: Difference) -> Group:
    """The group that compiled least, which is the one that found its code."""
    return min(one.groups, key=lambda group: group.seconds)


def _end(counts: Counts, told: Telling) -> str:
    if counts.limit:
        return told.text("did-limit")
    return told.text("did-eager") if counts.eager else ""


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


def _frames(job: Job, told: Telling) -> None:
    stories = [story for story in job.slowest() if story.total("compiles") or story.limit]
    if not stories:
        return
    told.part(told.text("frames"))
    limit = max((process.facts.limit for process in job.processes.values()), default=0)
    worth = sorted(stories, key=lambda story: not (story.limit or story.whys or story.eager))
    shown = set(map(id, worth[:FRAMES]))
    for story in (each for each in stories if id(each) in shown):
        _frame(story, limit, told)
    if len(stories) > FRAMES:
        told.say(told.text("frames-more", count=len(stories) - FRAMES), 2)
    if job.frames_left_out:
        told.say(told.text("frames-overflow", count=job.frames_left_out), 2)


def _frame(story: FrameStory, limit: int, told: Telling) -> None:
    frame = story.frame
    piece = told.text("piece", line=frame.resumed) if frame.resumed is not None else ""
    names = {"fn": frame.fn, "place": place(frame), "piece": piece, "seconds": f"{story.seconds:.2f}"}
    counts = {"compiled": story.total("compiles"), "graphs": story.total("graphs")}
    told.say(told.text("frame", **names, **counts) + _many(story, told), 2)
    if story.called_from and is_library(frame.file):
        told.say(told.text("why-called", where=_called(story.called_from)), 4)
    for why in sorted(story.whys.values(), key=lambda why: -why.times)[:WHYS]:
        _why(why, told)
    if story.limit:
        told.say(told.text("frame-limit", limit=limit), 4)
    elif story.eager in ("break", "gave-up", "error"):
        told.say(told.text(f"frame-{story.eager}"), 4)


def _many(story: FrameStory, told: Telling) -> str:
    return told.text("frame-in", processes=len(story.counts)) if len(story.counts) > 1 else ""


def _why(why: Why, told: Telling) -> None:
    event = why.event
    words = guard(event, told, why.last)
    told.say(
        told.text("why-once", why=words) if why.times == 1 else told.text("why-times", times=why.times, why=words), 4
    )
    if event["code"]:
        told.say(told.text("why-code", line=event["code_line"], code=_clip(event["code"])), 6)
    elif event["called_from"] and not is_library(event["file"]):
        told.say(told.text("why-called", where=_called(event["called_from"])), 6)


def _called(where: str) -> str:
    file, _, rest = where.partition(":")
    return _clip(f"{short(file)}:{rest}")


def _breaks(job: Job, told: Telling) -> None:
    if not job.breaks:
        return
    told.part(told.text("breaks"))
    stories = sorted(job.breaks.values(), key=lambda one: not one.whole)
    for one in stories[:BREAKS]:
        event = one.event
        where = f"{short(event['file'])}:{event['line']}" if event["file"] else "?"
        told.say(told.text("break", place=where, fn=event["fn"], text=_clip(event["text"]) or "-"), 2)
        key = "break-whole" if one.whole else "break-reason"
        told.say(told.text(key, reason=_clip(event["reason"]) or "-"), 4)
    if len(stories) > BREAKS:
        told.say(told.text("breaks-more", count=len(stories) - BREAKS), 2)


def _errors(job: Job, told: Telling) -> None:
    if job.errors:
        told.part(told.text("errors"))
    for event in job.errors[:ERRORS]:
        more = next((row for row in map(str.strip, event["text"].splitlines()[1:]) if row), "")
        words = f"{_clip(event['text'])} {_clip(more)}".strip()
        where = f"{short(event['fail_file'])}:{event['fail_line']}"
        told.say(told.text("error", fn=event["fn"], place=where, type=event["type"], text=words), 2)


# --- time, and what is not there --------------------------------------------------------------------------------------


def _time(job: Job, told: Telling) -> None:
    phases = job.phases()
    total = sum(phases.values())
    if total <= 0:
        return
    told.part(told.text("time"))
    for name in PHASES:
        if phases[name] >= 0.005:
            percent = round(100 * phases[name] / total)
            label = told.text(f"phase-{name}")
            told.say(told.text("phase", name=label, seconds=f"{phases[name]:.2f}", percent=percent), 2)
    hits, misses = job.caches()
    if hits or misses:
        told.say(told.text("caches", hits=hits, misses=misses), 2)


def _reliable(job: Job, told: Telling) -> None:
    told.part(told.text("reliable"))
    for doubt in [*_doubts(job, told), told.text("not-calls")]:
        told.say(doubt, 2)


def _doubts(job: Job, told: Telling) -> Iterator[str]:
    for kind, count in job.damage.items():
        yield told.text(f"damage-{kind}", count=count)
    unknown = job.unknown()
    if unknown:
        kinds = ", ".join(f"{kind} ({count})" for kind, count in list(unknown.items())[:6])
        yield told.text("unknown", kinds=kinds)
    for process in job.silent()[:4]:
        yield told.text("silent", label=named(process), starts=process.facts.starts)
    for event in job.unfinished[:3]:
        frame = f"{event['fn']} ({short(event['file'])}:{event['line']})"
        yield f"{frame}: " + told.text("frame-unfinished")
