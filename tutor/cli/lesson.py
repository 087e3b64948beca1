"""`lesson check`: proves a lesson whole, for those who write one."""

from __future__ import annotations

import argparse
from pathlib import Path

from tutor import lesson_proof
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.context import Context
from tutor.lesson import catalog, rubric_check
from tutor.lesson import check as lesson_check
from tutor.lesson.check import Problem
from tutor.model import Lesson, Message
from tutor.sandbox import Sandbox, SandboxUnavailable


def run(context: Context, args: argparse.Namespace, out: Output) -> int:
    """Check one lesson. Raises Stop."""
    if args.action != "check":
        raise Stop("cli.lesson-action", got=args.action or "")
    folder = Path(args.dir) if args.dir is not None else catalog.root() / "lessons" / context.lesson_id
    if not folder.is_dir():
        raise Stop("cli.lesson-no-folder", path=str(folder))
    lesson, found = _examined(folder.resolve())
    if out.as_json:
        out.emit(
            {
                "schema": 1,
                "command": "lesson check",
                "lesson": folder.resolve().name,
                "problems": [{"where": problem.where, "text": out.say(problem.what)} for problem in found],
                "counts": _counts(lesson) if lesson else None,
            }
        )
    else:
        for problem in found:
            out.result(f"{problem.where}: {out.say(problem.what)}")
        if lesson is not None and not found:
            out.result(out.text("cli.lesson-whole", lesson=lesson.id, **_counts(lesson)))
        else:
            out.result(out.text("cli.lesson-problems", lesson=folder.resolve().name, count=len(found)))
    return Exit.FAILS if found else Exit.GOOD


def _examined(folder: Path) -> tuple[Lesson | None, list[Problem]]:
    checks = folder.parent.parent / "checks" / folder.name
    if not checks.is_dir():
        checks = catalog.root() / "checks" / folder.name
    try:
        lesson = catalog.load_folder(folder, checks)
        lesson.demos, lesson.exercise  # noqa: B018  What is read late elsewhere is wrong or right now.
    except catalog.CatalogError as error:
        return None, [Problem(folder.name, Message("proof.unread", {"why": str(error)}))]
    try:
        with Sandbox() as sandbox:
            found = [*lesson_check.problems(lesson), *lesson_proof.problems(lesson, sandbox)]
    except SandboxUnavailable as error:
        raise Stop.saying(error.message, Exit.UNAVAILABLE) from error
    try:
        return lesson, [*found, *rubric_check.problems(lesson)]
    except catalog.CatalogError as error:
        return lesson, [*found, Problem("rubric.toml", Message("proof.unread", {"why": str(error)}))]


def _counts(lesson: Lesson) -> dict[str, int]:
    return {
        "steps": len(lesson.steps),
        "claims": len(lesson.claims),
        "with_demo": sum(claim.demo is not None for claim in lesson.claims.values()),
        "demos": len(lesson.demos),
        "wrong_versions": len(lesson.exercise.wrong),
    }
