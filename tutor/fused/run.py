"""One judgement of a learner's kernel: read here, run in the lab's child, judged here."""

from __future__ import annotations

import base64
import json
import random
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tutor.fused import cases, exact, large, source
from tutor.fused.large import Large
from tutor.lab import protocol
from tutor.lab.host import LabHost
from tutor.lab.protocol import Outcome
from tutor.lab.run import Device, Run
from tutor.lab.task import task
from tutor.model import Ending, Message

#: A shape [rows, hidden] of more programs than the calls before it have, all of whose rows are judged, and those that
#: are timed on a GPU.
MANY = (24, 700)
TIMED = ((2048, 4096), (32768, 2048), (32768, 4096))


@dataclass(slots=True)
class Judgement:
    """`ending` is one of the five, or UNAVAILABLE or CANCELLED of the lab. `case` is the call that failed, `device`
    where it ran, "cpu" for the interpreter; empty when nothing ran."""

    ending: Ending | Outcome
    message: Message
    case: Message | None = None
    ulps: float | None = None
    calls: int = 0
    timed: list[dict[str, Any]] = field(default_factory=list)
    device: str = ""
    record: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A kernel with all that it will be judged on. `params` is what the worker is told: nothing of what is right."""

    text: str
    drawn: list[cases.Case]
    large: dict[str, list[Large]]
    seed: int
    params: dict[str, Any]


def judge(
    text: str,
    host: LabHost,
    device: Device | None,
    *,
    demos: Path,
    seen: Callable[[Mapping[str, Any]], None] = lambda _event: None,
    running: Callable[[Run], None] = lambda _run: None,
    rng: random.Random | None = None,
    timed: Sequence[tuple[int, int]] | None = None,
) -> Judgement:
    """Judge a file's text. `demos` is the lesson's folder of demos, whose own kernel is timed beside the learner's;
    `timed` are the shapes [rows, hidden] to time on a GPU, TIMED if None; `device` None is the host's own; `seen` hears
    the lab's events, `running` the run, for whoever wants to cancel it. Raises LabBusy."""
    asked = ask(text, demos=demos, rng=rng, timed=timed)
    if isinstance(asked, Judgement):
        return asked
    run = host.start(task("fused"), device=device, params=asked.params)
    running(run)
    return finish(asked, run, seen)


def ask(
    text: str, *, demos: Path, rng: random.Random | None = None, timed: Sequence[tuple[int, int]] | None = None
) -> Asked | Judgement:
    """What a run is asked for; a judgement at once for a text that is not run. Takes some 0.2 s."""
    kernel = source.read(text)
    if isinstance(kernel, Message):
        return Judgement(Ending.REFUSED, kernel)
    rng = rng or random.SystemRandom()
    drawn, seed = cases.draw(rng), rng.randrange(1 << 30)
    many = large.draw(rng, *MANY, calls=2, looked_at=2, rows_each=MANY[0])
    # Half of the calls are replays of a graph, half are launched.
    more = [
        large.draw(rng, *shape, calls=200, looked_at=16, rows_each=2, timed=True)
        for shape in (TIMED if timed is None else timed)
    ]
    sizes = {"cpu": [many], "cuda": [many, *more]}
    params = {
        **{"text": kernel.text, "warps": kernel.num_warps, "max_block": kernel.max_block, "eps": cases.EPS},
        **{"canary": cases.CANARY, "poison": [large.poison(0), large.poison(1)], "demos": str(demos), "seed": seed},
        "large": {device: list(map(asdict, made)) for device, made in sizes.items()},
        "calls": [
            {
                **{"rows": case.rows, "hidden": case.hidden, "strides": list(case.strides), "starts": case.starts},
                "memory": {name: _raw(held) for name, held in case.memory.items()},
            }
            for case in drawn
        ],
    }
    return Asked(text, drawn, sizes, seed, params)


def finish(asked: Asked, run: Run, seen: Callable[[Mapping[str, Any]], None]) -> Judgement:
    """Read a run to its end and judge it."""
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
    device = str(record["environment"].get("device", "cpu")) if record is not None else ""
    found = _ended(end) or judged(asked, said, device)
    if record is not None:
        found.calls, found.device = len(asked.drawn), device
    found.record = _kept(record, found, asked.text) if record is not None else None
    return found


def _raw(memory: array[int]) -> str:
    if sys.byteorder == "big":
        memory = memory[:]
        memory.byteswap()
    return base64.b64encode(memory.tobytes()).decode()


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


def judged(asked: Asked, said: Sequence[Mapping[str, Any]], device: str) -> Judgement:
    """The verdict on what a whole run on `device` said."""
    try:
        return _judged(asked, said, device)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        return Judgement(Ending.BROKE, Message("kernel.garbled", {"why": f"{type(error).__name__}: {error}"}))


def _judged(asked: Asked, said: Sequence[Mapping[str, Any]], device: str) -> Judgement:
    """Raises ValueError and its like for what the worker does not say in this way."""
    drawn = asked.drawn
    after: dict[int, dict[str, array[int]]] = {}
    stopped: Judgement | None = None
    for each in said:
        values, series = each["values"], each["series"]
        if series == "memory":
            raw = base64.b64decode(str(values["raw"]), validate=True)
            after.setdefault(int(values["call"]), {})[str(values["name"])] = exact.memory_of(raw)
        elif series == "raised":
            where = drawn[len(after)].call if len(after) < len(drawn) else None
            told = {"kind": str(values["kind"]), "text": str(values["text"])}
            line = int(values["line"])
            shown = Message("kernel.raised-line", {**told, "line": line}) if line else Message("kernel.raised", told)
            stopped = Judgement(Ending.FAILED, shown, where)
        elif series == "died":  # Only the kernel touches memory by address.
            stopped = Judgement(Ending.FAILED, Message("kernel.died", {"signal": int(values["signal"])}))
        elif series == "stray":
            where = (
                drawn[int(values["call"])].call
                if values["call"] is not None
                else Message("kernel.call-size", {"shape": str(each["call"])})
            )
            fields: dict[str, str | int | float] = {"name": str(values["name"]), "bytes": abs(int(values["bytes"]))}
            stopped = Judgement(Ending.FAILED, Message("kernel.wrong-stray", fields), where)
    # A call that came out wrong explains more than what stopped the run later.
    for number in sorted(after):
        if set(after[number]) != set(cases.TENSORS):
            raise ValueError(f"call {number} is not whole")
        wrong = exact.judge(drawn[number], after[number], truncates=device != "cuda")
        if wrong is not None:
            return Judgement(Ending.FAILED, wrong.message, drawn[number].call, wrong.ulps)
    if stopped is not None:
        return stopped
    if sorted(after) != list(range(len(drawn))):
        raise ValueError(f"{len(after)} calls of {len(drawn)}")
    for size in asked.large["cuda" if device == "cuda" else "cpu"]:
        found = _large(asked, size, [each for each in said if each["call"] == size.shape], device)
        if found is not None:
            return found
    timed = _timed(said)
    key = "kernel.passed-timed" if timed else "kernel.passed"
    return Judgement(Ending.PASSED, Message(key, {"calls": len(drawn)}), timed=timed)


def _large(asked: Asked, size: Large, said: Sequence[Mapping[str, Any]], device: str) -> Judgement | None:
    """What is wrong with a size that was made there; None when it is right."""
    whole = [each["values"] for each in said if each["series"] == "large"]
    rows = {
        (int(each["values"]["call"]), int(each["values"]["row"])): each["values"]["raw"]
        for each in said
        if each["series"] == "row"
    }
    if len(whole) != 1 or set(rows) != set(size.samples):
        raise ValueError(f"{len(rows)} rows of {size.shape}")
    if not whole[0]["same"]:
        return Judgement(Ending.FAILED, Message("kernel.wrong-input", {"name": "x"}), size.call)
    if whole[0]["unwritten"]:
        return Judgement(Ending.FAILED, Message("kernel.wrong-skipped", {"count": whole[0]["unwritten"]}), size.call)
    of = large.Rows(asked.seed, size)
    for (call, row), raw in sorted(rows.items()):
        bits = exact.memory_of(base64.b64decode(str(raw), validate=True))
        wrong = of.judge(call, row, bits, truncates=device != "cuda")
        if wrong is not None:
            return Judgement(Ending.FAILED, wrong.message, size.call, wrong.ulps)
    excess = whole[0]["excess"]
    if excess is not None and not excess <= 1.0:
        return Judgement(Ending.FAILED, Message("kernel.wrong-large", {"times": f"{excess:.3g}"}), size.call)
    return None


def _timed(said: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each side's spread in microseconds and its p50 over the floor's of the same shape and way."""
    rows = [{"call": each["call"], **each["values"]} for each in said if each["series"] == "timed"]
    floors = {(row["call"], row["way"]): row["us"]["p50"] for row in rows if row["side"] == "floor"}
    return [{**row, "of_floor": round(row["us"]["p50"] / floors[row["call"], row["way"]], 3)} for row in rows]


#: Sentences of `kernel.*` that `exercise.try-*` has a next step for.
_TRIES = frozenset(
    (
        *("wrong-input", "wrong-outside", "wrong-stray", "wrong-unwritten", "wrong-skipped", "wrong-finite"),
        *("wrong-value", "wrong-large", "died", "raised", "raised-line", "passed", "passed-timed"),
    )
)


def next_step(found: Judgement, *, draft: bool) -> Message | None:
    """What to do about a verdict, None where its own sentence says so; `draft`: it is of the draft as shipped."""
    kind = found.message.key.removeprefix("kernel.")
    if found.ending is Ending.LIMIT:
        kind = "limit"
    elif found.ending not in (Ending.FAILED, Ending.PASSED) or kind not in _TRIES:
        return None
    elif kind == "wrong-outside" and found.case is not None and found.case.key == "kernel.call-empty":
        kind = "empty"
    elif kind == "passed" and draft:
        kind = "draft"
    return Message(f"exercise.try-{kind}")


# --- as evidence ------------------------------------------------------------------------------------------------------


def _kept(record: Mapping[str, Any], found: Judgement, text: str) -> dict[str, Any]:
    """The evidence: what came out and the times, without the memory of every call."""
    kept = {name: value for name, value in record.items() if name not in ("schema", "event", "at")}
    observed = {
        name: table
        for name, table in record["observed"].items()
        if name in ("timed", "large", "raised", "died", "stray")
    }
    verdict = {
        **{
            "ending": [str(found.ending.value)],
            "case": [_text(found.case)],
            "ulps": [found.ulps],
            "calls": [found.calls],
        },
        **{"message": [_text(found.message)], "text": [source.digest(text)]},
    }
    return {**kept, "observed": {**observed, "verdict": verdict}}


def _text(message: Message | None) -> str | None:
    return json.dumps(protocol.as_json(message)) if message is not None else None


def remembered(record: Mapping[str, Any], text: str) -> Judgement | None:
    """The judgement that a piece of evidence keeps of exactly this text; None when it is of something else."""
    verdict = record["observed"].get("verdict", {})
    if record["demo"] != task("fused").name or verdict.get("text") != [source.digest(text)]:
        return None
    table = record["observed"].get("timed", {})
    names = list(table)
    said = [
        {"series": "timed", "call": row.pop("call"), "values": row}
        for row in (dict(zip(names, each, strict=True)) for each in zip(*table.values(), strict=True))
    ]
    return Judgement(
        Ending(verdict["ending"][0]),
        protocol.message(json.loads(verdict["message"][0])),
        protocol.message(json.loads(verdict["case"][0])) if verdict["case"][0] is not None else None,
        verdict["ulps"][0],
        verdict["calls"][0],
        _timed(said),
        str(record["environment"].get("device", "cpu")),
        dict(record),
    )
