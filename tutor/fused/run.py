"""One judgement of a learner's kernel: read here, run in the lab's child, judged here."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tutor.fused import cases, exact, source
from tutor.lab import protocol
from tutor.lab.host import LabHost
from tutor.lab.protocol import Outcome
from tutor.lab.run import Device, Run
from tutor.lab.task import task
from tutor.model import Ending, Message

#: Shapes [rows, hidden] that are timed on a GPU.
TIMED = ((2048, 4096), (32768, 2048), (32768, 4096))


@dataclass(slots=True)
class Judgement:
    """`ending` is one of the five, or UNAVAILABLE or CANCELLED of the lab. `case` is the call that failed."""

    ending: Ending | Outcome
    message: Message
    case: str | None = None
    ulps: float | None = None
    calls: int = 0
    timed: list[dict[str, Any]] = field(default_factory=list)
    record: dict[str, Any] | None = None


def judge(
    text: str,
    host: LabHost,
    device: Device,
    *,
    demos: Path,
    seen: Callable[[Mapping[str, Any]], None] = lambda _event: None,
    running: Callable[[Run], None] = lambda _run: None,
    rng: random.Random | None = None,
    timed: Sequence[tuple[int, int]] = TIMED,
) -> Judgement:
    """Judge a file's text. `demos` is the lesson's folder of demos, whose own kernel is timed beside the learner's;
    `timed` are the shapes [rows, hidden] to time on a GPU; `seen` hears the lab's events, `running` the run,
    for whoever wants to cancel it."""
    kernel = source.read(text)
    if isinstance(kernel, Message):
        return Judgement(Ending.REFUSED, kernel)
    rng = rng or random.SystemRandom()
    drawn = cases.draw(rng)
    params = {
        **{"text": kernel.text, "warps": kernel.num_warps, "max_block": kernel.max_block, "eps": cases.EPS},
        **{"guard": cases.GUARD, "demos": str(demos), "seed": rng.randrange(1 << 30), "timed": list(map(list, timed))},
        "calls": [
            {
                **{"rows": case.rows, "hidden": case.hidden, "strides": list(case.strides)},
                "memory": {name: _raw(held) for name, held in case.memory.items()},
            }
            for case in drawn
        ],
    }
    run = host.start(task("fused"), device=device, params=params)
    running(run)
    said: list[Mapping[str, Any]] = []
    end: Mapping[str, Any] = {}
    record = None
    for event in run:
        seen(event)
        if event["event"] == "observation":
            said.append(event)
        elif event["event"] == "result":
            record = event
        end = event
    found = _ended(end) or _judged(drawn, said, record)
    found.calls = len(drawn)
    found.record = _kept(record, found) if record is not None else None
    return found


def _raw(memory: Any) -> str:
    return base64.b64encode(b"".join(bits.to_bytes(2, "little") for bits in memory)).decode()


def _ended(end: Mapping[str, Any]) -> Judgement | None:
    """What the run's end alone decides; None when it was good."""
    outcome, message = Outcome(end["outcome"]), protocol.message(end["message"])
    if outcome is Outcome.OK:
        return None
    if outcome is Outcome.LIMIT:
        return Judgement(Ending.LIMIT, message)
    if outcome in (Outcome.UNAVAILABLE, Outcome.CANCELLED):
        return Judgement(outcome, message)
    return Judgement(Ending.BROKE, message)


def _judged(drawn: list[cases.Case], said: list[Mapping[str, Any]], record: Mapping[str, Any] | None) -> Judgement:
    after: dict[int, dict[str, Any]] = {}
    try:
        for each in said:
            values = each["values"]
            if each["series"] == "raised":
                where = drawn[len(after)].call if len(after) < len(drawn) else None
                shown = Message("kernel.raised", {"kind": str(values["kind"]), "text": str(values["text"])})
                return Judgement(Ending.FAILED, shown, where)
            if each["series"] == "died":  # Only the kernel touches memory by address.
                return Judgement(Ending.FAILED, Message("kernel.died", {"signal": int(values["signal"])}))
            if each["series"] == "memory":
                raw = base64.b64decode(str(values["raw"]), validate=True)
                after.setdefault(int(values["call"]), {})[str(values["name"])] = exact.memory_of(raw)
    except (ValueError, KeyError) as error:
        return Judgement(Ending.BROKE, Message("kernel.garbled", {"why": str(error)}))
    if sorted(after) != list(range(len(drawn))) or any(set(held) != set(cases.TENSORS) for held in after.values()):
        return Judgement(Ending.BROKE, Message("kernel.garbled", {"why": f"{len(after)}/{len(drawn)}"}))
    interpreted = record is None or record["environment"].get("device") != "cuda"
    for number, case in enumerate(drawn):
        wrong = exact.judge(case, after[number], truncates=interpreted)
        if wrong is not None:
            return Judgement(Ending.FAILED, wrong.message, case.call, wrong.ulps)
    for each in said:
        if each["series"] == "large":
            if not each["values"]["same"]:
                return Judgement(Ending.FAILED, Message("kernel.wrong-input", {"name": "x"}), each["call"])
            if not each["values"]["excess"] <= 1.0:
                times = Message("kernel.wrong-large", {"times": f"{each['values']['excess']:.3g}"})
                return Judgement(Ending.FAILED, times, each["call"])
    timed = _timed(said)
    key = "kernel.passed-timed" if timed else "kernel.passed"
    return Judgement(Ending.PASSED, Message(key, {"calls": len(drawn)}), timed=timed)


def _timed(said: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each side's spread in microseconds and its p50 over the floor's of the same shape and way."""
    rows = [{"call": each["call"], **each["values"]} for each in said if each["series"] == "timed"]
    floors = {(row["call"], row["way"]): row["us"]["p50"] for row in rows if row["side"] == "floor"}
    return [{**row, "of_floor": round(row["us"]["p50"] / floors[row["call"], row["way"]], 3)} for row in rows]


def _kept(record: Mapping[str, Any], found: Judgement) -> dict[str, Any]:
    """The evidence: what came out and the times, without the memory of every call."""
    kept = {name: value for name, value in record.items() if name not in ("schema", "event", "at")}
    observed = {
        name: table for name, table in record["observed"].items() if name in ("timed", "large", "raised", "died")
    }
    verdict = {"ending": [str(found.ending.value)], "case": [found.case], "ulps": [found.ulps], "calls": [found.calls]}
    return {**kept, "observed": {**observed, "verdict": verdict}}
