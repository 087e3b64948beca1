"""`class hand-over`: leave an answer to another grader."""

from __future__ import annotations

import argparse

from tutor.classroom.handed_in import is_user, myself
from tutor.cli.classes import item_of, opened
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.context import Context

#: The most characters of a grader's name: what the gradebook keeps.
NAME_MAX = 256


def run(context: Context, args: argparse.Namespace, out: Output) -> int:  # noqa: ARG001
    """Hand an answer over. Raises Stop."""
    if args.to is None:
        raise Stop("class.command-needs", action=args.action, what="--to")
    if not 0 < len(args.to) <= NAME_MAX or not args.to.isprintable():
        raise Stop("class.handed-over-who", most=NAME_MAX)
    with opened(args, out) as (_, book, lesson, _):
        from tutor.gradebook import holder as windows
        from tutor.gradebook.queue import LeaseLost

        item = item_of(args, book, lesson)
        holder = windows.new()
        try:
            book.queue.claim_this(item.id, myself().login, holder)
        except LeaseLost as lost:
            raise Stop("class.score-held", learner=args.learner, grader=lost.grader or "?") from lost
        book.queue.hand_over(item.id, holder, args.to)
        if not is_user(args.to) and args.to not in book.scores.graders():
            out.hint(out.text("class.handed-over-unknown", grader=args.to))
    told = {"learner": args.learner, "question": args.question}
    if out.as_json:
        out.emit({"schema": 1, "command": "class hand-over", **told, "to": args.to})
    else:
        out.result(out.text("class.handed-over", **told, grader=args.to))
    return Exit.GOOD
