"""`submit`: hand in what there is, and say under which number it lies there."""

from __future__ import annotations

import argparse

from tutor.classroom import handed_in
from tutor.classroom.exchange import ClassFolder, ExchangeError
from tutor.classroom.submission import Unacceptable
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.context import Context


def run(context: Context, args: argparse.Namespace, out: Output) -> int:
    """Hand in, without `--to` to the folder of the last time. Raises Stop, StateError."""
    to = args.to or context.journal.progress.settings.get("class")
    if not isinstance(to, str):
        raise Stop("class.submit-where")
    try:
        folder = ClassFolder.open(handed_in.class_path(to))
        receipt, notices = handed_in.submit(context.journal.progress, context.lesson, context.folder, folder)
    except (ExchangeError, Unacceptable) as error:
        raise Stop.saying(error.message) from error
    if context.journal.read_only is None:
        if receipt.folder != context.journal.progress.settings.get("class"):
            context.journal.append("setting", name="class", value=receipt.folder)
        context.journal.append("handed_in", number=receipt.number, sha256=receipt.sha256)
    for notice in notices:
        out.hint(out.say(notice))
    if out.as_json:
        out.emit({"schema": 1, "command": "submit", "lesson": context.lesson_id, "receipt": receipt.to_data()})
    else:
        out.result(out.text("class.submitted", number=receipt.number, path=receipt.folder, sha256=receipt.sha256[:16]))
        out.result(out.text("class.submitted-kept", path=str(context.folder / "handed-in")))
        if receipt.number > 1:
            out.result(out.text("class.submitted-again"))
    return Exit.GOOD
