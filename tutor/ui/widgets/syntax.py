"""Colours of Python code by Pygments, as spans of roles (pure; the lexer is imported at the first use)."""

from __future__ import annotations

from functools import lru_cache

from tutor.ui.lines import Role


@lru_cache(maxsize=8)
def spans(source: str) -> list[list[tuple[int, int, Role]]]:
    """For each line of `source`, its coloured stretches as (start, end, role) in characters."""
    from pygments.lexers.python import PythonLexer
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
    for kind, words in PythonLexer(stripnl=False, ensurenl=False).get_tokens(source):
        role = next((role for token, role in kinds if kind in token), None)  # type: ignore[operator]
        for n, piece in enumerate(words.split("\n")):
            if n:
                row, column = row + 1, 0
            if role is not None and piece and row < len(lines):
                lines[row].append((column, column + len(piece), role))
            column += len(piece)
    return lines
