"""Hidden inputs, drawn anew for each run: memory as bytes, so that whatever a kernel touches can be compared (pure).

Each tensor lies in memory of its own between canaries; rows may be further apart than they are long, and what lies
between them are canaries too. The output begins as a NaN of one bit pattern that no arithmetic makes.
"""

from __future__ import annotations

import math
import random
import struct
from array import array
from dataclasses import dataclass

EPS = 1e-5
#: bf16 bits: around every tensor, and in an output that was not written yet.
CANARY, UNWRITTEN = 0x7FA5, 0x7FC3
#: Elements of canary before and after each tensor; before, a multiple of 16 bytes, so that pointers stay aligned.
GUARD = 64
TENSORS = ("x", "bias", "weight", "shift", "residual", "out")


def to_bf16(value: float) -> int:
    """The bits of the nearest bf16, ties to even; NaN as 0x7FC0."""
    if math.isnan(value):
        return 0x7FC0
    try:
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
    except OverflowError:
        return 0x7F80 if value > 0 else 0xFF80
    return int((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16)


def from_bf16(bits: int) -> float:
    (value,) = struct.unpack("<f", struct.pack("<I", bits << 16))
    return float(value)


@dataclass(frozen=True, slots=True)
class Case:
    """One call: its name, its sizes in elements, and each tensor's memory as bf16 bits, before the call."""

    kind: str
    rows: int
    hidden: int
    strides: tuple[int, int, int]
    memory: dict[str, array[int]]

    @property
    def call(self) -> str:
        return f"{self.kind}: bf16[{self.rows}, {self.hidden}], row strides {', '.join(map(str, self.strides))}"

    def at(self, name: str, row: int, column: int) -> int:
        """Where an element is in its tensor's memory."""
        return GUARD + row * self.stride(name) + column

    def stride(self, name: str) -> int:
        return {"x": self.strides[0], "residual": self.strides[1], "out": self.strides[2]}.get(name, 0)

    def row(self, name: str, row: int, memory: array[int] | None = None) -> list[float]:
        start = self.at(name, row, 0)
        return [from_bf16(bits) for bits in (memory or self.memory[name])[start : start + self.hidden]]


#: Mean and deviation of x for each kind; the rest is drawn of a normal distribution. Zero bias where x is moved.
#: A large mean is one value, and now and then the next that bf16 has: E[v^2] - mean^2 loses the deviation in float32.
_KINDS = {
    "usual": (0.0, 1.0),
    "tail of GELU": (-3.5, 0.25),
    "nearly equal rows": (-1.0, 0.01),
    "large mean": (1000.0, 0.0),
    "large values": (0.0, 1000.0),
    "tiny values": (0.0, 1e-4),
    "not finite": (0.0, 1.0),
}


def draw(rng: random.Random) -> list[Case]:
    """The calls of one run, in the order in which they are made; the first shape comes back with other values."""
    power = 1 << rng.randint(5, 7)
    odd = 2 * rng.randint(60, 400) + 1
    shapes = [(3, odd), (4, 1), (2, power), (2, power + 1), (2, rng.randint(4100, 4900)), (rng.randint(5, 9), 17)]
    cases = [_case(rng, "usual", *shape, apart=at % 2 == 1) for at, shape in enumerate(shapes)]
    cases += [_case(rng, kind, 2, rng.randint(300, 700), apart=rng.random() < 0.5) for kind in list(_KINDS)[1:]]
    rng.shuffle(cases)
    return [*cases, _case(rng, "usual", 3, odd, apart=False), _case(rng, "usual", 3, odd, apart=False)]


def _drawn(rng: random.Random, mean: float, deviation: float) -> float:
    return rng.gauss(mean, deviation) if deviation else mean * (1.0 if rng.random() < 0.95 else 1.004)


def _case(rng: random.Random, kind: str, rows: int, hidden: int, *, apart: bool) -> Case:
    mean, deviation = _KINDS[kind]
    strides = (
        (hidden + rng.randint(1, 9), hidden + rng.randint(1, 9), hidden + rng.randint(1, 9)) if apart else (hidden,) * 3
    )
    memory: dict[str, array[int]] = {}
    for name in TENSORS:
        stride = dict(zip(("x", "residual", "out"), strides, strict=True)).get(name, hidden)
        lines = rows if name in ("x", "residual", "out") else 1
        memory[name] = array("H", [CANARY]) * (2 * GUARD + lines * stride)
        for start in range(GUARD, GUARD + lines * stride, stride):
            for place in range(start, start + hidden):
                if name == "out":
                    memory[name][place] = UNWRITTEN
                elif name == "x":
                    memory[name][place] = to_bf16(_drawn(rng, mean, deviation))
                else:
                    memory[name][place] = to_bf16(0.0 if name == "bias" and mean else rng.gauss(0.0, 1.0))
    case = Case(kind, rows, hidden, strides, memory)
    if kind == "not finite":
        memory["x"][case.at("x", 0, rng.randrange(hidden))] = rng.choice((0x7FC0, 0x7F80))
        memory["residual"][case.at("residual", 1, rng.randrange(hidden))] = rng.choice((0x7F80, 0xFF80))
    return case
