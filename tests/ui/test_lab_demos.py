"""A demo on the screen: all that it printed, live and replayed, and a fault of the tool, which is never silent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.ui.learner_app import Box80, FakeLab, FakeRun, Learner, box
from tutor.lab import transcripts
from tutor.lab.verdicts import RuleError
from tutor.ui.panes.base import Pane
from tutor.ui.panes.lab import LabPane
from tutor.ui.panes.lab_requests import RequestsView
from tutor.ui.panes.lab_tab import LabTab

__all__ = ["box"]

LAST = "GPU ......:.:...:.:..:::...::...:.:..:.:..:.:..:::...::...::...:::..:..:.|"


def ended(outcome: str = "ok", key: str = "lab.ok") -> dict[str, Any]:
    return {"event": "ended", "at": 1.0, "demo": "-", "outcome": outcome, "message": {"key": key, "args": {}}}


def printed(*lines: str) -> dict[str, Any]:
    return {"event": "output", "at": 0.1, "text": "".join(f"{line}\n" for line in lines), "stream": "demo"}


async def on_demo(learner: Learner, name: str = "launch-bound") -> LabPane:
    await learner.app.learner.open_demo(name)
    pane = learner.app.learner.active
    assert isinstance(pane, LabPane)
    await learner.until(lambda: pane.body.size.height > 0)
    return pane


class Broken(FakeRun):
    """A run whose events cannot be read to their end."""

    def __init__(self, *events: dict[str, Any]) -> None:
        super().__init__(list(events))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        yield from self._events
        raise KeyError("series")


# --- what was printed -------------------------------------------------------------------------------------------------


async def test_all_that_was_printed_can_be_scrolled_through(box: Box80) -> None:
    async with box.open(lab=FakeLab([printed(*(f"row {n}" for n in range(60)), LAST), ended()])) as learner:
        pane = await on_demo(learner)
        await learner.press("r", "r")
        await learner.until(lambda: pane.view.ended == "ok")
        assert pane.body.item == "ask:eager"
        await learner.press("G")
        assert LAST in learner.text
        await learner.press("k")
        top = pane.body.top
        await learner.press("k", "k")
        assert pane.body.top == top - 2, "a row up, and not to a cursor that was left behind long ago"
        await learner.press("g", "j", "j", "j", "j")
        assert pane.body.item == "printed"
        await learner.press(*["j"] * 80)
        assert LAST in learner.text


async def test_paging_and_turning_do_not_wipe_what_a_run_showed(box: Box80) -> None:
    async with box.open(lab=FakeLab([printed(*(f"row {n}" for n in range(60))), ended()])) as learner:
        pane = await on_demo(learner)
        await learner.press("space", "l", "r", "r")
        assert pane.draft == {"eager": 1}, "before a run they change the prediction"
        await learner.until(lambda: pane.view.ended == "ok")
        await learner.press("space")
        assert pane.body.top > 0
        await learner.press("g", "j", "l")
        assert learner.app.learner.active is not pane, "the next view"
        await learner.press("h")
        assert learner.app.learner.active is pane
        assert len(pane.view.output) == 60
        await learner.press("v")
        assert not pane.view.ended
        assert pane.draft == {"eager": 2}


async def test_a_run_that_prints_on_leaves_the_view_where_the_reader_is(box: Box80) -> None:
    import queue

    events: queue.Queue[dict[str, Any] | None] = queue.Queue()
    lab, run = FakeLab([]), FakeRun([])
    run._events = iter(events.get, None)
    lab.start = lambda *_a, **_k: run  # type: ignore[assignment, return-value]
    async with box.open(lab=lab) as learner:
        pane = await on_demo(learner)
        await learner.press("r", "r")
        events.put(printed(*(f"row {n}" for n in range(60))))
        await learner.until(lambda: len(pane.view.output) == 60)
        await learner.press("space", "space")
        top = pane.body.top
        assert top > 20
        events.put(printed("one more"))
        await learner.until(lambda: len(pane.view.output) == 61)
        assert pane.body.top == top
        events.put(ended())
        events.put(None)
        await learner.until(lambda: pane.view.ended)


@pytest.mark.parametrize(("lang", "title"), [("en", "What launch-bound printed"), ("zh", "launch-bound 打印的内容")])
async def test_a_drawing_is_whole_on_a_page_where_the_pane_is_too_narrow(box: Box80, lang: str, title: str) -> None:
    lab = FakeLab([printed(LAST), ended()])
    async with box.open(lang=lang, size=(120, 40), lab=lab) as learner:
        pane = await on_demo(learner)
        await learner.press("r", "r")
        await learner.until(lambda: pane.view.ended == "ok")
        assert LAST not in learner.text
        assert "Enter" in learner.rows[-1]
        before = learner.rows[-1]
        await learner.press("j", "j", "j")
        await learner.until(lambda: learner.rows[-1] != before)
        await learner.press("enter")
        assert title in learner.text
        assert LAST in learner.text
        await learner.press("escape")
        assert title not in learner.text


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_what_was_printed_elsewhere_is_replayed_whole(box: Box80, size: tuple[int, int]) -> None:
    async with box.open(size=size, lab=FakeLab([ended("unavailable", "lab.needs-cuda")])) as learner:
        pane = await on_demo(learner)
        await learner.press("r", "r")
        await learner.until(lambda: pane.view.evidence)
        assert "[rec H200, 2026-11]" in learner.text
        told = transcripts.replay(pane.demo, transcripts.newest(pane.demo)) if pane.demo else ()
        lines = [row for event in told if event["event"] == "output" for row in event["text"].splitlines()]
        assert sum(row.startswith("GPU ") for row in lines) == 4
        assert pane.view.output == lines
        await learner.press("g", "j", "j", "j", "enter", "G")
        assert lines[-2] in learner.text


@pytest.mark.parametrize(("contended", "said"), [(True, True), (False, False), (None, False)])
async def test_a_run_that_shared_its_gpu_is_marked(box: Box80, contended: bool | None, said: bool) -> None:
    result = {
        **{"event": "result", "at": 0.9, "demo": "launch-bound", "claims": {}, "because": {}, "observed": {}},
        **{"units": {}, "predicted": {}, "answers": {}, "agreed": None, "environment": {"contended": contended}},
        **{"source": "measured", "when": "2026-11-30T00:00:00+00:00", "where": None},
    }
    async with box.open(lab=FakeLab([result, ended()])) as learner:
        pane = await on_demo(learner)
        await learner.press("r", "r")
        await learner.until(lambda: pane.view.ended == "ok")
        assert ("Contended: others used this machine" in learner.text) == said


# --- a fault of the tool ----------------------------------------------------------------------------------------------


async def test_a_reader_that_breaks_ends_the_run_and_says_so(box: Box80) -> None:
    lab, run = FakeLab([]), Broken(printed("before it"))
    lab.start = lambda *_a, **_k: run  # type: ignore[assignment, return-value]
    async with box.open(lab=lab) as learner:
        pane = await on_demo(learner)
        await learner.press("r", "r")
        await learner.until(lambda: pane.view.ended == "broke")
        assert not pane.running
        assert run.cancelled
        assert learner.text.count("KeyError: 'series'") == 2, "in the run, and in the message row"
        assert "before it" in learner.text
        lab.start = FakeLab([ended()]).start  # type: ignore[method-assign]
        await learner.press("r", "r")
        await learner.until(lambda: pane.view.ended == "ok")


@pytest.mark.parametrize("name", ["demos", "requests", "breaks", "layers", "inside"])
async def test_every_view_ends_a_run_whose_reader_breaks(box: Box80, name: str) -> None:
    lab = FakeLab([])
    lab.start = lambda *_a, **_k: Broken()  # type: ignore[assignment, return-value]
    async with box.open(lab=lab) as learner:
        await learner.press("3")
        tab = learner.app.learner.panes["lab"]
        assert isinstance(tab, LabTab)
        await tab.show(name)
        await learner.press("r", "r")
        await learner.until(lambda: "KeyError: 'series'" in learner.rows[-2])
        # Where one `r` is enough, the second may have begun another run.
        await learner.until(lambda: not tab.front.running)


async def test_a_key_that_the_tool_cannot_ask_for_is_said(box: Box80, monkeypatch: pytest.MonkeyPatch) -> None:
    async with box.open(lab=FakeLab([ended("unavailable", "lab.needs-cuda")])) as learner:
        await learner.press("3", "l")
        view = learner.app.learner.active
        assert isinstance(view, RequestsView)

        async def broken(*_: object) -> None:
            raise ConnectionError("the sandbox is gone")

        monkeypatch.setattr(learner.app.checker, "results", broken)
        await learner.press("r")
        await learner.until(lambda: view.ran is not None and view.ran.no_key is not None)
        assert "ConnectionError: the sandbox is gone" in learner.rows[-2]


async def test_a_pane_s_own_worker_that_breaks_is_said(box: Box80) -> None:
    """Whichever pane it is: a worker's message reaches nobody but the widget that started it."""

    async def broken() -> None:
        raise ZeroDivisionError("of the tool")

    async with box.open(lab=FakeLab([])) as learner:
        screen = learner.app.learner
        for key in "01234567":
            await learner.press(key)
            pane = screen.active
            assert isinstance(pane, Pane)
            screen.say("")
            pane.run_worker(broken(), exit_on_error=False)
            await learner.until(lambda: "ZeroDivisionError: of the tool" in learner.rows[-2])


@pytest.mark.parametrize(
    "error", [transcripts.TranscriptError("lab.recorded", where="x", when="y"), RuleError("bad rule")]
)
async def test_a_recording_that_cannot_be_read_is_said(
    box: Box80, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(*_: object, **__: object) -> Iterator[dict[str, Any]]:
        raise error
        yield {}

    monkeypatch.setattr(transcripts, "replay", broken)
    async with box.open(lab=FakeLab([ended("unavailable", "lab.needs-cuda")])) as learner:
        pane = await on_demo(learner)
        await learner.press("r", "r")
        await learner.until(lambda: pane.view.ended == "unavailable")
        assert learner.rows[-2].strip()
