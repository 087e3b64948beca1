"""Hidden inputs, drawn anew for each run: memory as bytes, so that whatever a kernel touches can be compared (pure).

Each tensor lies between canaries, in an arena that is nothing but canaries; rows may be further apart than they are
long, and what lies between them are canaries too. The output begins as a NaN of one bit pattern that no arithmetic
makes, or as ordinary values, as what an earlier call left would be: a kernel cannot tell from it that it is judged.
"""

from __future__ import annotations

import random
import struct
from array import array
from collections.abc import Iterable
from dataclasses import dataclass

from tutor.model import Message

EPS = 1e-5
#: bf16 bits: around every tensor, and in an output that was not written yet.
CANARY, UNWRITTEN = 0x7FA5, 0x7FC3
#: Elements of canary before and after each tensor; before, a multiple of 16 bytes, so that pointers stay aligned, and
#: up to SHIFT more where a call's tensors are views that begin anywhere.
GUARD, SHIFT = 64, 7
#: How far rows lie apart at most, in elements: as a view of a slightly wider tensor has them, and of a far wider one.
NEAR, FAR = 9, 3000
#: The longest row: what the largest MAX_BLOCK takes at once.
WIDEST = 16384
TENSORS = ("x", "bias", "weight", "shift", "residual", "out")


def all_to_bf16(values: Iterable[float]) -> array[int]:
    """The bits of the nearest bf16 of each value, ties to even; the values are finite, and float32 holds them."""
    words = array("I", array("f", values).tobytes())
    return array("H", [(bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 for bits in words])


def from_bf16(bits: int) -> float:
    (value,) = struct.unpack("<f", struct.pack("<I", bits << 16))
    return float(value)


@dataclass(frozen=True, slots=True)
class Case:
    """One call: its name, its sizes in elements, where in its memory each tensor begins, and that memory as bf16 bits,
    before the call."""

    kind: str
    rows: int
    hidden: int
    strides: tuple[int, int, int]
    starts: dict[str, int]
    memory: dict[str, array[int]]

    @property
    def call(self) -> Message:
        """The call in words: what its values are, its shape, its strides, and how far behind 16 bytes tensors begin."""
        starts = [self.starts[name] - GUARD for name in TENSORS]
        fields = {
            "shape": f"bf16[{self.rows}, {self.hidden}]",
            "strides": ", ".join(map(str, self.strides)),
            "starts": ", ".join(map(str, starts)) if any(starts) else "0",
        }
        return Message(f"kernel.call-{self.kind}", fields)

    def at(self, name: str, row: int, column: int) -> int:
        """Where an element is in its tensor's memory."""
        return self.starts[name] + row * self.stride(name) + column

    def stride(self, name: str) -> int:
        return {"x": self.strides[0], "residual": self.strides[1], "out": self.strides[2]}.get(name, 0)

    def row(self, name: str, row: int, memory: array[int] | None = None) -> list[float]:
        start = self.at(name, row, 0)
        return [from_bf16(bits) for bits in (memory or self.memory[name])[start : start + self.hidden]]


#: Mean and deviation of x for each kind; the rest is drawn of a normal distribution. Zero bias where x is moved.
#: A large mean is one value, and now and then the next that bf16 has: E[v^2] - mean^2 loses the deviation in float32.
_KINDS = {
    "usual": (0.0, 1.0),
    "tail": (-3.5, 0.25),
    "equal": (-1.0, 0.01),
    "mean": (1000.0, 0.0),
    "large": (0.0, 1000.0),
    "tiny": (0.0, 1e-4),
    "not-finite": (0.0, 1.0),
    "empty": (0.0, 1.0),
}


def draw(rng: random.Random) -> list[Case]:
    """The calls of one run, in the order in which they are made; the first shape comes back with other values."""
    power = 1 << rng.randint(5, 7)
    odd = 2 * rng.randint(60, 400) + 1
    shapes = [(3, odd), (4, 1), (2, power), (2, power + 1), (2, rng.randint(4100, 4900)), (rng.randint(5, 9), 17)]
    apart = (0, NEAR, 0, FAR, 0, NEAR)
    cases = [_case(rng, "usual", *shape, apart=most) for shape, most in zip(shapes, apart, strict=True)]
    cases += [_case(rng, kind, 2, rng.randint(300, 700), apart=rng.choice((0, NEAR))) for kind in list(_KINDS)[1:-1]]
    cases.append(_case(rng, "usual", 1, rng.randint(WIDEST // 2 + 1, WIDEST), apart=0))
    # Nothing comes out of either: no row, or rows of no column, which are programs that have nothing to store.
    cases += [_case(rng, "empty", 0, odd, apart=0), _case(rng, "empty", rng.randint(2, 5), 0, apart=NEAR)]
    rng.shuffle(cases)
    return [*cases, _case(rng, "usual", 3, odd, apart=0), _case(rng, "usual", 3, odd, apart=0, used=True)]


def _case(rng: random.Random, kind: str, rows: int, hidden: int, *, apart: int, used: bool | None = None) -> Case:
    """`apart`: rows lie so many elements apart at most, and tensors begin anywhere; 0 for neither. `used`: the output
    holds ordinary values, None: by chance."""
    mean, deviation = _KINDS[kind]
    apart_by = rng.sample(range(1, apart + 1), 3) if apart else (0, 0, 0)
    strides = (hidden + apart_by[0], hidden + apart_by[1], hidden + apart_by[2])
    of = dict(zip(("x", "residual", "out"), strides, strict=True))
    memory: dict[str, array[int]] = {}
    starts: dict[str, int] = {}
    used = rng.random() < 0.3 if used is None else used
    for name in TENSORS:
        lines, stride = (rows, of[name]) if name in of else (1, hidden)
        start = starts[name] = GUARD + (rng.randint(1, SHIFT) if apart else 0)
        memory[name] = array("H", [CANARY]) * (start + lines * stride + GUARD)
        for line in range(lines):
            if name == "x":
                row = all_to_bf16(_drawn(rng, mean, deviation) for _ in range(hidden))
            elif name == "bias" and mean:
                row = array("H", [0]) * hidden
            elif name == "out" and not used:
                row = array("H", [UNWRITTEN]) * hidden
            else:
                row = all_to_bf16(rng.gauss(0.0, 1.0) for _ in range(hidden))
            at = start + line * stride
            memory[name][at : at + hidden] = row
    case = Case(kind, rows, hidden, strides, starts, memory)
    if kind == "not-finite":
        memory["x"][case.at("x", 0, rng.randrange(hidden))] = rng.choice((0x7FC0, 0x7F80))
        memory["residual"][case.at("residual", 1, rng.randrange(hidden))] = rng.choice((0x7F80, 0xFF80))
    return case


def _drawn(rng: random.Random, mean: float, deviation: float) -> float:
    return rng.gauss(mean, deviation) if deviation else mean * (1.0 if rng.random() < 0.95 else 1.004)
