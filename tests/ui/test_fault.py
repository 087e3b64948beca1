"""A fault of the screen's own: what was typed is kept, and the command line tells it in a sentence."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.ui.learner_app import Box80, box
from tutor import terminal
from tutor.cli.exits import Exit
from tutor.cli.main import run
from tutor.ui.app import TutorApp
from tutor.ui.learner import LearnerScreen
from tutor.ui.pages import Welcome

__all__ = ["box"]

SECRET = "what_the_learner_wrote"


def test_a_fault_ends_in_a_sentence_and_keeps_what_was_typed(
    box: Box80, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(_screen: LearnerScreen) -> None:
        hidden = SECRET  # A traceback with local variables would show it.
        raise LookupError(f"no help of {len(hidden)}")

    async def typist(pilot: Pilot[object]) -> None:
        while not isinstance(pilot.app.screen, Welcome):
            await pilot.pause(0.005)
        await pilot.press("enter", "1", "enter", *SECRET, "f1")

    monkeypatch.setattr(LearnerScreen, "do_help", broken)
    monkeypatch.setattr(terminal, "preflight", lambda *_streams: None)
    monkeypatch.setattr(terminal, "apply_textual_defaults", lambda *_env, **_flags: None)
    monkeypatch.setattr(
        TutorApp, "run", lambda app, **_how: partial(super(TutorApp, app).run, headless=True, auto_pilot=typist)()
    )
    state = box.folder / "state"
    assert run(["--lang", "en", "--state", str(state)]) == Exit.BROKE
    printed = "".join(capfd.readouterr())
    assert "LookupError: no help of 22" in printed
    assert "Traceback" not in printed
    assert SECRET not in printed
    assert "in broken" in (box.folder / "cache" / "torch-compile-tutor" / "last-fault.txt").read_text(encoding="utf-8")
    assert SECRET in _journal(state)


def _journal(state: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in state.rglob("*.jsonl"))
