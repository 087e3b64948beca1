"""Plain values as JSON with tagged containers, for both sides of the wall.

`None`, booleans, strings and 64-bit integers stand for themselves; `{"tuple": [...]}` and its kin for containers,
`{"float": hex}` for floats. What is no plain value goes out as `{"other": type name}`, what is too large as
`{"large": type name}`. Types are compared exactly: a subclass may lie about everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tutor.sandbox import policy

_CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {"tuple": tuple, "list": list, "set": set, "frozenset": frozenset}
_INT_MAX = 2**63 - 1


class _TooLarge(Exception):
    pass


def encode(value: object) -> object:
    """A value as a JSON document."""
    left = policy.VALUES_MAX

    def encoded(value: object, depth: int) -> object:
        nonlocal left
        left -= 1
        kind = type(value)
        if left < 0 or depth > policy.DEPTH_MAX:
            raise _TooLarge
        if value is None or type(value) is bool:
            return value
        if type(value) is int:
            return value if -_INT_MAX - 1 <= value <= _INT_MAX else _named("large", kind)
        if type(value) is float:
            return {"float": value.hex()} if value - value == 0 else _named("large", kind)
        if type(value) is str:
            return value if len(value) <= policy.TEXT_MAX else _named("large", kind)
        if type(value) is tuple or type(value) is list or type(value) is set or type(value) is frozenset:
            if len(value) > policy.ITEMS_MAX:
                return _named("large", kind)
            return {kind.__name__: [encoded(item, depth + 1) for item in value]}
        return _named("other", kind)

    try:
        return encoded(value, 0)
    except _TooLarge:
        return _named("large", type(value))


def _named(tag: str, kind: type) -> dict[str, str]:
    # Not kind.__name__: a metaclass may answer that one.
    return {tag: type.__getattribute__(kind, "__name__")[: policy.NAME_MAX]}


def decode(document: object, foreign: Callable[[str, bool], object] | None = None) -> Any:
    """The value of a JSON document, checked part by part: it comes from code that nobody vouches for.

    `foreign(type_name, large)` makes what stands for a value that is not plain. Raises ValueError for anything else
    that `encode` would not have written.
    """
    left = policy.VALUES_MAX

    def decoded(document: object, depth: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or depth > policy.DEPTH_MAX:
            raise ValueError("too large")
        if document is None or type(document) is bool:
            return document
        if type(document) is int and -_INT_MAX - 1 <= document <= _INT_MAX:
            return document
        if type(document) is str and len(document) <= policy.TEXT_MAX:
            return document
        if type(document) is not dict or len(document) != 1:
            raise ValueError("no plain value")
        ((tag, body),) = document.items()
        if tag in _CONTAINERS and type(body) is list and len(body) <= policy.ITEMS_MAX:
            try:
                return _CONTAINERS[tag]([decoded(item, depth + 1) for item in body])
            except TypeError as error:  # a list in a set
                raise ValueError("unhashable") from error
        if tag == "float" and type(body) is str and len(body) < 40:
            number = float.fromhex(body)
            if number - number == 0:
                return number
        if tag in ("other", "large") and type(body) is str and len(body) <= policy.NAME_MAX and foreign is not None:
            return foreign(body, tag == "large")
        raise ValueError("no plain value")

    try:
        return decoded(document, 0)
    except OverflowError as error:  # float.fromhex
        raise ValueError("no plain value") from error
