"""Figures as the benches tell them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def spread(values: Sequence[float]) -> dict[str, float | int]:
    """n, p50, p95, p99 and max in the unit of `values`, percentiles by nearest rank. Raises ValueError for none."""
    if not values:
        raise ValueError("no values to summarise")
    ordered = sorted(values)
    at = {f"p{share}": ordered[math.ceil(len(ordered) * share / 100) - 1] for share in (50, 95, 99)}
    return {"n": len(ordered), **at, "max": ordered[-1]}
