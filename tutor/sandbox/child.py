"""The untrusted half: runs inside the walls, reads the blank's text, calls the function, writes claims.

Nothing here is believed by anybody. It holds no expected value, no reference and no wrong version, and neither does the
warm process that it was forked from.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
from typing import Any

from tutor.sandbox import policy, values

_BEFORE = " return "
_BLANKS = " \t\n\r\f"
_MEMORY = b'["memory"]\n'

_known_errors = {
    value: name for name, value in vars(builtins).items() if type(value) is type and issubclass(value, BaseException)
}
_encode_json = json.JSONEncoder(separators=(",", ":")).encode


class Refused(Exception):
    """The text in the blank is not one expression. `code` names the reason, the place is in the blank's own text."""

    def __init__(self, code: str, detail: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(code)
        self.document = ["refused", code, detail[: policy.ERROR_TEXT_MAX], line, column]


def read_blank(text: str) -> ast.expr:
    """The one expression in `text`, as legal after `return`. Raises Refused.

    The text is parsed in a function of its own and only its tree is used: no text can leave the blank.
    """
    stripped = text.strip(_BLANKS)
    if not stripped:
        raise Refused("empty")
    try:
        module = ast.parse(f"def blank():\n{_BEFORE}{stripped}")
    except (SyntaxError, MemoryError, RecursionError, ValueError) as error:
        raise _unparsed(text, error) from error
    function = module.body[0]
    assert isinstance(function, ast.FunctionDef)
    rest = module.body[1:] + function.body[1:]
    if rest:
        first = min(rest, key=lambda node: (node.lineno, node.col_offset))
        raise Refused("more", "", *_place(text, first.lineno, first.col_offset + 1))
    statement = function.body[0]
    assert isinstance(statement, ast.Return)
    if statement.value is None:
        raise Refused("empty")
    _no_generator(text, statement.value)
    return statement.value


def _unparsed(text: str, error: Exception) -> Refused:
    """Why Python's parser or compiler did not take the text."""
    if isinstance(error, MemoryError | RecursionError):
        return Refused("deep")
    if not isinstance(error, SyntaxError):  # a lone surrogate
        return Refused("characters", str(error))
    place = _place(text, error.lineno or 0, error.offset or 0)
    return Refused("statement" if _is_statement(text) else "syntax", str(error.msg), *place)


def _is_statement(text: str) -> bool:
    try:
        module = ast.parse(text.strip(_BLANKS))
    except (SyntaxError, MemoryError, RecursionError, ValueError):
        return False
    return not all(isinstance(node, ast.Expr) for node in module.body)


def _no_generator(text: str, value: ast.expr) -> None:
    inner: list[ast.AST] = [value]
    while inner:
        node = inner.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
            raise Refused("generator", type(node).__name__, *_place(text, node.lineno, node.col_offset + 1))
        if not isinstance(node, ast.Lambda):
            inner.extend(ast.iter_child_nodes(node))


def _place(text: str, line: int, column: int) -> tuple[int, int]:
    """A place in the parsed module as a place in the blank's own text, both from 1; (0, 0) when it has none."""
    if line < 2 or column < 1:
        return 0, 0
    dropped = text[: len(text) - len(text.lstrip(_BLANKS))]
    skipped = dropped.count("\n")
    if line == 2:
        column = max(column - len(_BEFORE), 1) + len(dropped) - (dropped.rfind("\n") + 1)
    lines = text.split("\n")
    line = min(line - 1 + skipped, len(lines))
    return line, min(column, len(lines[line - 1]) + 1)


def build(template: str, blank: str, function: str, text: str) -> Any:
    """The template's function with the blank's tree in it. Raises Refused."""
    value = read_blank(text)
    tree = ast.parse(template)
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Name) and node.value.id == blank:
            node.value = value
    scope: dict[str, Any] = {"__name__": function, "__builtins__": builtins}
    try:
        code = compile(tree, function, "exec")
    except (SyntaxError, MemoryError, RecursionError, ValueError) as error:
        raise _unparsed(text, error) from error
    exec(code, scope)
    return scope[function]


def run(job: bytes) -> None:
    """Answer one job: a line on the result pipe for each call, or one line that says why there is none."""
    task = json.loads(job)
    try:
        called = build(task["template"], task["blank"], task["function"], task["text"])
    except Refused as refusal:
        _say(refusal.document)
        return
    for call in task["calls"]:
        arguments = values.decode(call)
        try:
            document = ["value", values.encode(called(*arguments))]
        except MemoryError:
            os.write(policy.RESULT_FD, _MEMORY)
            return
        except BaseException as error:  # all of them: it is the learner's, and it is the answer
            document = _raised(error)
        _say(document)


def _raised(error: BaseException) -> list[object]:
    kind = type(error)
    try:
        if kind not in _known_errors:
            return ["raised", "", type.__getattribute__(kind, "__name__")[: policy.NAME_MAX]]
        return ["raised", _known_errors[kind], str(error)[: policy.ERROR_TEXT_MAX]]
    except BaseException:  # its own __str__ or metaclass; said as an exception without a text
        return ["raised", "", ""]


def _say(document: list[Any]) -> None:
    os.write(policy.RESULT_FD, _encode_json(document).encode("ascii") + b"\n")
