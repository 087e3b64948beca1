"""The lab's events: one JSON object a line, schema 1, and the reading of lines that nobody vouches for (pure).

What leaves the lab is one of six events, each with `schema`, `event` and `at` (seconds since the run was asked for):

    started      demo, interpreter, torch, device (as asked), usual_s, source
    progress     phase, elapsed, message
    output       text, stream ("demo", "launcher" or "tool"), cut (True once, with a message: the rest was left out)
    observation  series, call, values, said, why, plain, ask, answer, predicted, agrees
    result       the evidence record (see `evidence.Gathering.result`)
    ended        outcome, message, seconds, always once and last

Inside the lab a child says `begun`, `step` (which of how many parts begins), `observation`, `result`, `failed`,
`unavailable` and `full` (a GPU's memory); `read_child` checks those.
A message is `{"key": ..., "args": {...}}`; `message` turns it into a `Message`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NoReturn

from tutor.model import Message

SCHEMA = 1
#: Bytes of one line from a child; the parent holds it to this too.
MAX_LINE = 64 * 1024
#: Bytes of one line from the parent, which carries a child's line as a JSON string (six bytes a character at worst).
MAX_PARENT_LINE = 8 * MAX_LINE
#: Containers inside containers, the event itself included.
MAX_DEPTH = 6
#: No pid, count or size is larger; a longer number would overflow where it is compared with a float.
MAX_INT = 2**64 - 1

Event = dict[str, Any]


class Outcome(StrEnum):
    """How a run ended. FAILED: the experiment raised. BROKE: the tool, or a process that died without a word."""

    OK = "ok"
    FAILED = "failed"
    LIMIT = "limit"
    CANCELLED = "cancelled"
    UNAVAILABLE = "unavailable"
    BROKE = "broke"


class LineError(ValueError):
    """A line is not an event; the text says why."""


def event(name: str, at: float, **fields: Any) -> Event:
    """An event as it leaves the lab; `at` in seconds since the run was asked for."""
    return {"schema": SCHEMA, "event": name, "at": round(at, 4), **fields}


def as_json(said: Message) -> dict[str, Any]:
    return {"key": said.key, "args": dict(said.args)}


def message(said: Mapping[str, Any]) -> Message:
    """The message inside an event: `message(event["message"])`."""
    return Message(said["key"], said["args"])


def encode(said: Mapping[str, Any]) -> str:
    """One event as its line, without the newline."""
    return json.dumps(said, ensure_ascii=False, allow_nan=False)


def decode(line: bytes, limit: int = MAX_LINE) -> Event:
    """The JSON object on a line, bounded in length and depth, its text safe to encode. Raises LineError."""
    if len(line) > limit:
        raise LineError(f"longer than {limit} bytes")
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise LineError(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise LineError("not an object")
    clean: Event = _clean(value, MAX_DEPTH)
    return clean


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _clean(value: Any, depth: int) -> Any:
    """The value with lone surrogates escaped, so that whatever is written later can be."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        raise LineError("a number too large for a float")
    if isinstance(value, int) and abs(value) > MAX_INT:
        raise LineError("a number too large")
    if isinstance(value, (dict, list)):
        if depth == 0:
            raise LineError("nested too deeply")
        if isinstance(value, dict):
            return {_clean(key, depth): _clean(item, depth - 1) for key, item in value.items()}
        return [_clean(item, depth - 1) for item in value]
    return value


def read_child(line: bytes) -> Event:
    """What a child said, of a known kind and with every field of its kind. Raises LineError."""
    said = decode(line)
    if said.get("schema") != SCHEMA:
        raise LineError(f"not schema {SCHEMA}")
    kinds = _CHILD.get(str(said.get("event")))
    if kinds is None:
        raise LineError("no such event")
    for name, kind in kinds.items():
        if name not in said or not kind(said[name]):
            raise LineError(f"{said['event']}: {name} is missing or of the wrong kind")
    return {name: said[name] for name in ("schema", "event", *kinds)}


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text_or_none(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_whole_or_none(value: Any) -> bool:
    return value is None or _is_whole(value)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _is_facts(value: Any) -> bool:
    """Names with a fact each, or with one further table of facts (a spread of timings)."""
    return isinstance(value, dict) and all(
        _is_fact(item) or (isinstance(item, dict) and all(map(_is_fact, item.values()))) for item in value.values()
    )


def _is_fact(value: Any) -> bool:
    return _is_scalar(value) or (isinstance(value, list) and all(map(_is_scalar, value)))


_CHILD: Mapping[str, Mapping[str, Any]] = {
    "begun": {"pid": _is_whole},
    "step": {"number": _is_whole, "of": _is_whole, "text": _is_text},
    "observation": {
        "series": _is_text,
        "call": _is_text_or_none,
        "ask": _is_text_or_none,
        "answer": _is_whole_or_none,
        "values": _is_facts,
        "said": _is_texts,
        "why": _is_text_or_none,
    },
    "result": {"environment": _is_facts},
    "failed": {"kind": _is_text, "text": _is_text},
    "unavailable": {"need": _is_text},
    "full": {"free": _is_whole, "total": _is_whole, "mine": _is_whole, "others": _is_texts},
}
