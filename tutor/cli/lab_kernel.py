"""`lab --kernel`: what Triton makes of a kernel for a target, stage by stage, without a GPU."""

from __future__ import annotations

import argparse
import ast
from pathlib import Path
from typing import Any

from tutor.cli.demo import CODES, cancelled_by_ctrl_c
from tutor.cli.demo_text import Show
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.context import Context
from tutor.fused.inside import kernel_of
from tutor.fused.source import KERNEL
from tutor.lab import kernels, protocol
from tutor.lab.host import LabHost, LabSettings
from tutor.lab.inside import ASKED_WRONG, STAGES, Look, Looks, tool_missing
from tutor.lab.kernels import TARGETS, WARPS, Kernel
from tutor.lab.protocol import Outcome
from tutor.lab.task import task

#: Instructions that a line for people names.
NAMED = 6


def run(context: Context, args: argparse.Namespace, out: Output) -> int:
    """Compile the kernel and say its code and its needs. Raises Stop."""
    kernel = _kernel(context, args.kernel)
    target = _target(args.target)
    if args.warps is not None and args.warps not in WARPS:
        raise Stop("cli.usage-choice", what="--warps", got=args.warps, allowed=", ".join(map(str, WARPS)))
    setting = kernel.setting(target, args.warps, **dict(map(_constant, args.set)))
    looks = Looks()
    host = LabHost(LabSettings(context.settings.python, context.settings.launcher, context.device))
    demo = task("inside")
    try:
        ran = host.start(demo, device="cpu", params={"settings": [setting]})
        with cancelled_by_ctrl_c(ran), Show(demo, out) as show:
            for event in ran:
                if event["event"] == "observation":
                    looks.take(event["series"], event["values"])
                elif event["event"] in ("progress", "output"):
                    show.event(event)
                    if out.as_json and event["event"] == "output":
                        out.emit(event)
    finally:
        host.close()
    outcome = Outcome(event["outcome"])
    message = out.say(protocol.message(event["message"]))
    if outcome is Outcome.OK:
        _tell(looks, setting, args.stage, out)
    else:
        out.hint(message)
    if out.as_json:
        out.emit({**event, "message": message})
    return _end(looks, kernel, args, outcome)


# --- what was asked ---------------------------------------------------------------------------------------------------


def _kernel(context: Context, asked: str) -> Kernel:
    known = kernels.of_lesson(context.lesson.folder)
    if asked in known:
        return known[asked]
    path, _, function = asked.rpartition(":") if not asked.endswith(".py") else (asked, "", "")
    if Path(path or asked).is_file():
        own = kernel_of(Path(path or asked)) if function in ("", KERNEL) else None
        return own or kernels.of_file(Path(path or asked), function or None)
    raise Stop("inside.unknown", name=asked, known=", ".join(known) or "-")


def _target(asked: str | None) -> int:
    targets = {f"sm_{target}": target for target in TARGETS}
    if asked is None:
        return 90
    if asked not in targets:
        raise Stop("cli.usage-choice", what="--target", got=asked, allowed=", ".join(targets))
    return targets[asked]


def _constant(asked: str) -> tuple[str, Any]:
    """NAME=VALUE: a Python number, True, False or None, else a text, which may name a function."""
    name, equals, value = asked.partition("=")
    if not equals or not name.isidentifier():
        raise Stop("inside.set", got=asked)
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


# --- what is said -----------------------------------------------------------------------------------------------------


def _tell(looks: Looks, setting: dict[str, Any], only: str | None, out: Output) -> None:
    look = looks.looks.get(0, Look())
    for stage in (only,) if only is not None else STAGES:
        text = looks.text(0, stage)
        if text is None:
            continue
        if out.as_json:
            where = {"file": look.file, "first": look.first} if stage == "source" else {}
            out.emit({"schema": 1, "event": "stage", "stage": stage, "text": text, **where})
        elif only is not None:
            for row in looks.rows(0, stage):
                out.result(row.text)
        else:
            out.result(out.text("inside.stage", stage=stage, lines=len(looks.rows(0, stage))))
    needs = look.needs
    if needs is None:
        return
    if out.as_json:
        values = {name: value for name, value in needs.items() if name != "setting"}
        how = {"target": f"sm_{setting['target']}", "warps": setting["warps"], "triton": looks.triton}
        out.emit({"schema": 1, "event": "needs", "kernel": look.name, **how, **values})
        return
    # With a stage asked for, standard output is that stage and nothing else.
    say = out.hint if only is not None else out.result
    say(out.text("inside.made", name=look.name, triton=looks.triton, target=f"sm_{setting['target']}"))
    if needs["registers"] is None:
        say(out.text("inside.no-cuobjdump", shared=needs["shared_bytes"]))
        return
    shown = {name: needs[f"{name}_bytes"] for name in ("shared", "spilled")}
    say(out.text("inside.needs", registers=needs["registers"], warps=setting["warps"], **shown))
    most = list(needs["instructions"].items())[:NAMED]
    say(out.text("inside.instructions", most="  ".join(f"{name} {count}" for name, count in most)))


def _end(looks: Looks, kernel: Kernel, args: argparse.Namespace, outcome: Outcome) -> Exit:
    """The exit code. Raises Stop for what is wrong with the kernel or with how it was asked for."""
    if outcome is not Outcome.OK:
        return CODES[outcome]
    problem = looks.looks.get(0, Look()).problem
    if problem is None:
        if args.stage is not None and looks.text(0, args.stage) is None:
            raise Stop("inside.no-stage", Exit.UNAVAILABLE, stage=args.stage)
        return Exit.GOOD
    said = {name: value for name, value in problem.items() if name not in ("setting", "kind")}
    kind = str(problem["kind"])
    if kind in ASKED_WRONG:
        raise Stop(f"inside.problem-{kind}", **said)
    if tool_missing(problem):
        raise Stop("inside.no-tool", Exit.UNAVAILABLE, **said)
    own = kernel.title is None or args.set
    code = Exit.FAILS if own else Exit.UNAVAILABLE
    raise Stop(f"inside.problem-{kind}", code, **said)
