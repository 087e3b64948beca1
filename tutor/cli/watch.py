"""`watch`: judge a file again at every save, until Ctrl-C."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from tutor.cli.check import from_file, judge, show
from tutor.cli.exits import Exit, Stop
from tutor.cli.files import read_bounded
from tutor.cli.output import Output
from tutor.context import Context
from tutor.sandbox import Sandbox

#: Seconds between two looks at the file. Polling also sees a file on NFS, and one that an editor replaces.
PERIOD = 0.25

#: A save is taken when the file has not changed for so long, in seconds.
SETTLE = 0.03

#: What tells one save from another: inode, size, time of change in nanoseconds; None while there is no file.
Stamp = tuple[int, int, int] | None


def run(context: Context, args: argparse.Namespace, out: Output) -> int:
    """Judge and wait, until interrupted. Raises Stop when the file cannot be read at the start."""
    if args.file is None:
        raise Stop("cli.watch-no-file")
    path, exercise = Path(args.file), context.lesson.exercise
    read_bounded(path, 0)
    out.hint(out.text("cli.watching", path=str(path)))
    seen: Stamp = None
    with Sandbox() as sandbox:
        try:
            while True:
                now = stamp(path)
                if now is not None and now != seen:
                    time.sleep(SETTLE)
                    if stamp(path) != now:
                        continue  # It is being written just now: judged once, when it is whole.
                    try:
                        show(context, judge(exercise, sandbox, from_file(exercise, path), ()), out, event="check")
                    except Stop as stop:
                        out.hint(out.text(stop.key, **stop.fields))  # Half a save perhaps: the next one counts.
                if now != seen:
                    seen = now
                    continue
                time.sleep(PERIOD)
        except KeyboardInterrupt:
            return Exit.GOOD


def stamp(path: Path) -> Stamp:
    """The file's stamp; None when it is away, as between the two steps of an editor that replaces it."""
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_ino, info.st_size, info.st_mtime_ns
