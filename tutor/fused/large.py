"""Sizes too large to be sent: all values follow from a seed, so that single rows can be judged from their bytes (pure).

The worker makes the same values on the device; see `fused_memory.drawn`. For each call the input x is another one.
"""

from __future__ import annotations

import random
from array import array
from dataclasses import dataclass

from tutor.fused import cases, exact
from tutor.fused.exact import Wrong
from tutor.model import Message

#: What holds for every call, numbered as the worker does; x of call n is stream FIRST_X + n.
STREAMS = {"bias": 0, "weight": 1, "shift": 2, "residual": 3}
FIRST_X = 8
_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Large:
    """One size [rows, hidden], how often it is called, and the rows that are judged: (number of the call, row)."""

    rows: int
    hidden: int
    calls: int
    samples: tuple[tuple[int, int], ...]
    timed: bool = False

    @property
    def shape(self) -> str:
        return f"bf16[{self.rows}, {self.hidden}]"

    @property
    def call(self) -> Message:
        """The call in words."""
        return Message("kernel.call-size", {"shape": self.shape})


def draw(
    rng: random.Random, rows: int, hidden: int, *, calls: int, looked_at: int, rows_each: int, timed: bool = False
) -> Large:
    """`rows_each` rows of each of `looked_at` calls are judged, the last call among them."""
    chosen = [*rng.sample(range(calls - 1), looked_at - 1), calls - 1]
    each = [(call, row) for call in chosen for row in rng.sample(range(rows), min(rows, rows_each))]
    return Large(rows, hidden, calls, tuple(sorted(each)), timed)


def values(seed: int, stream: int, first: int, count: int) -> list[int]:
    """bf16 bits of elements `first` to `first + count` of a stream: the sum of four evenly drawn numbers, scaled, which
    float32 holds exactly; mean 0, deviation 1.15."""
    key = _mixed((seed << 8) + stream)
    sums = []
    for at in range(first, first + count):
        word = _mixed(at + key & _MASK)
        fields = (word & 0xFFFF) + (word >> 16 & 0xFFFF) + (word >> 32 & 0xFFFF) + (word >> 48)
        sums.append((fields - 131070) / 32768)
    return list(cases.all_to_bf16(sums))


def _mixed(word: int) -> int:
    """The finalizer of splitmix64 (Steele, Lea, Flood 2014)."""
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _MASK
    return word ^ (word >> 31)


class Rows:
    """Judges rows of one size; what all of them share is made once."""

    def __init__(self, seed: int, size: Large) -> None:
        self._seed, self._size = seed, size
        self._vectors = [self._values(STREAMS[name], 0) for name in ("bias", "weight", "shift")]

    def _values(self, stream: int, row: int) -> list[float]:
        hidden = self._size.hidden
        return list(map(cases.from_bf16, values(self._seed, stream, row * hidden, hidden)))

    def judge(self, call: int, row: int, after: array[int], *, truncates: bool) -> Wrong | None:
        """What is wrong with a row of a call, from its bits; None when it is right. Raises ValueError for another
        length."""
        if len(after) != self._size.hidden:
            raise ValueError(f"row {row} has {len(after)} elements")
        x, residual = self._values(FIRST_X + call, row), self._values(STREAMS["residual"], row)
        bias, weight, shift = self._vectors
        rights = exact.right_row(x, bias, weight, shift, residual)
        before = [poison(call)] * self._size.hidden
        return exact.judge_row(row, rights, after, before, truncates=truncates)


def poison(call: int) -> int:
    """What the output is filled with before a call: in turns a NaN that no arithmetic makes, and a finite value that no
    right row has; nobody can tell from a NaN that a call is looked at."""
    return cases.UNWRITTEN if call % 2 == 0 else 0x4E6E
