"""The one notation of plain values: read an edge line, show a value, compare two values (pure).

A plain value is None, a bool, an int, a float, a str, or a tuple, list, set or frozenset of plain values.
An edge line is

    edge  = NAME "(" items ")" ( "==" value | "raises" NAME )
    items = [ value { "," value } [ "," ] ]
    value = [ "-" ] NUMBER | TEXT | "None" | "True" | "False" | "set()" | "frozenset()"
          | "(" items ")" | "[" items "]" | "{" items "}"

read with Python's meaning. A reader of its own, and not `ast`: the line comes from anybody and is read in the trusted
process, where `ast.parse` may answer with MemoryError, RecursionError or a warning, and never says what to write.
"""

from __future__ import annotations

import builtins
import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from tutor.model import Message, Plain

#: Bounds of the notation: characters in a line, brackets in brackets, values in a line, and torch's integers.
LINE_MAX = 2000
DEPTH_MAX = 10
VALUES_MAX = 300
INT_MAX = 2**63 - 1

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


@dataclass(frozen=True, slots=True)
class Difference:
    """Where and how a value first differs from the expected one; `at` are (start, end) columns of `show(expected)`."""

    reason: Message
    at: _Span | None


def first_difference(got: Plain, expected: Plain) -> Difference | None:
    """The first difference in reading order, None when the two are the same."""
    if same(got, expected):
        return None
    shown = _Shown(expected)
    path, reason = _differ(got, expected, ())
    start, end = shown.spans[path]
    return Difference(reason, (start, end) if end <= SHOWN_MAX else None)


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


# --- an edge line -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EdgeInput:
    """An edge line as values: the arguments, and the prediction: an exception's name, or else a value."""

    args: tuple[Plain, ...]
    raises: str | None
    value: Plain = None


def parse_edge(line: str, function: str = "guard_key") -> EdgeInput | Message:
    """The edge line as values, or a message that says what to write."""
    if not line.strip():
        return Message("check.edge_empty", {"function": function})
    if len(line) > LINE_MAX:
        return Message("check.edge_long", {"length": len(line), "most": LINE_MAX})
    try:
        return _Reader(line.rstrip(), function).edge()
    except _Unreadable as error:
        return error.message


class _Unreadable(Exception):
    def __init__(self, key: str, **args: str | int) -> None:
        super().__init__(key)
        self.message = Message(f"check.edge_{key}", args)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    column: int


_TOKEN = re.compile(
    r"""
    (?P<space>[ \t]+)
  | (?P<name>[^\W\d]\w*)
  | (?P<number>(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?\w*)
  | (?P<text>"[^"]*"|'[^']*')
  | (?P<mark>==|[()\[\]{},:=+*.<>-])
    """,
    re.VERBOSE,
)
_INT = re.compile(r"(?:0|[1-9]\d*)(?:_\d+)*")
_FLOAT = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_CONSTANTS = {"None": None, "True": True, "False": False}


def _tokens(line: str) -> Iterator[_Token]:
    at = 0
    while at < len(line):
        match = _TOKEN.match(line, at)
        if match is None:
            raise _unreadable_character(line[at], at + 1)
        kind = str(match.lastgroup)
        if kind == "text":
            for offset, char in enumerate(match[0]):
                if char == "\\" or not char.isprintable():
                    raise _Unreadable("character", column=at + offset + 1, character=safe_text(char))
        if kind != "space":
            yield _Token(kind, match[0], at + 1)
        at = match.end()
    yield _Token("end", "", len(line) + 1)


def _unreadable_character(char: str, column: int) -> _Unreadable:
    if char in "\"'":
        return _Unreadable("open_text", column=column, quote=char)
    if char in "\r\n":
        return _Unreadable("lines")
    plain = unicodedata.normalize("NFKC", char).translate(str.maketrans("“”‘’、。", "\"\"'',."))
    if plain != char and plain.isascii() and plain.isprintable() and len(plain) == 1:
        return _Unreadable("wide", column=column, character=char, plain=plain)
    return _Unreadable("character", column=column, character=safe_text(char))


class _Reader:
    """Reads one line by the grammar above. Every method raises _Unreadable."""

    def __init__(self, line: str, function: str) -> None:
        self._function = function
        self._tokens = list(_tokens(line))
        self._at = 0
        self._values = 0

    def edge(self) -> EdgeInput:
        name, opening = self._next(), self._next()
        if name.kind != "name" or name.text != self._function or opening.text != "(":
            raise _Unreadable("start", function=self._function)
        args = tuple(self._items(opening, 0))
        verb = self._next()
        if verb.kind == "end":
            raise _Unreadable("no_prediction")
        if verb.text == "raises":
            return EdgeInput(args, self._exception())
        if verb.text == "=":
            raise _Unreadable("one_equals", column=verb.column)
        if verb.text != "==":
            raise _Unreadable("verb", column=verb.column, text=safe_text(verb.text, 40))
        if self._peek().kind == "end":
            raise _Unreadable("no_prediction")
        value = self._value(0)
        self._end()
        return EdgeInput(args, None, value)

    def _exception(self) -> str:
        token = self._next()
        known = getattr(builtins, token.text, None) if token.kind == "name" else None
        if not (isinstance(known, type) and issubclass(known, Exception)):
            raise _Unreadable("exception", name=safe_text(token.text, 40))
        self._end()
        return known.__name__

    def _end(self) -> None:
        token = self._next()
        if token.kind != "end":
            raise _Unreadable("trailing", column=token.column, text=safe_text(token.text, 40))

    def _peek(self) -> _Token:
        return self._tokens[self._at]

    def _next(self) -> _Token:
        token = self._tokens[self._at]
        self._at += token.kind != "end"
        return token

    def _value(self, depth: int) -> Plain:
        self._values += 1
        if self._values > VALUES_MAX:
            raise _Unreadable("many", most=VALUES_MAX)
        token = self._next()
        if token.kind == "number":
            return _number(token, 1)
        if token.text == "-" and self._peek().kind == "number":
            return _number(self._next(), -1)
        if token.kind == "text":
            return token.text[1:-1]
        if token.kind == "name":
            return self._named(token)
        if token.text not in _CLOSING:
            raise _Unreadable("value", column=token.column, text=safe_text(token.text, 40))
        before = self._at
        items = self._items(token, depth + 1)
        if token.text == "[":
            return items
        if token.text == "{":
            return _set(items, token)
        comma = self._tokens[self._at - 2].text == "," and self._at - 2 >= before
        return items[0] if len(items) == 1 and not comma else tuple(items)

    def _named(self, token: _Token) -> Plain:
        if token.text in _CONSTANTS:
            return _CONSTANTS[token.text]
        if self._peek().text == "(":
            empty = self._tokens[self._at + 1].text == ")"
            if token.text in ("set", "frozenset") and empty:
                self._at += 2
                return set() if token.text == "set" else frozenset()
            raise _Unreadable("call", column=token.column, name=safe_text(token.text, 40))
        if self._peek().text == "for":
            raise _Unreadable("comprehension", column=token.column)
        if self._peek().text == "=":
            raise _Unreadable("keyword", column=token.column, name=safe_text(token.text, 40))
        raise _Unreadable("name", column=token.column, name=safe_text(token.text, 40))

    def _items(self, opening: _Token, depth: int) -> list[Plain]:
        if depth > DEPTH_MAX:
            raise _Unreadable("deep", most=DEPTH_MAX)
        closing = _CLOSING[opening.text]
        items: list[Plain] = []
        while self._peek().text != closing:
            items.append(self._value(depth))
            token = self._peek()
            if token.text == ",":
                self._at += 1
            elif token.kind == "end":
                raise _Unreadable("open_bracket", column=opening.column, bracket=opening.text)
            elif token.text == ":" and opening.text == "{":
                raise _Unreadable("dict", column=opening.column)
            elif token.text != closing:
                raise _Unreadable("comma", column=token.column, text=safe_text(token.text, 40), bracket=closing)
        self._at += 1
        return items


def _number(token: _Token, sign: int) -> int | float:
    if _INT.fullmatch(token.text):
        digits = token.text.replace("_", "")
        if len(digits) <= 19 and int(digits) <= INT_MAX:
            return sign * int(digits)
        raise _Unreadable("number_large", column=token.column)
    if _FLOAT.fullmatch(token.text) and math.isfinite(value := float(token.text)):
        return sign * value
    raise _Unreadable("number", column=token.column, text=safe_text(token.text, 40))


def _set(items: list[Plain], opening: _Token) -> set[Plain]:
    if not items:
        raise _Unreadable("dict", column=opening.column)
    try:
        return set(items)
    except TypeError as error:
        raise _Unreadable("unhashable", column=opening.column) from error
