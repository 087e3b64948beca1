"""Values through the wall: exact types out, and nothing but plain values in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.literals import Foreign, same
from tutor.sandbox import policy
from tutor.sandbox.values import decode, encode

HASHABLE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=8,
)
PLAIN = st.recursive(
    HASHABLE | st.sets(HASHABLE, max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=8,
)


@given(PLAIN)
def test_plain_values_come_through_with_their_types(value: Any) -> None:
    assert same(decode(json.loads(json.dumps(encode(value)))), value)


class Liar(tuple[int, ...]):
    __slots__ = ()
    __class__ = bool  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = tuple.__hash__


class Named(type):
    __name__ = "tuple"  # type: ignore[assignment]


def nested(depth: int) -> Any:
    value: Any = ()
    for _ in range(depth):
        value = (value,)
    return value


@pytest.mark.parametrize(
    ("value", "document"),
    [
        (Liar((1,)), {"other": "Liar"}),
        (Named("X", (), {}), {"other": "Named"}),
        ({1: 2}, {"other": "dict"}),
        (b"x", {"other": "bytes"}),
        (1j, {"other": "complex"}),
        (2**63, {"large": "int"}),
        (-(2**63) - 1, {"large": "int"}),
        (float("nan"), {"large": "float"}),
        (float("-inf"), {"large": "float"}),
        ("x" * (policy.TEXT_MAX + 1), {"large": "str"}),
        (tuple(range(policy.ITEMS_MAX + 1)), {"large": "tuple"}),
        (nested(policy.DEPTH_MAX + 1), {"large": "tuple"}),
        ([[0] * 200] * 200, {"large": "list"}),
        (type("N" * 500, (), {})(), {"other": "N" * policy.NAME_MAX}),
        ((Liar(),), {"tuple": [{"other": "Liar"}]}),
    ],
)
def test_what_is_not_plain_or_too_large_is_named(value: Any, document: Any) -> None:
    assert encode(value) == document
    json.dumps(document)


def test_foreign_values_are_made_by_the_reader() -> None:
    got = decode({"tuple": [{"other": "dict"}, {"large": "int"}]}, Foreign)
    assert [(item.type_name, item.large) for item in got] == [("dict", False), ("int", True)]


@pytest.mark.parametrize(
    "document",
    [
        2**63,
        1.5,
        "x" * (policy.TEXT_MAX + 1),
        [],
        {},
        {"tuple": [], "list": []},
        {"tuple": {}},
        {"tuple": [0] * (policy.ITEMS_MAX + 1)},
        {"dict": []},
        {"set": [{"list": []}]},
        {"float": "nan"},
        {"float": "inf"},
        {"float": "0x1p99999"},
        {"float": "no number"},
        {"float": 1},
        {"other": 1},
        {"other": "n" * (policy.NAME_MAX + 1)},
        {"list": [{"list": [0] * 200}] * 200},
    ],
    ids=lambda document: str(document)[:40],
)
def test_what_encode_would_not_write_is_not_read(document: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  its text is for nobody
        decode(document, Foreign)


def test_arguments_hold_no_foreign_value() -> None:
    with pytest.raises(ValueError, match="no plain value"):
        decode({"other": "dict"})


def test_depth_is_bounded_both_ways() -> None:
    document: Any = None
    for _ in range(policy.DEPTH_MAX + 1):
        document = {"list": [document]}
    with pytest.raises(ValueError, match="too large"):
        decode(document)
