"""What earns points on a question: the lesson's rule, or an instructor's in its place (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tutor.language import Bilingual
from tutor.rubric.model import Need, RubricQuestion

#: An instructor's own slots have ids that begin so; they are ticked by people alone.
OWN = "own"
#: The most slots and alternatives of a question, and characters of a label.
SLOTS_MAX, WAYS_MAX, LABEL_MAX = 40, 8, 200


class CriteriaError(ValueError):
    """This rule cannot be; the text is a key of `tutor/text/*/class.toml`."""


@dataclass(frozen=True, slots=True)
class Criteria:
    """The rule of one question, by the gradebook's name for it. `slots` are ids in the order of their digits, each with
    its label; `ways` are the alternatives that earn points, as (points, need). `version` is the gradebook's, None for
    the lesson's own; `added` are the slots that an instructor added."""

    question: str
    slots: Mapping[str, Bilingual]
    ways: tuple[tuple[int, Need], ...]
    version: int | None = None
    added: tuple[str, ...] = field(default=())

    def earned(self, ticks: frozenset[str]) -> int:
        """The points that a person's ticks come to."""
        return max((points for points, need in self.ways if need.met(ticks)), default=0)

    def to_data(self) -> dict[str, Any]:
        """As plain data, for the gradebook."""
        return {
            "added": {name: {"zh": self.slots[name].zh, "en": self.slots[name].en} for name in self.added},
            "ways": [
                {"points": points, "every": list(need.every), "some": list(need.some), "least": need.least}
                for points, need in self.ways
            ],
        }


def of_lesson(question: str, rubric: RubricQuestion) -> Criteria:
    """The lesson's own rule."""
    slots = {slot.id: slot.label for slot in rubric.slots}
    ways = tuple((points, need) for points in sorted(rubric.points, reverse=True) for need in rubric.points[points])
    return Criteria(question, slots, ways)


def of_data(question: str, rubric: RubricQuestion, data: Mapping[str, Any], version: int | None, most: int) -> Criteria:
    """An instructor's rule over the lesson's slots. Raises CriteriaError when it cannot be."""
    try:
        added = {str(name): Bilingual(str(label["zh"]), str(label["en"])) for name, label in data["added"].items()}
        ways = tuple(
            (_whole(way["points"]), Need(_ids(way["every"]), _ids(way["some"]), _whole(way["least"])))
            for way in data["ways"]
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise CriteriaError("class.criteria-shape") from None
    slots = {**{slot.id: slot.label for slot in rubric.slots}, **added}
    made = Criteria(question, slots, ways, version, tuple(added))
    check(made, most)
    return made


def check(criteria: Criteria, most: int) -> None:
    """Raises CriteriaError when no ticks can earn all `most` points, or a way asks for what cannot be."""
    if len(criteria.slots) > SLOTS_MAX or not 1 <= len(criteria.ways) <= WAYS_MAX:
        raise CriteriaError("class.criteria-many")
    for name in criteria.added:
        label = criteria.slots[name]
        if not name.startswith(OWN) or not all(0 < len(text) <= LABEL_MAX and text.isprintable() for text in label):
            raise CriteriaError("class.criteria-label")
    for points, need in criteria.ways:
        named = (*need.every, *need.some)
        if len(set(named)) != len(named) or not set(named) <= set(criteria.slots):
            raise CriteriaError("class.criteria-shape")
        if not 0 <= need.least <= len(need.some) or not (need.every or need.least):
            raise CriteriaError("class.criteria-least")
        if not 1 <= points <= most:
            raise CriteriaError("class.criteria-points")
    if max(points for points, _ in criteria.ways) != most:
        raise CriteriaError("class.criteria-full")


def _whole(value: object) -> int:
    if type(value) is not int:
        raise TypeError
    return value


def _ids(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise TypeError
    return tuple(value)
