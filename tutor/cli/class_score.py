"""`class score`: one score by command, what a grader does on the review screen."""

from __future__ import annotations

import argparse

from tutor.cli.classes import opened
from tutor.cli.context import Context
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.handed_in import myself
from tutor.intake import questions_of
from tutor.scoring import VETOES


def run(context: Context, args: argparse.Namespace, out: Output) -> int:  # noqa: ARG001
    """Give one score. Raises Stop."""
    for name in ("learner", "question", "points"):
        if getattr(args, name) is None:
            raise Stop("class.score-needs", what=f"--{name}")
    if args.veto not in ("none", *VETOES):
        raise Stop("cli.usage-choice", what="--veto", got=args.veto, allowed=", ".join(("none", *VETOES)))
    if len(args.comment) > 10_000:
        raise Stop("class.score-comment", most=10_000)
    with opened(args, out) as (_, book, lesson, _):
        from tutor.gradebook.queue import LeaseLost
        from tutor.gradebook.scores import Mark, RuleChanged

        questions = questions_of(lesson)
        if args.question not in questions:
            raise Stop("cli.usage-choice", what="--question", got=args.question, allowed=", ".join(questions))
        if not 0 <= args.points <= questions[args.question]:
            raise Stop("class.score-points", got=args.points, of=questions[args.question], question=args.question)
        item = book.queue.find(args.learner, args.question)
        if item is None:
            raise Stop("class.score-nobody", learner=args.learner)
        history = book.scores.history(item.id)
        # Who settles a conflict has seen it; otherwise another grader's score is not one that this command knows of.
        seen = history[-1].id if history and item.state == "conflict" else None
        rule = book.rules.newest().get(args.question)
        vetoes = {veto: veto == args.veto for veto in VETOES}
        mark = Mark(args.points, {}, vetoes, args.comment, criteria=rule.id if rule else None)
        try:
            given, other = book.scores.give(item.id, myself().login, mark, seen=seen, why="command")
        except LeaseLost as lost:
            raise Stop("class.score-held", learner=args.learner, grader=lost.grader or "?") from lost
        except RuleChanged:
            raise Stop("class.score-rule") from None
    if out.as_json:
        out.emit(
            {
                "schema": 1,
                "command": "class score",
                "learner": args.learner,
                "question": args.question,
                "grader": given.grader,
                "from": given.before,
                "to": given.points,
                "veto": given.veto,
                "conflict": {"grader": other.grader, "points": other.points, "veto": other.veto} if other else None,
            }
        )
    elif other is not None:
        out.result(out.text("class.score-conflict", grader=other.grader, points=other.points, mine=given.points))
    else:
        before = "-" if given.before is None else given.before
        out.result(out.text("class.scored", learner=args.learner, question=args.question, old=before, new=given.points))
    return Exit.FAILS if other else Exit.GOOD
