"""The request lab on the screen, with a lab whose runs are lists of events and the real sandbox for the key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.ui.learner_app import RIGHT, Box80, FakeLab, Learner, box
from tutor.lab import requests
from tutor.lines import Line
from tutor.ui.pages import Page
from tutor.ui.panes.lab_requests import RequestsView

__all__ = ["box"]

GROWN = "0/0: tensor 'x' size mismatch at index 0. expected 2, actual 8"
OTHER = "0/1: tensor 'x' size mismatch at index 2. expected 4096, actual 2048"


def said(event: str, **fields: Any) -> dict[str, Any]:
    return {"schema": 1, "event": event, "at": 0.5, **fields}


def observation(series: str, values: dict[str, Any], *words: str) -> dict[str, Any]:
    return said("observation", series=series, call="bf16", values=values, said=list(words), why=None, ask=None)


def served(by: str, new: int, *words: str) -> dict[str, Any]:
    return observation(
        "dynamo", {"ended": "ok", "served_by": by, "new_graphs": new, "same_as_eager": True, "strides": [1]}, *words
    )


def ended(outcome: str = "ok", key: str = "lab.ok", **args: Any) -> dict[str, Any]:
    return said("ended", outcome=outcome, message={"key": key, "args": args})


RESULT = said(
    "result",
    demo="requests",
    claims={},
    because={},
    observed={"dynamo": {"served_by": ["0/0", "0/1", "0/2"]}},
    units={},
    predicted={},
    answers={},
    agreed=None,
    environment={"torch": "2.13.0", "device": "cpu", "contended": False},
    source="measured",
    when="2026-11-30T00:00:00+00:00",
    where=None,
)
EVENTS = [
    observation("limit", {"entries": 8, "device": "cpu"}),
    served("0/0", 1),
    served("0/1", 1, GROWN),
    served("0/2", 1, OTHER, GROWN),
    RESULT,
    ended(),
]


async def opened(learner: Learner) -> RequestsView:
    await learner.press("3", "l")
    view = learner.app.learner.active
    assert isinstance(view, RequestsView)
    return view


@pytest.mark.parametrize(("lang", "words"), [("en", "Your key promises"), ("zh", "你的键事先说好")])
async def test_both_sides_and_what_parts_them(box: Box80, lang: str, words: str) -> None:
    lab = FakeLab(EVENTS)
    async with box.open(lang=lang, lab=lab) as learner:
        learner.store.record("draft", name="code", text=RIGHT, cursor=[0, 0])
        view = await opened(learner)
        await learner.press("r")
        await learner.until(lambda: view.ran is not None and view.ran.evidence)
        rows = learner.rows
        assert [row[0] for row in rows[5:8]] == [" ", "!", " "]
        assert all(name in rows[5] for name in ("k1", "g0"))
        assert words in learner.text, "the cursor is on the first difference"
        assert lab.params == {
            "requests": [requests.parse(line).as_data() for line in requests.DEFAULT.split("\n")],
            "dynamic": "None",
        }
        evidence = learner.store.progress.evidence["E1"].record
        assert evidence["observed"]["guard_key"]["served"] == ["new k1", "hit k1", "new k2"]
        assert evidence["observed"]["guard_key"]["differs"] == [False, True, False]
        assert evidence["claims"] == {}


async def ran(learner: Learner) -> RequestsView:
    learner.store.record("draft", name="code", text=RIGHT, cursor=[0, 0])
    view = await opened(learner)
    await learner.press("r")
    await learner.until(lambda: view.ran is not None and view.ran.evidence)
    return view


def lit(lines: Sequence[Line]) -> list[str]:
    return [words for row in lines for words, role in row.parts if role == "lit" and words.isupper()]


async def test_the_chosen_requests_path_is_lit_in_the_figure_where_there_is_room(box: Box80) -> None:
    async with box.open(lab=FakeLab(EVENTS), size=(120, 40)) as learner:
        view = await ran(learner)
        for n, kind in enumerate(("STATIC", "DYNAMIC")):
            assert view.at == n
            assert lit(view.body.lines) == ["CALL", "GUARDS", "MISS", "RECAPTURE", kind, "NEW ENTRY", "RESULT"]
            await learner.press("j")


@pytest.mark.parametrize(("lang", "title"), [("en", "The way of this request"), ("zh", "这个请求走过的路")])
async def test_where_there_is_no_room_a_key_shows_the_figure(box: Box80, lang: str, title: str) -> None:
    async with box.open(lang=lang, lab=FakeLab(EVENTS)) as learner:
        view = await ran(learner)
        assert not lit(view.body.lines)
        assert "-> MISS -> " in learner.text or "-> 未命中 -> " in learner.text
        await learner.press("f")
        assert title in learner.text
        assert "FAST PATH" in learner.text
        page = learner.app.screen
        assert isinstance(page, Page)
        assert lit(page.body.lines)[2:5] == ["MISS", "RECAPTURE", "DYNAMIC"]
        await learner.press("escape", "d", "f")
        assert "r runs the list" in learner.text or "按 r 运行" in learner.text


async def test_an_empty_blank_leaves_the_left_side_empty_and_says_so(box: Box80) -> None:
    async with box.open(lab=FakeLab(EVENTS)) as learner:
        view = await opened(learner)
        await learner.press("r")
        await learner.until(lambda: view.ran is not None and view.ran.evidence)
        assert "guard_key has nothing to say" in learner.text
        assert "0 differ" in learner.text


async def test_without_torch_the_key_is_asked_all_the_same(box: Box80) -> None:
    lab = FakeLab([ended("unavailable", "lab.no-torch", path="python3")])
    async with box.open(lab=lab) as learner:
        learner.store.record("draft", name="code", text=RIGHT, cursor=[0, 0])
        view = await opened(learner)
        await learner.press("r")
        await learner.until(lambda: view.ran is not None and view.ran.results is not None)
        assert "has no torch" in learner.text
        assert "hit k1" in learner.text
        assert not learner.store.progress.evidence


async def test_lines_are_saved_as_they_are_typed_and_read_when_they_run(box: Box80) -> None:
    async with box.open(lab=FakeLab(EVENTS)) as learner:
        view = await opened(learner)
        await learner.press("a")
        await learner.type("sideways")
        learner.store.flush()
        assert "sideways" in learner.store.progress.text(requests.DRAFT)
        await learner.press("enter")
        assert "sideways is not known here" in learner.text
        await learner.press("escape")
        await learner.press("escape", "r")
        assert view.ran is None
        assert "Line 2 cannot run" in learner.text
    async with box.open(lab=FakeLab(EVENTS)) as again:
        assert (await opened(again)).lines[1] == "(8, 256, 4096) bf16 sideways"


async def test_delete_undo_and_the_way_of_dynamic(box: Box80) -> None:
    async with box.open(lab=FakeLab(EVENTS)) as learner:
        view = await opened(learner)
        before = list(view.lines)
        await learner.press("d", "d", "d", "d")
        assert "No requests" in learner.text
        await learner.press("r", "u", "u", "u")
        assert view.lines == before
        seen = []
        for _ in requests.DYNAMICS:
            seen.append(view.dynamic)
            await learner.press("v")
        assert tuple(seen) == requests.DYNAMICS
        assert view.dynamic == "None"


async def test_the_views_turn_and_then_the_tabs(box: Box80) -> None:
    async with box.open(lab=FakeLab(EVENTS)) as learner:
        await opened(learner)
        await learner.press("h")
        assert "[Demos]" in learner.text
        await learner.press("h")
        assert "[2 Edge]" in learner.text
