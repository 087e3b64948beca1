"""Plain values as text: show one, compare two, and make foreign text fit for a screen (pure).

A plain value is None, a bool, an int, a float, a str, or a tuple, list, set or frozenset of plain values.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from tutor.model import Message, Plain

#: The longest edge line, in characters: no argument of one is cut when it is shown.
LINE_MAX = 2000

#: How much of one value, or of one foreign text, is shown at most (characters).
SHOWN_MAX = 300


@dataclass(frozen=True, eq=False, slots=True)
class Foreign:
    """In place of a value that is not plain, or too large to be taken. Equal to nothing but itself."""

    type_name: str
    large: bool = False


# --- text for a screen ------------------------------------------------------------------------------------------------


def safe_text(text: str, limit: int = SHOWN_MAX) -> str:
    """What may reach a terminal of a text that anybody wrote: one line, printable, at most `limit` characters of it.

    Letters, digits, punctuation, symbols, the plain space and two combining marks in a row stay; all else (controls,
    bidirectional overrides, zero-width characters, surrogates) becomes a visible escape. It is still no markup: the
    caller shows it as plain text.
    """
    shown = _visible(text[:limit])
    return shown + "..." if len(text) > limit else shown


def _visible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    out: list[str] = []
    stacked = 0
    for char in text:
        kind = unicodedata.category(char)[0]
        stacked = stacked + 1 if kind == "M" else 0
        if char == " " or kind in "LNPS" or (kind == "M" and stacked <= 2):
            out.append(char)
        else:
            out.append(char.encode("unicode_escape", "surrogatepass").decode("ascii"))
    return "".join(out)


# --- values as text ---------------------------------------------------------------------------------------------------

_Path = tuple[int, ...]
_Span = tuple[int, int]

_AROUND = {
    (set, True): ("{", "}"),
    (set, False): ("set(", ")"),
    (frozenset, True): ("frozenset({", "})"),
    (frozenset, False): ("frozenset(", ")"),
}


def show(value: Plain, limit: int = SHOWN_MAX) -> str:
    """The canonical text of a value: double quotes, sets in order, `set()` when empty; printable; cut at `limit`."""
    text = _Shown(value).text
    return text if len(text) <= limit else text[:limit] + "..."


def show_call(function: str, args: tuple[Plain, ...]) -> str:
    """The canonical text of a call, never cut below what an edge line may hold."""
    return f"{function}({', '.join(show(arg, LINE_MAX) for arg in args)})"


class _Shown:
    """A value as text, with the span of each item of a tuple or list by its path."""

    def __init__(self, value: Plain) -> None:
        self.spans: dict[_Path, _Span] = {}
        self._parts: list[str] = []
        self._length = 0
        self._value(value, ())
        self.text = "".join(self._parts)

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _value(self, value: Plain, path: _Path) -> None:
        start = self._length
        kind = type(value)
        if kind is str:
            self._add('"' + _visible(value.replace("\\", "\\\\").replace('"', '\\"')) + '"')
        elif kind is tuple:
            self._items("(", list(value), ",)" if len(value) == 1 else ")", path)
        elif kind is list:
            self._items("[", value, "]", path)
        elif kind is set or kind is frozenset:
            opening, closing = _AROUND[kind, bool(value)]
            self._items(opening, sorted(value, key=_order), closing, path)
        elif kind is Foreign:
            self._add(f"<{safe_text(value.type_name, 80)}>")
        elif value is None or kind in (bool, int, float):
            self._add(repr(value))
        else:
            raise TypeError(f"not a plain value: {kind.__name__}")
        self.spans[path] = (start, self._length)

    def _items(self, opening: str, items: list[Plain], closing: str, path: _Path) -> None:
        self._add(opening)
        for index, item in enumerate(items):
            if index:
                self._add(", ")
            self._value(item, (*path, index))
        self._add(closing)


def _order(value: Plain) -> tuple[str, float, str]:
    """Sets are shown numbers first, by size, and the rest by type and text."""
    number = type(value) in (int, float)
    return ("" if number else type(value).__name__, value if number else 0.0, "" if number else _Shown(value).text)


# --- values compared --------------------------------------------------------------------------------------------------


def same(one: Plain, other: Plain) -> bool:
    """Equality type by type: True is not 1, 2.0 is not 2, a list is not a tuple, on every level."""
    return bool(_typed(one) == _typed(other))


def _typed(value: Plain) -> object:
    kind = type(value)
    if kind is tuple or kind is list:
        return kind, tuple(map(_typed, value))
    if kind is set or kind is frozenset:
        return kind, frozenset(map(_typed, value))
    return kind, value


def is_plain(value: Plain) -> bool:
    """Whether no part of the value is a Foreign."""
    if type(value) in (tuple, list, set, frozenset):
        return all(map(is_plain, value))
    return type(value) is not Foreign


@dataclass(frozen=True, slots=True)
class Difference:
    """Where and how a value first differs from the expected one.

    `at` are the (start, end) columns of `show(expected)`, None when they were cut off; `expected` is what should stand
    there.
    """

    reason: Message
    at: _Span | None
    expected: Plain


def first_difference(got: Plain, expected: Plain) -> Difference | None:
    """The first difference in reading order, None when the two are the same."""
    if same(got, expected):
        return None
    shown = _Shown(expected)
    path, reason = _differ(got, expected, ())
    start, end = shown.spans[path]
    for index in path:
        expected = expected[index]
    return Difference(reason, (start, end) if end <= SHOWN_MAX else None, expected)


def _differ(got: Plain, expected: Plain, path: _Path) -> tuple[_Path, Message]:
    if type(got) is not type(expected):
        return path, Message("check.differs_type", {"got": _type_name(got), "expected": _type_name(expected)})
    if type(expected) in (set, frozenset):
        return path, _differ_set(got, expected)
    if type(expected) not in (tuple, list):
        return path, Message("check.differs_value", {"got": show(got, 60), "expected": show(expected, 60)})
    shared = min(len(got), len(expected))
    first = next((index for index in range(shared) if not same(got[index], expected[index])), shared)
    # One item left out, or one too many, is said as such, and not as "every later item is another one".
    if len(got) < len(expected) and (
        first == shared or same(got[first:], expected[first + len(expected) - len(got) :])
    ):
        return (*path, first), Message("check.differs_missing", {"item": first + 1})
    if len(got) > len(expected) and (
        first == shared or same(got[first + len(got) - len(expected) :], expected[first:])
    ):
        return path, Message("check.differs_extra", {"item": first + 1, "value": show(got[first], 60)})
    return _differ(got[first], expected[first], (*path, first))


def _differ_set(got: Plain, expected: Plain) -> Message:
    missing = [item for item in sorted(expected, key=_order) if _typed(item) not in set(map(_typed, got))]
    if missing:
        return Message("check.differs_set_missing", {"value": show(missing[0], 60)})
    extra = [item for item in sorted(got, key=_order) if _typed(item) not in set(map(_typed, expected))]
    return Message("check.differs_set_extra", {"value": show(extra[0], 60)})


def _type_name(value: Plain) -> str:
    return safe_text(value.type_name, 80) if type(value) is Foreign else type(value).__name__
