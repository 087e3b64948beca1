"""Recorded runs: the events of a run in a file, for machines that cannot make it.

The first line says what was recorded; the others are the run's events as they came. On replay the observations are
judged anew by the rules of today and set beside the learner's own prediction, and everything says `recorded`.

    python -m tutor.lab.transcripts automatic-dynamic --where "one H200" [--device cuda] [--python PATH] [--to DIR]
    python -m tutor.lab.transcripts --all --where "one H200" [...]          # every demo, and the table verdicts.md
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tutor.lab import protocol
from tutor.lab.evidence import Gathering
from tutor.lab.protocol import Event, LineError, Outcome
from tutor.model import Demo, Message, Source, TutorError

#: What a transcript does not tell of the machine that it was made on.
_PRIVATE = ("interpreter", "host")
#: The folders of an absolute path: whatever a demo prints, they are the machine's own affair.
_FOLDERS = re.compile(r"(?<![\w./])/(?:[\w.+-]+/)+")
#: Bytes of a whole transcript.
MAX_SIZE = 4 * 1024 * 1024


class TranscriptError(TutorError):
    """A transcript cannot be read or made; `message` says why."""


@dataclass(frozen=True, slots=True)
class Header:
    """Where and when a run was recorded. `date` is an ISO 8601 day, `gpu` and `triton` are None where there is none."""

    demo: str
    date: str
    where: str
    gpu: str | None
    torch: str
    triton: str | None
    python: str


def header(path: Path) -> Header:
    """What the transcript at `path` is of. Raises TranscriptError."""
    return _read(path)[0]


def newest(demo: Demo) -> Path:
    """The latest of a demo's recorded runs, which has at least one. Raises TranscriptError."""
    return max(demo.recorded, key=lambda path: (header(path).date, path.name))


def replay(demo: Demo, path: Path, predicted: Mapping[str, int] | None = None) -> Iterator[Event]:
    """The events of a recorded run as a live run gives them, at once; `at` says when each came then.

    Every `source` is "recorded", `result` carries where and when, and `ended` comes last. Raises TranscriptError when
    the file is not a whole transcript of this demo, and RuleError.
    """
    about, events = _read(path)
    if about.demo != demo.name:
        raise _damaged(path, f"it is of {about.demo}")
    gathering = Gathering(demo, predicted)
    for event in events:
        kind, at = event["event"], float(event["at"])
        if kind == "observation":
            yield gathering.observation(event, at)
        elif kind == "result":
            yield gathering.result(event["environment"], at, source=Source.RECORDED, when=about.date, where=about.where)
        elif kind == "ended":
            said = protocol.as_json(Message("lab.recorded", {"where": about.where, "when": about.date}))
            yield protocol.event("ended", at, demo=demo.name, outcome=Outcome.OK.value, message=said)
        elif kind == "started":
            yield {**event, "source": Source.RECORDED.value}
        else:
            yield event


def lines(events: Iterable[Event], where: str) -> Iterator[str]:
    """A transcript of a run that was ok: the header and its events, without what would tell of the machine's owner.

    Raises TranscriptError when there is no result to record.
    """
    kept = [event for event in events if event["event"] != "progress"]
    results = [event for event in kept if event["event"] == "result"]
    if len(results) != 1 or kept[-1]["event"] != "ended" or kept[-1]["outcome"] != Outcome.OK:
        said = protocol.message(kept[-1]["message"])
        raise TranscriptError(said.key, **said.args)
    result, environment = results[0], results[0]["environment"]
    about = Header(
        demo=result["demo"],
        date=result["when"][:10],
        where=where,
        gpu=environment["gpu"],
        torch=environment["torch"],
        triton=environment["triton"],
        python=environment["python"],
    )
    yield protocol.encode({"schema": protocol.SCHEMA, "event": "transcript", **asdict(about)})
    for event in kept:
        public = {name: value for name, value in event.items() if name not in _PRIVATE}
        if "environment" in public:
            public["environment"] = {name: value for name, value in environment.items() if name not in _PRIVATE}
        if public["event"] == "output":
            public["text"] = _FOLDERS.sub(".../", public["text"])
        if public["event"] == "observation":
            public["said"] = [_FOLDERS.sub(".../", text) for text in public["said"]]
        yield protocol.encode(public)


def _read(path: Path) -> tuple[Header, list[Event]]:
    try:
        if path.stat().st_size > MAX_SIZE:
            raise _damaged(path, f"it is larger than {MAX_SIZE} bytes")
        first, *rest = [protocol.decode(line) for line in path.read_bytes().splitlines()]
        if first.pop("event", None) != "transcript" or first.pop("schema", None) != protocol.SCHEMA:
            raise _damaged(path, "line 1 is not its header")
        about = Header(**first)
        for event in rest:
            _check(event)
    except (OSError, LineError, TypeError, ValueError) as error:
        raise _damaged(path, str(error)) from error
    if [event["event"] for event in rest[-2:]] != ["result", "ended"]:
        raise _damaged(path, "it does not end with a result")
    return about, rest


def _check(event: Event) -> None:
    """An observation and a result have to be what a child could have said."""
    if event.get("event") in ("observation", "result"):
        protocol.read_child(protocol.encode(event).encode())
    elif event.get("event") not in ("started", "output", "ended"):
        raise LineError(f"no such event: {event.get('event')!r}")
    if not isinstance(event.get("at"), (int, float)):
        raise LineError("an event without its time")


def _damaged(path: Path, why: str) -> TranscriptError:
    return TranscriptError("lab.transcript-damaged", name=path.name, why=why)


def main(argv: list[str] | None = None) -> int:
    """Run demos here, write their transcripts beside the lesson's others and this machine's verdicts into the table.
    For maintainers."""
    import argparse
    import sys
    import time

    from tutor import strings
    from tutor.lab import verdict_table
    from tutor.lab.host import LabHost, LabSettings
    from tutor.lesson import catalog

    parser = argparse.ArgumentParser(prog="python -m tutor.lab.transcripts", description="Record demos' transcripts.")
    parser.add_argument("demo", nargs="*")
    parser.add_argument("--all", action="store_true", help="every demo of the lesson, and the table of verdicts")
    parser.add_argument("--where", required=True, help="the machine in a few words, as learners will read it")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--python", help="the interpreter that has torch")
    parser.add_argument("--lesson", default=catalog.DEFAULT_LESSON)
    parser.add_argument("--to", type=Path, help="another folder than the lesson's recorded/")
    args = parser.parse_args(argv)
    lesson = catalog.load(args.lesson)
    unknown = [name for name in args.demo if name not in lesson.demos]
    if unknown or bool(args.demo) == args.all:
        parser.error(f"name demos or give --all; there are {', '.join(lesson.demos)}")
    folder: Path = args.to or lesson.folder / "recorded"
    folder.mkdir(parents=True, exist_ok=True)
    seen: dict[str, str] = {}
    environment: dict[str, Any] | None = None
    failed = False
    host = LabHost(LabSettings(python=args.python, limit_s=300.0))
    try:
        for number, name in enumerate(args.demo or lesson.demos):
            if number == 0:  # The first run waits for torch; what is recorded is one that does not.
                list(host.start(lesson.demos[name], device=args.device))
            began = time.monotonic()
            events: list[Event] = list(host.start(lesson.demos[name], device=args.device))
            ended = events[-1]
            if ended["outcome"] == Outcome.UNAVAILABLE:
                seen |= dict.fromkeys(lesson.demos[name].claims, Outcome.UNAVAILABLE.value)
            try:
                text = "".join(line + "\n" for line in lines(events, args.where))
            except TranscriptError as error:
                failed = failed or ended["outcome"] != Outcome.UNAVAILABLE
                print(f"{name}: {strings.say('en', error.message)}", file=sys.stderr)
                continue
            result = next(event for event in events if event["event"] == "result")
            environment = result["environment"]
            seen |= result["claims"]
            path = folder / f"{lesson.demos[name].script.stem}.{_machine(environment)}.jsonl"
            path.write_text(text, encoding="utf-8")
            verdicts_here = ", ".join(f"{claim} {verdict}" for claim, verdict in result["claims"].items())
            print(f"{time.monotonic() - began:6.1f} s  {path.name}  {verdicts_here}", flush=True)
    finally:
        host.close()
    if environment is not None:
        table = folder / "verdicts.md"
        old = table if table.is_file() else lesson.folder / "recorded" / "verdicts.md"
        known = verdict_table.read(old.read_text(encoding="utf-8")) if old.is_file() else {}
        column = f"{_machine(environment)}, {args.where}"
        known[column] = {**known.get(column, {}), **seen}
        table.write_text(verdict_table.write(lesson, known), encoding="utf-8")
        if args.all:
            print(table.read_text(encoding="utf-8"))
    return int(failed)


def _machine(environment: Mapping[str, Any]) -> str:
    """`cuda-torch2.11`, as a transcript's name has it."""
    return f"{environment['device']}-torch{'.'.join(environment['torch'].split('.')[:2])}"


if __name__ == "__main__":
    raise SystemExit(main())
