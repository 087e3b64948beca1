"""The break lab on the screen, with a lab whose runs are lists of events."""

from __future__ import annotations

import queue
from typing import Any

import pytest

from tests.ui.learner_app import Box80, FakeLab, FakeRun, Learner, box
from tutor.lab import breaks
from tutor.ui.panes.lab_breaks import BreaksView

__all__ = ["box"]

PRINT = """\
Graph break in user code at break_lab.py:7
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

Failed to trace builtin operator

User code traceback:
  File "break_lab.py", line 7, in f
    print("step", 1)
"""


def run_of(observed: dict[str, Any], outcome: str = "ok") -> list[dict[str, Any]]:
    result = {
        **{"schema": 1, "event": "result", "at": 1.0, "demo": "breaks", "claims": {}, "because": {}, "units": {}},
        **{"predicted": {}, "answers": {}, "agreed": None, "environment": {"torch": "2.13.0"}, "where": None},
        **{"source": "measured", "when": "2026-11-30T00:00:00+00:00", "observed": observed},
    }
    message = {"key": "lab.ok", "args": {}} if outcome == "ok" else {"key": "lab.no-torch", "args": {"path": "py"}}
    ended = {"schema": 1, "event": "ended", "at": 1.0, "outcome": outcome, "message": message}
    return [result, ended] if outcome == "ok" else [ended]


def end(**more: Any) -> dict[str, list[Any]]:
    values = {"same_as_eager": True, "explain_graphs": 2, "explain_breaks": 1, "raised": None, **more}
    return {name: [value] for name, value in values.items()}


TWO = {"graph": {"lines": [[6], [8, 14, 17, 22, 24]]}, "break": {"payload": [PRINT]}, "end": end()}


async def opened(learner: Learner) -> BreaksView:
    await learner.press("3", "l", "l")
    view = learner.app.learner.active
    assert isinstance(view, BreaksView)
    return view


@pytest.mark.parametrize(
    ("lang", "graph", "counted"), [("en", "graph 2", "graphs 2, breaks 1"), ("zh", "图 2", "图 2 张")]
)
async def test_each_line_shows_what_it_ran_as(box: Box80, lang: str, graph: str, counted: str) -> None:
    lab = FakeLab(run_of(TWO))
    async with box.open(lang=lang, lab=lab) as learner:
        view = await opened(learner)
        await learner.press("r")
        await learner.until(lambda: view.ran is not None and view.ran.ended)
        row = next(row for row in learner.rows if 'print("step"' in row)
        assert row.startswith("! Python")
        assert next(row for row in learner.rows if "h = h + 1" in row).startswith(f"  {graph}")
        assert counted in learner.text
        assert "Failed to trace builtin operator" in learner.text
        assert lab.params == {"source": breaks.source({"B1"}), "file": breaks.FILE, "fullgraph": False}
        record = learner.store.progress.evidence["E1"].record
        assert record["observed"]["switches"] == {"on": ["B1"], "fullgraph": [False]}


async def test_explain_is_shown_where_it_counts_otherwise(box: Box80) -> None:
    silent = {
        "end": end(explain_graphs=0, explain_breaks=-1),
        "break": {
            "payload": [
                PRINT.replace(
                    "Encountered graph break when attempting to trace CALL",
                    "Skipping the function and falling back to eager",
                )
            ]
        },
    }
    async with box.open(lab=FakeLab(run_of(silent))) as learner:
        view = await opened(learner)
        await learner.press("r")
        await learner.until(lambda: view.ran is not None and view.ran.ended)
        assert "explain says: graphs 0, breaks -1" in learner.text
        assert "what runs as a whole in Python" in " ".join(learner.text.split())


async def test_fullgraph_raises_and_nothing_ran(box: Box80) -> None:
    raised = {"end": end(raised="Unsupported: Failed to trace builtin operator", same_as_eager=None)}
    lab = FakeLab(run_of(raised))
    async with box.open(lab=lab) as learner:
        view = await opened(learner)
        await learner.press("v", "r")
        await learner.until(lambda: view.ran is not None and view.ran.ended)
        assert lab.params["fullgraph"] is True
        assert "fullgraph raised and nothing ran" in learner.text
        assert "graph 1" not in learner.text


async def test_switches_are_kept_and_a_change_takes_the_old_run_away(box: Box80) -> None:
    async with box.open(lab=FakeLab(run_of(TWO))) as learner:
        view = await opened(learner)
        await learner.press("r")
        await learner.until(lambda: view.ran is not None and view.ran.ended)
        await learner.press("j", "space", "j", "enter", "k", "space")
        assert view.on == {"B1", "B3"}
        assert view.ran is None
        assert "Not run yet" in learner.text
    async with box.open(lab=FakeLab([])) as again:
        assert (await opened(again)).on == {"B1", "B3"}


async def test_without_torch_it_says_so(box: Box80) -> None:
    async with box.open(lab=FakeLab(run_of({}, "unavailable"))) as learner:
        view = await opened(learner)
        await learner.press("r")
        await learner.until(lambda: view.ran is not None and view.ran.ended)
        assert "py has no torch" in learner.text
        assert not learner.store.progress.evidence


async def test_x_stops_a_run_of_another_view(box: Box80) -> None:
    events: queue.SimpleQueue[Any] = queue.SimpleQueue()

    class Slow(FakeLab):
        def start(self, *args: Any, **more: Any) -> FakeRun:
            run = super().start(*args, **more)
            run._events = iter(events.get, None)
            self.last = run
            return run

    lab = Slow([])
    async with box.open(lab=lab) as learner:
        await opened(learner)
        await learner.press("r", "h", "x")
        assert lab.last.cancelled
        events.put(run_of({}, "unavailable")[0])
        events.put(None)
        await learner.until(lambda: "x stop" not in learner.text)
