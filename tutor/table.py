"""A table as CSV, for a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence


def csv_bytes(head: Sequence[str], rows: Iterable[Sequence[str | int | None]]) -> bytes:
    """The table in UTF-8, with no cell that a spreadsheet takes for a formula."""
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(head)
    table.writerows([csv_cell(cell) for cell in row] for row in rows)
    return text.getvalue().encode("utf-8", "backslashreplace")


def csv_cell(value: str | int | None) -> str | int:
    """A cell that no spreadsheet takes for a formula: names come from learners."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return "" if value is None else value
