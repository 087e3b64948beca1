"""`status`: points so far, who gave them, and what is left."""

from __future__ import annotations

import argparse

from tutor.cli.exits import Exit
from tutor.cli.output import Output
from tutor.context import Context
from tutor.learner.scoring import Score, as_data, score, who_words


def run(context: Context, args: argparse.Namespace, out: Output) -> int:  # noqa: ARG001
    """Show the score. Raises StateError."""
    progress, lesson = context.journal.progress, context.lesson
    now = score(progress, lesson)
    if out.as_json:
        claims = {name: state._asdict() for name, state in progress.claims.items()}
        out.emit(
            {
                "schema": 1,
                "command": "status",
                "lesson": lesson.id,
                "state_of_score": now.state,
                **as_data(now, out.lang),
                "caught": progress.caught,
                "wrong_versions": len(lesson.exercise.wrong),
                "claims": claims,
                "evidence": list(progress.evidence),
                "state": str(context.folder),
                "notices": [out.say(notice) for notice in context.notices()],
            }
        )
    else:
        _show(now, len(progress.caught), len(lesson.exercise.wrong), out)
        out.result(out.text("cli.status-claims", tried=len(progress.claims), of=len(lesson.claims)))
        out.result(out.text("cli.status-state", path=str(context.folder)))
    return Exit.GOOD


def _show(now: Score, caught: int, wrong: int, out: Output) -> None:
    unscored = "cli.status-partly" if now.is_partly_final else "cli.status-head"
    head = unscored if now.final is None else f"cli.status-{now.state}"
    out.result(out.text(head, points=now.points, of=now.of))
    for part in now.parts:
        words = [
            out.text(f"scoring.part-{part.id}"),
            f"{part.points}/{part.of}",
            out.text(f"scoring.giver-{part.giver}")
            + (f" ({who_words(part.who, out.lang)}, {part.when})" if part.who else ""),
            out.text("cli.status-caught", count=caught, of=wrong) if part.id == "edge" and caught else "",
            out.say(part.needs) if part.needs else "",
        ]
        out.result("  " + "  ".join(word for word in words if word))
    out.result(out.text("cli.status-rules"))
    for rule in now.rules:
        out.result(f"  [{'x' if rule.met else ' '}] {out.say(rule.says)}")
