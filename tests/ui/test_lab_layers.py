"""The layers on the screen: folded, opened, searched, saved."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ui.learner_app import Box80, FakeLab, Learner, box
from tutor.ui.panes.lab_layers import LayersView

__all__ = ["box"]


def run_of(layers: dict[str, str], stopped: str | None = None) -> list[dict[str, Any]]:
    observed = {
        "source": {"text": ["def f(x):\n    return x + 1\n"]},
        "layer": {"name": list(layers), "text": list(layers.values())},
        "end": {"stopped": [stopped]},
    }
    result = {
        **{"schema": 1, "event": "result", "at": 1.0, "demo": "layers", "claims": {}, "because": {}, "units": {}},
        **{"predicted": {}, "answers": {}, "agreed": None, "environment": {"torch": "2.13.0"}, "where": None},
        **{"source": "measured", "when": "2026-11-30T00:00:00+00:00", "observed": observed},
    }
    ended = {"schema": 1, "event": "ended", "at": 1.0, "outcome": "ok", "message": {"key": "lab.ok", "args": {}}}
    return [result, ended]


async def ran(learner: Learner) -> LayersView:
    await learner.press("3", "l", "l", "l")
    view = learner.app.learner.active
    assert isinstance(view, LayersView)
    await learner.press("r")
    await learner.until(lambda: view.ran is not None and view.ran.ended)
    return view


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_layers_are_folded_until_they_are_opened(box: Box80, lang: str) -> None:
    layers = {"guards": "+- GUARD: x.size(0)\x1b[31m", "fx-graph": "add = x + 1"}
    async with box.open(lang=lang, lab=FakeLab(run_of(layers))) as learner:
        await ran(learner)
        assert "return x + 1" in learner.text
        assert "GUARD" not in learner.text
        await learner.press("enter")
        assert "GUARD: x.size(0)" in learner.text
        assert "\x1b[31m" not in learner.text
        await learner.press("space")
        assert "GUARD" not in learner.text


async def test_a_search_opens_the_layer_that_has_the_words(box: Box80) -> None:
    async with box.open(lab=FakeLab(run_of({"guards": "+- A", "aot-joint": "one\ntwo mul_7"}))) as learner:
        view = await ran(learner)
        await learner.press("slash")
        await learner.type("mul_7")
        await learner.press("enter")
        await learner.until(lambda: view.unfolded == {"aot-joint"})
        assert "two mul_7" in view.body.lines[view.body.at].text
        view.refill()  # as when the run's last event comes
        assert "two mul_7" in view.body.lines[view.body.at].text


async def test_a_page_that_was_turned_stays_turned_when_it_is_drawn_anew(box: Box80) -> None:
    long = "\n".join(f"line {n}" for n in range(90))
    async with box.open(lab=FakeLab(run_of({"guards": long}))) as learner:
        view = await ran(learner)
        assert view.body.item == "layer:guards", "the cursor begins on the first item"
        await learner.press("enter", "pagedown")
        top = view.body.top
        assert top > 0
        assert view.body.at == -1
        view.refill()
        assert (view.body.top, view.body.at) == (top, -1)


async def test_the_whole_texts_are_saved_and_the_journal_keeps_their_sizes(box: Box80) -> None:
    async with box.open(lab=FakeLab(run_of({"guards": "+- A\n", "fx-graph": "import x\n\n"}))) as learner:
        await ran(learner)
        await learner.press("s")
        folder = learner.store.journal.folder / "layers-E1"
        files = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
        assert files == {"1-guards.txt": "+- A\n", "2-fx-graph.txt": "import x\n\n"}
        record = learner.store.progress.evidence["E1"].record
        assert record["observed"]["layer"] == {"name": ["guards", "fx-graph"], "lines": [1, 1]}


async def test_without_a_compiler_it_says_so_and_shows_the_rest(box: Box80) -> None:
    events = run_of({"fx-graph": "add = x + 1"}, "InductorError: InvalidCxxCompiler: No working C++ compiler found")
    async with box.open(lab=FakeLab(events)) as learner:
        await ran(learner)
        assert "no C++ compiler here" in learner.text
        assert "FX graph" in learner.text
