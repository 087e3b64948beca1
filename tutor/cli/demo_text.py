"""A demo's events as lines for people: results to stdout, progress to stderr."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

from tutor.cli.output import Output
from tutor.cli.progress_line import ProgressLine
from tutor.lab import findings, protocol
from tutor.lab.protocol import Event
from tutor.model import Demo, Verdict


def listed(demo: Demo, lacking: list[str], last: float | None, out: Output) -> list[str]:
    """One demo of the list."""
    lines = [f"{demo.name}  {demo.title.get(out.lang)}", f"  {demo.shows.get(out.lang)}"]
    if demo.claims:
        lines.append("  " + out.text("cli.demo-claims", claims=", ".join(demo.claims)))
    if lacking:
        lines.append("  " + out.text("cli.demo-lacking", needs=", ".join(lacking), recorded=len(demo.recorded)))
    elif last is None:
        low, high = demo.usual_s
        lines.append("  " + out.text("cli.demo-usual", low=f"{low:g}", high=f"{high:g}"))
    else:
        lines.append("  " + out.text("cli.demo-last", seconds=f"{last:.1f}"))
    return lines


class Show:
    """Shows a run while it goes on; as a context manager it clears the progress line behind itself."""

    def __init__(self, demo: Demo, out: Output) -> None:
        self._demo = demo
        self._out = out
        self._line = ProgressLine(out)

    def __enter__(self) -> Show:
        self._line.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._line.__exit__(kind, error, trace)

    def event(self, event: Event) -> None:
        """Show one event."""
        out = self._out
        match event["event"]:
            case "progress":
                self._line.show(out.say(protocol.message(event["message"])))
            case "ended":
                message = out.say(protocol.message(event["message"]))
                self._line.show("")
                (out.hint if out.as_json else out.result)(message)
            case kind if not out.as_json:
                self._line.show("")
                for line in getattr(self, f"_{kind}")(event):
                    out.result(line)

    def _started(self, event: Event) -> list[str]:
        low, high = event["usual_s"]
        recorded = event["source"] == "recorded"
        title = f"{self._demo.name}  {self._demo.title.get(self._out.lang)}"
        if recorded:
            return [title, self._out.text("cli.demo-recorded")]
        return [title, self._out.text("cli.demo-usual", low=f"{low:g}", high=f"{high:g}")]

    def _output(self, event: Event) -> list[str]:
        return [f"  {event['stream']}| {line}" for line in event["text"].splitlines()]

    def _observation(self, event: Event) -> list[str]:
        out = self._out
        values = "  ".join(f"{name}={_shown(value)}" for name, value in event["values"].items())
        lines = [f"  {event['series']}  {event['call'] or ''}  {values}"]
        if event["agrees"] is not None:
            key = "cli.demo-agrees" if event["agrees"] else "cli.demo-otherwise"
            lines.append("    " + out.text(key, predicted=event["predicted"], answer=event["answer"]))
        lines += [f"    torch: {said}" for said in event["said"]]
        if event["plain"] is not None:
            lines.append("    " + event["plain"][out.lang])
        return lines

    def _result(self, event: Event) -> list[str]:
        out, where = self._out, event["environment"]
        if event["source"] == "recorded":
            source = out.text("cli.demo-source-recorded", where=event["where"], when=event["when"])
        else:
            source = out.text("cli.demo-source-here", evidence=event["evidence"] or "-")
        lines = []
        for claim, verdict in event["claims"].items():
            word = out.text(f"cli.verdict-{Verdict(verdict)}")
            lines.append(f"{claim}: {word} [{source}]")
            lines.append("  " + out.say(protocol.message(event["because"][claim])))
        machine = where.get("gpu") or where.get("device") or "?"
        lines.append(out.text("cli.demo-environment", torch=where.get("torch", "?"), machine=machine))
        if "gpu_why" in where:
            key = "cli.demo-gpu-shared" if where["gpu_others"] else f"cli.demo-gpu-{where['gpu_why']}"
            lines.append(out.text(key, index=where["gpu_index"], others=where["gpu_others"]))
        if where.get("gpu_trouble"):
            lines.append(out.text(f"lab.needs-{where['gpu_trouble']}"))
        if where.get("contended"):
            lines.append(out.text("cli.demo-contended"))
        return lines


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(f"{name} {_shown(item)}" for name, item in findings.without_bins(value).items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)
