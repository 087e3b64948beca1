"""`doctor`: a line per part of this machine, what a lack costs, and the command that mends it."""

from __future__ import annotations

import argparse
from unicodedata import east_asian_width

from tutor.cli.exits import Exit
from tutor.cli.output import Output
from tutor.context import Context
from tutor.doctor import Finding, examine


def run(context: Context, args: argparse.Namespace, out: Output) -> int:  # noqa: ARG001
    """Look at everything. A lack is no failure of the command."""
    findings = examine(context.folder, context.settings.python, context.env)
    if out.as_json:
        parts = [
            {
                "part": finding.part,
                "status": finding.status,
                "text": out.say(finding.says),
                "costs": out.say(finding.costs) if finding.costs else None,
                "fix": finding.fix,
                "details": [
                    {
                        "name": detail.name,
                        "text": out.say(detail.says),
                        "why": out.say(detail.why) if detail.why else None,
                    }
                    for detail in finding.details
                ],
            }
            for finding in findings
        ]
        out.emit({"schema": 1, "command": "doctor", "state": str(context.folder), "parts": parts})
        return Exit.GOOD
    for finding in findings:
        out.result(_line(finding, out))
        if finding.part == "gpu":
            for detail in finding.details:
                out.result(f"{' ' * 8} {detail.name}  {out.say(detail.says)}")
    return Exit.GOOD


def _line(finding: Finding, out: Output) -> str:
    status = _padded(out.text(f"doctor.status-{finding.status}"), 8)
    said = out.say(finding.says)
    if finding.costs is not None:
        said = out.text("doctor.costs", said=said, costs=out.say(finding.costs))
    if finding.fix is not None:
        said = f"{said} | {finding.fix}"
    return f"{status} {_padded(out.text(f'doctor.part-{finding.part}'), 9)} {said}"


def _padded(text: str, cells: int) -> str:
    return text + " " * max(0, cells - sum(2 if east_asian_width(char) in "WF" else 1 for char in text))
