"""The Result page writes the report into the learner's folder and says where."""

from __future__ import annotations

import pytest

from tests.ui.learner_app import Box80, box

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
