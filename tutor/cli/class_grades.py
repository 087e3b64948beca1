"""`class grades`: where everybody stands, as a table, a CSV file or JSON."""

from __future__ import annotations

import argparse

from tutor.classroom.grades import columns, grades, table_row
from tutor.cli.classes import opened, write_csv
from tutor.cli.exits import Exit
from tutor.cli.output import Output
from tutor.context import Context


def run(context: Context, args: argparse.Namespace, out: Output) -> int:  # noqa: ARG001
    """Give the grades. Raises Stop."""
    with opened(args, out) as (folder, book, lesson, _):
        rows = [table_row(grade, lesson) for grade in grades(book)]
        head = columns(lesson)
    if args.csv is not None:
        write_csv(args.csv, head, [[row[column] for column in head] for row in rows], out)
    if out.as_json:
        out.emit({"schema": 1, "command": "class grades", "class": folder.id, "lesson": lesson.id, "grades": rows})
    elif args.csv is None:
        out.result("  ".join(head))
        for row in rows:
            out.result("  ".join("-" if row[column] in (None, "") else str(row[column]) for column in head))
    return Exit.GOOD
