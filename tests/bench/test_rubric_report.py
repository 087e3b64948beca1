"""The report on the labelled answers runs, and the file that is kept says what it says."""

from __future__ import annotations

from pathlib import Path

from tests.bench.rubric_report import seconds, table, vetoes


def test_the_report_that_is_kept_is_of_these_rules() -> None:
    kept = Path(__file__).with_name("rubric_report.md").read_text(encoding="utf-8")
    for row in (*table(), vetoes()):
        assert row in kept, "run python -m tests.bench.rubric_report and keep what it says"


def test_a_reading_is_timed() -> None:
    taken = seconds(1)
    assert len(taken) == 4
    assert all(value >= 0 for value in taken)
