"""A trace folder on the screen: asked for, read beside the screen, shown in both languages, nothing raw."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ui.learner_app import Box80, FakeLab, Learner, box
from tests.unit.test_trace_job import compiled
from tests.unit.test_trace_records import TRACES
from tutor.ui import commands
from tutor.ui.panes.lab_trace import TraceView

__all__ = ["box"]


def said(learner: Learner) -> str:
    """What the screen shows, as one line."""
    return " ".join(learner.text.split())


async def opened(learner: Learner) -> TraceView:
    await learner.app.learner.perform(commands.by_id("trace"))
    await learner.settle()
    view = learner.app.learner.active
    assert isinstance(view, TraceView)
    return view


async def read(learner: Learner, path: Path) -> TraceView:
    """Type the folder's name and wait until it is read."""
    view = await opened(learner)
    await learner.press("enter")
    await learner.press(*str(path), "enter")
    await learner.app.workers.wait_for_complete()
    await learner.settle()
    return view


@pytest.mark.parametrize(("lang", "words"), [("en", "Enter opens a folder"), ("zh", "打开 TORCH_TRACE 写下的文件夹")])
async def test_it_says_what_it_wants(box: Box80, lang: str, words: str) -> None:
    async with box.open(lang=lang, lab=FakeLab([])) as learner:
        await opened(learner)
        assert words in learner.text
        assert "lab --script train.py" in said(learner)


@pytest.mark.parametrize(("lang", "words"), [("en", "RANKS DIFFER"), ("zh", "RANK 之间不一样")])
async def test_a_folder_is_explained(box: Box80, lang: str, words: str) -> None:
    async with box.open(lang=lang, lab=FakeLab([])) as learner:
        view = await read(learner, TRACES / "2.13-ranks")
        for wanted in (words, "rank 1", "x.size(0) 8 -> 11"):
            assert wanted in learner.text
        assert max(line.cells for line in view.body.lines) <= 80
        await learner.press("t")
        assert words not in learner.text


async def test_the_table_fits_beside_the_lesson(box: Box80) -> None:
    async with box.open(lang="en", lab=FakeLab([]), size=(120, 40)) as learner:
        view = await read(learner, TRACES / "2.13-ranks")
        rows = [line.text for line in view.body.lines if line.text.startswith("rank ")]
        assert [row.split() for row in rows] == [
            ["rank", "0", "2", "2", "0", "0", "0", "0", "0.1"],
            ["rank", "1", "5", "5", "3", "0", "0", "0", "0.3"],
        ]


async def test_a_folder_is_read_again_when_the_job_has_gone_on(box: Box80, tmp_path: Path) -> None:
    (tmp_path / "t.log").write_bytes(compiled("first"))
    async with box.open(lang="en", lab=FakeLab([]), size=(80, 40)) as learner:
        view = await read(learner, tmp_path)
        assert "first" in learner.text
        (tmp_path / "t.log").write_bytes(compiled("first") + compiled("second", frame_id=1))
        await learner.press("r")
        await learner.app.workers.wait_for_complete()
        await learner.settle()
        assert "second" in learner.text
        assert view.job is not None


async def test_what_is_no_trace_says_what_to_do(box: Box80, tmp_path: Path) -> None:
    async with box.open(lang="en", lab=FakeLab([])) as learner:
        await read(learner, tmp_path)
        assert "holds no torch trace" in said(learner)
        await read(learner, tmp_path / "gone")
        assert "There is no" in said(learner)


async def test_nothing_from_a_trace_reaches_the_terminal_raw(box: Box80, tmp_path: Path) -> None:
    (tmp_path / "t.log").write_bytes(compiled("\x1b]0;x\x07[bold]f", 2, why="y\x1b[2J == 1"))
    async with box.open(lang="en", lab=FakeLab([]), size=(80, 40)) as learner:
        await read(learner, tmp_path)
        assert "\\x1b]0;x\\x07[bold]f" in learner.text
        assert "\x1b" not in learner.text


async def test_reading_can_be_stopped(box: Box80, monkeypatch: pytest.MonkeyPatch) -> None:
    async with box.open(lang="en", lab=FakeLab([])) as learner:
        view = await opened(learner)
        monkeypatch.setattr(view, "run_worker", lambda *_args, **_more: Stuck())
        view.open("somewhere")
        assert view.can("stop")
        await learner.press("x")
        assert "Reading was stopped" in learner.text
        assert not view.reading


class Stuck:
    """A worker that does not end by itself."""

    def cancel(self) -> None:
        pass
