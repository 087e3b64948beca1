"""Lines that nobody vouches for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.lab import protocol
from tutor.lab.protocol import LineError
from tutor.model import Message

OBSERVATION: dict[str, Any] = {
    "schema": 1,
    "event": "observation",
    "series": "default",
    "call": "f32[2]",
    "ask": None,
    "answer": None,
    "values": {"new_graphs": 1, "eager_us": {"n": 3, "p50": 1.5}, "lines": [1, 2], "note": None},
    "said": ["0/0: no"],
    "why": None,
}


def line(event: Any) -> bytes:
    return json.dumps(event).encode()


def test_what_a_child_says_comes_through() -> None:
    assert protocol.read_child(line(OBSERVATION)) == OBSERVATION


def test_fields_that_nobody_asked_for_are_left_out() -> None:
    assert "claims" not in protocol.read_child(line({**OBSERVATION, "claims": {"a": "holds"}}))


@pytest.mark.parametrize("event", ["started", "progress", "output", "ended", "ready", "child", None, 1, "", [], {}])
def test_a_child_has_few_events_of_its_own(event: Any) -> None:
    with pytest.raises(LineError):
        protocol.read_child(line({**OBSERVATION, "event": event}))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema", 2),
        ("schema", None),
        ("series", None),
        ("series", 1),
        ("call", 1),
        ("ask", []),
        ("answer", True),
        ("answer", 1.0),
        ("answer", "1"),
        ("values", []),
        ("values", {"a": {"b": {}}}),
        ("values", {"a": [[1]]}),
        ("said", "text"),
        ("said", [1]),
        ("why", 0),
    ],
)
def test_a_field_of_the_wrong_kind_is_no_event(field: str, value: Any) -> None:
    with pytest.raises(LineError):
        protocol.read_child(line({**OBSERVATION, field: value}))


@pytest.mark.parametrize("field", sorted(set(OBSERVATION) - {"schema", "event"}))
def test_a_missing_field_is_no_event(field: str) -> None:
    with pytest.raises(LineError, match=field):
        protocol.read_child(line({name: value for name, value in OBSERVATION.items() if name != field}))


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"null",
        b"[]",
        b"1",
        b'"text"',
        b"{",
        b"{}{}",
        b"\xff\xfe",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": ' + b"[" * 100_000,
        b'{"a": ' + b"[" * 7 + b"]" * 7 + b"}",
        b'{"a": "' + b"x" * protocol.MAX_LINE + b'"}',
    ],
)
def test_what_is_no_object_or_too_much_is_refused(bad: bytes) -> None:
    with pytest.raises(LineError):
        protocol.decode(bad)


def test_bounds_are_inclusive() -> None:
    nested: Any = 1
    for _ in range(protocol.MAX_DEPTH - 1):
        nested = [nested]
    assert protocol.decode(line({"a": nested})) == {"a": nested}
    with pytest.raises(LineError):
        protocol.decode(line({"a": [nested]}))
    most = b'{"a": "' + b"x" * (protocol.MAX_LINE - 9) + b'"}'
    assert len(most) == protocol.MAX_LINE
    assert len(protocol.decode(most)["a"]) == protocol.MAX_LINE - 9


def test_half_a_character_can_be_written_again() -> None:
    got = protocol.decode(b'{"\\ud800": ["\\udfff\\u0000", {"k": "\\ud83d"}]}')
    assert got == {"\\ud800": ["\\udfff\0", {"k": "\\ud83d"}]}
    protocol.encode(got).encode("utf-8")


@given(st.binary(max_size=300))
def test_any_bytes_are_an_event_or_a_line_error(data: bytes) -> None:
    try:
        protocol.read_child(data)
    except LineError:
        return
    raise AssertionError("random bytes were an event")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(sorted(OBSERVATION)), JSON))
def test_any_object_is_an_event_that_can_be_shown_or_a_line_error(changes: dict[str, Any]) -> None:
    try:
        got = protocol.read_child(line({**OBSERVATION, **changes}))
    except LineError:
        return
    assert protocol.read_child(protocol.encode(got).encode("utf-8")) == got


def test_a_message_survives_its_event() -> None:
    said = Message("lab.died", {"signal": "SIGSEGV"})
    assert protocol.message(protocol.event("ended", 1.0, message=protocol.as_json(said))["message"]) == said
