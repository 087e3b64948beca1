"""The trusted judge of an exercise: it asks the sandbox for claims and compares them with what it knows.

Expected values, the reference and the wrong versions are used here and never leave this process.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from tutor import literals
from tutor.exercise.comparison import alike, behaviour, compare, names_in, shown
from tutor.exercise.edge_lines import parse_edge
from tutor.language import Lang
from tutor.model import Assertion, CaseResult, CheckReport, EdgeResult, Ending, Exercise, Message, Plain, Raised
from tutor.sandbox import Outcome, Result, Returned, Sandbox, Template
from tutor.strings import say

#: Inputs drawn anew for each check. Six from anywhere kill every answer that is written down as a whole, eight near the
#: given inputs one that is written down for a part of what was given, three far from them one for usual inputs alone.
PROBES = 17

#: Edge inputs that one check looks at.
EDGES_MAX = 64

_ENDINGS: Mapping[str, Ending] = {
    "ok": Ending.PASSED,
    "failed": Ending.FAILED,
    "limit": Ending.LIMIT,
    "refused": Ending.REFUSED,
    "broke": Ending.BROKE,
}


class Judge:
    """Judges blanks of one exercise in one sandbox, which belongs to the caller."""

    def __init__(self, exercise: Exercise, sandbox: Sandbox) -> None:
        self.exercise = exercise
        self.sandbox = sandbox
        self._template = Template.of(exercise.template, exercise.blank, exercise.function)
        self._names = names_in(self._template.source)
        self._random = random.SystemRandom()

    def check(self, expr: str, edges: Sequence[str] = ()) -> CheckReport:
        """Judge the blank's text, and each line of `edges` with it.

        `ending` is the code's: an edge input has an ending of its own. Raises Cancelled, SandboxUnavailable.
        """
        began = time.perf_counter()
        layers = self.sandbox.layers()
        read = [self._read_edge(number, line) for number, line in enumerate(edges)]
        inputs = [edge for edge in read if isinstance(edge, _Edge)]
        outcome, results = self._ask(expr, [edge.args for edge in inputs])
        given, hidden, own = _split(results, len(self.exercise.given), PROBES)
        for edge, result in zip(inputs, own, strict=True):
            edge.own = result
        cases = self._given_cases(outcome, given)
        if outcome.ending == "ok" and all(case.ending is Ending.PASSED for case in cases):
            cases += self._hidden_case(hidden)
        judged = tuple(self._judge_edge(edge, outcome) if isinstance(edge, _Edge) else edge for edge in read)
        return CheckReport(
            ending=_ending(outcome, cases),
            message=outcome.message or _summary(cases),
            normal=0 if outcome.ending != "ok" else self._points(cases, hidden),
            edge=int(any(edge.point for edge in judged)),
            cases=cases,
            edges=judged,
            layers=tuple(layer.name for layer in layers if layer.active),
            missing=tuple(layer.name for layer in layers if not layer.active),
            seconds=time.perf_counter() - began,
            place=outcome.place,
            output=outcome.output,
            log=outcome.log,
        )

    def results(self, expr: str, calls: Sequence[tuple[Plain, ...]]) -> Outcome:
        """What the blank's text makes of other inputs, unjudged. Raises Cancelled, SandboxUnavailable."""
        if expr.strip() in ("", self.exercise.blank):
            return Outcome("refused", Message("check.refused_unfilled"))
        return self.sandbox.run(self._template, expr, calls)

    # --- the run ------------------------------------------------------------------------------------------------------

    def _ask(self, expr: str, edges: list[tuple[Plain, ...]]) -> tuple[Outcome, list[_Asked]]:
        """All calls in one child and in an order that nobody can foresee: given, drawn anew, and the learner's own."""
        probes = [call.args for call in self.exercise.probes(self._random, PROBES)]
        asked = [_Asked(args) for args in [*(given.args for given in self.exercise.given), *probes, *edges]]
        if expr.strip() in ("", self.exercise.blank):
            return Outcome("refused", Message("check.refused_unfilled")), asked
        order = self._random.sample(range(len(asked)), len(asked))
        outcome = self.sandbox.run(self._template, expr, [asked[index].args for index in order])
        if outcome.ending == "ok":  # otherwise it is chance which calls came before the end
            for index, result in zip(order, outcome.results, strict=True):
                asked[index].result = result
        return outcome, asked

    # --- the given assertions, and the inputs drawn anew --------------------------------------------------------------

    def _given_cases(self, outcome: Outcome, asked: list[_Asked]) -> tuple[CaseResult, ...]:
        if outcome.ending in ("refused", "broke"):
            return ()
        cases: list[CaseResult] = []
        for assertion, answer in zip(self.exercise.given, asked, strict=True):
            case = self._given_case(assertion, outcome, answer.result)
            alike = next((other.id for other in cases if _reason(other) == _reason(case)), None)
            cases.append(replace(case, same_as=alike if case.ending is not Ending.PASSED else None))
        return tuple(cases)

    def _given_case(self, assertion: Assertion, outcome: Outcome, result: Result | None) -> CaseResult:
        call = literals.show_call(self.exercise.function, assertion.args)
        expected = literals.show(assertion.expected)
        if result is None:
            message = outcome.message or Message("check.not_run")
            return CaseResult(assertion.id, call, _ENDINGS[outcome.ending], None, expected, message)
        ending, message, at = compare(result, Returned(assertion.expected), self._names)
        return CaseResult(assertion.id, call, ending, shown(result), expected, message, at)

    def _hidden_case(self, asked: list[_Asked]) -> tuple[CaseResult, ...]:
        """The plainest of the inputs drawn anew that shows the answer wrong, if one does."""
        wrong = [one for one in asked if not alike(one.result, self._right(one.args))]
        if not wrong:
            return ()
        one = min(wrong, key=lambda one: len(literals.show_call(self.exercise.function, one.args)))
        call = literals.show_call(self.exercise.function, one.args)
        message = self._hidden_reason(one)
        return (CaseResult("hidden-1", call, Ending.FAILED, shown(one.result), None, message),)

    def _hidden_reason(self, one: _Asked) -> Message:
        """Which argument the answer does not follow, where that can be told from the first difference."""
        right = self._right(one.args)
        if isinstance(one.result, Returned) and isinstance(right, Returned):
            difference = literals.first_difference(one.result.value, right.value)
            assert difference is not None
            for name, argument in zip(self._names, one.args, strict=False):  # the parameters come first
                parts = argument if type(argument) is tuple else (argument,)
                if any(literals.same(difference.expected, part) for part in parts):
                    return Message("check.hidden_argument", {"name": name})
            return Message("check.hidden_other")
        assert one.result is not None
        return compare(one.result, right, self._names)[1]

    def _points(self, cases: Sequence[CaseResult], hidden: list[_Asked]) -> int:
        """A point for each given assertion; one less if an input drawn anew fails, none unless most of them hold."""
        passed = sum(case.ending is Ending.PASSED for case in cases if case.id != "hidden-1")
        right = sum(alike(one.result, self._right(one.args)) for one in hidden)
        if right == len(hidden):
            return passed
        return min(passed, len(self.exercise.given) - 1) if 2 * right > len(hidden) else 0

    def _right(self, args: tuple[Plain, ...]) -> Result:
        return behaviour(self.exercise.reference, args)

    # --- edge inputs --------------------------------------------------------------------------------------------------

    def _read_edge(self, number: int, line: str) -> _Edge | EdgeResult:
        if number >= EDGES_MAX:
            return self._unread(line, Message("check.edge_surplus", {"most": EDGES_MAX}))
        edge = parse_edge(line, self.exercise.function)
        if isinstance(edge, Message):
            return self._unread(line, edge)
        wrong_form = self.exercise.malformed(edge.args)
        if wrong_form is not None:
            return self._unread(line, wrong_form)
        predicted: Result = Returned(edge.value) if edge.raises is None else Raised(edge.raises)
        return _Edge(literals.show_call(self.exercise.function, edge.args), edge.args, predicted)

    def _unread(self, line: str, message: Message) -> EdgeResult:
        return self._edge(literals.safe_text(line), Ending.REFUSED, "unread", None, message)

    def _edge(
        self,
        call: str,
        ending: Ending,
        prediction: Literal["right", "wrong", "unread"],
        own: Result | None,
        message: Message,
        caught: tuple[str, ...] = (),
        point: bool = False,
    ) -> EdgeResult:
        got = shown(own) if own is not None else None
        return EdgeResult(call, ending, prediction, got, caught, len(self.exercise.wrong), point, message)

    def _judge_edge(self, edge: _Edge, outcome: Outcome) -> EdgeResult:
        right = self._right(edge.args)
        if not alike(edge.predicted, right):
            return self._edge(edge.call, Ending.FAILED, "wrong", edge.own, _right_message(right))
        if edge.own is None:
            message = outcome.message or Message("check.not_run")
            return self._edge(edge.call, _ENDINGS[outcome.ending], "right", None, message)
        if not alike(edge.own, right):
            return self._edge(edge.call, Ending.FAILED, "right", edge.own, self._own_message(edge.own))
        caught = tuple(w.id for w in self.exercise.wrong if not alike(behaviour(w.run, edge.args), right))
        alive = [w.id for w in self.exercise.wrong if w.given_catches is None and w.id in caught]
        if any(literals.same(edge.args, given.args) for given in self.exercise.given):
            message, point = Message("check.edge_given"), False
        elif alive:
            message, point = Message("check.edge_caught", {"count": len(caught)}), True
        else:
            message, point = Message("check.edge_caught_none"), False
        return self._edge(edge.call, Ending.PASSED, "right", edge.own, message, caught, point)

    def _own_message(self, own: Result) -> Message:
        if isinstance(own, Raised):
            return Message("check.edge_own_raises", {"kind": own.kind or literals.safe_text(own.text, 80)})
        return Message("check.edge_own_returns", {"value": literals.show(own.value)})


@dataclass(slots=True)
class _Asked:
    """One call of a run, and what it claims to have come to; None when the run ended before it."""

    args: tuple[Plain, ...]
    result: Result | None = None


@dataclass(slots=True)
class _Edge:
    """A well-formed edge input: the prediction, and what the learner's own function did."""

    call: str
    args: tuple[Plain, ...]
    predicted: Result
    own: Result | None = None


def _split(asked: list[_Asked], given: int, probes: int) -> tuple[list[_Asked], list[_Asked], list[Result | None]]:
    return asked[:given], asked[given : given + probes], [one.result for one in asked[given + probes :]]


def _reason(case: CaseResult) -> tuple[Any, ...]:
    return case.ending, case.message.key, tuple(case.message.args.items()), case.at


def _right_message(right: Result) -> Message:
    if isinstance(right, Raised):
        return Message("check.edge_right_raises", {"kind": right.kind, "text": right.text})
    return Message("check.edge_right_returns", {"value": literals.show(right.value)})


def _ending(outcome: Outcome, cases: Sequence[CaseResult]) -> Ending:
    if outcome.ending == "ok" and any(case.ending is not Ending.PASSED for case in cases):
        return Ending.FAILED
    return _ENDINGS[outcome.ending]


def _summary(cases: Sequence[CaseResult]) -> Message:
    failed = [case for case in cases if case.ending is not Ending.PASSED]
    if not failed:
        return Message("check.passed", {"probes": PROBES})
    if failed[0].id == "hidden-1":
        return Message("check.failed_hidden")
    number = failed[0].id.rpartition("-")[2]
    if len(failed) == 1:
        return Message("check.failed_one", {"number": number})
    other = failed[1].id.rpartition("-")[2]
    key = "check.failed_alike" if failed[1].same_as else "check.failed_both"
    return Message(key, {"number": number, "other": other})


# --- reports as data --------------------------------------------------------------------------------------------------


def broken_report(error: Exception, edges: Sequence[str] = ()) -> CheckReport:
    """The report of a check in which the tool itself failed: it costs nothing, and its log says what happened."""
    message = Message("check.broke_judge")
    lost = tuple(
        EdgeResult(literals.safe_text(line), Ending.BROKE, "unread", None, (), 0, False, message) for line in edges
    )
    log = f"{type(error).__name__}: {error}"
    return CheckReport(Ending.BROKE, message, 0, 0, (), lost, (), (), 0.0, log=log)


def report_from_data(data: Mapping[str, Any]) -> CheckReport:
    """The report that `CheckReport.to_data` wrote, also after a way through JSON. Raises KeyError, TypeError,
    ValueError."""
    return CheckReport(
        **{
            **data,
            "ending": Ending(data["ending"]),
            "message": _message(data["message"]),
            "cases": tuple(map(_case_from_data, data["cases"])),
            "edges": tuple(map(edge_from_data, data["edges"])),
            "layers": tuple(data["layers"]),
            "missing": tuple(data["missing"]),
            "place": _pair(data["place"]),
        }
    )


def edge_from_data(data: Mapping[str, Any]) -> EdgeResult:
    """One entry of the `edges` that `CheckReport.to_data` wrote. Raises KeyError, TypeError, ValueError."""
    return EdgeResult(
        **{
            **data,
            "ending": Ending(data["ending"]),
            "message": _message(data["message"]),
            "caught": tuple(data["caught"]),
        }
    )


def _case_from_data(data: Mapping[str, Any]) -> CaseResult:
    ending, message, at = Ending(data["ending"]), _message(data["message"]), _pair(data["at"])
    return CaseResult(**{**data, "ending": ending, "message": message, "at": at})


def _message(data: Mapping[str, Any]) -> Message:
    return Message(data["key"], data["args"])


def _pair(data: Sequence[int] | None) -> tuple[int, int] | None:
    if data is None:
        return None
    first, second = data
    return first, second


def report_json(report: CheckReport, lang: Lang) -> dict[str, Any]:
    """The report for programs, as `check --json` gives it, in one language; without the head that names the command."""
    return {
        "ending": report.ending.value,
        "message": say(lang, report.message),
        "points": {"normal": report.normal, "edge": report.edge},
        "cases": [
            {
                "id": case.id,
                "call": case.call,
                "ending": case.ending.value,
                "got": case.got,
                "expected": case.expected,
                "message": say(lang, case.message),
                "at": list(case.at) if case.at else None,
                "same_as": case.same_as,
            }
            for case in report.cases
        ],
        "edges": [
            {
                "call": edge.call,
                "ending": edge.ending.value,
                "prediction": edge.prediction,
                "got": edge.got,
                "caught": list(edge.caught),
                "wrong_versions": edge.wrong_versions,
                "point": edge.point,
                "message": say(lang, edge.message),
            }
            for edge in report.edges
        ],
        "sandbox": {"layers": list(report.layers), "missing": list(report.missing)},
        "seconds": report.seconds,
        "place": {"line": report.place[0], "column": report.place[1]} if report.place else None,
        "output": report.output,
        "log": report.log,
    }
