"""A demo on the learner's screen, with a lab whose run is a list of events."""

from __future__ import annotations

from typing import Any

from tests.ui.learner_app import Box80, FakeLab, FakeRun, box, result
from tutor.ui.panes.lab import LabPane
from tutor.ui.views.lab import KEPT

__all__ = ["box"]


def observation(ask: str | None, answer: int | None, series: str = "default") -> dict[str, Any]:
    return {
        "event": "observation", "at": 0.1, "series": series, "call": "f32[2, 128]", "values": {"new_graphs": answer},
        "said": ["tensor 'x' [size] mismatch"], "why": None, "plain": {"zh": "说明句", "en": "a plain sentence"},
        "ask": ask, "answer": answer, "predicted": None, "agrees": None,
    }  # fmt: skip


def ended(outcome: str, key: str = "lab.ok") -> dict[str, Any]:
    message = {"key": key, "args": {}}
    return {"event": "ended", "at": 1.0, "demo": "automatic-dynamic", "outcome": outcome, "message": message}


async def test_predict_then_run_then_the_mark_in_the_lesson_changes(box: Box80) -> None:
    lab = FakeLab([observation("call-1", 1), observation("call-2", 0), result("holds"), ended("ok")])
    async with box.open(lab=lab) as learner:
        lesson = learner.app.learner.lesson
        while lesson.body.item != "claim:automatic-dynamic":
            await learner.press("m")
        assert "[ ] automatic-dynamic" in learner.text
        await learner.press("enter")
        pane = learner.app.learner.panes["lab"].front
        assert isinstance(pane, LabPane)
        await learner.until(lambda: pane.demo is not None)
        await learner.press("space", "space", "down", "space")
        assert learner.store.progress.predictions["automatic-dynamic"] == {"call-1": 1, "call-2": 0}
        await learner.press("r")
        assert "no prediction yet" in learner.text
        await learner.press("r")
        await learner.until(lambda: pane.view.ended == "ok")
        assert lab.predicted == {"call-1": 1, "call-2": 0}
        assert "[E1 here]" in learner.text
        assert "[size]" in learner.text, "torch's words are never markup"
        await learner.press("0")
        assert "[=] automatic-dynamic: holds [E1 here]" in learner.text
        await learner.press("4", "enter", "f8", "enter")
        assert learner.store.draft("q1") == "[E1]"
    async with box.open(lab=lab) as learner:
        assert learner.store.progress.claims["automatic-dynamic"].evidence == "E1"


async def test_a_run_can_be_stopped_and_its_lines_stay(box: Box80) -> None:
    import queue

    events: queue.Queue[dict[str, Any]] = queue.Queue()
    lab = FakeLab([])
    run = FakeRun([])
    run._events = iter(events.get, None)  # type: ignore[arg-type]
    lab.start = lambda *_a, **_k: run  # type: ignore[assignment, return-value]
    async with box.open(lab=lab) as learner:
        await learner.press("3", "enter", "r", "r")
        events.put(observation("call-1", 1))
        await learner.until(lambda: "a plain sentence" in learner.text)
        await learner.press("x")
        assert run.cancelled
        events.put(ended("cancelled", "lab.cancelled"))
        events.put(None)  # type: ignore[arg-type]
        pane = learner.app.learner.panes["lab"].front
        assert isinstance(pane, LabPane)
        await learner.until(lambda: pane.view.ended == "cancelled")
        assert "a plain sentence" in learner.text


async def test_a_flood_of_output_is_bounded_and_escaped(box: Box80) -> None:
    flood = [
        {"event": "output", "at": 0.1, "text": f"line {n} \x1b[2J[b]x[/b]\n", "stream": "demo"} for n in range(3000)
    ]
    async with box.open(lab=FakeLab([*flood, ended("ok")])) as learner:
        await learner.press("3", "enter", "r", "r")
        pane = learner.app.learner.panes["lab"].front
        assert isinstance(pane, LabPane)
        await learner.until(lambda: pane.view.ended == "ok")
        assert len(pane.view.output) == KEPT
        assert "printed by the demo, 3000 lines" in learner.text
        await learner.press("G")
        assert "line 2999 \\x1b[2J[b]x[/b]" in learner.text
