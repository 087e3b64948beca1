"""A function that was watched call by call: what each observation says in the user's terms, and what to do (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tutor.lab import reasons
from tutor.lab.breaks import Break, read_break
from tutor.lab.reasons import Reason
from tutor.lab.requests import Graphs
from tutor.model import Message

#: Advice for a recompile, by the kind of guard that failed.
RECOMPILES = {
    "size": "sizes",
    "zero_one": "zero-one",
    "duck": "sizes",
    "value": "values",
    "type": "values",
    "stride": "layouts",
    "dtype": "kinds",
    "device": "kinds",
    "rank": "kinds",
    "requires_grad": "grad",
    "grad_mode": "grad",
}


@dataclass(slots=True)
class Watched:
    """Folds what a child observes; `take` gives the events of the contract that an observation makes."""

    graphs: Graphs = field(default_factory=Graphs)
    calls: list[dict[str, Any]] = field(default_factory=list)
    breaks: dict[tuple[str, int, str], Break] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)
    made: int = 0
    limit: int = 0
    began: bool = False
    """Whether anything of the learner's has run."""
    problem: tuple[str, str] | None = None
    """A name that the file lacks, and those that it has."""

    def take(
        self, series: str, call: str | None, values: Mapping[str, Any], said: Sequence[str]
    ) -> list[dict[str, Any]]:
        """The `call`, `graph` and `break` events of one observation, without their envelope."""
        if series == "begins":
            self.began = True
        elif series == "limit":
            self.limit = int(values["entries"])
        elif series == "problem":
            self.problem = str(values["missing"]), str(values["names"])
        elif series == "call":
            return [self._call(call or "", values, [reasons.read(text) for text in said])]
        elif series == "graph":
            self.made += 1
            graph = self.graphs.name(str(values["name"]))
            return [{"event": "graph", "id": graph, **{name: values[name] for name in ("i", "ops", "guards", "lines")}}]
        elif series == "break":
            return self._break(read_break(str(values["payload"])))
        return []

    def _call(self, args: str, values: Mapping[str, Any], told: list[Reason]) -> dict[str, Any]:
        nearest = reasons.nearest(told)
        names = [self.graphs.name(each) for each in str(values["served_by"]).split("+") if each != "eager"]
        served = "error" if values["raised"] else "+".join(names) or "eager"
        if nearest is not None and values["new_graphs"]:
            self.kinds.append(nearest.kind)
        event = {
            "event": "call",
            "i": values["i"],
            "args": args,
            "served_by": served,
            "compiled": bool(values["new_graphs"]),
            "why": None if nearest is None else _why(nearest),
            "reasons": [reason.text for reason in told],
            "same_as_eager": values["same_as_eager"],
            "seconds": values["seconds"],
            "error": values["raised"],
            "eager_error": values["eager_raised"],
        }
        self.calls.append(event)
        return event

    def _break(self, one: Break) -> list[dict[str, Any]]:
        key = (one.file, one.line, one.reason)
        known = self.breaks.get(key)
        if known is not None and known.whole_frame >= one.whole_frame:
            return []
        self.breaks[key] = one
        return [
            {
                "event": "break",
                "file": one.file,
                "line": one.line,
                "text": one.text,
                "reason": one.reason,
                "whole_frame_eager": one.whole_frame,
            }
        ]

    def summary(self) -> dict[str, Any]:
        """Counts over all calls; `advice` is a list of (id, message)."""
        eager = [call for call in self.calls if call["served_by"] == "eager"]
        return {
            "graphs": self.made,
            "breaks": len(self.breaks),
            "recompiles": len(self.kinds),
            "eager_calls": len(eager),
            "limit_reached": bool(eager) and self._entries() >= self.limit > 0,
            "errors": sum(bool(call["error"]) and not call["eager_error"] for call in self.calls),
            "differs": sum(call["same_as_eager"] is False for call in self.calls),
        }

    def _entries(self) -> int:
        """Entries of the function's own frame: calls that compiled."""
        return sum(call["compiled"] for call in self.calls)

    def advice(self) -> list[tuple[str, Message]]:
        """What to do, the most important first."""
        found: dict[str, Message] = {}
        counts = self.summary()
        if counts["differs"]:
            found["differs"] = Message("lab_file.advice-differs", {"calls": counts["differs"]})
        for one in self.breaks.values():
            name = "whole-frame" if one.whole_frame else "break"
            found.setdefault(
                name, Message(f"lab_file.advice-{name}", {"line": one.line, "text": one.text or one.reason})
            )
        if counts["limit_reached"]:
            found["limit"] = Message("lab_file.advice-limit", {"limit": self.limit})
        for kind in self.kinds:
            name = RECOMPILES.get(kind, "guards")
            again = sum(RECOMPILES.get(each, "guards") == name for each in self.kinds)
            found.setdefault(name, Message(f"lab_file.advice-{name}", {"times": again}))
        return list(found.items())


def _why(reason: Reason) -> str:
    return f"{reason.about} {reason.was} -> {reason.now}" if reason.was and reason.now else reason.text
