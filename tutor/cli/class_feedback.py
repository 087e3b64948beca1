"""`class feedback`: write what each learner may read."""

from __future__ import annotations

import argparse

from tutor import feedback
from tutor.cli.classes import opened
from tutor.cli.context import Context
from tutor.cli.exits import Exit
from tutor.cli.output import Output


def run(context: Context, args: argparse.Namespace, out: Output) -> int:  # noqa: ARG001
    """Publish. Raises Stop."""
    with opened(args, out) as (folder, book, lesson, _):
        written = feedback.publish(folder, book, lesson)
    final = sum(written.values())
    if out.as_json:
        out.emit({"schema": 1, "command": "class feedback", "class": folder.id, "written": written, "final": final})
    else:
        out.result(out.text("class.feedback-written", count=len(written), final=final))
    return Exit.GOOD
