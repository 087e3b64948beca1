"""What is right, in float64 with the exact erf, and how far a result may be from it (pure)."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tutor.fused.cases import EPS, GUARD, TENSORS, UNWRITTEN, Case, from_bf16
from tutor.model import Message

#: The most that rounding to bf16 is off by, as a share of the value.
ROUNDING = 2.0**-8
#: Beyond this GELU is the value itself, so that only float32's sums may be off, by some roundings.
ITSELF, FLOAT32 = 8.0, 2.0**-20


@dataclass(frozen=True, slots=True)
class Wrong:
    """Why a call is not right, and its worst error in bf16 ulps where there is one."""

    message: Message
    ulps: float | None = None


def gelu(v: float) -> float:
    return v * 0.5 * math.erfc(-v * math.sqrt(0.5)) if v != -math.inf else math.nan


def right_row(
    x: Sequence[float],
    bias: Sequence[float],
    weight: Sequence[float],
    shift: Sequence[float],
    residual: Sequence[float],
) -> tuple[list[float], list[float]]:
    """One row of the block, and what each element may be off by beside the rounding of the result.

    Granted is GELU rounded to bf16 where it is more than the value itself: an error there reaches the output times
    weight / deviation, for the element itself and through mean and variance.
    """
    g = [gelu(a + b) for a, b in zip(x, bias, strict=True)]
    if not all(map(math.isfinite, g)):
        return [math.nan] * len(g), [0.0] * len(g)
    mean = math.fsum(g) / len(g)
    rstd = 1.0 / math.sqrt(math.fsum((v - mean) ** 2 for v in g) / len(g) + EPS)
    normal = [(v - mean) * rstd for v in g]
    out = [n * w + s + r for n, w, s, r in zip(normal, weight, shift, residual, strict=True)]
    error = [abs(v) * (ROUNDING if abs(v) < ITSELF else FLOAT32) + 1e-7 for v in g]
    mean_error = math.fsum(error) / len(g)
    along = math.fsum(abs(n) * e for n, e in zip(normal, error, strict=True)) / len(g)
    moved = [rstd * (e + mean_error + abs(n) * along) for n, e in zip(normal, error, strict=True)]
    return out, [abs(w) * m + 1e-6 for w, m in zip(weight, moved, strict=True)]


def ulp(value: float) -> float:
    """The distance of neighbouring bf16 values there."""
    return math.ldexp(1.0, max(-133, math.frexp(value)[1] - 8))


def judge(case: Case, after: Mapping[str, array[int]], *, truncates: bool) -> Wrong | None:
    """What is wrong with a call, from each tensor's memory after it; None when it is right.

    `truncates`: Triton's interpreter cuts a bf16 off where a GPU rounds to nearest, so its last step counts double.
    """
    for name in TENSORS:
        if len(after[name]) != len(case.memory[name]):
            return Wrong(Message("kernel.wrong-memory", {"name": name}))
    inside = {case.at("out", row, column) for row in range(case.rows) for column in range(case.hidden)}
    for name in TENSORS:
        before, now = case.memory[name], after[name]
        if name != "out" and before != now:
            changed = next(at for at, bits in enumerate(before) if now[at] != bits)
            outside = changed < case.starts[name] or changed >= len(before) - GUARD
            return Wrong(Message("kernel.wrong-outside" if outside else "kernel.wrong-input", {"name": name}))
        if name == "out" and any(now[at] != bits for at, bits in enumerate(before) if at not in inside):
            return Wrong(Message("kernel.wrong-outside", {"name": name}))
    if not inside:
        return None
    bias, weight, shift = (case.row(name, 0) for name in ("bias", "weight", "shift"))
    found = []
    for row in range(case.rows):
        rights = right_row(case.row("x", row), bias, weight, shift, case.row("residual", row))
        at = slice(case.at("out", row, 0), case.at("out", row, case.hidden))
        wrong = judge_row(row, rights, after["out"][at], case.memory["out"][at], truncates=truncates)
        if wrong is not None and wrong.ulps is None:
            return wrong
        if wrong is not None:
            found.append(wrong)
    return max(found, key=lambda wrong: wrong.ulps or 0.0, default=None)


def judge_row(
    row: int,
    rights: tuple[Sequence[float], Sequence[float]],
    after: Sequence[int],
    before: Sequence[int],
    *,
    truncates: bool,
) -> Wrong | None:
    """What is wrong with one row of the output, from its bits after and before the call; None when it is right.
    `rights` is what `right_row` says of it."""
    worst: tuple[float, int, float, float] | None = None
    wrong: list[tuple[int, float, float]] = []
    for column, (value, room) in enumerate(zip(*rights, strict=True)):
        got = from_bf16(after[column])
        if not math.isfinite(value) or not math.isfinite(got):
            if got == value or (math.isnan(got) and math.isnan(value) and after[column] != UNWRITTEN):
                continue
        else:
            share = abs(got - value) / (room + abs(value) * ROUNDING * (2 if truncates else 1))
            if share <= 1.0:
                continue
            if worst is None or share > worst[0]:
                worst = share, column, got, value
        wrong.append((column, got, value))
    if not wrong:
        return None
    # A wrong value may by chance be the one that was there; that all of them are is no chance.
    if all(after[column] == before[column] for column, _, _ in wrong):
        return Wrong(Message("kernel.wrong-unwritten", {"row": row, "column": wrong[0][0]}))
    for column, got, value in wrong:
        if not math.isfinite(value) or not math.isfinite(got):
            fields: dict[str, str | int | float] = {
                "row": row,
                "column": column,
                "got": repr(got),
                "right": f"{value:.6g}",
            }
            return Wrong(Message("kernel.wrong-finite", fields))
    assert worst is not None
    _, column, got, value = worst
    ulps = round(abs(got - value) / ulp(value), 1)
    numbers: dict[str, str | int | float] = {
        **{"row": row, "column": column},
        **{"got": f"{got:.6g}", "right": f"{value:.6g}", "ulps": f"{ulps:.1f}"},
    }
    return Wrong(Message("kernel.wrong-value", numbers), ulps)


def memory_of(raw: bytes) -> array[int]:
    """bf16 bits from little-endian bytes. Raises ValueError for half an element."""
    found = array("H")
    found.frombytes(raw)
    if sys.byteorder == "big":
        found.byteswap()
    return found
