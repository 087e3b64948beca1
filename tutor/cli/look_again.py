"""`look-again`: ask the instructor to look at a published score once more."""

from __future__ import annotations

import argparse

from tutor.classroom import asking, feedback_text, returned
from tutor.classroom.exchange import ExchangeError
from tutor.classroom.submission import Unacceptable
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.context import Context


def run(context: Context, args: argparse.Namespace, out: Output) -> int:
    """Ask. Raises Stop."""
    for name in ("question", "why"):
        if getattr(args, name) is None:
            raise Stop("handin.ask-needs", what=f"--{name}")
    try:
        came = returned.look(context.folder)
        if not came.kept.receipts:
            raise Stop("handin.nothing")
        found = came.to_ask(args.question)
        notices = asking.ask(context.folder, found, context.lesson, args.question, args.why)
    except (ExchangeError, Unacceptable) as error:
        raise Stop.saying(feedback_text.of_question(error.message, context.lesson, out.lang)) from error
    for notice in notices:
        out.hint(out.say(notice))
    if out.as_json:
        number = found.receipt.number
        out.emit({"schema": 1, "command": "look-again", "question": args.question, "number": number})
    else:
        question = feedback_text.question_words(context.lesson, args.question, out.lang)
        out.result(out.text("handin.asked-now", question=question))
    return Exit.GOOD
