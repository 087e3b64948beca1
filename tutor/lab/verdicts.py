"""What a run's observations say of a claim: the rules of a demo's TOML, read and applied in the trusted process (pure).

    [verdicts.automatic-dynamic]
    control = ["control.new_graphs == [1, 1, 1, 0, 1]"]
    holds = ["default.new_graphs == [1, 1, 0, 0, 1]", "default.same_as_eager == true"]

A rule is a list of conditions that must all be true. `control` comes first and is required: it says what must come out
when the cause is taken away. If it does not, the run shows nothing and the verdict is `broke`. After it the
verdicts are tried as written and the first one whose conditions are true is given; `differs` if none is. An observation
that a condition names and the run did not make is `broke` too: nothing passes because nothing happened.

A condition is `PATH OP OPERAND`, after an optional `some`:

* PATH is `series.value` or `series.value.field`: all values of that series, in the order they were observed.
* OP is one of `== != < <= > >= has`; `has` asks whether a text stands in the observed text.
* OPERAND is a JSON literal, another PATH, or `NUMBER * PATH`. A list is compared with all values at once (`==`, `!=`
  only). Anything else is compared with every value; `some` asks that at least one is true. Two paths are compared pair
  by pair, or every value with the only one.

    some breaks.reason has "print"
    dynamic.p50_us >= 1.05 * static.p50_us
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tutor.model import Message, Verdict

CONTROL = "control"
_PATH = r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*){1,2}"
_CONDITION = re.compile(rf"(?P<some>some\s+)?(?P<path>{_PATH})\s+(?P<op>==|!=|<=|>=|<|>|has)\s+(?P<operand>.+)", re.S)
_TIMES = re.compile(rf"(?:(?P<factor>\d+(?:\.\d+)?)\s*\*\s*)?(?P<path>{_PATH})")

Observed = Mapping[str, Mapping[str, Sequence[Any]]]


class RuleError(ValueError):
    """A rule cannot be read; the text names it."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and why, as a sentence for the learner."""

    verdict: Verdict
    because: Message


@dataclass(frozen=True, slots=True)
class _Condition:
    text: str
    some: bool
    path: str
    op: str
    literal: Any
    other: str | None
    factor: float


class _NoSuchValue(Exception):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class _WrongKind(Exception):
    pass


def check(rules: Mapping[str, Any]) -> None:
    """Raises RuleError when `rules`, one claim's table, cannot be applied to any run."""
    _read(rules)


def judge(rules: Mapping[str, Any], observed: Observed) -> Judgement:
    """The verdict on one claim. `observed` maps series to value to what was observed, in order. Raises RuleError."""
    control, verdicts = _read(rules)
    try:
        fails = _first_false(control, observed)
        if fails is not None:
            return Judgement(Verdict.BROKE, _because("lab.because-control", fails, observed))
        nearest: _Condition | None = None
        for verdict, conditions in verdicts:
            fails = _first_false(conditions, observed)
            if fails is None:
                return Judgement(verdict, _because("lab.because-observed", conditions[-1], observed, conditions))
            nearest = nearest or fails
    except _NoSuchValue as missing:
        return Judgement(Verdict.BROKE, Message("lab.because-missing", {"what": missing.path}))
    except _WrongKind as wrong:
        return Judgement(Verdict.BROKE, Message("lab.because-kind", {"rule": str(wrong)}))
    assert nearest is not None  # there is at least one verdict to try
    return Judgement(Verdict.DIFFERS, _because("lab.because-differs", nearest, observed))


def _read(rules: Mapping[str, Any]) -> tuple[list[_Condition], list[tuple[Verdict, list[_Condition]]]]:
    read: dict[str, list[_Condition]] = {}
    for name, texts in rules.items():
        if name != CONTROL and name not in {verdict.value for verdict in Verdict}:
            raise RuleError(f"{name!r} is neither a verdict nor {CONTROL!r}")
        if not isinstance(texts, list) or not texts:
            raise RuleError(f"{name}: a list with at least one condition is needed")
        read[name] = [_condition(text) for text in texts]
    control = read.pop(CONTROL, None)
    if control is None:
        raise RuleError("there is no control: say what must come out when the cause is taken away")
    if not read:
        raise RuleError("there is no verdict beside the control")
    return control, [(Verdict(name), conditions) for name, conditions in read.items()]


def _condition(text: Any) -> _Condition:
    match = _CONDITION.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise RuleError(f"not a condition: {text!r}")
    op, operand = match["op"], match["operand"].strip()
    other = _TIMES.fullmatch(operand)
    literal = None
    if other is None:
        try:
            literal = json.loads(operand)
        except ValueError as error:
            raise RuleError(f"{text!r}: {operand!r} is neither JSON nor an observed value") from error
        if isinstance(literal, dict):
            raise RuleError(f"{text!r}: a table cannot be compared")
        if isinstance(literal, list) and (op not in ("==", "!=") or match["some"]):
            raise RuleError(f"{text!r}: a list can only be compared by == and !=, and as a whole")
        if op == "has" and not isinstance(literal, str):
            raise RuleError(f"{text!r}: only a text can be searched for")
        if op in _ORDER and not _number(literal):
            raise RuleError(f"{text!r}: {op} needs a number")
    elif op == "has":
        raise RuleError(f"{text!r}: only a text in quotes can be searched for")
    return _Condition(
        text=text.strip(),
        some=bool(match["some"]),
        path=match["path"],
        op=op,
        literal=literal,
        other=other["path"] if other else None,
        factor=float(other["factor"]) if other and other["factor"] else 1.0,
    )


def _first_false(conditions: Sequence[_Condition], observed: Observed) -> _Condition | None:
    return next((condition for condition in conditions if not _true(condition, observed)), None)


def _true(condition: _Condition, observed: Observed) -> bool:
    left = _values(condition.path, observed)
    if condition.other is not None:
        right = _values(condition.other, observed)
        if len(right) == 1:
            right = right * len(left)
        if len(right) != len(left):
            raise _WrongKind(condition.text)
        if condition.factor != 1.0:
            right = [_times(condition, item) for item in right]
    elif isinstance(condition.literal, list):
        same = len(left) == len(condition.literal) and all(map(_same, left, condition.literal))
        return same if condition.op == "==" else not same
    else:
        right = [condition.literal] * len(left)
    answers = [_compare(condition, a, b) for a, b in zip(left, right, strict=True)]
    return any(answers) if condition.some else all(answers)


def _values(path: str, observed: Observed) -> list[Any]:
    series, name, *field = path.split(".")
    values = list(observed.get(series, {}).get(name, ()))
    if field:
        values = [value[field[0]] if isinstance(value, Mapping) and field[0] in value else None for value in values]
    if not values or any(value is None for value in values):
        raise _NoSuchValue(path)
    return values


def _times(condition: _Condition, value: Any) -> float:
    if not _number(value):
        raise _WrongKind(condition.text)
    return condition.factor * float(value)


def _compare(condition: _Condition, a: Any, b: Any) -> bool:
    if condition.op in ("==", "!="):
        return _same(a, b) == (condition.op == "==")
    if condition.op == "has":
        texts = a if isinstance(a, list) else [a]
        if not all(isinstance(text, str) for text in texts):
            raise _WrongKind(condition.text)
        return any(b in text for text in texts)
    if not (_number(a) and _number(b)):
        raise _WrongKind(condition.text)
    return _ORDER[condition.op](a, b)


def _same(a: Any, b: Any) -> bool:
    """Equal, where true is not 1."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _because(key: str, about: _Condition, observed: Observed, rule: Sequence[_Condition] = ()) -> Message:
    """What was asked for and what was seen instead, or for a rule that is true, all that it asked for."""
    wanted = "; ".join(condition.text for condition in rule or (about,))
    seen = json.dumps(_values(about.path, observed), ensure_ascii=False)
    if len(seen) > 200:
        seen = f"{seen[:200]} ..."
    return Message(key, {"rule": wanted, "path": about.path, "seen": seen})
