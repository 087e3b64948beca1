"""`class feedback`: write what each learner may read."""

from __future__ import annotations

import argparse

from tutor.classroom import feedback
from tutor.cli.classes import opened
from tutor.cli.exits import Exit
from tutor.cli.output import Output
from tutor.context import Context


def run(context: Context, args: argparse.Namespace, out: Output) -> int:  # noqa: ARG001
    """Publish. Raises Stop."""
    with opened(args, out) as (folder, book, lesson, _):
        written = feedback.publish(folder, book, lesson)
    final = sum(each.final for each in written.values())
    if out.as_json:
        told = {login: each.final for login, each in written.items()}
        changed = sorted(login for login, each in written.items() if each.changed)
        head = {"schema": 1, "command": "class feedback", "class": folder.id}
        out.emit({**head, "written": told, "final": final, "changed": changed})
    else:
        out.result(out.text("class.feedback-written", count=len(written), final=final))
    return Exit.GOOD
