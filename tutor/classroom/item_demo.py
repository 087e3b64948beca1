"""A learner's evidence, run again: which of the lesson's own demos it is, with which settings, and theirs beside ours
(pure). A record is its learner's to write: nothing of it is trusted, and nothing in it is ever run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from tutor.language import Lang
from tutor.literals import safe_text
from tutor.model import Ask, Demo, Lesson, TutorError
from tutor.settings import is_device

#: The largest count that anybody predicts.
COUNT_MAX = 10**6


class NotRun(TutorError):
    """This evidence is not run again; `message` says why."""


class Wanted(NamedTuple):
    """What to run: one of the lesson's demos, on a device, beside the predictions that the learner had made."""

    demo: Demo
    device: str
    predicted: Mapping[str, int]


class Pair(NamedTuple):
    """One value of both runs, as words; None where a side lacks it. `kind` says what `name` names."""

    kind: Literal["claim", "answer", "observed"]
    name: str
    theirs: str | None
    ours: str | None


def wanted(lesson: Lesson, entry: object) -> Wanted:
    """What a piece of evidence asks to run. Raises NotRun for anything that the lesson's demo does not declare."""
    record = table(entry, "record")
    name = record.get("demo")
    demo = lesson.demos.get(name) if isinstance(name, str) else None
    if demo is None:
        raise NotRun("review.demo-not-ours", name=safe_text(str(name), 40))
    device = table(record, "environment").get("device", "auto")
    if not isinstance(device, str) or device == "auto" or not is_device(device):
        raise NotRun("review.demo-device", device=safe_text(str(device), 40))
    asks = {ask.id: ask for ask in demo.asks}
    predicted: dict[str, int] = {}
    for ask, value in table(record, "predicted").items():
        if ask not in asks:
            raise NotRun("review.demo-setting", demo=demo.name, setting=safe_text(str(ask), 40))
        if type(value) is not int or not 0 <= value <= _most(asks[ask]):
            raise NotRun(
                "review.demo-range", demo=demo.name, setting=ask, most=_most(asks[ask]), value=safe_text(str(value), 40)
            )
        predicted[ask] = value
    return Wanted(demo, device.partition(":")[0], predicted)


def _most(ask: Ask) -> int:
    return len(ask.choices) - 1 if ask.choices else COUNT_MAX


def pairs(demo: Demo, theirs: Mapping[str, Any], ours: Mapping[str, Any], lang: Lang) -> Iterator[Pair]:
    """Both runs, value by value: what became of each claim, each answer, and what was observed. Of timings the median
    alone: two runs never share the others."""
    for claim in demo.claims:
        yield Pair("claim", claim, _words(table(theirs, "claims").get(claim)), _words(table(ours, "claims").get(claim)))
    one, other = table(theirs, "answers"), table(ours, "answers")
    for ask in demo.asks:
        yield Pair("answer", ask.label, _answer(ask, one.get(ask.id), lang), _answer(ask, other.get(ask.id), lang))
    left, right = dict(_observed(theirs)), dict(_observed(ours))
    for name in [*right, *(name for name in left if name not in right)]:
        yield Pair("observed", name, left.get(name), right.get(name))


def table(value: object, key: str) -> Mapping[str, Any]:
    """The table of this name in data of any shape; empty where there is none."""
    inner = value.get(key) if isinstance(value, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def _answer(ask: Ask, value: object, lang: Lang) -> str | None:
    if type(value) is int and ask.choices and 0 <= value < len(ask.choices):
        return ask.choices[value].get(lang)
    return _words(value)


def _observed(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for series, values in table(record, "observed").items():
        for name, many in values.items() if isinstance(values, Mapping) else ():
            if name != "call":
                each = many if isinstance(many, list) else [many]
                yield f"{series}.{name}", _words([_median(one) for one in each]) or ""


def _median(value: object) -> object:
    return value["p50"] if isinstance(value, Mapping) and "p50" in value else value


def _words(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
