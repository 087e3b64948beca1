"""What a learner ticks for a committed text, written down with what these ticks come to by the rubric."""

from __future__ import annotations

from collections.abc import Mapping

from tutor.rubric.model import Kind
from tutor.ui.store import Store


def record_score(store: Store, name: str, ticks: Mapping[str, str]) -> None:
    """`ticks` maps a slot to the learner's line that earns it."""
    rubric = store.lesson.rubric
    about = rubric.questions[name]
    chosen = frozenset(ticks)
    kinds = {slot.kind for slot in about.slots if slot.id in chosen}
    store.record(
        "self_scored",
        name=name,
        ticks=dict(ticks),
        points=about.earned(chosen),
        chain=about.chain(chosen),
        boundary=name != "edge" and Kind.BOUNDARY in kinds,
        tradeoff=Kind.TRADEOFF in kinds,
        rubric=rubric.version,
    )
