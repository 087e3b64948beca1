"""Whether a lesson holds when it is run: its exercise judged in the sandbox, its demos' rules and records read."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tutor import literals
from tutor.exercise.blanks import Blank
from tutor.exercise.judging import EDGES_MAX, Judge
from tutor.lab import transcripts, verdicts
from tutor.lesson.check import Problem
from tutor.model import CheckReport, Demo, Ending, Exercise, Lesson, Message, Plain, WrongVersion
from tutor.sandbox import Sandbox

#: How many batches of edge inputs are tried before a wrong version counts as one that none can catch.
BATCHES = 12

#: What a learner would write for a dtype or a device.
NAMES = ("bfloat16", "float16", "float32", "int64", "BF16", "cuda:1", "cpu", "")

Args = tuple[Plain, ...]


def problems(lesson: Lesson, sandbox: Sandbox) -> list[Problem]:
    """Everything that does not hold, exercise first. Raises SandboxUnavailable."""
    return [*_exercise(lesson, sandbox), *_wrong_versions(lesson.exercise), *_demos(lesson)]


def _problem(where: str, key: str, **args: str | int) -> Problem:
    return Problem(where, Message(f"proof.{key}", args))


# --- the exercise -----------------------------------------------------------------------------------------------------


def _exercise(lesson: Lesson, sandbox: Sandbox) -> Iterator[Problem]:
    exercise, judge = lesson.exercise, Judge(lesson.exercise, sandbox)
    shipped = judge.check(exercise.blank)
    if shipped.ending not in (Ending.FAILED, Ending.REFUSED) or shipped.normal:
        yield _problem("exercise", "blank-passes", ending=shipped.ending)
    path = lesson.folder / "reference" / f"{exercise.function}.py"
    answer = Blank.of(exercise.template, exercise.blank).read_file(path.read_bytes()) if path.is_file() else None
    if not isinstance(answer, str):
        yield _problem(f"reference/{path.name}", "reference-unread")
        return
    report = judge.check(answer)
    if report.ending is not Ending.PASSED or report.normal != len(exercise.given):
        yield _problem(f"reference/{path.name}", "reference-fails", ending=report.ending, points=report.normal)
        return
    for wrong in _never_caught(exercise, judge, answer):
        yield _problem(f"checks: {wrong.id}", "never-caught")


def _never_caught(exercise: Exercise, judge: Judge, answer: str) -> list[WrongVersion]:
    """The wrong versions that no edge input has caught. An input earns its point with the right answer in the blank."""
    open_ones = {wrong.id: wrong for wrong in exercise.wrong}
    rng = random.Random(0)
    for _ in range(BATCHES):
        if not open_ones:
            break
        report: CheckReport = judge.check(answer, _batch(exercise, rng))
        for edge in report.edges:
            for name in edge.caught:
                open_ones.pop(name, None)
    return list(open_ones.values())


def _batch(exercise: Exercise, rng: random.Random) -> list[str]:
    """Well-formed edge inputs with their right predictions."""
    candidates = [args for call in exercise.probes(rng, EDGES_MAX) for args in (call.args, *_strained(call.args, rng))]
    fit = [args for args in candidates if exercise.malformed(args) is None]
    return [_edge_line(exercise, args) for args in rng.sample(fit, min(EDGES_MAX, len(fit)))]


def _strained(args: Args, rng: random.Random) -> Iterator[Args]:
    """The same input with one collection of integers at or beyond an end (emptied, doubled, below 0, too high), or with
    another name in place of a text."""
    for place, value in enumerate(args):
        if type(value) is str:
            yield (*args[:place], rng.choice(NAMES), *args[place + 1 :])
        if type(value) in (list, tuple, set) and all(type(item) is int for item in value):
            kind, items = type(value), list(value)
            size = max((len(other) for other in args if type(other) is tuple), default=0)
            for more in ([-1], [size], [size + 1], [-size], items):
                yield (*args[:place], kind([*items, *more]), *args[place + 1 :])
            yield (*args[:place], kind(), *args[place + 1 :])
            yield (*args[:place], kind(rng.sample(items, len(items) // 2)), *args[place + 1 :])


def _edge_line(exercise: Exercise, args: Args) -> str:
    call = literals.show_call(exercise.function, args)
    try:
        return f"{call} == {literals.show(exercise.reference(*args), literals.LINE_MAX)}"
    except Exception as error:  # What a right function raises is what has to be predicted.
        return f"{call} raises {type(error).__name__}"


def _wrong_versions(exercise: Exercise) -> Iterator[Problem]:
    """Each passes the given assertions, or says why they catch it already."""
    for wrong in exercise.wrong:
        lives = all(_returns(wrong, given.args, given.expected) for given in exercise.given)
        if lives and wrong.given_catches is not None:
            yield _problem(f"checks: {wrong.id}", "lives-but-says-caught")
        if not lives and wrong.given_catches is None:
            yield _problem(f"checks: {wrong.id}", "caught-but-says-nothing")


def _returns(wrong: WrongVersion, args: Args, expected: Plain) -> bool:
    try:
        return literals.same(wrong.run(*args), expected)
    except Exception:  # A mistake may raise: then it does not return what is expected.
        return False


# --- the demos --------------------------------------------------------------------------------------------------------


def _demos(lesson: Lesson) -> Iterator[Problem]:
    for demo in lesson.demos.values():
        where = f"demos/{demo.script.stem}"
        for claim, rules in demo.verdicts.items():
            try:
                verdicts.check(rules)
            except verdicts.RuleError as error:
                yield _problem(f"{where}.toml", "rules", claim=claim, why=str(error))
        yield from _script(demo, f"{where}.py")
        for path in demo.recorded:
            try:
                list(transcripts.replay(demo, path))
            except transcripts.TranscriptError as error:
                yield Problem(f"recorded/{path.name}", error.message)


def _script(demo: Demo, where: str) -> Iterator[Problem]:
    try:
        compile(demo.script.read_bytes(), str(demo.script), "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError) as error:
        yield _problem(where, "script", why=str(error))
