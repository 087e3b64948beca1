"""Colours of code by Pygments, as spans of roles (pure; lexers are imported at the first use)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tutor.lines import Role

if TYPE_CHECKING:
    from pygments.lexer import Lexer


@lru_cache(maxsize=8)
def spans(source: str) -> list[list[tuple[int, int, Role]]]:
    """For each line of `source`, which is Python, its coloured stretches as (start, end, role) in characters."""
    from pygments.lexers.python import PythonLexer

    return lexed(PythonLexer(stripnl=False, ensurenl=False), source)


def lexed(lexer: Lexer, source: str) -> list[list[tuple[int, int, Role]]]:
    """The same by any lexer that leaves the line ends alone."""
    from pygments.token import Token

    kinds: tuple[tuple[object, Role], ...] = (
        (Token.Comment, "comment"),
        (Token.Keyword, "keyword"),
        (Token.Operator.Word, "keyword"),
        (Token.Literal.String, "string"),
        (Token.Literal.Number, "number"),
    )
    lines: list[list[tuple[int, int, Role]]] = [[] for _ in source.split("\n")]
    row = column = 0
    for kind, words in lexer.get_tokens(source):
        role = next((role for token, role in kinds if kind in token), None)  # type: ignore[operator]
        for n, piece in enumerate(words.split("\n")):
            if n:
                row, column = row + 1, 0
            if role is not None and piece and row < len(lines):
                lines[row].append((column, column + len(piece), role))
            column += len(piece)
    return lines
