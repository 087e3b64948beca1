"""The break lab: one function whose breaking lines can be switched on, and what each line then ran as (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

#: The name that the function's file goes by in torch's words.
FILE = "break_lab.py"


class SourceLine(NamedTuple):
    """One line of the function. `switch` is its name when it can be off, `why` the kind of break it is then;
    `body` is False for a line that computes
    nothing by itself, such as `try:`."""

    text: str
    switch: str = ""
    why: str = ""
    body: bool = True


_HEAD = ("import logging", "import zlib", "import torch", "log = logging.getLogger('break_lab')")

FUNCTION: tuple[SourceLine, ...] = (
    SourceLine("def f(x, w):", body=False),
    SourceLine("    h = torch.relu(x @ w)"),
    SourceLine('    print("step", 1)', "B1", "print"),
    SourceLine("    h = h + 1"),
    SourceLine("    h = h * h.sum().item()", "B2", "item"),
    SourceLine("    h = h * 2 if h.sum() > 0 else h", "B3", "branch"),
    SourceLine('    log.warning("step 2")', "B4", "logging"),
    SourceLine('    h = h + zlib.crc32(b"key") % 2', "B5", "c_call"),
    SourceLine("    for i in range(2):", body=False),
    SourceLine("        h = h * 1.5"),
    SourceLine('        print("loop", i)', "B6", "loop"),
    SourceLine("    try:", body=False),
    SourceLine("        h = h - 1"),
    SourceLine('        print("try")', "B7", "try"),
    SourceLine("    except ValueError:", body=False),
    SourceLine("        pass", body=False),
    SourceLine("    with torch.no_grad():", body=False),
    SourceLine("        h = torch.sin(h)"),
    SourceLine('        print("no_grad")', "B8", "no_grad"),
    SourceLine("    return torch.tanh(h)"),
)
#: By switch, the kind of break that it puts in.
SWITCHES = {line.switch: line.why for line in FUNCTION if line.switch}


def source(on: Collection[str]) -> str:
    """The file of the function with these switches on; a line that is off is left empty, so every line keeps its
    number."""
    lines = [line.text if not line.switch or line.switch in on else "" for line in FUNCTION]
    return "\n".join([*_HEAD, *lines]) + "\n"


def number_of(place: int) -> int:
    """The number in the file, from 1, of FUNCTION[place]."""
    return len(_HEAD) + place + 1


class Break(NamedTuple):
    """One graph break: where in the user's own code (line 0: torch did not say), the line's text, torch's headline for
    why, and whether the whole frame is given up for it."""

    file: str
    line: int
    text: str
    reason: str
    whole_frame: bool


_FILE_LINE = re.compile(
    r'^[ \t]*File "(?P<file>[^"]+)", line (?P<line>\d{1,9})\b(?:, in (?P<fn>\S+))?\n(?:\s+(?P<text>\S.*))?', re.M
)
_HEADLINE = re.compile(r"^Graph break in user code at (?P<file>.+?):(?P<line>\d{1,9})$", re.M)
_LIBRARY = re.compile(
    r"[/\\](?:site|dist)-packages[/\\]|[/\\]lib[/\\]python3\.\d+[/\\]|<frozen |<eval_with_key>|<string>"
)
_ABOVE = ("Encountered graph break", "Failed to handle graph break")
_GIVEN_UP = ("falling back to eager", "Graph break: skip", "will skip tracing the frame")


def is_library(file: str) -> bool:
    """Whether a file belongs to Python or to an installed package."""
    return _LIBRARY.search(file) is not None


def read_break(payload: str) -> Break:
    """What torch writes of a break (`dynamo_graph_break_reason`), 2.6 to 2.14. Never fails."""
    body = re.split(r"^Traceback \(most recent call last\)", payload, maxsplit=1, flags=re.M)[0]
    head, _, tail = body.partition("User code traceback:")
    frames = list(_FILE_LINE.finditer(tail or body))
    own = [match for match in frames if not is_library(match["file"])]
    seen = own or frames
    place = seen[-1] if seen else None
    headline = _HEADLINE.search(head)
    file, line, text = "", 0, ""
    if place is not None:
        file, line, text = place["file"], int(place["line"]), (place["text"] or "").strip()
    elif headline is not None:
        file, line = headline["file"], int(headline["line"])
    return Break(file, line, text, _reason(head, payload), any(words in head for words in _GIVEN_UP))


def _reason(head: str, payload: str) -> str:
    first = re.search(r"^(?:Graph Break )?Reason: (.*)", head, re.M)
    reason = first[1].strip() if first else ""
    if not reason or reason.startswith(_ABOVE):
        blocks = [block.strip() for block in head.split("\n\n")[1:] if block.strip()]
        reason = blocks[0].splitlines()[0] if blocks else reason
    if not reason:
        last = re.findall(r"^[\w.]+(?:Unsupported|Error|Exception)\b[^:\n]*: (.*)", payload, re.M)
        reason = last[-1] if last else ""
    return reason.strip()


def distinct(payloads: Sequence[str]) -> list[Break]:
    """The breaks that torch told, each once: a break is told again by every frame that it goes through."""
    found: dict[tuple[str, int, str], Break] = {}
    for payload in payloads:
        one = read_break(payload)
        key = (one.file, one.line, one.reason)
        if key not in found or one.whole_frame:
            found[key] = one
    return list(found.values())


class Report(NamedTuple):
    """One run of the function. `graphs` has the line numbers that each graph holds; `explained` is (graphs, breaks) by
    `explain`, None where it cannot be asked; `raised` is torch's first line when the call raised, as it does under
    `fullgraph`."""

    graphs: tuple[tuple[int, ...], ...]
    breaks: tuple[Break, ...]
    same_as_eager: bool | None
    explained: tuple[int, int] | None
    raised: str

    @property
    def eager(self) -> bool:
        """Whether no graph ran at all."""
        return not self.graphs

    @property
    def explain_differs(self) -> bool:
        return self.explained is not None and self.explained != (len(self.graphs), len(self.breaks))


def report(observed: Mapping[str, Mapping[str, Sequence[Any]]]) -> Report:
    """From the series that the child observed. Raises KeyError when it is not such a run."""
    end = observed["end"]
    explained = end["explain_graphs"][0], end["explain_breaks"][0]
    return Report(
        graphs=tuple(tuple(lines) for lines in observed.get("graph", {}).get("lines", ())),
        breaks=tuple(distinct(observed.get("break", {}).get("payload", ()))),
        same_as_eager=end["same_as_eager"][0],
        explained=None if None in explained else (int(explained[0]), int(explained[1])),
        raised=str(end["raised"][0] or ""),
    )


class Ran(NamedTuple):
    """What a line ran as: numbers of graphs from 1, and whether plain Python ran it, in the order they came."""

    graphs: tuple[int, ...] = ()
    python: bool = False


def ran_as(result: Report, on: Collection[str]) -> list[Ran]:
    """For each line of FUNCTION; a line that computes nothing goes with the first below it that does.

    Nothing ran when the call raised: what was captured until then is no code of anybody.
    """
    if result.raised:
        return [Ran() for _ in FUNCTION]
    broken = {one.line for one in result.breaks}
    ran: list[Ran] = []
    for place, line in enumerate(FUNCTION):
        number = number_of(place)
        inside = tuple(n for n, lines in enumerate(result.graphs, 1) if number in lines)
        if line.switch and line.switch not in on:
            ran.append(Ran())
        else:
            ran.append(Ran(inside, number in broken or (line.body and not inside)))
    for place in reversed(range(len(FUNCTION))):
        if not FUNCTION[place].body:
            below = next(
                (n for n in range(place + 1, len(FUNCTION)) if FUNCTION[n].body and not FUNCTION[n].switch), None
            )
            ran[place] = Ran((), bool(below is not None and ran[below].python and not ran[below].graphs))
    return ran
