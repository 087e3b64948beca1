"""What the tasks observe in whose process a learner's own file runs, and the check that an observation is one (pure).

The file shares its process with what watches it, and can write whatever it likes where the events go. A line that only
looks like an event must not become a fault of the tool's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tutor.lab.protocol import LineError

_Kind = Callable[[Any], bool]


def check(task: str, series: str, values: Mapping[str, Any]) -> None:
    """Raises LineError unless `task` says this series with values of these kinds; other runs say what they like."""
    if task not in _SERIES:
        return
    kinds = _SERIES[task].get(series)
    if kinds is None:
        raise LineError(f"{task} has no series {series!r}")
    more: Mapping[str, _Kind] = {}
    if series == "problem" and task == "inside":
        more = _PROBLEMS.get(str(values.get("kind")), {"kind": _never})
    for name, kind in {**kinds, **more}.items():
        if name not in values or not kind(values[name]):
            raise LineError(f"{series}: {name} is missing or of the wrong kind")


def _never(_value: Any) -> bool:
    return False


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _text_or_none(value: Any) -> bool:
    return value is None or _text(value)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _count_or_none(value: Any) -> bool:
    return value is None or _count(value)


def _counts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_count, value))


def _counts_by_name(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and all(map(_count, value.values())))


def _truth_or_none(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _number(value: Any) -> bool:
    return isinstance(value, float) or _count(value)


_FILE: Mapping[str, Mapping[str, _Kind]] = {
    "begins": {},
    "limit": {"entries": _count},
    "problem": {"missing": _text, "names": _text},
    "call": {
        **{"i": _count, "served_by": _text, "new_graphs": _count, "same_as_eager": _truth_or_none},
        **{"seconds": _number, "raised": _text_or_none, "eager_raised": _text_or_none},
    },
    "graph": {"i": _count, "name": _text, "ops": _count, "guards": _count_or_none, "lines": _counts},
    "break": {"i": _count, "payload": _text},
}
_INSIDE: Mapping[str, Mapping[str, _Kind]] = {
    "compiler": {"triton": _text},
    "file": {"path": _text, "text": _text},
    "kernel": {"setting": _count, "name": _text, "file": _text, "first": _count, "last": _count},
    "code": {"setting": _count, "stage": _text, "text": _text},
    "needs": {
        **{"setting": _count, "registers": _count_or_none, "spilled_bytes": _count_or_none},
        **{"shared_bytes": _count_or_none, "instructions": _counts_by_name},
    },
    "problem": {"setting": _count, "kind": _text},
}
#: What each kind of problem names beside its setting; see `tasks/inside.py`.
_PROBLEMS: Mapping[str, Mapping[str, _Kind]] = {
    "none": {"name": _text, "names": _text},
    "which": {"names": _text},
    "parameter": {"name": _text, "names": _text},
    "value": {"name": _text},
    "type": {"name": _text},
    "type-unknown": {"name": _text, "type": _text},
    "stopped": {"why": _text},
    "file": {"file": _text, "line": _count, "why": _text},
    "compile": {"file": _text, "line": _count, "why": _text},
}
_SERIES = {"file": _FILE, "inside": _INSIDE}
