"""`review DIR`: the class on the screen, for its instructor."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tutor import terminal
from tutor.classroom.exchange import ClassFolder
from tutor.classroom.handed_in import login_of
from tutor.cli.classes import opened, saying_why
from tutor.cli.exits import Stop
from tutor.cli.output import Output
from tutor.context import Context


def run(context: Context, args: argparse.Namespace, out: Output) -> int:
    """Show the class until it is left. Raises Stop."""
    if args.dir is None:
        raise Stop("review.no-dir")
    with saying_why():
        folder = ClassFolder.open(Path(args.dir))
    if not os.access(folder.private, os.R_OK | os.X_OK):
        raise Stop("review.folder-not-yours", path=str(folder.path), owner=login_of(folder.owner))
    trouble = terminal.preflight(sys.stdin, sys.stdout, sys.stderr, os.environ)
    if trouble is not None:
        raise Stop.saying(trouble)
    terminal.apply_textual_defaults(os.environ, plain_keys=args.plain_keys)
    with opened(args, out) as (folder, book, lesson, _):
        from tutor.ui.review.app import run as run_screen

        return run_screen(folder, book, lesson, context)
