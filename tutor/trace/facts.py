"""One process's records -> what was compiled, broken, compiled again and given up, as events (pure; torch 2.6 to 2.14).

`graph` a graph that was made, `recompile` why a frame was compiled again, `break`, `eager` a frame that runs in Python
from then on (`why`: limit, break, gave-up), `empty` a piece without an operation, `error` a compilation that raised,
`unfinished` one that did not end, `backward` a backward graph's time, and `damage`. Each has `process`, `rank` and
`at`, and all but `damage` the compile id and the frame that it is about. Versions differ; what is asked is what a
record has, never which torch wrote it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tutor.lab import reasons
from tutor.lab.breaks import Break, is_library, read_break
from tutor.trace import fields
from tutor.trace.fields import TEXT_MAX, Frame
from tutor.trace.records import Record

Event = dict[str, Any]

#: Entries of the string table, compilations in flight, frames by number and breaks told.
STRINGS_MAX, FLIGHT_MAX, NUMBERS_MAX = 20_000, 1000, 5000
#: Collectives of one process.
COLLECTIVES_MAX = 2000
#: Breaks of one compilation.
BREAKS_MAX = 50
#: Entries a function may have where the trace does not say: torch's own default.
LIMIT = 8


_LIMIT_SAID = re.compile(r"(?:recompile|cache)[_ ](?:size[_ ])?limit", re.IGNORECASE)
_LIMIT_SET = re.compile(r'"(?:recompile_limit|cache_size_limit)": (\d{1,6})\b')
_LIMIT_RAISED = {"FailOnRecompileLimitHit", "RecompileLimitExceeded", "CacheLimitExceeded"}
_WHERE = re.compile(r"\s{2,}# (?P<code>[^#\n]{1,300}?)\s+# [^#:\n]{1,300}:(?P<line>\d{1,9}) in ")
_HINT = re.compile(r"^[ \t]*Hint: (.{1,300})", re.MULTILINE)


@dataclass(slots=True)
class _Flight:
    """A compilation that has begun."""

    frame: Frame
    started: bool = False
    called: str = ""
    breaks: list[tuple[Break, list[str]]] = field(default_factory=list)
    failed: Break | None = None
    """Where in the user's code it failed, without a reason: that comes with the metrics."""
    reasons: list[str] = field(default_factory=list)
    has_graph: bool = False
    symbolic: bool = False
    lines: list[int] = field(default_factory=list)


class Facts:
    """What the records of one process say. `process` names it in the events, `rank` is what its file's name says."""

    def __init__(self, process: str, rank: int | None = None) -> None:
        self.process = process
        self.rank = rank
        self.torch = ""
        self.first = self.last = ""
        self.records = 0
        self.limit = LIMIT
        self.starts = self.metrics = 0
        """Compilations that began, and that said how they ended."""
        self.caches: Counter[str] = Counter()
        """`fx_graph_cache_hit`, `aotautograd_cache_miss`, ...: how often."""
        self.collectives: list[str] = []
        self.collectives_cut = False
        self._strings: dict[int, str] = {}
        self._flights: dict[str, _Flight] = {}
        self._frames: dict[str, Frame] = {}
        self._told: dict[tuple[str, int, str], bool] = {}
        self._asked = ""

    def take(self, record: Record) -> Iterator[Event]:
        """The events that a record completes."""
        self.records += 1
        self.first = self.first or record.at
        self.last = record.at or self.last
        if record.damage is not None:
            yield self._event("damage", record.at, kind=record.damage, record=record.name or record.kind)
        if not record.kind:
            return
        rank = fields.whole(record.meta.get("rank"))
        if self.rank is None and rank is not None:
            self.rank = rank
        value = record.meta.get(record.kind)
        if record.kind == "str":
            self._string(value)
        elif record.name == "torch_version":
            self.torch = fields.text(fields.table(record.payload).get("pytorch_version"), 80)
        else:
            yield from self._compiling(record, value if isinstance(value, dict) else {})

    def _compiling(self, record: Record, value: Mapping[str, Any]) -> Iterator[Event]:
        name = fields.compile_id(record.meta)
        if self._asked and not (
            self._asked == name and record.kind in ("dynamo_start", "compilation_metrics", "inductor_output_code")
        ):
            yield from self._unanswered(record.at)
        self._asked = ""
        match record.name or record.kind:
            case "dynamo_start":
                self._start(name, value)
            case "recompile_reasons":
                self._flight(name).reasons = fields.rows(record.payload)
                self._asked = name
            case "dynamo_graph_break_reason":
                yield from self._break(name, record)
            case "dynamo_error":
                self._flight(name).failed = fields.failed(record.payload)
            case "dynamo_output_graph":
                flight = self._flight(name)
                flight.has_graph = True
                sizes = value.get("sizes")
                shapes = sizes.values() if isinstance(sizes, dict) else ()
                flight.symbolic = any(isinstance(s, list) and any(isinstance(n, str) for n in s) for s in shapes)
                flight.lines = fields.lines(record.payload, flight.frame.file)
            case "compilation_metrics" if value.get("is_forward") is not False and value.get("is_runtime") is not True:
                yield from self._done(name, record.at, value)
            case "compilation_metrics" | "bwd_compilation_metrics" if value.get("is_runtime") is not True:
                seconds = fields.seconds(value)
                if seconds:
                    frame = self._frames.get(name, Frame())
                    more = {"seconds": seconds, "phases": fields.phases(value, seconds)}
                    yield self._event("backward", record.at, **_about(name, frame), **more)
            case "inductor_collective_schedule":
                self._schedule(record.payload)
            case kind if "_cache_" in kind:
                self.caches[kind] += 1

    # --- pieces -------------------------------------------------------------------------------------------------------

    def _string(self, value: Any) -> None:
        if isinstance(value, list) and len(value) == 2:
            text, number = value
            if isinstance(text, str) and fields.whole(number) is not None and len(self._strings) < STRINGS_MAX:
                self._strings[number] = text[: fields.FILE_MAX]

    def _flight(self, name: str) -> _Flight:
        flight = self._flights.get(name)
        if flight is None:
            if len(self._flights) >= FLIGHT_MAX:
                del self._flights[next(iter(self._flights))]
            flight = self._flights[name] = _Flight(self._frame_of(name))
        return flight

    def _frame_of(self, name: str) -> Frame:
        """The frame of an earlier compilation under the same number: at the limit torch names none."""
        return self._frames.get(name.rpartition("/")[0], Frame())

    def _start(self, name: str, value: Mapping[str, Any]) -> None:
        self.starts += 1
        flight = self._flight(name)
        flight.started = True
        stack = value.get("stack")
        rows = [row for row in stack if isinstance(row, dict)] if isinstance(stack, list) else []
        if not rows:
            return
        last = rows[-1]
        flight.frame = fields.frame(last.get("name"), self._file(last), last.get("line"))
        self._know(name, flight.frame)
        for row in reversed(rows[:-1]):
            file = self._file(row)
            if file and not is_library(file):
                where = f"{file}:{fields.whole(row.get('line')) or 0}"
                flight.called = f"{where} {fields.text(row.get('loc'), 200)}".rstrip()
                break

    def _file(self, row: Mapping[str, Any]) -> str:
        number = row.get("filename")
        if isinstance(number, str):
            return fields.text(number)
        whole = fields.whole(number)
        return self._strings.get(whole, "") if whole is not None else ""

    def _know(self, name: str, frame: Frame) -> None:
        for key in (name, name.rpartition("/")[0]):
            if key in self._frames or len(self._frames) < NUMBERS_MAX:
                self._frames[key] = frame

    def _break(self, name: str, record: Record) -> Iterator[Event]:
        told = fields.clipped(read_break(record.payload))
        hints = _HINT.findall(record.payload)[:3]
        flight = self._flight(name)
        if told.whole_frame and not flight.started:  # Up to torch 2.12 it is told after the frame was given up.
            self._flights.pop(name, None)
            yield from self._broke(name, self._frame_of(name), record.at, told, hints, whole=True)
        elif len(flight.breaks) < BREAKS_MAX:
            flight.breaks.append((told, hints))

    def _broke(self, name: str, frame: Frame, at: str, one: Break, hints: list[str], *, whole: bool) -> Iterator[Event]:
        """A break is told again by every frame that it goes through, and by every recompile: once is enough."""
        key = (one.file, one.line, one.reason)
        if key in self._told and self._told[key] >= whole:
            return
        if key in self._told or len(self._told) < NUMBERS_MAX:
            self._told[key] = whole
            about = {**_about(name, frame), "file": one.file, "line": one.line}
            texts = {"text": one.text, "reason": one.reason, "hints": hints}
            yield self._event("break", at, **about, **texts, whole_frame_eager=whole)

    def _done(self, name: str, at: str, said: Mapping[str, Any]) -> Iterator[Event]:
        self.metrics += 1
        flight = self._flights.pop(name, None) or _Flight(self._frame_of(name))
        if said.get("co_name"):
            flight.frame = fields.frame(said["co_name"], said.get("co_filename"), said.get("co_firstlineno"))
            self._know(name, flight.frame)
        found = _LIMIT_SET.search(fields.text(said.get("dynamo_config"), 1 << 20))
        if found:
            self.limit = int(found[1])
        failed, why = fields.text(said.get("fail_type"), 100), fields.text(said.get("fail_reason"))
        limit = failed in _LIMIT_RAISED or bool(failed and _LIMIT_SAID.search(why.partition("\n")[0]))
        no_graph = said.get("graph_op_count") is None and not (flight.has_graph and not failed)
        again = self._recompile(name, flight, at)
        if again is not None and not limit:
            yield again
        seconds = fields.seconds(said)
        cost = {"seconds": seconds, "phases": fields.phases(said, seconds)}
        about = {**_about(name, flight.frame), "called_from": flight.called, **cost}
        unsupported = failed.endswith("Unsupported")
        told = flight.breaks
        gave_up = unsupported and not told
        if gave_up and not limit:
            told = [(_told_in_passing(flight, why, said), _HINT.findall(why)[:3])]
        for one, hints in told:
            whole = one.whole_frame or (no_graph and not limit)
            yield from self._broke(name, flight.frame, at, one, hints, whole=whole)
        if limit:
            guard = again["why"] if again is not None else ""
            yield self._event("eager", at, **about, why="limit", detail=_headline(why), guard=guard)
        elif failed and not told:
            file = fields.text(said.get("fail_user_frame_filename")) or flight.frame.file
            place = {
                "fail_file": file,
                "fail_line": fields.whole(said.get("fail_user_frame_lineno")) or flight.frame.line,
            }
            yield self._event("error", at, **about, **place, type=failed, text=why)
        elif no_graph and told:
            kind = "gave-up" if gave_up else "break"
            yield self._event("eager", at, **about, why=kind, detail=_headline(why))
        elif flight.has_graph:
            counts = {"ops": fields.whole(said.get("graph_op_count")), "guards": fields.whole(said.get("guard_count"))}
            yield self._event("graph", at, **about, **counts, lines=flight.lines, symbolic=flight.symbolic)
        else:
            yield self._event("empty", at, **about)

    def _recompile(self, name: str, flight: _Flight, at: str) -> Event | None:
        if not flight.reasons:
            return None
        said = [reasons.read(row) for row in flight.reasons]
        nearest = reasons.nearest(said)
        assert nearest is not None
        raw = flight.reasons[said.index(nearest)]
        where = _WHERE.search(raw) if "user code shown is first use" not in raw else None
        return self._event(
            "recompile",
            at,
            **_about(name, flight.frame),
            why=_sides(nearest)[:TEXT_MAX],
            kind=nearest.kind,
            about=nearest.about[:TEXT_MAX],
            was=nearest.was[:TEXT_MAX],
            now=nearest.now[:TEXT_MAX],
            code=where["code"].strip() if where else "",
            code_line=int(where["line"]) if where else None,
            called_from=flight.called,
            reasons=[reason.text[:TEXT_MAX] for reason in said],
        )

    def _unanswered(self, at: str) -> Iterator[Event]:
        """Torch 2.6 says nothing when it meets the limit: it asked for reasons, and nothing was compiled."""
        name, self._asked = self._asked, ""
        flight = self._flights.pop(name, None)
        if flight is not None and not flight.started:
            again = self._recompile(name, flight, at)
            about = {**_about(name, flight.frame), "called_from": flight.called, "seconds": 0.0, "phases": {}}
            guard = again["why"] if again is not None else ""
            yield self._event("eager", at, **about, why="limit", detail="", guard=guard)

    def _schedule(self, payload: str) -> None:
        try:
            rows = json.loads(payload)
        except (ValueError, RecursionError):
            return  # Its damage is told by the record.
        for row in rows if isinstance(rows, list) else ():
            if len(self.collectives) < COLLECTIVES_MAX:
                self.collectives.append(fields.text(row if isinstance(row, str) else json.dumps(row), 200))
            else:
                self.collectives_cut = True

    def end(self) -> Iterator[Event]:
        """What a trace leaves open that stops while something is compiled."""
        asked = self._flights.get(self._asked)
        if asked is not None and len(asked.reasons) >= self.limit:
            yield from self._unanswered(self.last)
        for name, flight in self._flights.items():
            again = self._recompile(name, flight, self.last)
            if again is not None:
                yield again
            for one, hints in flight.breaks:
                yield from self._broke(name, flight.frame, self.last, one, hints, whole=one.whole_frame)
            if flight.started:
                yield self._event("unfinished", self.last, **_about(name, flight.frame))
        self._flights.clear()

    def open_frames(self) -> list[Frame]:
        """What is being compiled now, as far as the records came, the newest last."""
        return [flight.frame for flight in self._flights.values() if flight.started]

    def _event(self, name: str, when: str, **more: Any) -> Event:
        return {"event": name, "process": self.process, "rank": self.rank, "at": when, **more}


def _about(name: str, frame: Frame) -> dict[str, Any]:
    return {"id": name, "fn": frame.fn, "file": frame.file, "line": frame.line, "resumed": frame.resumed}


def _told_in_passing(flight: _Flight, why: str, said: Mapping[str, Any]) -> Break:
    """A break that only the metrics tell of: under `fullgraph`, and up to torch 2.12 in a `try`."""
    place = flight.failed
    file = place.file if place else fields.text(said.get("fail_user_frame_filename"))
    line = place.line if place else fields.whole(said.get("fail_user_frame_lineno")) or 0
    return Break(file or flight.frame.file, line, place.text if place else "", _headline(why), False)


def _headline(why: str) -> str:
    return why.partition("\n")[0].strip()


def _sides(reason: reasons.Reason) -> str:
    return f"{reason.about} {reason.was} -> {reason.now}" if reason.was and reason.now else reason.text
