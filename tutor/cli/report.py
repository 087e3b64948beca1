"""`report`: everything the learner wrote, saw and cited, to take away."""

from __future__ import annotations

import argparse
import json
from datetime import datetime
from pathlib import Path

from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.context import Context
from tutor.learner import report_text
from tutor.learner.line_file import write_whole
from tutor.learner.report import report
from tutor.paths import why


def run(context: Context, args: argparse.Namespace, out: Output) -> int:
    """Write the report to the files that are named (`-` is stdout); without any, Markdown to stdout.

    Raises Stop, StateError.
    """
    at = datetime.now().astimezone().isoformat(timespec="seconds")
    data = report(context.journal.progress, context.lesson, out.lang, at)
    files = {"html": args.html, "md": args.md, "json": args.json_file}
    if not any(files.values()):
        for line in report_text.markdown(data, out.lang).splitlines():
            out.result(line)
        return Exit.GOOD
    for kind, name in files.items():
        if name is None:
            continue
        if kind == "json":
            raw = json.dumps(data, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace") + b"\n"
        else:
            raw = report_text.as_file(data, "html" if kind == "html" else "md", out.lang)
        if name == "-":
            out.whole(raw)
        else:
            _write(Path(name), raw)
            out.hint(out.text("report.written", path=name))
    return Exit.GOOD


def _write(path: Path, raw: bytes) -> None:
    if path.is_dir():
        raise Stop("report.folder", path=str(path))
    try:
        write_whole(path, raw)
    except OSError as error:
        raise Stop("report.unwritable", path=str(path), why=why(error)) from error
