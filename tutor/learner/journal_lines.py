"""The journal's notation (pure): an event as one sealed JSON line, and back, older schemas included.

    {"schema":1,"id":"3f9c02ab-7","at":"2026-11-30T10:42:07.125Z","kind":"draft","data":{...},"sum":"<16 hex digits>"}

The sum is over the bytes before it, so that a line is checked as it stands on the disk and never re-written first.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from tutor.learner.progress import Event

SCHEMA = 1


class Damaged(NamedTuple):
    """A line that cannot be used. `fingerprint` names it, so that it is reported once."""

    fingerprint: str


class FromTheFuture(NamedTuple):
    """A sound line that a newer tutor wrote."""

    schema: int


def seal(table: Mapping[str, Any]) -> bytes:
    """A JSON object as one line with its sum at the end, no line feed; a lone surrogate becomes an escape. Raises
    TypeError or ValueError when it is not made of JSON values, as NaN is not."""
    body = json.dumps(table, ensure_ascii=False, allow_nan=False, separators=(",", ":"))[:-1]
    raw = body.encode("utf-8", "backslashreplace")
    return raw + b',"sum":"' + _sum(raw).encode() + b'"}'


def unseal(line: bytes) -> dict[str, Any]:
    """The object in a sealed line. Raises ValueError when the line was cut, changed or never sealed."""
    body, mark, rest = line.rpartition(b',"sum":"')
    if not mark or rest != _sum(body).encode() + b'"}':
        raise ValueError("the sum does not fit the line")
    table = _read(body + b"}")
    if not isinstance(table, dict):
        raise ValueError("not an object")
    return table


def encode(event: Event) -> bytes:
    """An event as its line, line feed included. Raises TypeError or ValueError when its data is not JSON."""
    table = {"schema": SCHEMA, "id": event.id, "at": event.at, "kind": event.kind, "data": event.data}
    return seal(table) + b"\n"


def decode(line: bytes, number: int) -> Event | Damaged | FromTheFuture:
    """What a line holds; `number` (from 1) names an event whose schema had no ids yet."""
    try:
        if line.startswith(b'{"schema":0,'):
            return _upgrade(line, number)
        table = unseal(line)
        schema = table["schema"]
        if isinstance(schema, int) and schema > SCHEMA:
            return FromTheFuture(schema)
        if schema != SCHEMA or not isinstance(table["data"], dict):
            raise ValueError("not a line of this schema")
        return Event(str(table["id"]), str(table["at"]), str(table["kind"]), table["data"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return Damaged(fingerprint(line))


def fingerprint(line: bytes) -> str:
    """A name for any bytes."""
    return hashlib.sha256(line).hexdigest()[:32]


def _upgrade(line: bytes, number: int) -> Event:
    """Schema 0 was flat and had neither ids nor sums; drafts had no cursor. Raises ValueError, KeyError, TypeError."""
    table = _read(line)
    if "sum" in table:
        raise ValueError("a line of schema 1 whose number was changed")
    data = {name: value for name, value in table.items() if name not in ("schema", "at", "kind")}
    if table["kind"] == "draft":
        data.setdefault("cursor", [0, 0])
    return Event(f"v0-{number}", str(table["at"]), str(table["kind"]), data)


def _read(raw: bytes) -> Any:
    """JSON as it was sealed. Raises ValueError, also for a number that no fold could make whole: NaN, 1e999."""
    return json.loads(raw, parse_constant=_finite, parse_float=_finite)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not a number of JSON's")
    return value


def _sum(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:16]
