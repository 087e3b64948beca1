"""What a learner predicts of a demo, read from text into whole numbers (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tutor.model import Ask, Demo, TutorError

#: Digits are enough for any count; a choice is named by its place, from 1.
_NUMBER = re.compile(r"\+?[0-9]{1,6}")


class PredictionError(TutorError):
    """A prediction cannot be read; `message` says which one and what is wanted."""


def read_one(ask: Ask, text: str) -> int:
    """One answer: a whole number such as `1` or `+1`, or the place of a choice from 1, which is kept from 0.

    Raises PredictionError.
    """
    written = text.strip()
    if _NUMBER.fullmatch(written) is None:
        raise PredictionError("lab.predict-number", ask=ask.label, got=written[:40])
    number = int(written)
    if not ask.choices:
        return number
    if not 1 <= number <= len(ask.choices):
        raise PredictionError("lab.predict-choice", ask=ask.label, most=len(ask.choices))
    return number - 1


def read(demo: Demo, text: str) -> Mapping[str, int]:
    """All answers of a demo in the order of its asks, with commas or blanks between: `1,1,0,0,1`.

    Raises PredictionError.
    """
    parts = [part for part in re.split(r"[\s,，]+", text) if part]
    if len(parts) != len(demo.asks):
        raise PredictionError("lab.predict-count", wanted=len(demo.asks), got=len(parts))
    return {ask.id: read_one(ask, part) for ask, part in zip(demo.asks, parts, strict=True)}
