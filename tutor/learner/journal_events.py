"""What the events of a journal add up to: each counts once, and what cannot be used is told (pure)."""

from __future__ import annotations

from typing import NamedTuple

from tutor.learner.journal_lines import Damaged, FromTheFuture, decode, fingerprint
from tutor.learner.progress import Event, Progress, apply


class Taken(NamedTuple):
    """Lines that were read: those that could not be used, by their number, each told once; whether any is of a later
    version."""

    damaged: dict[int, bytes]
    from_the_future: bool


class Events:
    """Folds events into `progress`, always the same object. `last_id` is the id of the last one, "" before any."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.last_id = ""
        self._seen: dict[str, int] = {}
        self._set_aside: set[str] = set()

    def begin(self, progress: Progress, covered: str) -> None:
        """Start again from `progress`, which has everything up to the event `covered`."""
        self.progress.become(progress)
        self.last_id = covered
        self.forget_lines()

    def forget_lines(self) -> None:
        """The lines so far are in a snapshot, and will not be read again."""
        self._seen = {}

    def take(self, lines: list[bytes], before: int) -> Taken:
        """Fold in lines, which follow `before` others of their file."""
        damaged: dict[int, bytes] = {}
        from_the_future = False
        for number, line in enumerate(lines, before + 1):
            event = decode(line, number)
            if isinstance(event, FromTheFuture):
                from_the_future = True
            elif line and (isinstance(event, Damaged) or not self._fold_in(event)):
                damaged[number] = line
        return Taken(
            {number: line for number, line in damaged.items() if fingerprint(line) not in self._set_aside},
            from_the_future,
        )

    def remember(self, event: Event) -> None:
        """The event is in `progress` and on the disk."""
        self._seen[event.session] = int(event.id.rpartition("-")[2])
        self.last_id = event.id

    def set_aside(self, damaged: dict[int, bytes]) -> list[str]:
        """Those lines are told no more; the names by which an event `set_aside` knows them."""
        names = [fingerprint(line) for line in damaged.values()]
        self._set_aside.update(names)
        return names

    def _fold_in(self, event: Event) -> bool:
        """Whether the event could be used; one that stands there twice, after a failed write, counts once."""
        number = event.id.rpartition("-")[2]
        if not number.isdecimal():
            return False
        if int(number) <= self._seen.get(event.session, 0):
            return True
        try:
            if event.kind == "set_aside":
                self._set_aside.update(event.data["lines"])
            apply(self.progress, event)
        except (KeyError, TypeError, ValueError):
            return False
        self.remember(event)
        return True
