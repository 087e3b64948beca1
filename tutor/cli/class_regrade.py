"""`class regrade`: judge every hand-in again, and show what changes before it is taken."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from typing import Any

from tutor.classroom.handed_in import myself
from tutor.classroom.intake import shown_name
from tutor.classroom.regrade import Graded, Regrade, RegradeStopped, sandbox_lacks
from tutor.cli.classes import opened
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.context import Context
from tutor.sandbox import SandboxUnavailable

#: Lines of progress are at least this far apart, seconds.
PROGRESS_S = 2.0


def run(context: Context, args: argparse.Namespace, out: Output) -> int:  # noqa: ARG001
    """Judge the class, or take what was proposed. Raises Stop."""
    jobs = args.jobs if args.jobs is not None else len(os.sched_getaffinity(0))
    if not 1 <= jobs <= 256:
        raise Stop("class.regrade-jobs", got=jobs)
    with opened(args, out) as (_, book, lesson, _):
        if args.take:
            count = book.results.take_proposed()
            if out.as_json:
                out.emit({"schema": 1, "command": "class regrade", "event": "summary", "taken": count})
            else:
                out.result(out.text("class.regrade-taken", count=count))
            return Exit.GOOD
        try:
            lacking = sandbox_lacks()
        except SandboxUnavailable as error:
            raise Stop.saying(error.message, Exit.UNAVAILABLE) from error
        if lacking and not args.allow_weak_sandbox:
            raise Stop("class.regrade-weak", Exit.UNAVAILABLE, missing=", ".join(lacking))
        for refused in book.refused():
            _say_refused(refused.owner, shown_name(refused.name), out.say(refused.reason), out)
        regrade = Regrade(book, lesson, myself().login, jobs=jobs, weak_sandbox=bool(lacking))
        if regrade.continued:
            out.hint(out.text("class.regrade-continued", done=regrade.continued, of=regrade.total))
        counts = {"passed": 0, "failed": 0, "limit": 0, "refused": 0, "broke": 0}
        changed = 0
        began = said = time.monotonic()
        for graded in _judged(regrade):
            counts[graded.report.ending] += 1
            changed += graded.changed
            _say(graded, out)
            if time.monotonic() - said > PROGRESS_S:
                said = time.monotonic()
                now = regrade.done - regrade.continued
                left = (regrade.total - regrade.done) * (said - began) / max(now, 1)
                out.hint(out.text("class.regrade-progress", done=regrade.done, of=regrade.total, left=round(left)))
        seconds = time.monotonic() - began
        summary = {"of": regrade.total, "continued": regrade.continued, "changed": changed, "endings": counts}
        if out.as_json:
            head = {"schema": 1, "command": "class regrade", "event": "summary"}
            out.emit({**head, **summary, "weak_sandbox": bool(lacking), "seconds": seconds})
        else:
            out.result(out.text("class.regrade-summary", of=regrade.total, seconds=f"{seconds:.1f}", changed=changed))
            if changed:
                out.result(out.text("class.regrade-take"))
        return Exit.BROKE if counts["broke"] else Exit.GOOD


def _judged(regrade: Regrade) -> Iterator[Graded]:
    try:
        yield from regrade
    except RegradeStopped as stopped:
        raise Stop.saying(stopped.message, Exit.BROKE) from stopped


def _say(graded: Graded, out: Output) -> None:
    report = graded.report
    if out.as_json:
        before = graded.before
        line: dict[str, Any] = {
            "schema": 1,
            "event": "submission",
            "learner": graded.login,
            "ending": report.ending.value,
            "points": {"normal": report.normal, "edge": report.edge},
            "changed": graded.changed,
            "before": {"ending": before[0], "normal": before[1], "edge": before[2]} if before else None,
            "reason": out.say(report.message),
            "seconds": report.seconds,
        }
        out.emit(line)
    elif graded.changed or report.ending == "broke":
        word = out.text(f"cli.word-{report.ending}")
        was = graded.before
        old = f"{was[1]}/2 {was[2]}/1 -> " if was else ""
        out.result(f"{graded.login}  {word}  {old}{report.normal}/2 {report.edge}/1  {out.say(report.message)}")


def _say_refused(owner: str, file: str, why: str, out: Output) -> None:
    if out.as_json:
        head = {"schema": 1, "event": "submission", "learner": owner, "file": file, "ending": "refused"}
        out.emit({**head, "points": {"normal": 0, "edge": 0}, "changed": False, "reason": why})
    else:
        out.result(out.text("class.list-refused", file=file, owner=owner, why=why))
