"""What the kernels' bench recorded on an H200: a whole transcript, the aims met in it, and the table that says so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tutor.lab import protocol, transcripts

RECORDED = Path(__file__).resolve().parents[2] / "lessons" / "lesson_02_torch_compile" / "recorded"
TRANSCRIPTS = sorted(RECORDED.glob("kernels.*.jsonl"))
#: The most that the hand-written kernel may take, as a share of the floor.
AIMS = {(8, 256, 4096): 1.10, (16, 2048, 2048): 1.03, (16, 2048, 4096): 1.03, (16, 2048, 8192): 1.10}
SIDES = {"floor", "eager", "inductor", "max-autotune", "hand"}


@pytest.fixture(params=TRANSCRIPTS, ids=lambda path: path.name)
def observed(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    about = transcripts.header(request.param)
    assert about.demo == "kernels"
    assert "H200" in (about.gpu or "")
    events = [protocol.decode(line) for line in request.param.read_bytes().splitlines()]
    assert [event["environment"]["contended"] for event in events if event["event"] == "result"] == [False]
    return [event for event in events if event["event"] == "observation"]


def times(observed: list[dict[str, Any]], series: str, shape: tuple[int, ...]) -> dict[str, dict[str, Any]]:
    call = f"bf16{list(shape)}"
    chosen = [event["values"] for event in observed if (event["series"], event["call"]) == (series, call)]
    return {values["side"]: values for values in chosen}


def test_there_is_a_recording() -> None:
    assert TRANSCRIPTS


@pytest.mark.parametrize("shape", AIMS)
def test_the_hand_written_kernel_meets_its_aim(observed: list[dict[str, Any]], shape: tuple[int, ...]) -> None:
    hand = times(observed, "graph cold", shape)["hand"]
    assert hand["of_floor"] <= AIMS[shape]
    assert hand["us"]["n"] >= 100


@pytest.mark.parametrize("shape", AIMS)
@pytest.mark.parametrize("series", ["graph cold", "graph warm", "launch cold", "launch warm", "caller"])
def test_every_side_is_there_in_every_way_of_timing(
    observed: list[dict[str, Any]], series: str, shape: tuple[int, ...]
) -> None:
    found = times(observed, series, shape)
    assert set(found) == SIDES
    for values in found.values():
        us = values["us"]
        assert 0 < us["p50"] <= us["p95"] <= us["p99"] <= us["max"]
        if "of_floor" in values:
            assert values["of_floor"] == pytest.approx(us["p50"] / found["floor"]["us"]["p50"], abs=6e-4)


def test_what_is_fast_is_right_and_the_short_cut_is_not(observed: list[dict[str, Any]]) -> None:
    excess = {event["values"]["inputs"]: event["values"]["excess"] for event in observed if event["series"] == "excess"}
    assert len(excess) == 6
    assert all(found[step] <= 1 for found in excess.values() for step in ("erf", "polynomial", "exp2", "launch"))
    assert excess["the tail of GELU"]["tanh"] > 10


def test_the_figures_in_the_table_are_the_recorded_ones(observed: list[dict[str, Any]]) -> None:
    text = (RECORDED / "kernels.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in text.splitlines() if "| [" in line]
    detailed = [
        row
        for row in rows
        if len(row) >= 8 and re.fullmatch(r"graph|launch|steps|launches|caller|host|device", row[1].split()[0])
    ]
    assert len(detailed) > 150
    for shape, series, side, n, *figures in detailed:
        size = tuple(map(int, re.findall(r"\d+", shape)))
        us = times(observed, series, size)[side]["us"]
        assert n == str(us["n"])
        assert figures[:4] == [f"{us[key]:.1f}" for key in ("p50", "p95", "p99", "max")]
