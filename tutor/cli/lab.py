"""`lab FILE`: a function of your own under torch.compile, call by call, beside eager.

`--kernel` is `lab_kernel`'s, `--script` `lab_script`'s, `--trace` `lab_trace`'s.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tutor.cli import files
from tutor.cli.demo import CODES, cancelled_by_ctrl_c
from tutor.cli.demo_text import Show
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.context import Context
from tutor.lab import protocol
from tutor.lab.host import LabHost, LabSettings
from tutor.lab.protocol import Outcome
from tutor.lab.task import task
from tutor.lab.watched import Watched
from tutor.model import Message

#: No file of one function and its calls is longer, in bytes.
FILE_MAX = 1 << 20


def run(context: Context, args: argparse.Namespace, out: Output) -> int:
    """Run FILE's calls, look into a kernel, watch a program or explain a trace. Raises Stop."""
    ways = [way for way in ("file", "kernel", "script", "trace") if getattr(args, way) is not None]
    if len(ways) > 1:
        raise Stop("trace.both")
    if ways == ["kernel"]:
        from tutor.cli import lab_kernel

        return lab_kernel.run(context, args, out)
    stray = [name for name in ("target", "warps", "set", "stage") if getattr(args, name)]
    if stray:
        raise Stop("inside.only-kernel", what=f"--{stray[0]}")
    if ways in (["script"], ["trace"]):
        usual = {"fn": "fn", "calls": "calls", "dynamic": "auto"}
        stray = [name for name in _FILE_ONLY if getattr(args, name) not in (usual.get(name), None, False)]
        if stray:
            raise Stop("trace.only-file", what=f"--{stray[0]}")
        from tutor.cli import lab_script, lab_trace

        return lab_script.run(context, args, out) if ways == ["script"] else lab_trace.run(context, args, out)
    if args.file is None:
        raise Stop("lab_file.no-file")
    path = Path(args.file).absolute()
    if path.is_fifo():  # It is read here and, by its name, once more where it runs.
        raise Stop("lab_file.pipe", path=str(path))
    source = files.read_bounded(path, FILE_MAX)
    if len(source) > FILE_MAX:
        raise Stop("lab_file.too-large", path=str(path), most=FILE_MAX)
    if b"\0" in source:
        raise Stop("lab_file.binary", path=str(path))
    backend = args.backend if args.backend is not None else "inductor" if args.mode is not None else None
    if args.mode is not None and backend != "inductor":
        raise Stop("lab_file.mode", backend=str(backend))
    params = {
        "file": str(path),
        "fn": args.fn,
        "calls": args.calls,
        "dynamic": args.dynamic,
        "fullgraph": args.fullgraph,
        "mode": args.mode,
        "backend": None if backend == "eager" else backend,
    }
    watched = Watched()
    host = LabHost(LabSettings(context.settings.python, context.settings.launcher, context.device))
    demo = task("file")
    try:
        ran = host.start(demo, device=args.device, params=params)
        with cancelled_by_ctrl_c(ran), Show(demo, out) as show:
            for event in ran:
                if event["event"] == "observation":
                    for made in watched.take(event["series"], event["call"], event["values"], event["said"]):
                        _tell({"schema": 1, **made}, out)
                    continue
                if event["event"] == "ended" and watched.began:
                    event = _of_the_file(event)
                if event["event"] in ("progress", "output") or event.get("outcome", "ok") != "ok":
                    show.event(event)
                if out.as_json and event["event"] in ("output", "ended"):
                    out.emit(_in_words(event, watched, out))
    finally:
        host.close()
    return _end(watched, Outcome(event["outcome"]), out)


def _of_the_file(event: dict[str, Any]) -> dict[str, Any]:
    """A process that died or talked wildly while the learner's file ran did so by that file, unless it was killed from
    outside."""
    said = protocol.message(event["message"])
    if said.key == "lab.silent":
        message = Message("lab_file.exited", said.args)
    elif said.key == "lab.died" and said.args["signal"] != "SIGKILL":
        message = Message("lab_file.died", said.args)
    elif said.key == "lab.garbled":
        message = Message("lab_file.garbled")
    else:
        return event
    return {**event, "outcome": Outcome.FAILED.value, "message": protocol.as_json(message)}


def _in_words(event: dict[str, Any], watched: Watched, out: Output) -> dict[str, Any]:
    """An event for programs; the summary comes before the end."""
    said = dict(event)
    if event["event"] == "ended" and watched.calls:
        out.emit({"schema": 1, "event": "summary", **_summary(watched, out)})
    if isinstance(said.get("message"), dict):
        said["message"] = out.say(protocol.message(said["message"]))
    return said


def _summary(watched: Watched, out: Output) -> dict[str, Any]:
    advice = [{"id": name, "text": out.say(message)} for name, message in watched.advice()]
    return {**watched.summary(), "advice": advice}


def _end(watched: Watched, outcome: Outcome, out: Output) -> Exit:
    if watched.problem is not None:
        missing, names = watched.problem
        raise Stop("lab_file.missing", name=missing, names=names or "-")
    if watched.calls and not out.as_json:
        summary = watched.summary()
        out.result(out.text("lab_file.summary", **{name: summary[name] for name in _COUNTS}))
        for _, message in watched.advice():
            out.result("  " + out.say(message))
    counts = watched.summary()
    if outcome is Outcome.OK and (counts["differs"] or counts["errors"]):
        return Exit.FAILS
    return CODES[outcome]


_FILE_ONLY = ("fn", "calls", "dynamic", "device", "fullgraph", "mode", "backend")
_COUNTS = ("graphs", "breaks", "recompiles", "eager_calls")


def _tell(event: dict[str, Any], out: Output) -> None:
    """One event of the contract, for a program or for people."""
    if out.as_json:
        out.emit(event)
        return
    match event["event"]:
        case "call":
            key = "lab_file.call-error" if event["error"] else "lab_file.call"
            how = {True: "same", False: "other", None: "unknown"}[event["same_as_eager"]]
            same = out.text(f"lab_file.eager-{how}")
            served = out.text("lab_file.new") if event["compiled"] else out.text("lab_file.old")
            shown = {"i": event["i"], "args": event["args"], "served_by": event["served_by"], "same": same}
            out.result(out.text(key, **shown, how=served, why=event["error"] or event["why"] or "-"))
        case "graph":
            lines = ", ".join(map(str, event["lines"])) or "-"
            guards = event["guards"] if event["guards"] is not None else "-"
            out.result(out.text("lab_file.graph", id=event["id"], ops=event["ops"], guards=guards, lines=lines))
        case "break":
            key = "lab_file.break-whole" if event["whole_frame_eager"] else "lab_file.break"
            out.result(out.text(key, line=event["line"], text=event["text"] or "-", reason=event["reason"] or "-"))
