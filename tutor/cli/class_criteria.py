"""`class criteria`: what earns points in a class, and how to change it for everybody."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from tutor.classroom.class_criteria import change, class_criteria, preview, read_rule
from tutor.classroom.criteria import Criteria, CriteriaError
from tutor.classroom.handed_in import myself
from tutor.classroom.intake import questions_of
from tutor.cli.classes import opened
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.context import Context
from tutor.model import Lesson


def run(context: Context, args: argparse.Namespace, out: Output) -> int:  # noqa: ARG001
    """Print what counts, or let another rule count. Raises Stop."""
    if args.rule is None:
        return _print(args, out)
    rule = _rule_of(args.rule)
    with opened(args, out) as (_, book, lesson, _):
        names = questions_of(lesson)
        if args.question is None:
            raise Stop("class.criteria-question", questions=", ".join(names))
        _is_question(args.question, lesson)
        try:
            wanted = read_rule(lesson, args.question, rule)
        except CriteriaError as error:
            raise Stop(str(error)) from error
        effect = preview(book, wanted) if args.preview else change(book, wanted, myself().login)
    if out.as_json:
        head = {"schema": 1, "command": "class criteria", "question": args.question, "preview": args.preview}
        out.emit({**head, "effect": effect._asdict()})
        return Exit.GOOD
    out.result(out.text("class.criteria-effect", **effect._asdict()))
    if args.preview:
        out.hint(out.text("class.criteria-kept"))
    else:
        out.result(out.text("class.criteria-changed", question=args.question))
    return Exit.GOOD


def _print(args: argparse.Namespace, out: Output) -> int:
    if args.preview:
        raise Stop("class.command-needs", action=args.action, what="--rule")
    with opened(args, out) as (_, book, lesson, _):
        if args.question is not None:
            _is_question(args.question, lesson)
        every, most = class_criteria(book, lesson), questions_of(lesson)
    asked = {name: each for name, each in every.items() if args.question in (None, name)}
    if out.as_json:
        questions = {
            name: {
                "of": most[name],
                "version": each.version,
                "slots": {slot: label._asdict() for slot, label in each.slots.items()},
                "rule": each.to_data(),
            }
            for name, each in asked.items()
        }
        out.emit({"schema": 1, "command": "class criteria", "questions": questions})
        return Exit.GOOD
    for name, each in asked.items():
        for line in criteria_lines(each, most[name], out):
            out.result(line)
    return Exit.GOOD


def criteria_lines(criteria: Criteria, most: int, out: Output) -> list[str]:
    """A question's rule in words: its slots by digit, then each way to points."""
    version = criteria.version
    whose = out.text("class.criteria-lesson" if version is None else "class.criteria-version", version=version or 0)
    lines = [out.text("class.criteria-head", question=criteria.question, of=most, whose=whose)]
    for slot, label in criteria.slots.items():
        lines.append("  " + out.text("class.criteria-slot", id=slot, label=label.get(out.lang)))
    for points, need in criteria.ways:
        every = out.text("class.criteria-every", slots=", ".join(need.every)) if need.every else ""
        some = ""
        if need.least:
            some = out.text("class.criteria-some", least=need.least, slots=", ".join(need.some))
        both = out.text("class.criteria-and", every=every, some=some) if every and some else every or some
        lines.append("  " + out.text("class.criteria-way", points=points, need=both))
    return lines


def _is_question(name: str, lesson: Lesson) -> None:
    allowed = questions_of(lesson)
    if name not in allowed:
        raise Stop("cli.usage-choice", what="--question", got=name, allowed=", ".join(allowed))


def _rule_of(path: str) -> Any:
    try:
        return json.loads(Path(path).read_bytes())
    except OSError as error:
        from tutor.paths import why

        raise Stop("class.criteria-missing", path=path, why=why(error)) from error
    except (ValueError, RecursionError):
        raise Stop("class.criteria-json", path=path) from None
