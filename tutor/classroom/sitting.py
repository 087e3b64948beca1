"""What a grader gives an item before it is saved, and one sitting over many items (pure).

Points follow the ticks until they are set by hand. Each veto is answered for each item; an item with one that is not
answered cannot be saved. Every change can be taken back, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from statistics import median
from typing import Final, NamedTuple, Protocol

from tutor.classroom.criteria import Criteria
from tutor.learner.scoring import VETOES

#: The most characters of a comment or a memo.
COMMENT_MAX: Final = 10_000
#: Slots that have a digit at the same time.
SHOWN = 10
#: Items after which a pace is told.
PACE_FROM = 3


class Given(NamedTuple):
    """What stands on the screen; `by_hand` are points that were set, None while they follow the ticks."""

    ticks: frozenset[str] = frozenset()
    by_hand: int | None = None
    vetoes: tuple[tuple[str, bool], ...] = ()
    comment: str = ""


class Before(Protocol):
    """A score that was given before."""

    @property
    def id(self) -> int: ...
    @property
    def grader(self) -> str: ...
    @property
    def points(self) -> int: ...
    @property
    def slots(self) -> Mapping[str, bool]: ...
    @property
    def vetoes(self) -> Mapping[str, bool]: ...
    @property
    def comment(self) -> str: ...
    @property
    def by_hand(self) -> bool: ...


class Draft:
    """One item under review. `flagged` are the vetoes that the finder quotes something for: they are answered by
    themselves."""

    def __init__(
        self, criteria: Criteria, most: int, flagged: Collection[str] = (), start: Given | None = None
    ) -> None:
        self.criteria = criteria
        self.most = most
        self.flagged = frozenset(flagged)
        self._given = start or Given()
        self._undo: list[Given] = []
        self.watch: Callable[[], object] | None = None
        """Called after each change."""

    @property
    def given(self) -> Given:
        return self._given

    @property
    def changed(self) -> bool:
        """Whether there is something that undo would take back."""
        return bool(self._undo)

    @property
    def points(self) -> int:
        if self._given.by_hand is not None:
            return self._given.by_hand
        return self.criteria.earned(self._given.ticks)

    @property
    def vetoes(self) -> Mapping[str, bool]:
        """The vetoes that are answered."""
        return dict(self._given.vetoes)

    @property
    def open_vetoes(self) -> list[str]:
        """The vetoes that wait for an answer, in the order in which they are asked."""
        return [veto for veto in VETOES if veto not in self.vetoes]

    # --- changing -----------------------------------------------------------------------------------------------------

    def tick(self, slot: str) -> None:
        """Tick a slot, or take its tick away."""
        self._set(self._given._replace(ticks=self._given.ticks ^ {slot}))

    def step(self, way: int) -> None:
        """Points by hand: at first all of them (`way` 1) or none (-1), then one more or less."""
        if self._given.by_hand is None:
            points = self.most if way > 0 else 0
        else:
            points = min(self.most, max(0, self._given.by_hand + way))
        self._set(self._given._replace(by_hand=points))

    def by_ticks(self) -> None:
        """Let the points follow the ticks again."""
        self._set(self._given._replace(by_hand=None))

    def answer(self, veto: str, stands: bool) -> None:
        """Answer one veto."""
        self._set(self._given._replace(vetoes=_answered(self._given, {veto: stands})))

    def deny_rest(self) -> None:
        """No to every veto that is open and not flagged."""
        rest = {veto: False for veto in self.open_vetoes if veto not in self.flagged}
        self._set(self._given._replace(vetoes=_answered(self._given, rest)))

    def write(self, comment: str) -> None:
        """Replace the comment."""
        self._set(self._given._replace(comment=comment.strip()[:COMMENT_MAX]))

    def undo(self) -> bool:
        """Take the last change back; False when there is none."""
        if not self._undo:
            return False
        self._given = self._undo.pop()
        self._changed()
        return True

    def restore(self, given: Given) -> None:
        """Go on with what was kept of an earlier window: one change, which undo takes back."""
        by_hand = None if given.by_hand is None else min(self.most, max(0, given.by_hand))
        self._set(given._replace(ticks=given.ticks & frozenset(self.criteria.slots), by_hand=by_hand))

    def rule(self, criteria: Criteria) -> tuple[int, int]:
        """What earns points was changed: the points before and after. Ticks stay, but for slots that are gone."""
        before = self.points
        self.criteria = criteria
        known = frozenset(criteria.slots)
        self._given = self._given._replace(ticks=self._given.ticks & known)
        self._undo = [each._replace(ticks=each.ticks & known) for each in self._undo]
        self._changed()
        return before, self.points

    def _set(self, given: Given) -> None:
        if given != self._given:
            self._undo.append(self._given)
            self._given = given
            self._changed()

    def _changed(self) -> None:
        if self.watch is not None:
            self.watch()


def _answered(given: Given, answers: Mapping[str, bool]) -> tuple[tuple[str, bool], ...]:
    both = {**dict(given.vetoes), **answers}
    return tuple((veto, both[veto]) for veto in VETOES if veto in both)


def start_from(score: Before, criteria: Criteria, *, with_vetoes: bool) -> Given:
    """A score as something to go on from; vetoes are asked again but when the grader only corrects themselves."""
    ticks = frozenset(slot for slot, ticked in score.slots.items() if ticked and slot in criteria.slots)
    vetoes = _answered(Given(), {veto: bool(yes) for veto, yes in score.vetoes.items()}) if with_vetoes else ()
    return Given(ticks, score.points if score.by_hand else None, vetoes, score.comment)


def given_before(history: Iterable[Before], grader: str, seen: int | None, given: Given, points: int) -> Before | None:
    """The score that says just this, given by this grader after what they had seen: it was saved, though whoever
    sent it may not have heard so."""
    ticks, vetoes = given.ticks, dict(given.vetoes)
    for one in history:
        if one.grader != grader or one.id <= (seen or 0) or one.points != points:
            continue
        ticked = {slot for slot, yes in one.slots.items() if yes}
        stands = {veto: bool(yes) for veto, yes in one.vetoes.items()}
        if ticked == ticks and stands == vetoes and one.comment == given.comment:
            return one
    return None


def digits(slots: int, page: int) -> range:
    """The slots that have the digits 1 to 9 and 0, on a page of ten; pages go round."""
    pages = max(1, -(-slots // SHOWN))
    first = page % pages * SHOWN
    return range(first, min(slots, first + SHOWN))


class Pace:
    """How long items took, in seconds of this sitting."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    @property
    def typical(self) -> float | None:
        """The median, None before PACE_FROM items."""
        return median(self.seconds) if len(self.seconds) >= PACE_FROM else None

    def left(self, items: int) -> float | None:
        """How long `items` more will take at this pace, seconds."""
        typical = self.typical
        return None if typical is None else typical * items


class Sitting:
    """One grader at one screen: what is begun and not saved, what was saved, how fast it goes."""

    def __init__(self) -> None:
        self.kept: dict[int, Draft] = {}
        """By item, what was begun and left, or could not be saved."""
        self.saved: list[int] = []
        """Items in the order in which they were sent to be saved."""
        self.pace = Pace()
        self.by_learner = False
        """Whether what comes next is the learner's next question, or the question's next learner."""

    def leave(self, item: int, draft: Draft) -> None:
        """An item is left: what was begun stays."""
        if draft.changed:
            self.kept[item] = draft
        else:
            self.kept.pop(item, None)

    def sent(self, item: int, seconds: float) -> None:
        """An item was sent to be saved."""
        self.kept.pop(item, None)
        self.saved.append(item)
        self.pace.seconds.append(seconds)

    def refused(self, item: int, draft: Draft) -> None:
        """It could not be saved: nothing of it is lost, and it is the one that undo goes back to."""
        self.kept[item] = draft
        if item in self.saved:
            self.saved.remove(item)
        self.saved.append(item)
