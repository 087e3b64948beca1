"""`feedback`: what came back to the last hand-in; what is final goes into the journal."""

from __future__ import annotations

import argparse

from tutor import handed_in, returned
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.context import Context
from tutor.exchange import ExchangeError
from tutor.returned import Feedback
from tutor.scoring import INSTRUCTOR


def run(context: Context, args: argparse.Namespace, out: Output) -> int:  # noqa: ARG001
    """Show it. Raises Stop, StateError."""
    try:
        receipts = handed_in.receipts(context.folder)
        found = returned.find(receipts)
    except ExchangeError as error:
        raise Stop.saying(error.message) from error
    if not receipts:
        raise Stop("handin.nothing")
    journal = context.journal
    if found is not None and journal.read_only is None:
        for kind, data in returned.events(found, journal.progress):
            journal.append(kind, **data)
    if out.as_json:
        head = {"schema": 1, "command": "feedback", "lesson": context.lesson_id, "handed_in": receipts[-1].number}
        out.emit({**head, "feedback": _data(found, context) if found else None})
    elif found is None:
        out.result(out.text("handin.none", number=receipts[-1].number, path=receipts[-1].folder))
    else:
        _show(found, handed_in.asked(context.folder, found.receipt), out)
    return Exit.GOOD


def _data(found: Feedback, context: Context) -> dict[str, object]:
    asked = handed_in.asked(context.folder, found.receipt)
    return {
        "number": found.receipt.number,
        "old": found.is_old,
        "final": found.final,
        "total": found.total,
        "machine": {"normal": found.machine[0], "edge": found.machine[1]} if found.machine else None,
        "questions": {
            name: {**one._asdict(), "giver": "final", "who": INSTRUCTOR, "asked": name in asked}
            for name, one in found.questions.items()
        },
    }


def _show(found: Feedback, asked: set[str], out: Output) -> None:
    number = found.receipt.number
    if found.is_old:
        out.result(out.text("handin.old", number=number, newest=found.newest))
    if found.final and found.total is not None:
        out.result(out.text("handin.head-final", number=number, total=found.total))
    else:
        out.result(out.text("handin.head-open", number=number))
    if found.machine:
        out.result("  " + out.text("handin.machine", normal=found.machine[0], edge=found.machine[1]))
    for name, one in found.questions.items():
        if one.points is None:
            out.result("  " + out.text("handin.row-open", question=name))
            continue
        out.result("  " + out.text("handin.row", question=name, points=one.points, of=one.of, at=one.at))
        ticked = ", ".join(slot for slot, yes in one.slots.items() if yes)
        if ticked:
            out.result("    " + out.text("handin.slots", slots=ticked))
        if one.vetoes:
            out.result("    " + out.text("handin.vetoes", vetoes=", ".join(one.vetoes)))
        for words in filter(str.strip, one.comment.split("\n")):
            out.result("    " + out.text("handin.comment", words=words))
        if name in asked:
            out.result("    " + out.text("handin.asked"))
