"""`feedback`: what came back to the last hand-in; what is final goes into the journal."""

from __future__ import annotations

import argparse

from tutor.classroom import feedback_text, returned
from tutor.classroom.exchange import ExchangeError
from tutor.classroom.returned import Feedback
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.context import Context
from tutor.learner.scoring import INSTRUCTOR


def run(context: Context, args: argparse.Namespace, out: Output) -> int:  # noqa: ARG001
    """Show it. Raises Stop, StateError, CatalogError."""
    try:
        kept, found = came = returned.look(context.folder)
    except ExchangeError as error:
        raise Stop.saying(error.message) from error
    for notice in kept.notices:
        out.hint(out.say(notice))
    if not kept.receipts:
        raise Stop("handin.nothing")
    journal = context.journal
    if journal.read_only is None:
        for kind, data in came.events(journal.progress):
            journal.append(kind, **data)
    last = kept.receipts[-1]
    if out.as_json:
        head = {"schema": 1, "command": "feedback", "lesson": context.lesson_id, "handed_in": last.number}
        out.emit({**head, "feedback": _data(found) if found else None})
    elif found is None:
        out.result(out.say(feedback_text.waiting(last)))
    else:
        for row in feedback_text.rows(context.lesson, found, out.lang):
            out.result("  " * row.depth + ("[x] " if row.kind == "slot" else "") + row.words)
    return Exit.GOOD


def _data(found: Feedback) -> dict[str, object]:
    return {
        "number": found.receipt.number,
        "old": found.is_old,
        "final": found.final,
        "total": found.total,
        "machine": {"normal": found.machine[0], "edge": found.machine[1]} if found.machine else None,
        "questions": {
            name: {**one._asdict(), "giver": "final", "who": INSTRUCTOR, "asked": name in found.asked}
            for name, one in found.questions.items()
        },
    }
