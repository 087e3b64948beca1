"""`check`: judge the blank, from a file, from `--expr`, or as it was last saved."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

from tutor.cli.exits import Exit, Stop
from tutor.cli.files import read_bounded
from tutor.cli.output import Output
from tutor.context import Context
from tutor.exercise.blanks import FILE_MAX, Blank
from tutor.exercise.judging import Judge, broken_report, report_json
from tutor.model import CaseResult, CheckReport, EdgeResult, Ending, Exercise, Message
from tutor.sandbox import Sandbox, SandboxUnavailable

_CODES = {
    Ending.PASSED: Exit.GOOD,
    Ending.FAILED: Exit.FAILS,
    Ending.LIMIT: Exit.LIMIT,
    Ending.REFUSED: Exit.REFUSED,
    Ending.BROKE: Exit.BROKE,
}

#: What `read_file` says of a file that was read but does not keep to the template; anything else is no exercise file.
_REFUSED = ("check.file_changed", "check.file_tabs")


def run(context: Context, args: argparse.Namespace, out: Output) -> int:
    """Judge once and say so. Raises Stop, StateError."""
    if args.kernel is not None:
        if args.file is not None or args.expr is not None or args.edge:
            raise Stop("kernel.alone")
        from tutor.cli import check_kernel

        return check_kernel.run(context, args, out)
    if args.device is not None:
        raise Stop("kernel.device-alone")
    exercise = context.lesson.exercise
    if args.file is not None and args.expr is not None:
        raise Stop("cli.check-both")
    if args.file is None and args.expr is None:
        return _draft(context, args.edge, out)
    expr = from_file(exercise, Path(args.file)) if args.expr is None else _given(args.expr)
    with Sandbox() as sandbox:
        return show(context, judge(exercise, sandbox, expr, args.edge), out)


def from_file(exercise: Exercise, path: Path) -> str | Message:
    """The blank's text in an exercise file, or why the file is refused. Raises Stop when it is no exercise file."""
    raw = read_bounded(path, FILE_MAX)
    if len(raw) > FILE_MAX:
        raise Stop("cli.file-large", path=str(path), most=FILE_MAX // 1024)
    found = Blank.of(exercise.template, exercise.blank).read_file(raw)
    if isinstance(found, Message) and found.key not in _REFUSED:
        raise Stop.saying(found)
    return found


def judge(exercise: Exercise, sandbox: Sandbox, expr: str | Message, edges: Sequence[str]) -> CheckReport:
    """The report on a text, or on a file that was refused before its text could be read. Raises Stop."""
    if isinstance(expr, str):
        try:
            return Judge(exercise, sandbox).check(expr, edges)
        except SandboxUnavailable as error:
            raise Stop.saying(error.message, Exit.UNAVAILABLE) from error
        except Exception as error:  # The judge is ours: whatever it raises is the tool's fault and ends as `broke`.
            return broken_report(error, edges)
    return CheckReport(Ending.REFUSED, expr, 0, 0, (), (), (), (), 0.0)


def show(context: Context, report: CheckReport, out: Output, event: str | None = None) -> Exit:
    """Say a report and give its exit code; `event` names it in a stream."""
    if out.as_json:
        head: dict[str, Any] = {"schema": 1, "command": "check", "lesson": context.lesson_id}
        out.emit({**head, **({"event": event} if event else {}), **report_json(report, out.lang)})
    else:
        for line in _lines(context.lesson.exercise, report, out):
            out.result(line)
    if report.ending is Ending.PASSED:
        return Exit.GOOD if all(edge.ending is Ending.PASSED for edge in report.edges) else Exit.FAILS
    return _CODES[report.ending]


def _given(expr: str) -> str:
    if expr != "-":
        return expr
    raw = sys.stdin.buffer.read(FILE_MAX + 1) if sys.stdin is not None else b""
    if len(raw) > FILE_MAX:
        raise Stop("cli.stdin-long", most=FILE_MAX // 1024)
    try:
        return raw.decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise Stop("cli.stdin-not-utf8") from error


def _draft(context: Context, extra: Sequence[str], out: Output) -> Exit:
    """Judge what the learner saved, with their own edge inputs, and keep the verdict: this alone counts for points."""
    journal, exercise = context.journal, context.lesson.exercise
    expr = journal.progress.text("code")
    if not expr.strip() or expr.strip() == exercise.blank:
        raise Stop("cli.check-no-draft")
    edges = [edge for edge in journal.progress.edges.values() if edge.line.strip()]
    with Sandbox() as sandbox:
        report = judge(exercise, sandbox, expr, [*(edge.line for edge in edges), *extra])
    code = show(context, report, out)
    if journal.read_only is None:
        data = report.to_data()
        journal.append("checked", expr=expr, report=data)
        for edge, result in zip(edges, data["edges"], strict=False):
            journal.append("edge_checked", id=edge.id, line=edge.line, result=result)
    return code


def _lines(exercise: Exercise, report: CheckReport, out: Output) -> list[str]:
    lines = [f"{out.text(f'cli.word-{report.ending}')}  {out.say(report.message)}"]
    failed = [case for case in report.cases if case.ending is not Ending.PASSED]
    for case in failed:
        if case.same_as is None:
            lines += _case(exercise, case, out)
        else:
            lines.append("  " + out.text("cli.check-alike", id=case.id, other=case.same_as))
    if report.output:
        lines.append("  " + out.text("cli.check-printed"))
        lines += ["    " + line for line in report.output.splitlines()]
    for edge in report.edges:
        lines += _edge(exercise, edge, out)
    if report.ending is Ending.BROKE:
        lines.append(out.text("cli.check-broke"))
        lines += ["  " + line for line in report.log.splitlines()]
    if report.cases:
        lines.append(out.text("cli.check-points", normal=report.normal, of=len(exercise.given), edge=report.edge))
    return lines


def _case(exercise: Exercise, case: CaseResult, out: Output) -> list[str]:
    labels = {name: out.text(f"cli.label-{name}") for name in ("call", "got", "expected", "think")}
    width = max(map(_cells, labels.values()))
    lead = {name: f"  {label}{' ' * (width - _cells(label))}  " for name, label in labels.items()}
    lines = [lead["call"] + case.call]
    if case.got is not None:
        lines.append(lead["got"] + case.got)
    pointer = ""
    if case.expected is not None:
        lines.append(lead["expected"] + case.expected)
        if case.at is not None:
            start, end = case.at
            pointer = " " * _cells(lead["expected"] + case.expected[:start]) + "^" * max(1, end - start) + " "
    lines.append((pointer or "  ") + out.say(case.message))
    hint = next((given.hint.get(out.lang) for given in exercise.given if given.id == case.id), None)
    return [*lines, lead["think"] + hint] if hint else lines


def _cells(shown: str) -> int:
    """Cells that a text takes: two for a Chinese character."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in shown)


def _edge(exercise: Exercise, edge: EdgeResult, out: Output) -> list[str]:
    lines = [f"{out.text(f'cli.word-{edge.ending}')}  {edge.call}", "  " + out.say(edge.message)]
    if edge.caught:
        lines.append("  " + out.text("cli.check-caught", count=len(edge.caught), of=edge.wrong_versions))
        lines += [f"    - {wrong.text.get(out.lang)}" for wrong in exercise.wrong if wrong.id in edge.caught]
    return lines
