"""`look-again`: ask the instructor to look at a published score once more."""

from __future__ import annotations

import argparse

from tutor import handed_in, returned
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.context import Context
from tutor.exchange import ExchangeError
from tutor.submission import Unacceptable


def run(context: Context, args: argparse.Namespace, out: Output) -> int:
    """Ask. Raises Stop."""
    for name in ("question", "why"):
        if getattr(args, name) is None:
            raise Stop("handin.ask-needs", what=f"--{name}")
    try:
        receipts = handed_in.receipts(context.folder)
        if not receipts:
            raise Stop("handin.nothing")
        found = returned.find(receipts)
        if found is not None and found.is_old:
            raise Stop("handin.ask-old")
        if found is None or args.question not in found.questions or found.questions[args.question].points is None:
            raise Stop("handin.ask-no-score", question=args.question)
        notices = handed_in.ask(context.folder, found.receipt, context.lesson, args.question, args.why)
    except (ExchangeError, Unacceptable) as error:
        raise Stop.saying(error.message) from error
    for notice in notices:
        out.hint(out.say(notice))
    if out.as_json:
        number = found.receipt.number
        out.emit({"schema": 1, "command": "look-again", "question": args.question, "number": number})
    else:
        out.result(out.text("handin.asked-now", question=args.question))
    return Exit.GOOD
