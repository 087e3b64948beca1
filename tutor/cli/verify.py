"""`verify`: run the experiments behind the lesson's claims and say of each whether the lesson is right here."""

from __future__ import annotations

import argparse
import socket
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tutor.cli.demo import cancelled_by_ctrl_c, keep, open_journal
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import Output
from tutor.cli.progress_line import ProgressLine
from tutor.context import Context
from tutor.lab import protocol, transcripts
from tutor.lab.host import LabHost, LabSettings
from tutor.lab.protocol import Event, Outcome
from tutor.lab.run import Device
from tutor.learner.journal import Journal, utc_now
from tutor.learner.progress import Evidence
from tutor.model import Claim, Demo, Lesson, Message, Source, Verdict

#: `--resume` takes over what is no older than this.
FRESH = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one claim. `evidence` is None when nothing was kept; `seconds` are the whole run's, which may have
    served several claims; `recorded` is what a machine that could run it observed, as (verdict, where, when)."""

    claim: Claim
    verdict: Verdict
    because: Message
    evidence: str | None
    seconds: float
    recorded: tuple[Verdict, str, str] | None = None

    @property
    def agrees(self) -> bool | None:
        """Whether this is what the lesson says; None when the experiment could not be made or showed nothing."""
        if self.verdict in (Verdict.UNAVAILABLE, Verdict.BROKE):
            return None
        return self.claim.agrees(self.verdict)


def run(context: Context, args: argparse.Namespace, out: Output) -> int:
    """Run every experiment that the claims asked for need, each once. Raises Stop."""
    lesson = context.lesson
    unknown = [name for name in args.claims if name not in lesson.claims]
    if unknown:
        raise Stop("cli.verify-unknown", claim=unknown[0], known=", ".join(lesson.claims))
    wanted = [claim for claim in lesson.claims.values() if not args.claims or claim.id in args.claims]
    plan = demos_of(lesson, wanted)
    journal = open_journal(context, out)
    findings: list[Finding] = []
    if args.resume and journal is not None:
        for demo in plan:
            kept = fresh(journal.progress.evidence.values(), demo, utc_now())
            if kept is not None:
                ended = {"outcome": Outcome.OK, "at": kept.record["at"]}
                findings += _findings(lesson, demo, wanted, dict(kept.record), ended, kept.id)
        plan = [demo for demo in plan if not {f.claim.id for f in findings} & set(demo.claims)]
    usual = {demo.name: _usual_s(journal, demo) for demo in plan}
    if not out.as_json:
        minutes = sum(usual.values()) / 60
        out.hint(out.text("cli.verify-plan", claims=len(wanted), demos=len(plan), minutes=f"{minutes:.1f}"))
    for finding in findings:
        _show(finding, out)
    host = LabHost(LabSettings(context.settings.python, context.settings.launcher, context.device))
    cancelled = False
    try:
        with ProgressLine(out) as line:
            for number, demo in enumerate(plan, 1):
                left = sum(usual[later.name] for later in plan[number - 1 :])
                at = out.text("cli.verify-at", number=number, of=len(plan), demo=demo.name, seconds=round(left))
                line.show(at)
                result, ended = _run(host, demo, args.device)
                line.show("")
                if ended["outcome"] == Outcome.CANCELLED:
                    cancelled = True
                    break
                evidence = keep(journal, result, out) if result is not None else None
                for finding in _findings(lesson, demo, wanted, result, ended, evidence):
                    findings.append(finding)
                    _show(finding, out)
    finally:
        host.close()
    _summary(findings, len(wanted), cancelled, out)
    return Exit.INTERRUPTED if cancelled else code(findings)


def demos_of(lesson: Lesson, claims: Sequence[Claim]) -> list[Demo]:
    """The demos behind these claims, each once, the quick ones first."""
    names = dict.fromkeys(claim.demo for claim in claims if claim.demo is not None)
    return sorted((lesson.demos[name] for name in names), key=lambda demo: demo.usual_s)


def fresh(kept: Iterable[Evidence], demo: Demo, now: datetime) -> Evidence | None:
    """What this machine measured of `demo` in the last FRESH, newest first; None when there is nothing."""
    for evidence in reversed(list(kept)):
        record = evidence.record
        here = record.get("demo") == demo.name and record["source"] == Source.MEASURED and record["claims"]
        if here and record["environment"].get("host") == socket.gethostname():
            when = datetime.fromisoformat(str(record["when"]))
            return evidence if now - when < FRESH else None
    return None


def code(findings: Sequence[Finding]) -> Exit:
    """FAILS when a claim that could run came out otherwise than the lesson says; then BROKE when an experiment showed
    nothing; UNAVAILABLE when none could run at all."""
    if any(finding.agrees is False for finding in findings):
        return Exit.FAILS
    if any(finding.verdict is Verdict.BROKE for finding in findings):
        return Exit.BROKE
    return Exit.GOOD if any(finding.agrees for finding in findings) else Exit.UNAVAILABLE


def _run(host: LabHost, demo: Demo, device: Device | None) -> tuple[Event | None, Event]:
    """The result of one run, None without one, and its end."""
    result: Event | None = None
    run = host.start(demo, device=device)
    with cancelled_by_ctrl_c(run):
        for event in run:
            if event["event"] == "result":
                result = event
    return result, event


def _findings(
    lesson: Lesson, demo: Demo, wanted: Sequence[Claim], result: Event | None, ended: Event, evidence: str | None
) -> Iterator[Finding]:
    ids = {claim.id for claim in wanted}
    recorded = _recorded(demo) if ended["outcome"] == Outcome.UNAVAILABLE else {}
    for name in demo.claims:
        if name not in ids:
            continue
        if result is not None and ended["outcome"] == Outcome.OK:
            verdict, because = Verdict(result["claims"][name]), protocol.message(result["because"][name])
        else:
            lacking = ended["outcome"] == Outcome.UNAVAILABLE
            verdict = Verdict.UNAVAILABLE if lacking else Verdict.BROKE
            because = protocol.message(ended["message"])
        yield Finding(lesson.claims[name], verdict, because, evidence, float(ended["at"]), recorded.get(name))


def _recorded(demo: Demo) -> Mapping[str, tuple[Verdict, str, str]]:
    """What the newest recorded run says of each claim."""
    if not demo.recorded:
        return {}
    path = transcripts.newest(demo)
    result = next(event for event in transcripts.replay(demo, path) if event["event"] == "result")
    return {claim: (Verdict(said), result["where"], result["when"]) for claim, said in result["claims"].items()}


def _usual_s(journal: Journal | None, demo: Demo) -> float:
    """Seconds that this demo took here last time, else what it usually takes."""
    if journal is not None:
        records = [kept.record for kept in journal.progress.evidence.values()]
        own = [r for r in records if r.get("demo") == demo.name and r["source"] == "measured"]
        if own:
            return float(own[-1]["at"])
    return sum(demo.usual_s) / 2


# --- what is shown ----------------------------------------------------------------------------------------------------


def _show(finding: Finding, out: Output) -> None:
    claim, because = finding.claim, out.say(finding.because)
    if out.as_json:
        recorded: dict[str, Any] | None = None
        if finding.recorded is not None:
            verdict, where, when = finding.recorded
            recorded = {"verdict": verdict.value, "where": where, "when": when}
        out.emit(
            {
                "schema": 1,
                "event": "claim",
                "id": claim.id,
                "text": claim.text.get(out.lang),
                "says": claim.says.value,
                "verdict": finding.verdict.value,
                "agrees": finding.agrees,
                "because": because,
                "evidence": finding.evidence,
                "recorded": recorded,
                "seconds": round(finding.seconds, 2),
            }
        )
        return
    out.result(f"{_mark(finding)} {claim.id}: {_verdict(finding.verdict, out)}  [{_source(finding, out)}]")
    if finding.agrees is not True:
        out.result(f"    {because}")
        said = out.text("cli.verify-says", verdict=_verdict(claim.says, out), text=claim.text.get(out.lang))
        out.result(f"    {said}")


def _mark(finding: Finding) -> str:
    return {True: "ok", False: "!!", None: "--"}[finding.agrees]


def _verdict(verdict: Verdict, out: Output) -> str:
    return out.text(f"cli.verdict-{verdict}")


def _source(finding: Finding, out: Output) -> str:
    if finding.recorded is not None:
        verdict, where, when = finding.recorded
        source = out.text("cli.demo-source-recorded", where=where, when=when)
        return f"{source}: {_verdict(verdict, out)}"
    return out.text("cli.demo-source-here", evidence=finding.evidence or "-") + f", {finding.seconds:.1f} s"


def _summary(findings: Sequence[Finding], wanted: int, cancelled: bool, out: Output) -> None:
    counts = Counter(finding.verdict for finding in findings)
    as_said = sum(finding.agrees is True for finding in findings)
    differ = [finding.claim.id for finding in findings if finding.agrees is False]
    if out.as_json:
        out.emit(
            {
                "schema": 1,
                "event": "summary",
                "claims": wanted,
                "done": len(findings),
                "as_said": as_said,
                "otherwise": differ,
                "verdicts": {verdict.value: counts[verdict] for verdict in Verdict},
                "cancelled": cancelled,
            }
        )
        return
    if findings:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False)
        for heading in ("claim", "lesson", "here", "evidence", "seconds"):
            table.add_column(out.text(f"cli.verify-{heading}"), justify="right" if heading == "seconds" else "left")
        for finding in findings:
            claim = finding.claim
            cells = (_verdict(claim.says, out), _verdict(finding.verdict, out), finding.evidence or "-")
            table.add_row(*map(Text, (f"{_mark(finding)} {claim.id}", *cells, f"{finding.seconds:.1f}")))
        console = Console(markup=False, highlight=False, emoji=False, width=100)
        with console.capture() as drawn:
            console.print(table)
        out.result()
        out.result("\n".join(row.rstrip() for row in drawn.get().splitlines()))
    could = sum(finding.agrees is not None for finding in findings)
    out.result(out.text("cli.verify-summary", as_said=as_said, could=could, wanted=wanted))
    if differ:
        out.result(out.text("cli.verify-otherwise", claims=", ".join(differ)))
    if cancelled:
        out.result(out.text("cli.verify-cancelled", done=len(findings), left=wanted - len(findings)))
