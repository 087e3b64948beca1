"""The Result page writes the report into the learner's folder and says where."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.ui.learner_app import Box80, box
from tutor.classroom import exchange, handed_in, returned, submission
from tutor.lesson import catalog

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
            lambda: "Class folder" in learner.text and "is no class folder" in " ".join(learner.text.split())
        )
        assert learner.text.count("nowhere") > 1, "what was typed stands there to be mended"
        await learner.press("escape", "H", "ctrl+u")
        await learner.type(str(folder.path))
        await learner.press("enter")
        await learner.until(lambda: "Hand in?" in learner.text)
        await learner.press("n")
        assert list(folder.inbox.iterdir()) == []
        assert "class" not in learner.store.progress.settings, "remembered is where something was handed in"
        await learner.press("H", "enter")
        await learner.until(lambda: "Hand in?" in learner.text)
        await learner.press("y")
        await learner.until(lambda: "receipt number 1" in learner.text)
        (receipt,) = handed_in.receipts(learner.store.journal.folder)
        assert [path.name for path in folder.inbox.iterdir()] == [receipt.file]
        assert learner.store.progress.settings["class"] == str(folder.path)
        await learner.until(lambda: "is with your class" in learner.text)


async def test_h_says_what_went_wrong_and_the_screen_goes_on(
    box: Box80, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = exchange.create(tmp_path / "class", catalog.load().id)

    def full(*_: object) -> None:
        raise exchange.ExchangeError("class.submit-full", path="inbox", why="No space left on device")

    monkeypatch.setattr(handed_in, "drop", full)
    async with box.open() as learner:
        learner.store.record("setting", name="class", value=str(folder.path))
        await learner.press("7", "H", "enter")
        await learner.until(lambda: "Hand in?" in learner.text)
        await learner.press("y")
        await learner.until(lambda: "is full" in learner.text)
        assert handed_in.receipts(learner.store.journal.folder) == []


async def test_a_class_folder_that_does_not_answer_holds_up_nothing(
    box: Box80, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = exchange.create(tmp_path / "class", catalog.load().id)
    answered = threading.Event()
    monkeypatch.setattr(handed_in, "is_for", lambda *_: answered.wait(60))
    async with box.open() as learner:
        learner.store.record("setting", name="class", value=str(folder.path))
        await learner.press("7", "H", "enter")
        await learner.until(lambda: "Looking at the class folder" in learner.text)
        assert "> Code" in await learner.press("1")
        await learner.press("7", "H", "enter")
        await learner.until(lambda: "has not answered yet" in learner.text)
        answered.set()
        await learner.until(lambda: "Hand in?" in learner.text)
        await learner.press("n")
        assert list(folder.inbox.iterdir()) == []


async def test_what_was_shown_is_what_goes(box: Box80, tmp_path: Path) -> None:
    folder, _ = exchange.create(tmp_path / "class", catalog.load().id)
    async with box.open() as learner:
        learner.store.record("draft", name="q1", text="as it was asked", cursor=[0, 0])
        await learner.press("7", "H", *str(folder.path), "enter")
        await learner.until(lambda: "Hand in?" in learner.text)
        assert "answers 1, evidence 0" in " ".join(learner.text.split())
        learner.store.record("draft", name="q1", text="another window wrote", cursor=[0, 0])
        await learner.press("y")
        await learner.until(lambda: "receipt number 1" in learner.text)
        (path,) = folder.inbox.iterdir()
        assert submission.read(path.read_bytes()).answer("q1") == "as it was asked"


async def test_who_comes_back_while_a_look_is_under_way_is_shown_a_later_one(
    box: Box80, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered, look, looks = threading.Event(), returned.look, []

    def slow(state: Path) -> returned.CameBack:
        looks.append(state)
        assert answered.wait(20)
        return look(state)

    monkeypatch.setattr(returned, "look", slow)
    async with box.open() as learner:
        await learner.press("7")
        await learner.until(lambda: looks)
        await learner.press("1", "7", "1", "7")
        assert len(looks) == 1, "one at a time"
        answered.set()
        await learner.until(lambda: len(looks) == 2)
        await learner.press("1")
        assert len(looks) == 2, "and once for all who came meanwhile"


async def test_what_came_back_is_shown_and_counts(box: Box80, tmp_path: Path) -> None:
    folder, _ = exchange.create(tmp_path / "class", catalog.load().id)
    async with box.open(size=(80, 60)) as learner:
        store = learner.store
        receipt, _ = handed_in.submit(store.progress, store.lesson, store.journal.folder, folder)
        slot = store.lesson.rubric.questions["q1"].slots[0]
        q1 = {"points": 1, "of": 2, "veto": "guess", "comment": "see [b]line 2[/b]\n\x1b[2J", "at": "2026-12-01"}
        own = {"own1": {"zh": "自己的", "en": "the log is named"}}
        body = {
            "kind": returned.KIND,
            "class": folder.id,
            "submission": receipt.sha256,
            "final": False,
            "total": None,
            "machine": {"normal": 1, "edge": 0},
            "questions": {"q1": {**q1, "slots": {slot.id: True, "own1": True}, "labels": own}},
        }
        place = folder.feedback / f"{receipt.reply}.json"
        place.write_bytes(b"{}")
        await learner.press("7")
        await learner.until(lambda: "is not feedback to your hand-in" in " ".join(learner.text.split()))
        await learner.press("1")
        place.write_bytes(submission.seal(body))
        await learner.press("7")
        await learner.until(lambda: "Hand-in 1: not everything is scored yet." in learner.text)
        shown = learner.text
        for words in ("Q1: 1/2", "[x] the log is named", "guess told as measured", "see [b]line 2[/b]", "\\x1b[2J"):
            assert words in shown
        assert f"[x] {slot.label.en}" in " ".join(shown.split())
        assert "partly by an instructor; not a pass yet" in " ".join(shown.split())
        assert learner.rows[0].split(" | ")[1] == "2/10 partly final", "no score without its giver"
        final = {part.id: part.points for part in store.score.parts if part.giver == "final"}
        assert final == {"normal": 1, "edge": 0, "q1": 1}
        written = store.progress.answer("q1").final
        await learner.press("1", "7")
        await learner.until(lambda: "Hand-in 1: not" in learner.text)
        assert store.progress.answer("q1").final is written, "nothing is written twice"
        given = {"points": 1, "of": 2, "veto": "none", "comment": "", "at": "2026-12-01", "slots": {}}
        every = {name: {**given, "of": 1 if name == "explanation" else 2} for name in ("explanation", "q1", "q2", "q3")}
        place.write_bytes(submission.seal({**body, "final": True, "total": 5, "questions": every}))
        await learner.press("1", "7")
        await learner.until(lambda: "Hand-in 1: 5 points, final" in learner.text)
        assert learner.rows[0].split(" | ")[1] == "5/10 final"


async def test_l_asks_to_look_again_once_for_each_question(box: Box80, tmp_path: Path) -> None:
    folder, _ = exchange.create(tmp_path / "class", catalog.load().id)
    async with box.open(size=(80, 40)) as learner:
        store = learner.store
        receipt, _ = handed_in.submit(store.progress, store.lesson, store.journal.folder, folder)
        q1 = {"points": 1, "of": 2, "veto": "none", "comment": "", "at": "2026-12-01", "slots": {}}
        body = {
            "kind": returned.KIND,
            "class": folder.id,
            "submission": receipt.sha256,
            "final": False,
            "total": None,
            "machine": None,
            "questions": {"q1": q1, "q2": {"points": None, "of": 2}},
        }
        (folder.feedback / f"{receipt.reply}.json").write_bytes(submission.seal(body))
        await learner.press("7")
        await learner.until(lambda: "Hand-in 1: not" in learner.text)
        await learner.press("L")
        await learner.until(lambda: "code, normal inputs has no published score" in learner.text)
        await learner.press("j", "j", "j", "L")
        await learner.until(lambda: "Why look again at Q1?" in learner.text)
        await learner.press("s", "e", "e", "enter")
        await learner.until(lambda: 'because "see"' in " ".join(learner.text.split()))
        before = set(folder.inbox.iterdir())
        await learner.press("y")
        await learner.until(lambda: "Your request is with the instructor: Q1" in " ".join(learner.text.split()))
        assert len(set(folder.inbox.iterdir()) - before) == 1
        await learner.until(lambda: handed_in.asked(store.journal.folder, receipt) == {"q1"})
        await learner.press("1", "7")
        await learner.until(lambda: "another look" in learner.text or "look again" in learner.text)
        await learner.press("L")
        await learner.until(lambda: "You have asked about Q1 before" in " ".join(learner.text.split()))
        assert len(set(folder.inbox.iterdir()) - before) == 1


async def test_a_fault_of_the_tools_own_is_said(box: Box80, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("[b]never seen")

    monkeypatch.setattr(returned, "find", broken)
    async with box.open() as learner:
        await learner.press("7")
        await learner.until(lambda: "RuntimeError: [b]never seen" in " ".join(learner.text.split()))
