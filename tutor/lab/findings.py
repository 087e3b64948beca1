"""What a piece of evidence says in numbers: its timings, how much faster it was, how two runs differ, and how well
the learner predicted (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

#: The values that were timed without torch.compile begin so.
_EAGER = "eager"
_SPREAD = ("n", "p50", "p95", "p99", "max")
_BINS = ("edges", "counts")


class Timing(NamedTuple):
    """One spread: of which series and call, the value's name, its unit, n, p50, p95, p99, max, and its histogram.

    `counts[i]` values lie from `edges[i]` to `edges[i + 1]`; both are empty in a record that was made without.
    """

    series: str
    call: str
    name: str
    unit: str
    n: int
    p50: float
    p95: float
    p99: float
    max: float
    edges: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()


class Speedup(NamedTuple):
    """Eager time over compiled time for one call, at the median and in the tail; under 1 compiled is slower."""

    series: str
    call: str
    name: str
    p50: float
    p99: float


class Change(NamedTuple):
    """One value that two runs do not share; a side that lacks it is None."""

    where: str
    one: str | None
    other: str | None


class Hits(NamedTuple):
    """Of one demo's predictions, how many came out and of how many; `place` is the run's among all, from 0."""

    demo: str
    right: int
    of: int
    place: int


def hits(records: Iterable[Mapping[str, Any]]) -> list[Hits]:
    """The newest predicted run of each demo, demos in the order of their first; `records` are in the order they ran."""
    newest: dict[str, Hits] = {}
    for place, record in enumerate(records):
        predicted, answers = record["predicted"], record["answers"]
        if predicted and answers:
            right = sum(answers.get(ask) == answer for ask, answer in predicted.items())
            newest[record["demo"]] = Hits(record["demo"], right, len(predicted), place)
    return list(newest.values())


def timings(record: Mapping[str, Any]) -> list[Timing]:
    """Every spread of a record, in the order it was observed."""
    units = record.get("units", {})
    found = []
    for series, table in record["observed"].items():
        for name, values in table.items():
            for place, value in enumerate(values):
                if isinstance(value, Mapping) and all(part in value for part in _SPREAD):
                    spread = (value[part] for part in _SPREAD)
                    bins = (tuple(value.get(part, ())) for part in _BINS)
                    found.append(Timing(series, _call(table, place), name, str(units.get(name, "us")), *spread, *bins))
    return found


def _call(table: Mapping[str, Any], place: int) -> str:
    calls = table.get("call", ())
    return str(calls[place] or "") if place < len(calls) else ""


def speedups(record: Mapping[str, Any]) -> list[Speedup]:
    """For each call that was timed eager and otherwise, how much faster the other was."""
    found = []
    every = timings(record)
    for base in every:
        if not base.name.startswith(_EAGER):
            continue
        for one in every:
            same_call = (one.series, one.call) == (base.series, base.call)
            if same_call and not one.name.startswith(_EAGER) and one.p50 > 0 and one.p99 > 0:
                found.append(Speedup(one.series, one.call, one.name, base.p50 / one.p50, base.p99 / one.p99))
    return found


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[Change]:
    """What differs between two records: where they were made, verdicts, and what was observed."""
    left, right = dict(_flat(one)), dict(_flat(other))
    names = [*left, *(name for name in right if name not in left)]
    return [Change(name, left.get(name), right.get(name)) for name in names if left.get(name) != right.get(name)]


def _flat(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in record["environment"].items():
        yield f"environment.{name}", _shown(value)
    for claim, verdict in record["claims"].items():
        yield claim, str(verdict)
    for series, table in record["observed"].items():
        for name, values in table.items():
            yield f"{series}.{name}", _shown([_median(value) for value in values])


def without_bins(value: Any) -> Any:
    """A spread's five numbers without its histogram, for where there is no room to draw one; all else as it is."""
    return {part: each for part, each in value.items() if part not in _BINS} if isinstance(value, Mapping) else value


def _median(value: Any) -> Any:
    """Of a spread the median alone: two runs never share all of its numbers."""
    return value["p50"] if isinstance(value, Mapping) and "p50" in value else value


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
