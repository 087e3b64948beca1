"""`class init`: make a class folder, check that it keeps its promises, read the roster."""

from __future__ import annotations

import argparse
from pathlib import Path

from tutor.classroom import class_book, exchange
from tutor.cli.classes import directory, opened, saying_why
from tutor.cli.exits import Exit, Stop
from tutor.cli.files import read_bounded
from tutor.cli.output import Output
from tutor.context import Context
from tutor.gradebook import roster


def run(context: Context, args: argparse.Namespace, out: Output) -> int:
    """Make it, or put an old one right. Raises Stop."""
    enrolled = None
    if args.roster is not None:
        raw = read_bounded(Path(args.roster), roster.SIZE_MAX)
        if len(raw) > roster.SIZE_MAX:
            raise Stop("class.roster-many", most=roster.LEARNERS_MAX)
        try:
            enrolled = roster.parse(raw)
        except roster.RosterError as error:
            raise Stop.saying(error.message) from error
    with saying_why():
        folder, broken = exchange.create(directory(args), context.lesson.id, args.graders)
        class_book.choose_database(folder, args.db)
    with opened(args, out, is_new=True) as (_, book, _, _):
        if enrolled is not None:
            book.enroll(enrolled)
        db = book.database.shown
        graders = exchange.group_name(group) if (group := folder.graders) is not None else None
    promises = [out.say(each) for each in broken]
    count = len(enrolled) if enrolled is not None else None
    if out.as_json:
        head = {"schema": 1, "command": "class init", "class": folder.id, "lesson": folder.lesson}
        out.emit(
            {
                **head,
                "dir": str(folder.path),
                "db": db,
                "roster": count,
                "graders": graders,
                "broken_promises": promises,
            }
        )
    else:
        out.result(out.text("class.made", path=str(folder.path), db=db))
        if count is not None:
            out.result(out.text("class.made-roster", count=count))
        if graders is not None:
            out.result(out.text("class.made-graders", group=graders))
        for promise in promises:
            out.result(promise)
        out.result(out.text("class.made-next", path=str(folder.path)))
    return Exit.FAILS if promises else Exit.GOOD
