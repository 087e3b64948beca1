"""`demo`: list the experiments, or run one and keep what it showed as evidence."""

from __future__ import annotations

import argparse
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from tutor.cli import demo_text
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.context import Context
from tutor.lab import predictions, protocol, transcripts
from tutor.lab.host import LabHost, LabSettings, Run
from tutor.lab.protocol import Event, Outcome
from tutor.lab.run import Device
from tutor.learner.journal import Journal, StateError
from tutor.model import Demo, Lesson, Verdict
from tutor.strings import say

CODES = {
    Outcome.OK: Exit.GOOD,
    Outcome.FAILED: Exit.FAILS,
    Outcome.LIMIT: Exit.LIMIT,
    Outcome.CANCELLED: Exit.INTERRUPTED,
    Outcome.UNAVAILABLE: Exit.UNAVAILABLE,
    Outcome.BROKE: Exit.BROKE,
}


def run(context: Context, args: argparse.Namespace, out: Output) -> int:
    """List the demos, or run one. Raises Stop."""
    demos = context.lesson.demos
    if args.name is None:
        if args.predict is not None:
            raise Stop("cli.demo-no-name")
        return _list(context, out)
    demo = demos.get(args.name)
    if demo is None:
        raise Stop("cli.demo-unknown", name=args.name, known=", ".join(demos))
    predicted: Mapping[str, int] | None = None
    if args.predict is not None:
        try:
            predicted = predictions.read(demo, args.predict)
        except predictions.PredictionError as error:
            raise Stop.saying(error.message) from error
    return _run(context, demo, args.device, predicted, out)


def open_journal(context: Context, out: Output) -> Journal | None:
    """The journal, or None after saying that nothing is kept: a demo is worth watching all the same."""
    try:
        return context.journal
    except StateError as error:
        out.hint(out.say(error.message))
        return None


# --- the list ---------------------------------------------------------------------------------------------------------


def _list(context: Context, out: Output) -> Exit:
    from tutor.doctor import compiler, gpu, look_for_torch

    torch = look_for_torch(context.settings.python, context.env)
    has_torch = torch.found is not None and torch.found.torch_version is not None
    cuda = gpu().status != "missing"
    has = {"torch": has_torch, "cuda": cuda, "triton": cuda, "compiler": cuda or compiler(context.env).status == "ok"}
    journal = open_journal(context, out)
    for demo in context.lesson.demos.values():
        lacking = [need for need in demo.needs if not has.get(need, True)]
        last = _last_seconds(journal, demo)
        if out.as_json:
            out.emit(
                {
                    "schema": 1,
                    "event": "demo",
                    "name": demo.name,
                    "title": demo.title.get(out.lang),
                    "shows": demo.shows.get(out.lang),
                    "question": demo.question.get(out.lang),
                    "asks": [{"id": ask.id, "label": ask.label} for ask in demo.asks],
                    "claims": list(demo.claims),
                    "needs": list(demo.needs),
                    "available": not lacking,
                    "lacking": lacking,
                    "recorded": [path.name for path in demo.recorded],
                    "usual_s": list(demo.usual_s),
                    "last_s": last,
                }
            )
        else:
            for line in demo_text.listed(demo, lacking, last, out):
                out.result(line)
    return Exit.GOOD


def _last_seconds(journal: Journal | None, demo: Demo) -> float | None:
    """How long the last run here took, in seconds."""
    records = [kept.record for kept in journal.progress.evidence.values()] if journal else []
    own = [record for record in records if record.get("demo") == demo.name and record["source"] == "measured"]
    return float(own[-1]["at"]) if own else None


# --- a run ------------------------------------------------------------------------------------------------------------


def _run(context: Context, demo: Demo, device: Device | None, predicted: Mapping[str, int] | None, out: Output) -> Exit:
    journal = open_journal(context, out)
    if predicted is not None and journal is not None:
        try:
            journal.append("prediction", demo=demo.name, answers=dict(predicted))
        except StateError as error:
            out.hint(out.say(error.message))
    host = LabHost(LabSettings(context.settings.python, context.settings.launcher, context.device))
    show = demo_text.Show(demo, out)
    verdicts: dict[str, str] = {}
    try:
        run = host.start(demo, device=device, predicted=predicted)
        with cancelled_by_ctrl_c(run), show:
            for event in _with_recording(demo, run, predicted, out):
                if event["event"] == "result":
                    event["evidence"] = keep(journal, event, out)
                    verdicts = event["claims"]
                show.event(event)
                if out.as_json:
                    out.emit(in_words(event, out))
    finally:
        host.close()
    return _code(Outcome(event["outcome"]), verdicts, context.lesson)


def keep(journal: Journal | None, record: Event, out: Output) -> str | None:
    """The id of the evidence that was kept; None after saying that it could not be."""
    if journal is None:
        return None
    try:
        return journal.add_evidence(record)
    except StateError as error:
        out.hint(out.say(error.message))
        return None


def _code(outcome: Outcome, verdicts: Mapping[str, str], lesson: Lesson) -> Exit:
    """A run that was ok fails all the same when a claim came out otherwise than the lesson says."""
    if outcome is not Outcome.OK:
        return CODES[outcome]
    if Verdict.BROKE in verdicts.values():
        return Exit.BROKE
    differs = any(not lesson.claims[claim].agrees(Verdict(verdict)) for claim, verdict in verdicts.items())
    return Exit.FAILS if differs else Exit.GOOD


def _with_recording(
    demo: Demo, run: Iterator[Event], predicted: Mapping[str, int] | None, out: Output
) -> Iterator[Event]:
    """The run's events; where it cannot be made, those of the newest recorded run before the end."""
    for event in run:
        if event["event"] == "ended" and event["outcome"] == Outcome.UNAVAILABLE and demo.recorded:
            try:
                for old in transcripts.replay(demo, transcripts.newest(demo), predicted):
                    if old["event"] != "ended":
                        yield old
            except transcripts.TranscriptError as error:
                out.hint(out.say(error.message))
        yield event


@contextmanager
def cancelled_by_ctrl_c(run: Run) -> Iterator[None]:
    """The first Ctrl-C stops the demo and lets the stream end; from the second on it is the shell's usual one."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        # Not here: the interrupted thread may be holding the run's own lock.
        threading.Thread(target=run.cancel, daemon=True).start()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def in_words(event: Event, out: Output) -> dict[str, Any]:
    """The event for programs: its messages as sentences in the language asked for."""
    said = dict(event)
    if isinstance(said.get("message"), dict):
        said["message"] = say(out.lang, protocol.message(said["message"]))
    if "because" in said:
        said["because"] = {claim: say(out.lang, protocol.message(why)) for claim, why in said["because"].items()}
    return said
