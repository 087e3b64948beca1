"""A rule while an instructor changes it: for each slot and each way to points whether it must be there (pure)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tutor.classroom import criteria
from tutor.classroom.criteria import OWN, SLOTS_MAX, WAYS_MAX, Criteria
from tutor.language import Bilingual
from tutor.rubric.model import Need

Mark = Literal["must", "some", "not"]
_NEXT: dict[Mark, Mark] = {"not": "must", "must": "some", "some": "not"}


@dataclass(slots=True)
class Way:
    """One way to points. `marks` has the slots that must be there and those of which `least` must."""

    points: int
    least: int = 0
    marks: dict[str, Mark] = field(default_factory=dict)

    def some(self) -> int:
        """How many slots there are to choose from."""
        return sum(mark == "some" for mark in self.marks.values())


class Draft:
    """The rule of one question as it is being changed; `most` are the points that the question has."""

    def __init__(self, counts: Criteria, most: int) -> None:
        self.question, self.most = counts.question, most
        self.slots = dict(counts.slots)
        self.added = list(counts.added)
        self.ways: list[Way] = []
        for points, need in counts.ways:
            marks: dict[str, Mark] = dict.fromkeys(need.every, "must")
            marks.update(dict.fromkeys(need.some, "some"))
            self.ways.append(Way(points, need.least, marks))
        self._before = self.criteria()

    @property
    def is_changed(self) -> bool:
        return self.criteria() != self._before

    def mark(self, slot: str, way: int) -> Mark:
        """What a way asks of a slot."""
        return self.ways[way].marks.get(slot, "not")

    def cycle(self, slot: str, way: int) -> None:
        """Not asked for, must be there, one of those to choose from, and round. The choice asks for one at the least,
        and never for more than it has."""
        chosen = self.ways[way]
        chosen.marks[slot] = _NEXT[self.mark(slot, way)]
        chosen.least = min(max(chosen.least, 1), chosen.some())

    def set_least(self, way: int, least: int) -> None:
        """How many of the choice a way asks for. What cannot be is said by `checked`."""
        self.ways[way].least = least

    def set_points(self, way: int, points: int) -> None:
        """What a way earns. As for `set_least`."""
        self.ways[way].points = points

    def add_slot(self, label: Bilingual) -> str | None:
        """A slot of the instructor's own; its id, None when there is no room."""
        if len(self.slots) >= SLOTS_MAX:
            return None
        name = next(name for number in range(1, SLOTS_MAX + 2) if (name := f"{OWN}{number}") not in self.slots)
        self.slots[name] = label
        self.added.append(name)
        return name

    def add_way(self, way: int) -> bool:
        """A way like `way`, behind it; False when there is no room."""
        if len(self.ways) >= WAYS_MAX:
            return False
        like = self.ways[way]
        self.ways.insert(way + 1, Way(like.points, like.least, dict(like.marks)))
        return True

    def remove_slot(self, slot: str) -> bool:
        """Take an own slot away, out of every way too; False for one of the lesson's."""
        if slot not in self.added:
            return False
        self.added.remove(slot)
        del self.slots[slot]
        for each in self.ways:
            each.marks.pop(slot, None)
            each.least = min(each.least, each.some())
        return True

    def remove_way(self, way: int) -> bool:
        """Take a way away; False for the last one."""
        if len(self.ways) == 1:
            return False
        del self.ways[way]
        return True

    def criteria(self) -> Criteria:
        """The rule as it is now, whether it can be or not."""
        ways = tuple(
            (
                way.points,
                Need(
                    tuple(slot for slot in self.slots if way.marks.get(slot) == "must"),
                    tuple(slot for slot in self.slots if way.marks.get(slot) == "some"),
                    way.least,
                ),
            )
            for way in self.ways
        )
        return Criteria(self.question, dict(self.slots), ways, None, tuple(self.added))

    def checked(self) -> Criteria:
        """The rule. Raises CriteriaError when it cannot be."""
        made = self.criteria()
        criteria.check(made, self.most)
        return made

    def labels(self) -> list[str]:
        """The ways' names: their points and a letter among those that earn as many."""
        seen: dict[int, int] = {}
        names = []
        for way in self.ways:
            seen[way.points] = seen.get(way.points, 0) + 1
            names.append(f"{way.points} {'abcdefgh'[seen[way.points] - 1]}")
        return names
