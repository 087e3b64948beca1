"""`class figures`: how the class did, each figure with its spread or with of how many."""

from __future__ import annotations

import argparse

from tutor.classroom import figures as class_figures
from tutor.cli.classes import opened, write_csv
from tutor.cli.exits import Exit
from tutor.cli.output import Output
from tutor.context import Context


def run(context: Context, args: argparse.Namespace, out: Output) -> int:  # noqa: ARG001
    """Give the figures. Raises Stop."""
    with opened(args, out) as (folder, book, lesson, _):
        data = class_figures.figures(book, lesson)
    rows = [(*names, "" if value is None else str(value)) for *names, value in class_figures.rows(data)]
    if args.csv is not None:
        write_csv(args.csv, ("group", "name", "figure", "value"), rows, out)
    if out.as_json:
        out.emit({"schema": 1, "command": "class figures", "class": folder.id, "lesson": lesson.id, **data})
    elif args.csv is None:
        out.result(out.text("class.figures-head", final=data["final"], of=data["handed_in"]))
        for row in rows:
            out.result("  ".join(cell or "-" for cell in row))
    return Exit.GOOD
