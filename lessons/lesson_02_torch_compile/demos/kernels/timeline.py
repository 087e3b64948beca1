"""One call as two rows of text: when the CPU issued work and when the GPU was busy with it (pure).

    CPU |=|=|==|=|=|=|==|=
    GPU .:#.:#..:#.:#.:#..:#......
     us 0         50        100

CPU: `|` a launch, `=` between launches, blank when the call has returned. GPU: `#` busy for at least half of the
column, `:` for less, `.` idle.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

#: The narrowest drawing that has room for two marks on its scale, and the room that a row's name takes.
NARROWEST, NAME = 24, 4
#: Columns from one mark of the scale to the next, at least.
APART = 9


class Span(NamedTuple):
    """Microseconds from some common zero."""

    start: float
    end: float


class Activity(NamedTuple):
    """What one call did: while it had the CPU, when it launched something, while the GPU was busy (may overlap)."""

    cpu: Sequence[Span]
    launches: Sequence[float]
    gpu: Sequence[Span]

    def whole(self) -> Span:
        """From the first thing to the last. Raises ValueError when there is none."""
        spans = [*self.cpu, *self.gpu, *(Span(at, at) for at in self.launches)]
        if not spans:
            raise ValueError("nothing happened that could be drawn")
        return Span(min(span.start for span in spans), max(span.end for span in spans))

    def busy_share(self) -> float:
        """The share of the whole in which the GPU was busy, from 0 to 1."""
        start, end = self.whole()
        return sum(span.end - span.start for span in merged(self.gpu)) / (end - start) if end > start else 0.0

    def gaps(self) -> list[float]:
        """Microseconds that the GPU was idle between two pieces of work, each gap in turn."""
        busy = merged(self.gpu)
        return [after.start - before.end for before, after in zip(busy, busy[1:])]  # noqa: B905, RUF007 - Python 3.10


def activity_of(events: Iterable[Any], call: str) -> Activity:
    """The activity in a trace: torch's profiler events, of which the one named `call` is the call itself.

    An event has `name`, `device_type.name` and `time_range.start` and `.end` in microseconds. All that is told of the
    GPU is work.
    """
    seen = list(events)
    on_cpu = [event for event in seen if event.device_type.name == "CPU"]
    on_gpu = [event for event in seen if event.device_type.name == "CUDA"]
    return Activity(
        cpu=[_span(event) for event in on_cpu if event.name == call],
        launches=sorted(event.time_range.start for event in on_cpu if _launches(event.name)),
        gpu=sorted(_span(event) for event in on_gpu),
    )


def _span(event: Any) -> Span:
    return Span(event.time_range.start, event.time_range.end)


def _launches(name: str) -> bool:
    """Whether a call into CUDA's runtime or driver starts something on the GPU."""
    return name.startswith("cu") and ("Launch" in name or name.startswith(("cudaMemcpyAsync", "cudaMemsetAsync")))


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same time without overlaps, in order."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found


def draw(seen: Activity, width: int) -> list[str]:
    """Three lines of ASCII, `width` columns at most: CPU, GPU and the scale. Raises ValueError when there is nothing to
    draw or no room for it."""
    if width < NARROWEST:
        raise ValueError(f"{width} columns are too few; {NARROWEST} are needed")
    columns = width - NAME
    start, end = seen.whole()
    a_column = (end - start) / columns or 1.0
    launched = {min(columns - 1, int((at - start) / a_column)) for at in seen.launches}
    cpu = ["=" if share >= 0.5 else " " for share in _shares(seen.cpu, start, a_column, columns)]
    for column in launched:
        cpu[column] = "|"
    gpu = ["#" if share >= 0.5 else ":" if share > 0 else "." for share in _shares(seen.gpu, start, a_column, columns)]
    rows = {"CPU": "".join(cpu), "GPU": "".join(gpu), " us": _scale(a_column, columns)}
    return [f"{name:<{NAME}}{row}".rstrip() for name, row in rows.items()]


def _shares(spans: Iterable[Span], start: float, a_column: float, columns: int) -> list[float]:
    """How much of each column the spans fill, from 0 to 1; an instant fills a sliver of its own."""
    shares = [0.0] * columns
    for span in merged(spans):
        low, high = (span.start - start) / a_column, (span.end - start) / a_column
        first, last = min(columns - 1, int(low)), min(columns - 1, int(high))
        for column in range(first, last + 1):
            filled = min(high, column + 1) - max(low, column)
            if filled > 0 or column == first:
                shares[column] += max(filled, 1e-9)
    return shares


def _scale(a_column: float, columns: int) -> str:
    """Round numbers of microseconds, each beginning in the column that it names, as many as leave room between them."""
    least = a_column * APART
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)
    row = [" "] * columns
    for mark in range(int(a_column * columns / step) + 1):
        label, at = f"{mark * step:g}", int(mark * step / a_column)
        if at + len(label) <= columns:
            row[at : at + len(label)] = label
    return "".join(row)
