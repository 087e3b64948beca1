"""What was typed is saved, whatever the disk or another window does."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from tests.ui.learner_app import Box80, box, in_blank
from tutor.paths import StateError
from tutor.ui import learner as learner_module

__all__ = ["box"]


async def test_a_full_disk_is_said_and_what_was_typed_is_written_later(
    box: Box80, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with box.open() as learner:
        await in_blank(learner)
        journal = learner.store.journal

        def full(*_: object, **__: object) -> None:
            raise StateError("state.disk-full", path="/x", why="No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(journal, "append", full)
            await learner.type("abc")
            await learner.until(lambda: "NOT SAVED" in learner.rows[0])
            assert "No space left" in learner.text
        await learner.type("d")  # which is written before the next try of what the disk refused
        await learner.until(lambda: learner.store.saved and "NOT SAVED" not in learner.rows[0])
        assert learner.store.progress.text("code") == "abcd"
        assert "No space left" not in learner.text
        assert "everything that was waiting is saved" in learner.text


async def test_a_second_window_is_told_and_only_reads_unless_it_takes_over(
    box: Box80, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learner_module, "RETRY", 0.1)
    async with box.open() as first:
        pane = await in_blank(first)
        await first.type("abc")
        await first.until(lambda: first.store.saved)
        async with box.open() as second:
            assert "still has this progress open" in second.text
            await second.press("n")
            assert "read-only" in second.rows[0]
            await second.press("1", "enter")
            assert not isinstance(second.app.focused, TextArea | Input)
        assert pane.area.blank_text == "abc"
        async with box.open() as third:
            await third.press("y")
            await third.press("1", "enter", "end", "x")
            await third.until(lambda: third.store.saved)
            await first.until(lambda: first.store.journal.lost_session)
            assert "read-only" in first.rows[0]


async def test_what_was_typed_when_another_took_over_is_set_aside(box: Box80) -> None:
    async with box.open() as first:
        await in_blank(first)
        await first.type("mine")
        async with box.open() as second:
            await second.press("y")
            first.store.keep_draft("code", "mine, unsaved", (0, 0))
            first.store.keep_edge("1", "guard_key((), set(), 'f32', 'cpu') == 1", "why")
            await first.until(lambda: first.store.journal.lost_session)
            folder: Path = first.store.journal.folder
            await first.until(lambda: list(folder.glob("unsaved-code-*.txt")))
            assert next(folder.glob("unsaved-code-*.txt")).read_text() == "mine, unsaved"
            edge = next(folder.glob("unsaved-edge-1-*.txt")).read_text()
            assert edge == "guard_key((), set(), 'f32', 'cpu') == 1\nwhy"
            said = " ".join("".join(first.rows[-6:]).split())
            assert "Another window took over" in said
            assert "unsaved-code-" in "".join(said.split())
