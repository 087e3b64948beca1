"""`class score`: one score by command, what a grader does on the review screen."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tutor.classroom.class_criteria import class_criteria
from tutor.classroom.handed_in import myself
from tutor.classroom.intake import questions_of
from tutor.cli.classes import item_of, opened
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.context import Context
from tutor.learner.scoring import VETOES
from tutor.model import Lesson

if TYPE_CHECKING:
    from tutor.gradebook.book import Gradebook


def run(context: Context, args: argparse.Namespace, out: Output) -> int:  # noqa: ARG001
    """Give one score. Raises Stop."""
    for name in ("learner", "question", "points"):
        if getattr(args, name) is None and not (name == "points" and args.slot):
            raise Stop("class.command-needs", action=args.action, what=f"--{name}")
    if args.veto not in ("none", *VETOES):
        raise Stop("cli.usage-choice", what="--veto", got=args.veto, allowed=", ".join(("none", *VETOES)))
    if len(args.comment) > 10_000:
        raise Stop("class.score-comment", most=10_000)
    with opened(args, out) as (_, book, lesson, _):
        from tutor.gradebook.queue import LeaseLost
        from tutor.gradebook.scores import Mark, RuleChanged

        most = questions_of(lesson).get(args.question, 0)
        if args.points is not None and args.question in questions_of(lesson) and not 0 <= args.points <= most:
            raise Stop("class.score-points", got=args.points, of=most, question=args.question)
        item = item_of(args, book, lesson)
        history = book.scores.history(item.id)
        # Who settles a conflict has seen it; otherwise another grader's score is not one that this command knows of.
        seen = history[-1].id if history and item.state == "conflict" else None
        ticks, earned, version = _ticks(args, book, lesson)
        points = earned if args.points is None else args.points
        vetoes = {veto: veto == args.veto for veto in VETOES}
        mark = Mark(points, ticks, vetoes, args.comment, by_hand=not ticks or points != earned, criteria=version)
        try:
            given, other = book.scores.give(item.id, myself().login, mark, seen=seen, why="command", second=args.second)
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
                "by_hand": given.by_hand,
                "second": args.second and other is None,
                "conflict": {"grader": other.grader, "points": other.points, "veto": other.veto} if other else None,
            }
        )
    elif other is not None:
        out.result(out.text("class.score-conflict", grader=other.grader, points=other.points, mine=given.points))
    else:
        before = "-" if given.before is None else given.before
        out.result(out.text("class.scored", learner=args.learner, question=args.question, old=before, new=given.points))
    return Exit.FAILS if other else Exit.GOOD


def _ticks(args: argparse.Namespace, book: Gradebook, lesson: Lesson) -> tuple[dict[str, bool], int, int | None]:
    """The slots as ticked, none when no --slot was given; the points that they come to; the rule's version. Raises
    Stop."""
    if not args.slot:
        rule = book.rules.newest().get(args.question)
        return {}, 0, rule.id if rule else None
    criteria = class_criteria(book, lesson)[args.question]
    for slot in args.slot:
        if slot not in criteria.slots:
            raise Stop("class.criteria-slots", question=args.question, got=slot, slots=", ".join(criteria.slots))
    ticks = frozenset(args.slot)
    return {slot: slot in ticks for slot in criteria.slots}, criteria.earned(ticks), criteria.version
