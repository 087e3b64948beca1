"""Reads one edge line: a call with plain values, and what the learner predicts of it (pure).

    edge  = NAME "(" items ")" ( "==" value | "raises" NAME )
    items = [ value { "," value } [ "," ] ]
    value = [ "-" ] NUMBER | TEXT | "None" | "True" | "False" | "set()" | "frozenset()"
          | "(" items ")" | "[" items "]" | "{" items "}"

with Python's meaning. A reader of its own, and not `ast`: the line comes from anybody and is read in the trusted
process, where `ast.parse` may answer with MemoryError, RecursionError or a warning, and never says what to write.
"""

from __future__ import annotations

import builtins
import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from tutor.literals import LINE_MAX, safe_text
from tutor.model import Message, Plain

#: Brackets in brackets, values in a line, and torch's integers.
DEPTH_MAX = 10
VALUES_MAX = 250
INT_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class EdgeLine:
    """An edge line as values: the arguments, and the prediction: an exception's name, or else a value."""

    args: tuple[Plain, ...]
    raises: str | None
    value: Plain = None


def parse_edge(line: str, function: str) -> EdgeLine | Message:
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
_INT = re.compile(r"(?:0|[1-9]\d*)(?:_\d+)*", re.ASCII)
_FLOAT = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?", re.ASCII)
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
        if plain == " ":  # shown, it could not be told from a plain one
            return _Unreadable("space", column=column, character=safe_text(char))
        return _Unreadable("wide", column=column, character=char, plain=plain)
    return _Unreadable("character", column=column, character=safe_text(char))


class _Reader:
    """Reads one line by the grammar above. Every method raises _Unreadable."""

    def __init__(self, line: str, function: str) -> None:
        self._function = function
        self._tokens = list(_tokens(line))
        self._at = 0
        self._values = 0

    def edge(self) -> EdgeLine:
        name, opening = self._next(), self._next()
        if name.kind != "name" or name.text != self._function or opening.text != "(":
            raise _Unreadable("start", function=self._function)
        args = tuple(self._items(opening, 0))
        verb = self._next()
        if verb.kind == "end":
            raise _Unreadable("no_prediction")
        if verb.text == "raises":
            return EdgeLine(args, self._exception())
        if verb.text == "=":
            raise _Unreadable("one_equals", column=verb.column)
        if verb.text != "==":
            raise _Unreadable("verb", column=verb.column, text=safe_text(verb.text, 40))
        if self._peek().kind == "end":
            raise _Unreadable("no_prediction")
        value = self._value(0)
        self._end()
        return EdgeLine(args, None, value)

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
