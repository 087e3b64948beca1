"""`check --kernel [FILE]`: judge a fused kernel of the learner's own. No points come of it."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tutor.cli import demo
from tutor.cli.demo_text import Show
from tutor.cli.exits import Exit, Stop
from tutor.cli.files import read_bounded
from tutor.cli.output import Output
from tutor.context import Context
from tutor.fused import run as fused
from tutor.fused.own import BYTES_MAX, Own, OwnError, text_of
from tutor.lab.host import LabHost, LabSettings
from tutor.lab.protocol import Outcome
from tutor.lab.task import task
from tutor.model import Ending, Message

_CODES: dict[Ending | Outcome, Exit] = {
    Ending.PASSED: Exit.GOOD,
    Ending.FAILED: Exit.FAILS,
    Ending.LIMIT: Exit.LIMIT,
    Ending.REFUSED: Exit.REFUSED,
    Ending.BROKE: Exit.BROKE,
    Outcome.UNAVAILABLE: Exit.UNAVAILABLE,
    Outcome.CANCELLED: Exit.INTERRUPTED,
}


def run(context: Context, args: argparse.Namespace, out: Output) -> int:
    """Judge once, say so, and keep it as evidence. Raises Stop."""
    text = _text(context, args.kernel)
    host = LabHost(LabSettings(context.settings.python, context.settings.launcher, context.device))
    try:
        with ExitStack() as stack:
            show = stack.enter_context(Show(task("fused"), out))

            def seen(event: Any) -> None:
                if event["event"] in ("progress", "output"):
                    show.event(event)

            found = fused.judge(
                text,
                host,
                args.device,
                demos=context.lesson.folder / "demos",
                seen=seen,
                running=lambda ran: stack.enter_context(demo.cancelled_by_ctrl_c(ran)),
            )
    finally:
        host.close()
    evidence = None
    if found.record is not None:
        evidence = demo.keep(demo.open_journal(context, out), found.record, out)
    own = Own.of(context.lesson.folder, context.folder)
    _tell(found, fused.next_step(found, draft=own.exists and own.is_draft(text)), evidence, out)
    return _CODES[found.ending]


def _text(context: Context, asked: str) -> str:
    """The text of the file that is named, else of the one that the screen shows. Raises Stop."""
    own = Own.of(context.lesson.folder, context.folder)
    try:
        if asked:
            return text_of(Path(asked), read_bounded(Path(asked), BYTES_MAX))
        if not own.exists:
            raise Stop("kernel.no-exercise", lesson=context.lesson_id)
        return own.read()
    except OwnError as error:
        raise Stop.saying(error.message) from error


def _tell(found: fused.Judgement, step: Message | None, evidence: str | None, out: Output) -> None:
    if out.as_json:
        told = {"schema": 1, "command": "check", "exercise": "fused_kernel", "ending": str(found.ending.value)}
        case = out.say(found.case) if found.case is not None else None
        facts = {"message": out.say(found.message), "why": found.message.key, "case": case, "ulps": found.ulps}
        more = {"try": out.say(step) if step is not None else None, "device": found.device or None}
        out.emit({**told, **facts, **more, "calls": found.calls, "timed": found.timed, "evidence": evidence})
        return
    word = out.text(f"cli.word-{found.ending}") + "  " if isinstance(found.ending, Ending) else ""
    out.result(word + out.say(found.message))
    if found.case is not None:
        out.result("  " + out.text("kernel.case", case=out.say(found.case)))
    if step is not None:
        out.result("  " + out.text("exercise.try") + out.say(step))
    if found.ending is Ending.BROKE:
        out.result(out.text("cli.check-broke"))
    for row in found.timed:
        figures = {name: f"{row['us'][name]:.1f}" for name in ("p50", "p95", "p99", "max")}
        where = {"call": row["call"], "way": row["way"], "side": row["side"], "n": row["us"]["n"]}
        out.result("  " + out.text("kernel.time", **where, **figures, times=f"{row['of_floor']:.2f}"))
    if evidence is not None:
        out.result("  " + out.text("kernel.evidence", id=evidence))
