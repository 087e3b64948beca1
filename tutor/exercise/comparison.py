"""Compares what a call claims with what a right function does, and says it to a learner (pure)."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from tutor import literals
from tutor.model import Ending, Message, Plain, Raised
from tutor.sandbox import Result, Returned

_UNDEFINED = re.compile(r"name '(\w+)' is not defined")


def behaviour(function: Callable[..., Plain], args: tuple[Plain, ...]) -> Result:
    """What a trusted function does with these arguments."""
    try:
        return Returned(function(*args))
    except Exception as error:  # raising is what some of them are there for: it is data here
        return Raised(type(error).__name__, str(error))


def alike(one: Result | None, other: Result) -> bool:
    """The same value with the same types, or an exception of the same type, whatever its text."""
    if isinstance(one, Raised) and isinstance(other, Raised):
        return one.kind == other.kind
    return isinstance(one, Returned) and isinstance(other, Returned) and literals.same(one.value, other.value)


def shown(result: Result | None) -> str | None:
    """The value as text; None when there is none, or one that is not plain."""
    if isinstance(result, Returned) and literals.is_plain(result.value):
        return literals.show(result.value)
    return None


def names_in(source: str) -> list[str]:
    """What a blank in this trusted source can name: the function's parameters, then what its locked lines assign."""
    nodes = list(ast.walk(ast.parse(source)))
    targets = [target for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
    return [n.arg for n in nodes if isinstance(n, ast.arg)] + [t.id for t in targets if isinstance(t, ast.Name)]


def compare(result: Result, right: Result, names: Sequence[str]) -> tuple[Ending, Message, tuple[int, int] | None]:
    """How a result stands to the right one: an ending, a sentence, and where `show(right)` first differs.

    `names` are those that the blank could have used, for a name that is not defined.
    """
    if alike(result, right):
        return Ending.PASSED, Message("check.as_expected"), None
    if isinstance(result, Raised):
        return Ending.FAILED, raised(result, names), None
    if isinstance(right, Raised):
        return Ending.FAILED, Message("check.should_raise", {"kind": right.kind}), None
    if type(result.value) is literals.Foreign and result.value.large:
        name = literals.safe_text(result.value.type_name, 80)
        return Ending.FAILED, Message("check.too_large", {"type": name}), None
    difference = literals.first_difference(result.value, right.value)
    assert difference is not None
    return Ending.FAILED, difference.reason, difference.at


def raised(error: Raised, names: Sequence[str]) -> Message:
    """What an exception of the learner's code means."""
    text = literals.safe_text(error.text, 160)
    if error.kind == "":
        return Message("check.raised_own", {"name": text})
    undefined = _UNDEFINED.match(error.text) if error.kind == "NameError" else None
    if undefined is not None:
        return _undefined(undefined[1], names)
    if error.kind in ("PermissionError", "ImportError", "ModuleNotFoundError"):
        return Message("check.raised_walled", {"kind": error.kind})
    if not text:
        return Message("check.raised_bare", {"kind": error.kind})
    return Message("check.raised", {"kind": error.kind, "text": text})


def _undefined(name: str, names: Sequence[str]) -> Message:
    import difflib

    text = literals.safe_text(name, 60)
    near = difflib.get_close_matches(name[:60], names, 1)
    if near:
        return Message("check.undefined_near", {"name": text, "near": near[0]})
    return Message("check.undefined", {"name": text, "names": ", ".join(names)})
