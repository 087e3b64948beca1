"""The Result page writes the report into the learner's folder and says where."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ui.learner_app import Box80, box
from tutor import catalog, exchange, handed_in

__all__ = ["box"]


@pytest.mark.parametrize(("lang", "said"), [("en", "Written: "), ("zh", "已写入 ")])
async def test_w_writes_the_report_with_what_was_just_typed(box: Box80, lang: str, said: str) -> None:
    async with box.open(lang=lang) as learner:
        pane = await learner.press("4")
        assert "w " not in pane.split("\n")[-1]
        await learner.press("enter")
        await learner.type("because of a <guard>")
        await learner.press("escape", "7")
        assert learner.rows[-1].split("w ")[1].startswith("report" if lang == "en" else "写报告")
        await learner.press("w")
        folder = learner.store.journal.folder
        written = "".join(row.strip() for row in learner.rows)
        assert said in learner.text
        assert str(folder) in written.replace(" ", "")
        assert "because of a <guard>" in (folder / "report.md").read_text(encoding="utf-8")
        assert "because of a &lt;guard&gt;" in (folder / "report.html").read_text(encoding="utf-8")


async def test_a_report_that_cannot_be_written_is_said(box: Box80) -> None:
    async with box.open() as learner:
        (learner.store.journal.folder / "report.md").mkdir()
        shown = await learner.press("7", "w")
        assert "cannot be written" in shown
        assert not (learner.store.journal.folder / "report.html").exists()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_h_asks_where_once_says_what_goes_and_hands_in(box: Box80, tmp_path: Path, size: tuple[int, int]) -> None:
    folder, _ = exchange.create(tmp_path / "class", catalog.load().id)
    async with box.open(size=size) as learner:
        await learner.press("7", "H")
        await learner.type(str(tmp_path / "nowhere"))
        await learner.press("enter")
        await learner.until(
            lambda: "Class folder" in learner.text and "no class.toml" in " ".join(learner.text.split())
        )
        await learner.press("escape", "H")
        await learner.type(str(folder.path))
        await learner.press("enter")
        await learner.until(lambda: "Hand in?" in learner.text)
        await learner.press("n")
        assert list(folder.inbox.iterdir()) == []
        await learner.press("H")
        await learner.until(lambda: "Hand in?" in learner.text)
        await learner.press("y")
        await learner.until(lambda: "receipt number 1" in learner.text)
        (receipt,) = handed_in.receipts(learner.store.journal.folder)
        assert [path.name for path in folder.inbox.iterdir()] == [receipt.file]


async def test_h_says_what_went_wrong_and_the_screen_goes_on(
    box: Box80, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = exchange.create(tmp_path / "class", catalog.load().id)

    def full(*_: object) -> None:
        raise exchange.ExchangeError("class.submit-full", path="inbox", why="No space left on device")

    monkeypatch.setattr(handed_in, "drop", full)
    async with box.open() as learner:
        learner.store.record("setting", name="class", value=str(folder.path))
        await learner.press("7", "H")
        await learner.until(lambda: "Hand in?" in learner.text)
        await learner.press("y")
        await learner.until(lambda: "is full" in learner.text)
        assert handed_in.receipts(learner.store.journal.folder) == []
