"""`class memo`: leave words on an answer that graders see and no learner."""

from __future__ import annotations

import argparse

from tutor.classroom.handed_in import myself
from tutor.cli.classes import item_of, opened
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.context import Context

#: The most characters of a memo.
TEXT_MAX = 10_000


def run(context: Context, args: argparse.Namespace, out: Output) -> int:  # noqa: ARG001
    """Leave a memo. Raises Stop."""
    if args.text is None:
        raise Stop("class.command-needs", action=args.action, what="--text")
    if not 0 < len(args.text.strip()) <= TEXT_MAX:
        raise Stop("class.memo-text", most=TEXT_MAX)
    with opened(args, out) as (_, book, lesson, _):
        item = item_of(args, book, lesson)
        book.scores.note(item.id, myself().login, args.text)
    told = {"learner": args.learner, "question": args.question}
    if out.as_json:
        out.emit({"schema": 1, "command": "class memo", **told, "grader": myself().login})
    else:
        out.result(out.text("class.memo-left", **told))
    return Exit.GOOD
