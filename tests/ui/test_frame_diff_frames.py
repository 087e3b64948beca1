"""The frames of a real Textual app, each sent plain and as a difference to two terminals that must show the same."""

from __future__ import annotations

import random
from typing import Any

import pytest
from rich.color import ColorSystem
from rich.segment import Segment
from textual import _compositor, events
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.keys import key_to_character
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip
from textual.widgets import TextArea

from tests.ui.frame_diff_app import app_class
from tests.ui.pty_screen import Emulator, difference
from tutor.ui import frame_diff
from tutor.ui.frame_diff import Frame, FrameDiffApp, FrameDiffDriver
from tutor.ui.terminal_memory import TerminalMemory


class ComparedApp(app_class(FrameDiffApp)):  # type: ignore[misc]
    """Headless; what a driver would have got is compared after every frame."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = TerminalMemory(bce=True)
        self.terminals = Emulator(80, 24), Emulator(80, 24)
        for terminal in self.terminals:
            terminal.feed(b"\x1b[?7l")  # no wrapping at the right edge, as Textual's driver sets it
        self.plain_bytes = self.diff_bytes = self.frames = 0

    def on_resize(self, event: Any) -> None:
        self.memory.forget()
        for terminal in self.terminals:
            terminal.resize(*event.size)

    def write_title(self, title: str) -> None:
        self.title = title

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        super()._display(screen, renderable)
        if not isinstance(renderable, Frame) or not self._running or self._batch_count:
            return
        plain, diffed = self.terminals
        x, y = screen.outer_size.clamp_offset(self.cursor_position)
        sent = (renderable.render_segments(self.console) + f"\x1b[{y + 1};{x + 1}H").encode()
        text = self.frame_text(renderable, self.memory).encode()
        plain.feed(sent)
        diffed.feed(text)
        self.plain_bytes += len(sent)
        self.diff_bytes += len(text)
        self.frames += 1
        if screen.outer_size != self.size:
            return  # a frame of the old size, just after a resize: the plain one runs over the edge
        rows = sorted(plain.view.screen.dirty | diffed.view.screen.dirty)
        assert not (wrong := difference(plain.view.cells_of(rows), diffed.view.cells_of(rows))), (rows, wrong)
        plain.view.screen.dirty.clear()
        diffed.view.screen.dirty.clear()
        assert plain.view.cursor == diffed.view.cursor


def moves(choose: random.Random) -> list[str]:
    """Some keys that belong together."""
    text = ["a", "left_parenthesis", "space", "你", "，", "é", "…", "─", "x", "1"]
    kind = choose.choice(["type", "type", "erase", "walk", "select", "page", "screen", "app"])
    if kind == "type":
        return choose.choices(text, k=choose.randint(1, 6))
    if kind == "erase":
        return choose.choices(["backspace", "delete", "ctrl+k", "ctrl+u", "ctrl+z", "ctrl+y"], k=3)
    if kind == "walk":
        return choose.choices(["up", "down", "left", "right", "home", "end", "enter"], k=5)
    if kind == "select":
        steps = choose.choices(["shift+down", "shift+right", "shift+end", "shift+up"], k=3)
        return [*steps, choose.choice(["x", "delete", "left"])]
    if kind == "page":
        return choose.choices(["pagedown", "pageup", "ctrl+home", "ctrl+end"], k=2)
    if kind == "screen":
        return ["f2", "escape"]
    return [choose.choice(["f4", "f5", "f8", "f9", "ctrl+l"])]


async def play(pilot: Pilot[None], choose: random.Random, steps: int) -> None:
    for _ in range(steps):
        if choose.random() < 0.1:
            await pilot.resize_terminal(choose.randint(30, 130), choose.randint(8, 45))
        for key in moves(choose):
            pilot.app.post_message(events.Key(key, key_to_character(key)))
        if choose.random() < 0.2:
            lesson = pilot.app.query_one("#lesson")
            lesson.scroll_relative(y=choose.choice([-20, -1, 1, 3, 20]), animate=False)
        await pilot.pause()


@pytest.mark.parametrize("seed", range(4))
async def test_every_frame_of_a_random_session_looks_the_same(seed: int) -> None:
    app = ComparedApp()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.pause()
        await play(pilot, random.Random(seed), 25)
    assert app.frames > 30
    # A busy machine paints fewer and larger frames: 3.7 times less was seen then, 4 to 6 otherwise.
    assert app.diff_bytes * 3 < app.plain_bytes


@pytest.mark.parametrize(("no_color", "theme"), [(True, "textual-dark"), (False, "ansi-light"), (True, "ansi-dark")])
async def test_filters_apply(no_color: bool, theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    app = ComparedApp()
    app.theme = theme
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await play(pilot, random.Random(99), 10)
        colours = {cell.background for row in app.terminals[1].view.cells for cell in row}
    assert app.frames > 10
    grey = {f"{level:02x}" * 3 for level in range(256)} | {"default", "black", "white", "brightblack", "brightwhite"}
    assert (colours <= grey) == no_color, colours


async def test_what_textual_does_without_a_terminal_still_works() -> None:
    app = app_class(FrameDiffApp)()
    async with app.run_test(size=(60, 12)) as pilot:
        editor = app.query_one(TextArea)
        with app.batch_update():
            editor.insert("改")
        await pilot.pause()
        assert "guard_key_0" in app.export_screenshot()
        await pilot.press("ctrl+l")


def test_the_installed_textual_is_as_expected() -> None:
    app: FrameDiffApp[None] = FrameDiffApp()
    assert app.frame_diff_problem is None
    assert app.driver_class is FrameDiffDriver


async def test_a_started_driver_takes_nothing_for_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The resize that follows comes some messages later; frames until then must not build on what was."""
    monkeypatch.setattr(LinuxDriver, "__init__", lambda *_, **__: None)
    monkeypatch.setattr(LinuxDriver, "start_application_mode", lambda _: None)
    driver = FrameDiffDriver(FrameDiffApp())
    whole = [(0, 0, Strip([Segment("abc")]))]
    first = driver.memory.paint(whole, (3, 1), (0, 0), ColorSystem.TRUECOLOR)
    assert driver.memory.paint(whole, (3, 1), (0, 0), ColorSystem.TRUECOLOR) == ""
    driver.start_application_mode()
    assert driver.memory.paint(whole, (3, 1), (0, 0), ColorSystem.TRUECOLOR) == first


@pytest.fixture
def fresh_probe() -> Any:
    frame_diff.unexpected_internals.cache_clear()
    yield
    frame_diff.unexpected_internals.cache_clear()


class StrangeUpdate:
    """A frame that holds its strips under other names."""

    def __init__(self, lines: Any, region: Any) -> None:
        self.lines, self.region = lines, region


def _other_display(self: Any, screen: Any) -> None:
    """`App._display` with another signature."""


@pytest.mark.usefixtures("fresh_probe")
@pytest.mark.parametrize(
    ("where", "name", "value", "part"),
    [
        (_compositor, "LayoutUpdate", StrangeUpdate, "strips"),
        (App, "_display", _other_display, "App._display"),
        (Strip, "render_style", lambda *_: "", "Strip.render_style"),
    ],
)
def test_other_internals_are_left_to_textual_and_said(
    where: Any, name: str, value: Any, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, value)
    app: FrameDiffApp[None] = FrameDiffApp()
    assert app.driver_class is LinuxDriver
    problem = app.frame_diff_problem
    assert problem is not None
    assert problem.key == "frame_diff.plain_output"
    assert part in str(problem.args["part"])
