"""What one run in the sandbox came to, and how the parent reads it out of bytes that nobody vouches for."""

from __future__ import annotations

import builtins
import json
import signal
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from tutor.literals import Foreign, safe_text
from tutor.model import Message, Plain, Raised
from tutor.sandbox import policy, values
from tutor.sandbox.wire import READY


@dataclass(frozen=True, slots=True)
class Returned:
    """What a call claims to have returned; `tutor.literals.Foreign` stands in it for what is not plain."""

    value: Plain


Result = Returned | Raised


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended, and what it claims.

    `ok`: `results` has one entry for each call, in their order. Otherwise `message` says why, and `results` has the
    entries up to the call that did not come back. `place` is (line, column) in the blank's own text, from 1.
    `output` is what was printed, bounded and exact: not safe for a terminal as it is. `broke` is the tool's own fault.
    """

    ending: Literal["ok", "failed", "limit", "refused", "broke"]
    message: Message | None = None
    results: tuple[Result, ...] = ()
    place: tuple[int, int] | None = None
    output: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    rss_kb: int = 0
    log: str = ""


class End(NamedTuple):
    """How the child ended, as the warm process saw it. `why` is "", wall, cancel, output or result."""

    why: str
    signal: int
    cpu: float
    rss: int
    printed: int


class _Unusable(Exception):
    """A line on the result pipe that the child's own code would not have written."""


def judge_end(end: End, written: bytes, wanted: int, text: str) -> Outcome:
    """The outcome of a run of `wanted` calls. `written` is what came through the result pipe, `text` the blank's."""
    if not written.startswith(READY):  # it was written before the first foreign byte was read: the fault is ours
        return Outcome("broke", Message("check.broke_walls"), log=f"before ready: {end}, {written[:200]!r}")
    lines = written[len(READY) :].split(b"\n")[:-1]  # whole lines only
    try:
        if len(lines) == 1 and (early := _early(lines[0], text)) is not None:
            return early
        memory = bool(lines) and lines[-1] == b'["memory"]'
        results = tuple(_result(line) for line in (lines[:-1] if memory else lines))
        if len(results) > wanted:
            raise _Unusable
    except (_Unusable, ValueError, RecursionError):
        return _failure(end) or Outcome("failed", Message("check.unusable"))
    if memory:
        return Outcome("limit", Message("check.limit_memory", {"mb": policy.MEMORY_BYTES >> 20}), results)
    failure = _failure(end)
    if failure is None and len(results) == wanted:
        return Outcome("ok", results=results)
    failure = failure or Outcome("failed", Message("check.ended_early"))
    return Outcome(failure.ending, failure.message, results)


def _failure(end: End) -> Outcome | None:
    """What the way the child ended says by itself; None when it ended as it should."""
    if end.why == "wall":
        return Outcome("limit", Message("check.limit_wall", {"seconds": int(policy.WALL_S)}))
    # Code that ignores SIGXCPU meets SIGKILL a second later. The kernel's limit counts ticks, `cpu` does not: on a
    # busy box the one is reached when the other shows half of it.
    if end.signal == signal.SIGXCPU or (end.signal == signal.SIGKILL and end.cpu > policy.CPU_S / 2):
        return Outcome("limit", Message("check.limit_time", {"seconds": policy.CPU_S}))
    if end.why == "result":
        return Outcome("failed", Message("check.flood_result", {"kb": policy.RESULT_MAX >> 10}))
    if end.why == "output":
        return Outcome("failed", Message("check.flood_output", {"mb": policy.OUTPUT_MAX >> 20}))
    if end.signal == signal.SIGSYS:
        return Outcome("failed", Message("check.died_call"))
    if end.signal:
        return Outcome("failed", Message("check.died_signal", {"signal": _signal_name(end.signal)}))
    return None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _document(line: bytes) -> list[Any]:
    document = json.loads(line, parse_constant=_no_constant)
    if type(document) is not list or not document:
        raise _Unusable
    return document


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _early(line: bytes, text: str) -> Outcome | None:
    """The outcome of a run that had no call, None when the line is no such thing."""
    match _document(line):
        case ["refused", str(code), str(detail), int(row), int(column)]:
            lines = text.split("\n")
            placed = 1 <= row <= len(lines) and 1 <= column <= len(lines[row - 1]) + 1
            where: dict[str, str | int] = {"line": row, "column": column} if placed else {}
            what: dict[str, str | int] = {"detail": safe_text(detail, 160)}
            place = (row, column) if placed else None
            if code == "syntax" and not placed:
                return Outcome("refused", Message("check.refused_syntax_somewhere", what))
            if code in ("syntax", "generator") and placed:
                return Outcome("refused", Message(f"check.refused_{code}", where | what), place=place)
            if code in ("statement", "more") and placed:
                return Outcome("refused", Message(f"check.refused_{code}", where), place=place)
            if code in ("empty", "deep", "characters"):
                return Outcome("refused", Message(f"check.refused_{code}"))
            raise _Unusable
    return None


def _result(line: bytes) -> Result:
    match _document(line):
        case ["value", document]:
            return Returned(values.decode(document, Foreign))
        case ["raised", str(kind), str(text)] if _is_builtin_error(kind) and len(text) <= policy.ERROR_TEXT_MAX:
            return Raised(kind, text)
    raise _Unusable


def _is_builtin_error(kind: str) -> bool:
    """Whether `kind` is one of Python's own exceptions, or "" for one of the learner's."""
    known = getattr(builtins, kind, None) if kind else BaseException
    return isinstance(known, type) and issubclass(known, BaseException)
