"""What a learner has done so far, folded from the journal's events (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, NamedTuple

from tutor.learner import answers
from tutor.learner.answers import Answer
from tutor.model import Source, Verdict

#: The longest text that is kept of one draft, in bytes of UTF-8.
MAX_TEXT = 64 * 1024

#: What a record of evidence has of its own names, and is shown by them.
_TABLES = ("claims", "observed", "environment", "predicted", "answers")

_JUDGED = (Verdict.HOLDS, Verdict.CONDITIONAL, Verdict.DIFFERS)


class Event(NamedTuple):
    """One line of the journal. `id` is `<session>-<n>`, n counting from 1 in each session; `at` is UTC, ISO 8601."""

    id: str
    at: str
    kind: str
    data: Mapping[str, Any]

    @property
    def session(self) -> str:
        return self.id.rpartition("-")[0]


@dataclass(slots=True)
class Draft:
    """A text as last saved. `cursor` is (row, column) from 0; `versions` counts the different texts saved so far."""

    text: str = ""
    cursor: tuple[int, int] = (0, 0)
    at: str = ""
    versions: int = 0


class Place(NamedTuple):
    """Where the learner was: the lesson's step, the line of its text, the work tab."""

    step: str
    line: int
    tab: str


class Checked(NamedTuple):
    """A check of the blank: the text that was judged and its report as plain data."""

    expr: str
    report: Mapping[str, Any]
    at: str


@dataclass(slots=True)
class EdgeInput:
    """One of the learner's edge inputs: the line, why they chose it, and how `judged_line` was judged."""

    id: str
    line: str
    why: str = ""
    judged_line: str | None = None
    result: Mapping[str, Any] | None = None

    @property
    def current(self) -> Mapping[str, Any] | None:
        """The result, if it is one of the line as it stands now."""
        return self.result if self.judged_line == self.line else None


class Evidence(NamedTuple):
    """What an experiment left behind; `id` (E1, E2, ...) can be cited in answers."""

    id: str
    at: str
    record: Mapping[str, Any]


class ClaimState(NamedTuple):
    """The verdict that stands beside a claim, with the evidence it rests on and where that was measured."""

    verdict: Verdict
    evidence: str
    source: Source


class Regraded(NamedTuple):
    """Points of the code as the class's own judging gave them: normal inputs, edge input."""

    normal: int
    edge: int


class SessionEnd(NamedTuple):
    """How an earlier session of the screen ended without a farewell. `seen` is the time of its last event; `demo` and
    `call` tell what was running when the line dropped, where that is known."""

    session: str
    how: Literal["hangup", "crash"]
    seen: str
    demo: str | None = None
    call: int | None = None


@dataclass(slots=True)
class Progress:
    """Everything the screens and commands need to know of a learner; changed by `apply` only."""

    drafts: dict[str, Draft] = field(default_factory=dict)
    place: Place | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    edges: dict[str, EdgeInput] = field(default_factory=dict)
    caught: list[str] = field(default_factory=list)
    """Ids of the wrong versions that any edge input has ever caught, in the order they were caught."""
    last_check: Checked | None = None
    """The last check of the saved draft, whatever its ending."""
    judged: Checked | None = None
    """The last check that the tool itself did not break: points come from this one."""
    best: dict[str, int] = field(default_factory=dict)
    """The most points ever reached, by part (`normal`, `edge`)."""
    handed_in: int = 0
    """The number of the last hand-in."""
    regraded: Regraded | None = None
    """What came back for the code of the last hand-in; None before, and again from the next hand-in on."""
    predictions: dict[str, dict[str, Any]] = field(default_factory=dict)
    evidence: dict[str, Evidence] = field(default_factory=dict)
    claims: dict[str, ClaimState] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    resets: dict[str, str] = field(default_factory=dict)
    """By draft, the text that the last reset took away; gone when something new is written or it is undone."""
    open_session: str | None = None
    open_seen: str = ""
    dropped: SessionEnd | None = None
    """Set at `opened` when the session before it ended without a farewell; None after one that was closed."""
    owner: str | None = None
    """The session that the screen belongs to now: the last one opened, or the one that took over."""
    hangup: dict[str, Any] | None = None
    last_draft: str | None = None

    def text(self, name: str) -> str:
        """The saved text of a draft, empty when there is none."""
        return self.drafts[name].text if name in self.drafts else ""

    def answer(self, name: str) -> Answer:
        """What was done with a free text; an empty one when nothing was."""
        return self.answers.get(name) or Answer()

    def verdict_is_of(self, text: str) -> bool:
        """Whether the last check judged this very text; otherwise it has to be headed as one of an earlier text."""
        return self.last_check is not None and self.last_check.expr == text

    def normal_points(self) -> int:
        """Points of the given assertions, by the last check that did not break."""
        return int(self.judged.report["normal"]) if self.judged else 0

    def edge_points(self) -> int:
        """1 when an edge input, as it stands now, has earned its point."""
        return int(any(edge.current is not None and edge.current.get("point") for edge in self.edges.values()))

    def next_edge_id(self) -> str:
        """An id for a new edge input."""
        return str(1 + max((int(i) for i in self.edges if i.isdecimal()), default=0))

    def next_evidence_id(self) -> str:
        """The id that the next evidence gets."""
        return f"E{1 + max((int(i[1:]) for i in self.evidence if i[1:].isdecimal()), default=0)}"

    def become(self, other: Progress) -> None:
        """Take over everything from `other`, so that whoever holds this object sees it."""
        for each in fields(self):
            setattr(self, each.name, getattr(other, each.name))

    def to_data(self) -> dict[str, Any]:
        """As plain data, for a snapshot; `from_data` reads it."""
        data = asdict(self)
        for name in ("evidence", "claims"):
            data[name] = {key: value._asdict() for key, value in data[name].items()}
        for name in ("place", "last_check", "judged", "regraded", "dropped"):
            data[name] = data[name]._asdict() if data[name] is not None else None
        return data

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Progress:
        """From what `to_data` gave, also after a way through JSON. Raises KeyError, TypeError, ValueError."""
        values = dict(data)
        values["drafts"] = {
            name: Draft(**{**draft, "cursor": tuple(draft["cursor"])}) for name, draft in data["drafts"].items()
        }
        values["edges"] = {i: EdgeInput(**edge) for i, edge in data["edges"].items()}
        values["evidence"] = {i: Evidence(**record) for i, record in data["evidence"].items()}
        values["claims"] = {
            i: ClaimState(Verdict(c["verdict"]), c["evidence"], Source(c["source"])) for i, c in data["claims"].items()
        }
        # A snapshot of an earlier version has no answers, or nothing regraded.
        values["answers"] = {name: Answer.from_data(one) for name, one in data.get("answers", {}).items()}
        values["place"] = Place(**data["place"]) if data["place"] else None
        values["last_check"] = Checked(**data["last_check"]) if data["last_check"] else None
        values["judged"] = Checked(**data["judged"]) if data["judged"] else None
        values["regraded"] = Regraded(**data["regraded"]) if data.get("regraded") else None
        values["dropped"] = SessionEnd(**data["dropped"]) if data["dropped"] else None
        return cls(**values)


def apply(progress: Progress, event: Event) -> None:
    """Fold one event in. A kind that is not known changes nothing. Raises KeyError, TypeError or ValueError when the
    event's data is not of its kind; the progress is then unchanged."""
    handler, of_answer = _HANDLERS.get(event.kind), answers.HANDLERS.get(event.kind)
    if handler is not None:
        handler(progress, event, event.data)
    elif of_answer is not None:
        of_answer(progress.answers, event.at, event.data)
    if event.session == progress.open_session:
        progress.open_seen = event.at


def _opened(progress: Progress, event: Event, _: Mapping[str, Any]) -> None:
    before = progress.open_session
    progress.dropped = None
    if before is not None and before != event.session:
        lost = progress.hangup
        progress.dropped = SessionEnd(
            session=before,
            how="hangup" if lost is not None else "crash",
            seen=progress.open_seen,
            demo=lost.get("demo") if lost else None,
            call=lost.get("call") if lost else None,
        )
    progress.hangup = None
    progress.open_session = progress.owner = event.session
    progress.open_seen = event.at


def _session(progress: Progress, event: Event, _: Mapping[str, Any]) -> None:
    # A take-over: the session before is still alive, so it did not end without a farewell.
    progress.open_session = progress.owner = event.session
    progress.open_seen = event.at
    progress.hangup = None


def _closed(progress: Progress, event: Event, _: Mapping[str, Any]) -> None:
    if progress.open_session == event.session:
        progress.open_session = None
    if progress.owner == event.session:
        progress.owner = None


def _hangup(progress: Progress, event: Event, data: Mapping[str, Any]) -> None:
    if progress.open_session == event.session:
        progress.hangup = {"demo": data.get("demo"), "call": data.get("call")}


def _setting(progress: Progress, _: Event, data: Mapping[str, Any]) -> None:
    progress.settings[str(data["name"])] = data["value"]


def _place(progress: Progress, _: Event, data: Mapping[str, Any]) -> None:
    progress.place = Place(str(data["step"]), int(data["line"]), str(data["tab"]))


def _draft(progress: Progress, event: Event, data: Mapping[str, Any]) -> None:
    name, text, (row, column) = str(data["name"]), str(data["text"]), data["cursor"]
    cursor = (int(row), int(column))
    draft = progress.drafts.setdefault(name, Draft())
    if text != draft.text or draft.versions == 0:
        draft.text, draft.at = text, event.at
        draft.versions += 1
        progress.resets.pop(name, None)
        progress.last_draft = name
    draft.cursor = cursor


def _reset(progress: Progress, event: Event, data: Mapping[str, Any]) -> None:
    name, text = str(data["name"]), str(data["text"])
    before = progress.text(name)
    _draft(progress, event, {"name": name, "text": text, "cursor": (0, 0)})
    if before != text:
        progress.resets[name] = before


def _checked(progress: Progress, event: Event, data: Mapping[str, Any]) -> None:
    report = dict(data["report"])
    checked = Checked(str(data["expr"]), report, event.at)
    normal = int(report["normal"])
    progress.last_check = checked
    if report["ending"] != "broke":
        progress.judged = checked
        progress.best["normal"] = max(progress.best.get("normal", 0), normal)


def _edge(progress: Progress, _: Event, data: Mapping[str, Any]) -> None:
    name, line, reason = str(data["id"]), str(data["line"]), str(data.get("why", ""))
    edge = progress.edges.setdefault(name, EdgeInput(name, line))
    edge.line, edge.why = line, reason


def _edge_gone(progress: Progress, _: Event, data: Mapping[str, Any]) -> None:
    progress.edges.pop(str(data["id"]), None)


def _edge_checked(progress: Progress, _: Event, data: Mapping[str, Any]) -> None:
    name, line, result = str(data["id"]), str(data["line"]), dict(data["result"])
    caught = [str(wrong) for wrong in result["caught"]]
    progress.caught.extend(wrong for wrong in caught if wrong not in progress.caught)
    edge = progress.edges.get(name)
    if edge is None or result["ending"] == "broke":
        return
    edge.judged_line, edge.result = line, result
    progress.best["edge"] = max(progress.best.get("edge", 0), progress.edge_points())


def _prediction(progress: Progress, _: Event, data: Mapping[str, Any]) -> None:
    progress.predictions[str(data["demo"])] = dict(data["answers"])


def _evidence(progress: Progress, event: Event, data: Mapping[str, Any]) -> None:
    name = str(data["id"])
    record: dict[str, Any] = {"demo": "", "when": event.at, "observed": {}, "environment": {}, **data["record"]}
    if not all(isinstance(record.get(table, {}), Mapping) for table in _TABLES):
        raise TypeError(f"evidence {name} has a table that is none")
    if not isinstance(record["demo"], str):
        raise TypeError(f"evidence {name} does not say what was run")
    for series in record["observed"].values():
        if not isinstance(series, Mapping) or not all(isinstance(values, list) for values in series.values()):
            raise TypeError(f"evidence {name} has a series that is none")
    source = Source(record["source"])
    states = {str(c): ClaimState(Verdict(v), name, source) for c, v in dict(record["claims"]).items()}
    progress.evidence[name] = Evidence(name, event.at, record)
    for claim, state in states.items():
        known = progress.claims.get(claim)
        if known is None or _weight(state) >= _weight(known):
            progress.claims[claim] = state


def _weight(state: ClaimState) -> int:
    """What was measured here is not given up for a recording, nor a finding for a run that could not be."""
    if state.verdict not in _JUDGED:
        return 0
    return 2 if state.source is Source.MEASURED else 1


def _handed_in(progress: Progress, _: Event, data: Mapping[str, Any]) -> None:
    """What was final was said of an earlier hand-in, which counts no more."""
    progress.handed_in = int(data["number"])
    progress.regraded = None
    for answer in progress.answers.values():
        answer.final = None


def _regraded(progress: Progress, _: Event, data: Mapping[str, Any]) -> None:
    """Without points: what was said of the code is open again."""
    normal, edge = data["normal"], data["edge"]
    progress.regraded = None if normal is None else Regraded(int(normal), int(edge))


_HANDLERS = {
    "opened": _opened,
    "session": _session,
    "closed": _closed,
    "hangup": _hangup,
    "setting": _setting,
    "place": _place,
    "draft": _draft,
    "reset": _reset,
    "checked": _checked,
    "edge": _edge,
    "edge_gone": _edge_gone,
    "edge_checked": _edge_checked,
    "prediction": _prediction,
    "evidence": _evidence,
    "handed_in": _handed_in,
    "regraded": _regraded,
}
