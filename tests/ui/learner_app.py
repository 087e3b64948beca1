"""The learner's application for tests: its own state, a fixed machine, the screen as text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.app import App
from textual.keys import _character_to_key
from textual.pilot import Pilot

from tests.ui.settled import settled
from tutor.cli.context import context_of
from tutor.cli.parser import parse
from tutor.model import Demo
from tutor.ui import app as app_module
from tutor.ui.app import TutorApp
from tutor.ui.box import Box
from tutor.ui.panes.code import CodePane
from tutor.ui.store import Store

#: Named keys that are characters; the others have none, as from `Pilot.press`.
CHARACTERS = {"space": " ", "slash": "/", "equals_sign": "=", "full_stop": ".", "comma": ","}
RIGHT = "guarded_shape, dtype, device"


def text_of(app: App[None]) -> str:
    """What the screen shows, a line per row."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def rows_of(app: TutorApp) -> list[str]:
    return text_of(app).split("\n")


class FakeLab:
    """A lab whose runs are lists of events; nothing is started."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self.events = events
        self.predicted: dict[str, int] = {}
        self.params: Any = None
        self.closed = self.warmed = False

    def warm(self) -> None:
        self.warmed = True

    def start(self, demo: Demo, device: str = "auto", predicted: Any = None, params: Any = None) -> FakeRun:
        del demo, device
        self.predicted, self.params = dict(predicted or {}), params
        return FakeRun(self.events)

    def close(self) -> None:
        self.closed = True


class FakeRun:
    def __init__(self, events: list[dict[str, Any]]) -> None:
        self._events = iter(events)
        self.cancelled = False

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self._events

    def cancel(self) -> None:
        self.cancelled = True


def result(verdict: str) -> dict[str, Any]:
    return {
        "event": "result", "at": 0.9, "demo": "automatic-dynamic", "claims": {"automatic-dynamic": verdict},
        "because": {"automatic-dynamic": {"key": "lab.ok", "args": {}}},
        "observed": {"default": {"new_graphs": [1, 1]}},
        "units": {"new_graphs": "graphs"}, "predicted": {"call-1": 1}, "answers": {"call-1": 1}, "agreed": 1,
        "environment": {"torch": "2.13.0", "contended": False},
        "source": "measured", "when": "2026-11-30T00:00:00+00:00", "where": None,
    }  # fmt: skip


class Learner:
    """A running application and its pilot."""

    def __init__(self, app: TutorApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def store(self) -> Store:
        return self.app.store

    @property
    def text(self) -> str:
        return text_of(self.app)

    @property
    def rows(self) -> list[str]:
        return rows_of(self.app)

    async def press(self, *keys: str) -> str:
        """Keys one after the other; none needs waiting for, since the application reads them one by one."""
        for key in keys:
            name = _character_to_key(key) if len(key) == 1 else key
            self.app.post_message(events.Key(name, key if len(key) == 1 else CHARACTERS.get(key)))
        await self.settle()
        return self.text

    async def settle(self) -> None:
        """Until what was asked for so far is done and painted."""
        await self.read()
        await settled(self.pilot)

    async def read(self) -> None:
        """Until the application has read every key that was posted so far."""
        read = asyncio.Event()
        self.app.call_later(read.set)
        await read.wait()

    async def type(self, words: str) -> str:
        return await self.press(*words)

    async def until(self, what: Callable[[], Any]) -> None:
        """Wait for a state; the test's own time limit is the deadline."""
        for _ in range(2000):
            if what():
                await self.settle()
                return
            await self.pilot.pause(0.005)
        raise AssertionError(f"never came; the screen was:\n{self.text}")

    async def check(self) -> str:
        """F5 and wait for the verdict."""
        before = self.store.progress.last_check
        await self.press("f5")
        await self.until(lambda: self.store.progress.last_check is not before)
        return self.text


class Box80:
    """Opens learners on one state folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        monkeypatch.setattr(app_module, "look", lambda _python, _device: Box("2.13.0", None))

    @asynccontextmanager
    async def open(
        self, *, lang: str = "en", size: tuple[int, int] = (80, 24), welcomed: bool = True, lab: FakeLab | None = None
    ) -> AsyncIterator[Learner]:
        context = context_of(parse(["--lang", lang, "--state", str(self.folder / "state"), "--theme", "dark"]), {})
        store = Store(context.lesson, context.journal, context.lang)
        other = context.journal.claim_session()
        if welcomed and context.journal.read_only is None and other is None:
            store.record("setting", name="welcomed", value=True)
        app = TutorApp(context, store, other)
        if lab is not None:
            app.__dict__["lab"] = lab
        try:
            async with app.run_test(size=size) as pilot:
                await settled(pilot)
                yield Learner(app, pilot)
                store.flush()
        finally:
            app.checker.close()
            if lab is None:
                app.close_lab()
            context.journal.close()


async def in_blank(learner: Learner) -> CodePane:
    await learner.press("1", "enter")
    pane = learner.app.learner.panes["code"]
    assert isinstance(pane, CodePane)
    assert learner.app.focused is pane.area
    return pane


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Box80:
    return Box80(tmp_path, monkeypatch)
