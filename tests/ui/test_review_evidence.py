"""A learner's evidence in the review: what is run again beside theirs, what is refused, what is told apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ui.learner_app import FakeLab
from tests.ui.review_room import Room, Window, files, lesson
from tutor.classroom import submission
from tutor.lab import protocol, transcripts
from tutor.model import Lesson, Message
from tutor.ui.review.evidence import EvidenceScreen
from tutor.ui.review.item import ItemScreen

__all__ = ["files", "lesson"]

DEMO = "automatic-dynamic"


def events(lesson: Lesson) -> list[dict[str, Any]]:
    """A run that was made here."""
    demo = lesson.demos[DEMO]
    run = list(transcripts.replay(demo, transcripts.newest(demo)))
    for event in run:
        if event["event"] == "result":
            event |= {"source": "measured", "when": "2026-12-01T10:00:00Z", "where": None}
            event["environment"] = {**event["environment"], "gpu": None, "platform": "Linux here", "contended": False}
    return run


@pytest.fixture
def room(tmp_path: Path, lesson: Lesson, files: list[bytes]) -> Iterator[Room]:
    """One learner, with an entry for what is run again and one for each that is not."""
    body = json.loads(files[0])["body"]
    (theirs,) = [event for event in events(lesson) if event["event"] == "result"]
    theirs = {**theirs, "predicted": {"call-1": 1}, "answers": {**theirs["answers"], "call-3": 4}}
    theirs["environment"] = {"device": "cpu", "platform": "Linux [b]there[/b]", "contended": True}
    body["evidence"] = {
        "E1": {"record": theirs},
        "E2": {"record": {**theirs, "demo": "file", "source": "recorded", "where": "\x1b[2Jelsewhere"}},
        "E3": {"record": 3},
    }
    made = Room(tmp_path, lesson, [submission.seal(body)])
    yield made
    made.book.close()


async def opened(window: Window, lab: FakeLab) -> EvidenceScreen:
    window.app._lab = lab  # type: ignore[assignment]
    await window.press("o")
    screen = window.screen(EvidenceScreen)
    await window.until(lambda: screen.view.item)
    return screen


@pytest.mark.parametrize(("lang", "size"), [("en", (80, 24)), ("zh", (120, 40))])
async def test_a_demo_of_the_lesson_is_run_here_beside_theirs(
    room: Room, lesson: Lesson, lang: str, size: tuple[int, int]
) -> None:
    async with room.open(question="q1", lang=lang, size=size) as window:
        lab = FakeLab(events(lesson))
        screen = await opened(window, lab)
        assert "\x1b" not in window.text
        screen.view.select("E1")
        await window.press("r")
        await window.until(lambda: screen.run is not None and screen.run.view.ended)
        assert lab.predicted == {"call-1": 1}
        assert {"en": "measured here, 2026-12-01T10:00Z, Linux here", "zh": "本机实测，2026-12-01T10:00Z"}[
            lang
        ] in window.text
        assert {"en": "measured on the learner's box", "zh": "学习者机器上测的"}[lang] in window.text
        assert "[b]there[/b]" in window.text
        differs = window.line(lesson.demos[DEMO].asks[2].label)
        assert differs.startswith("[~]")
        assert [word for word in differs.split() if word.isdigit()][-2:] == ["4", "0"]
        assert window.line(lesson.demos[DEMO].asks[0].label).startswith("[=]")
        await window.press("escape")
        assert screen.view.item == "E1"
        await window.press("escape")
        assert window.app.screen is window.screen(ItemScreen)


async def test_without_torch_what_was_recorded_is_replayed_and_says_so(room: Room) -> None:
    message = protocol.as_json(Message("lab.no-torch", {"path": "python3"}))
    gone = protocol.event("ended", 0.1, demo=DEMO, outcome="unavailable", message=message)
    async with room.open(question="q1") as window:
        screen = await opened(window, FakeLab([gone]))
        screen.view.select("E1")
        await window.press("r")
        await window.until(lambda: "replayed, not run here: recorded on" in window.text)
        assert "measured here" not in window.text


async def test_what_is_no_demo_of_the_lesson_is_never_run(room: Room) -> None:
    async with room.open(question="q1") as window:
        lab = FakeLab([])
        screen = await opened(window, lab)
        for name, words in (("E2", "'file' is none of this lesson's demos"), ("E3", "none of this lesson's demos")):
            screen.view.select(name)
            assert words in await window.press("r")
        assert screen.run is None


async def test_a_run_can_be_stopped_and_the_keys_go_on(room: Room) -> None:
    class Endless:
        def __init__(self) -> None:
            self.cancelled = False

        def __iter__(self) -> Iterator[dict[str, Any]]:
            while not self.cancelled:
                message = protocol.as_json(Message("lab.cancelled", {}))
                yield protocol.event("progress", 1.0, message=message)
            message = protocol.as_json(Message("lab.cancelled", {}))
            yield protocol.event("ended", 1.0, demo=DEMO, outcome="cancelled", message=message)

        def cancel(self) -> None:
            self.cancelled = True

    class Lab(FakeLab):
        def start(self, *_: Any, **__: Any) -> Any:
            return Endless()

    async with room.open(question="q1") as window:
        screen = await opened(window, Lab([]))
        screen.view.select("E1")
        await window.press("r")
        await window.until(lambda: "Stopped by you" in window.text)  # as far as it is
        assert "x stop" in window.text.split("\n")[-1]
        await window.press("x")
        await window.until(lambda: not screen.running)
        await window.until(lambda: "r run it here" in window.text.split("\n")[-1])
        await window.press("escape", "escape")
        assert "1 [x]" in await window.press("1")


async def test_a_run_whose_reader_breaks_has_ended_and_says_so(room: Room) -> None:
    class Broken:
        def __iter__(self) -> Iterator[dict[str, Any]]:
            raise TypeError("\x1b[2Jno event")
            yield {}

        def cancel(self) -> None:
            pass

    class Lab(FakeLab):
        def start(self, *_: Any, **__: Any) -> Any:
            return Broken()

    async with room.open(question="q1") as window:
        screen = await opened(window, Lab([]))
        screen.view.select("E1")
        await window.press("r")
        await window.until(lambda: "its events could not be read any further" in window.text)
        await window.until(lambda: not screen.running)
        assert "\x1b" not in window.text


async def test_a_blank_that_cannot_be_judged_again_is_said(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise TypeError("no judge")

    monkeypatch.setattr("tutor.ui.review.item.judge", broken)
    async with room.open(question="q1") as window:
        await window.press("r")
        await window.until(lambda: "TypeError: no judge" in window.text)
        assert "1 [x]" in await window.press("1")
