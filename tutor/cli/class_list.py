"""`class list`: who handed in, where each stands, which files were refused and why."""

from __future__ import annotations

import argparse
from typing import Any

from tutor.classroom.grades import Grade, grades
from tutor.classroom.intake import folded, iso, questions_of, shown_name
from tutor.cli.classes import opened
from tutor.cli.exits import Exit
from tutor.cli.output import Output
from tutor.context import Context
from tutor.model import Lesson


def run(context: Context, args: argparse.Namespace, out: Output) -> int:  # noqa: ARG001
    """List the class. Raises Stop."""
    with opened(args, out) as (folder, book, lesson, taken):
        everybody = list(grades(book))
        refused = book.refused()
    if out.as_json:
        out.emit(
            {
                "schema": 1,
                "command": "class list",
                "class": folder.id,
                "lesson": lesson.id,
                "new": taken.new,
                "learners": [_learner(grade, out) for grade in everybody],
                "refused": [
                    {
                        "file": shown_name(each.name),
                        "owner": each.owner,
                        "seen": iso(each.seen),
                        "reason": each.reason.key.partition("-")[2],
                        "text": out.say(each.reason),
                    }
                    for each in refused
                ],
            }
        )
        return Exit.GOOD
    conflicts = sum(each.state == "conflict" for grade in everybody for each in grade.items.values())
    handed = sum(grade.row.submission is not None for grade in everybody)
    out.result(out.text("class.list-head", handed=handed, of=len(everybody), refused=len(refused), conflicts=conflicts))
    for grade in everybody:
        out.result("  " + _line(grade, lesson, out))
    for each, many in folded(refused):
        file = shown_name(each.name) + (f" +{many - 1}" if many > 1 else "")
        out.result(out.text("class.list-refused", file=file, owner=each.owner, why=out.say(each.reason)))
    return Exit.GOOD


def _learner(grade: Grade, out: Output) -> dict[str, Any]:
    row, result = grade.row, grade.result
    return {
        "learner": row.learner.login,
        "name": row.learner.name,
        "blind": row.learner.blind,
        "enrolled": row.learner.enrolled,
        "handed_in": row.handed_in,
        "arrived": iso(row.arrived) if row.arrived is not None else None,
        "versions": row.versions,
        "notes": [out.say(note) for note in row.notes],
        "ending": result.ending if result else None,
        "points": {"normal": result.normal, "edge": result.edge} if result else None,
        "questions": {
            question: {
                "state": each.state,
                "grader": each.holder or each.by or None,
                "for": each.for_whom,
                "points": grade.points(question),
                "veto": each.veto,
                "at": iso(each.at) if each.points is not None else None,
                "other": {"grader": each.other[0], "points": each.other[1]} if each.other else None,
                "asks": each.asks,
                "published": each.is_published,
            }
            for question, each in grade.items.items()
        },
        "vetoes": grade.vetoes,
        "total": grade.total,
    }


def _line(grade: Grade, lesson: Lesson, out: Output) -> str:
    row, result = grade.row, grade.result
    words = [f"{row.learner.login:<16}"]
    if row.submission is None:
        return f"{words[0]} {out.text('class.list-missing')}"
    words.append(f"{result.normal}/2 {result.edge}/1" if result else "-/2 -/1")
    for question in questions_of(lesson):
        each = grade.items[question]
        points = "-" if each.points is None else str(each.points)
        points += f" | {each.other[1]}" if each.other else ""
        whose = out.text("class.list-for", grader=each.for_whom) if each.for_whom else each.holder
        words.append(f"{question} {points}" + (f" ({whose})" if whose else ""))
    words += [out.say(note) for note in row.notes]
    return "  ".join(words)
