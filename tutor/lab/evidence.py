"""The evidence of one run, built from what it observed and what the learner predicted (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tutor.lab import protocol, verdicts
from tutor.lab.protocol import Event
from tutor.language import Bilingual
from tutor.model import Demo, Source
from tutor.strings import text

#: What a child calls an observation that the demo did not foresee; the same sentence for all of them.
UNEXPECTED = "unexpected"


class Gathering:
    """Takes a child's observations one by one, sets each beside the learner's prediction, and makes the record.

    `predicted` maps an ask's id to a whole number: the number itself, or the place of a choice, from 0.
    """

    def __init__(self, demo: Demo, predicted: Mapping[str, int] | None = None) -> None:
        self.demo = demo
        self.predicted = dict(predicted or {})
        self.answers: dict[str, int] = {}
        self.observed: dict[str, dict[str, list[Any]]] = {}

    def observation(self, said: Mapping[str, Any], at: float) -> Event:
        """The child's observation as the event that leaves the lab.

        `plain` is the demo's sentence for the child's `why`, in both languages; `agrees` is None without a prediction.
        """
        series = self.observed.setdefault(said["series"], {})
        for name, value in (("call", said["call"]), *said["values"].items()):
            series.setdefault(name, []).append(value)
        ask, answer = said["ask"], said["answer"]
        if ask is not None and answer is not None:
            self.answers[ask] = answer
        sentence = self.demo.why.get(said["why"] or "")
        if sentence is None and said["why"] == UNEXPECTED:
            sentence = Bilingual(text("zh", "lab.unexpected"), text("en", "lab.unexpected"))
        predicted = self.predicted.get(ask) if ask is not None else None
        return protocol.event(
            "observation",
            at,
            series=said["series"],
            call=said["call"],
            values=said["values"],
            said=said["said"],
            why=said["why"],
            plain={"zh": sentence.zh, "en": sentence.en} if sentence else None,
            ask=ask,
            answer=answer,
            predicted=predicted,
            agrees=None if predicted is None or answer is None else predicted == answer,
        )

    def result(
        self, environment: Mapping[str, Any], at: float, *, source: Source, when: str, where: str | None = None
    ) -> Event:
        """The `result` event, which is the evidence record; the journal gives it its id.

        demo; claims (id -> verdict) and because (id -> message); observed (series -> value -> list, in order) and
        units (value -> unit, none for what is no quantity); predicted and answers (ask -> whole number); agreed (how
        many of the predictions came out, None without any); environment with `contended` (True, False, None:
        unknown); source, when (UTC, ISO 8601) and where (None when measured here).
        """
        judged = {claim: verdicts.judge(self.demo.verdicts[claim], self.observed) for claim in self.demo.claims}
        both = [ask for ask in self.predicted if ask in self.answers]
        return protocol.event(
            "result",
            at,
            demo=self.demo.name,
            claims={claim: judgement.verdict.value for claim, judgement in judged.items()},
            because={claim: protocol.as_json(judgement.because) for claim, judgement in judged.items()},
            observed={
                series: {name: list(values) for name, values in table.items()}
                for series, table in self.observed.items()
            },
            units=dict(self.demo.units),
            predicted=dict(self.predicted),
            answers=dict(self.answers),
            agreed=sum(self.predicted[ask] == self.answers[ask] for ask in both) if self.predicted else None,
            environment={"contended": None, **environment},
            source=source.value,
            when=when,
            where=where,
        )
