"""What a demo measured, as lines: every figure with its unit, timings as two percentiles, no raw data."""

from __future__ import annotations

from typing import Any

import pytest
from rich.cells import cell_len

from tutor.lab import transcripts
from tutor.language import LANGS
from tutor.lesson import catalog
from tutor.model import Demo
from tutor.ui.views.lab import RunView, demo_lines
from tutor.ui.views.lab_measured import measured_lines

DEMOS = catalog.load().demos


def spread(p50: float, p99: float) -> dict[str, Any]:
    return {"n": 100, "p50": p50, "p95": p99, "p99": p99, "max": p99, "edges": [1.0, 2.0], "counts": [100]}


def seen(series: str, values: dict[str, Any], **more: Any) -> dict[str, Any]:
    usual = {"call": "(8, 256)", "said": [], "ask": None, "answer": None, "plain": {"zh": "一句", "en": "a sentence"}}
    return {"series": series, "values": values, **usual, **more}


def shown(*rows: dict[str, Any], width: int = 79, told: str = "") -> list[str]:
    return [line.text for line in measured_lines(DEMOS["fused-block"], rows, "en", width, told=told)]


def test_a_timing_is_two_percentiles_with_its_unit_its_count_and_its_share_of_the_floor() -> None:
    values = {"hand_us": spread(17.536, 18.72), "hand_of_floor": 1.07, "kernels": 4}
    head, *rest = shown(seen("small", values))
    assert "p50/p99" in head
    assert rest == ["small  a sentence", "  (8, 256)  hand 17.54/18.72 us (1.07x)  4 kernels  n 100"]


def test_a_sentence_is_said_once_and_beside_its_call_where_a_series_has_several() -> None:
    other = {"zh": "另一句", "en": "another"}
    rows = shown(seen("s", {"kernels": 1}), seen("s", {"kernels": 2}, plain=other), seen("t", {"kernels": 3}))
    assert rows[1:] == [
        *("s", "  (8, 256)  1 kernels", "    a sentence", "  (8, 256)  2 kernels", "    another"),
        *("t", "  (8, 256)  3 kernels"),
    ]
    assert "    a sentence" not in shown(seen("s", {"kernels": 1}), told="a sentence")


def test_what_only_repeats_the_answer_is_left_out() -> None:
    assert shown(seen("s", {"kernels": 1}, ask="kernel", answer=1)) == []
    assert len(shown(seen("s", {"growth": 1.05}, ask="kernel", answer=0))) == 3


def test_torch_s_words_are_plain_text_and_bounded() -> None:
    rows = shown(seen("s", {"ended": "SIGSEGV"}, said=["one\n\n\x1b[2Jtwo", *["more"] * 40]))
    assert rows[2] == "  (8, 256)  ended SIGSEGV"
    assert rows[3:5] == ["    one", "    \\x1b[2Jtwo"]
    assert len(rows) == 3 + 8


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("width", [62, 79])
@pytest.mark.parametrize("demo", DEMOS.values(), ids=lambda demo: demo.name)
def test_every_recorded_run_fits_the_width_and_shows_no_raw_data(demo: Demo, width: int, lang: Any) -> None:
    for path in demo.recorded:
        run = RunView()
        for event in transcripts.replay(demo, path):
            run.take(event)
        rows = demo_lines(demo, run, {}, lang, width, running=False, chosen=demo.asks[0].id)
        assert max(cell_len(row.text) for row in rows) <= width
        whole = "\n".join(row.text for row in rows)
        assert "'edges'" not in whole
        assert "'p50'" not in whole
        assert all(choice.get(lang) in whole for choice in demo.asks[0].choices)
