"""The exercise on the screen: the learner's file and its verdict, which never belongs to another text."""

from __future__ import annotations

import json
import queue
import random
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.ui.exercise_lab import RAISED, Event, Lab, ended, file_of, judged, opened
from tests.ui.learner_app import Box80, box
from tutor.fused import run
from tutor.ui.panes.answer import AnswerPane
from tutor.ui.panes.lab_inside import InsideView

__all__ = ["box"]


@pytest.mark.parametrize(("lang", "draft", "cpu"), [("en", "right and slow", "interpreter"), ("zh", "但慢", "解释器")])
async def test_it_begins_with_the_draft_in_a_file_of_the_learner_s(box: Box80, lang: str, draft: str, cpu: str) -> None:
    async with box.open(lang=lang, lab=Lab()) as learner:
        view = await opened(learner)
        assert file_of(box).read_text() == view.own.shipped.read_text()
        assert stat.S_IMODE(file_of(box).stat().st_mode) == 0o600
        words = learner.text.replace("\n", "")
        assert draft in words
        assert cpu in words
        assert "fused_kernel.py" in learner.text
        await learner.press("G")
        assert "tl.store" in learner.text


@pytest.mark.parametrize(("lang", "word"), [("en", "PASS"), ("zh", "通过")])
async def test_a_right_kernel_passes_without_points_and_is_evidence(box: Box80, lang: str, word: str) -> None:
    lab = Lab(ended(), right=True)
    async with box.open(lang=lang, lab=lab) as learner:
        before = learner.store.score
        view = await judged(learner)
        assert view.found is not None
        assert view.found.message.key == "kernel.passed", (view.found.message, view.found.case)
        assert f"{word}  " in learner.text
        assert "[E1 " in learner.text
        assert learner.store.score == before
        assert "memory" not in learner.store.progress.evidence["E1"].record["observed"]
        assert lab.params["text"] == file_of(box).read_text()
        await learner.press("c")
        assert isinstance(learner.app.learner.active, AnswerPane)
        assert "[E1]" in learner.app.learner.active.area.text


@pytest.mark.parametrize(("lang", "share"), [("en", "yours"), ("zh", "你的")])
async def test_on_a_gpu_the_times_stand_beside_the_floor(box: Box80, lang: str, share: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(run, "TIMED", ((64, 128),))
    async with box.open(lang=lang, lab=Lab(ended(), device="cuda", right=True), size=(80, 40)) as learner:
        view = await judged(learner)
        assert view.found is not None
        assert view.found.message.key == "kernel.passed-timed", view.found.message
        own = [row for row in learner.rows if row.strip().startswith(share)]
        assert [row.split()[-5:] for row in own] == [["60.0", "61.0", "62.0", "69.0", "1.20x"]] * 2
        assert sum("2.80x" in row for row in learner.rows) == 2
        assert all(len(row) <= 80 for row in learner.rows)


async def test_a_table_that_is_too_long_is_whole_on_a_page(box: Box80, monkeypatch: Any) -> None:
    monkeypatch.setattr(run, "TIMED", ((64, 128), (32, 64)))
    async with box.open(lab=Lab(ended(), device="cuda", right=True)) as learner:
        await judged(learner)
        assert "more lines: Enter shows all" in learner.text
        await learner.press("enter", "G")
        assert "as a CUDA graph" in learner.text or "launched" in learner.text
        assert "bf16[32, 64]" in learner.text


async def test_what_raised_is_said_with_its_line_and_steers_no_terminal(box: Box80) -> None:
    async with box.open(lab=Lab(*RAISED)) as learner:
        view = await judged(learner)
        assert view.found is not None
        assert "FAIL  Line 34: InterpreterError: name y" in learner.text
        assert "TypeError: \\x1b[31mno" in learner.text
        assert any(row.startswith(">34 ") for row in learner.rows)
        assert "Try: " in learner.text


async def test_a_verdict_goes_with_its_text_and_comes_back_with_it(box: Box80) -> None:
    lab = Lab(*RAISED)
    async with box.open(lab=lab) as learner:
        view = await judged(learner)
        before = file_of(box).read_text()
        file_of(box).write_text(before + "\n")
        view.look()
        await learner.press("j")
        assert "FAIL" not in learner.text
        assert "verdict on the older text is gone" in learner.text
        file_of(box).write_text(before)
        view.look()
        await learner.press("k")
        assert "FAIL  Line 34" in learner.text
        assert "[E1 here]" in learner.text
    async with box.open(lab=lab) as learner:
        await opened(learner)
        assert "FAIL  Line 34" in learner.text, "the next start has it too"


async def test_a_change_while_it_is_judged_keeps_the_verdict_off_the_screen(box: Box80) -> None:
    lab = Lab(*RAISED)
    lab.gate = queue.Queue()
    async with box.open(lab=lab) as learner:
        view = await opened(learner)
        await learner.press("r")
        await learner.until(lambda: "3 of 18: bf16[3, 7]" in learner.text)
        file_of(box).write_text(file_of(box).read_text() + "\n")
        lab.gate.put(None)
        await learner.until(lambda: not view.running)
        assert "FAIL" not in learner.text
        assert "evidence E1, not shown here" in " ".join(learner.text.split())
        assert list(learner.store.progress.evidence) == ["E1"]


async def test_x_stops_and_nothing_is_evidence(box: Box80) -> None:
    lab = Lab()
    lab.gate = queue.Queue()
    async with box.open(lab=lab) as learner:
        view = await opened(learner)
        await learner.press("r")
        await learner.until(lambda: "3 of 18" in learner.text)
        assert "x stop" in learner.text
        await learner.press("r")
        assert "x to stop it" in learner.text, "one at a time"
        await learner.press("x")
        await learner.until(lambda: not view.running)
        assert lab.stopped
        assert not learner.store.progress.evidence
        assert "Enter edit" in learner.text


async def test_a_lab_that_is_busy_is_said(box: Box80) -> None:
    lab = Lab()
    lab.busy = True
    async with box.open(lab=lab) as learner:
        view = await opened(learner)
        await learner.press("r")
        await learner.until(lambda: not view.running)
        assert "x to stop it" in learner.text


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (ended("unavailable", "lab.needs-triton-kernels"), "pip install triton numpy"),
        (ended("limit", "lab.limit-time", seconds=120.0), "LIMIT"),
        (ended("broke", "lab.garbled"), "TOOL-BROKE"),
    ],
)
async def test_every_other_end_says_whose_fault_it_is(box: Box80, end: Event, words: str) -> None:
    async with box.open(lab=Lab(end)) as learner:
        await judged(learner)
        assert words in " ".join(learner.text.split())
        assert not learner.store.progress.evidence
        assert ("costs nothing" in learner.text) == (words == "TOOL-BROKE")


async def test_what_is_no_kernel_is_refused_unrun(box: Box80) -> None:
    lab = Lab()
    async with box.open(lab=lab) as learner:
        await opened(learner)
        file_of(box).write_text("import os\n")
        await learner.press("r")
        await learner.until(lambda: "REFUSED" in learner.text)
        assert lab.demo == ""
        assert any(row.startswith(">1 import os") for row in learner.rows)
        await learner.press("o")
        assert "Line 1: only `import triton`" in learner.text


async def test_a_judge_that_breaks_is_the_tool_s_fault(box: Box80, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: Any) -> None:
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr(run, "finish", broken)
    lab = Lab()
    async with box.open(lab=lab) as learner:
        view = await judged(learner)
        assert "TOOL-BROKE" in learner.text
        assert "a mistake of ours" in learner.text
        assert lab.stopped
        assert not view.running


async def test_the_editor_has_the_file_itself(box: Box80, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []

    def editor(argv: list[str], check: bool) -> Any:
        assert not check
        given.extend(argv)
        path = Path(argv[-1])
        path.write_text(path.read_text().replace("NUM_WARPS = 4", "NUM_WARPS = 8"))
        return type("Done", (), {"returncode": code})()

    code = 0
    monkeypatch.setattr("tutor.ui.editor.subprocess.run", editor)
    monkeypatch.setattr("tutor.ui.app.TutorApp.suspend", lambda _app: open_nothing())
    async with box.open(lab=Lab()) as learner:
        learner.app.context.env = {"EDITOR": "ed --quiet"}
        view = await opened(learner)
        await learner.press("e")
        assert given == ["ed", "--quiet", str(file_of(box))]
        assert "NUM_WARPS = 8" in view.text
        assert "Taken over" in learner.text
        code = 3
        file_of(box).write_text(view.text.replace("NUM_WARPS = 8", "NUM_WARPS = 4"))
        await learner.press("f4")
        assert "ed ended with 3" in learner.text
        assert "NUM_WARPS = 8" in view.text, "what is in the file is shown, however the editor ended"
        learner.app.context.env = {"EDITOR": "/nowhere/ed"}
        monkeypatch.undo()
        monkeypatch.setattr("tutor.ui.app.TutorApp.suspend", lambda _app: open_nothing())
        await learner.press("e")
        assert "Cannot start /nowhere/ed" in learner.text


def open_nothing() -> Any:
    from contextlib import nullcontext

    return nullcontext()


async def test_reset_asks_and_u_brings_back(box: Box80) -> None:
    async with box.open(lab=Lab()) as learner:
        view = await opened(learner)
        draft = view.text
        file_of(box).write_text("# mine\n" + draft)
        view.look()
        await learner.press("R")
        assert "# mine" in file_of(box).read_text()
        await learner.press("y")
        assert file_of(box).read_text() == draft == view.text
        await learner.press("R", "y", "u")
        assert view.text == "# mine\n" + draft, "a second reset loses nothing"
        await learner.press("u")
        assert view.text == draft, "nor does u"


async def test_u_without_a_reset_says_so(box: Box80) -> None:
    async with box.open(lab=Lab()) as learner:
        view = await opened(learner)
        draft = view.text
        await learner.press("u")
        assert "Nothing was reset" in learner.text
        assert file_of(box).read_text() == draft


@pytest.mark.parametrize(
    ("raw", "words"),
    [(b"\xff\xfe", "not UTF-8"), (b"#" * 90_000, "longer than"), (b"# " + "字".encode() * 30_000, "longer than")],
)
async def test_a_file_that_cannot_be_shown_is_one_sentence_and_is_left_alone(
    box: Box80, raw: bytes, words: str
) -> None:
    lab = Lab()
    async with box.open(lab=lab) as learner:
        view = await opened(learner)
        file_of(box).write_bytes(raw)
        view.look()
        await learner.press("r")
        assert words in learner.text
        assert lab.demo == ""
        assert file_of(box).read_bytes() == raw


async def test_a_file_that_is_gone_begins_again_as_the_draft(box: Box80) -> None:
    async with box.open(lab=Lab()) as learner:
        view = await opened(learner)
        file_of(box).unlink()
        view.look()
        await learner.press("j")
        assert view.text == view.own.shipped.read_text()


async def test_o_looks_inside_beside_the_lesson_s_kernel(box: Box80) -> None:
    lab = Lab(ended("unavailable", "lab.needs-triton-compiler"))
    async with box.open(lab=lab) as learner:
        await opened(learner)
        await learner.press("o")
        inside = learner.app.learner.active
        assert isinstance(inside, InsideView)
        await learner.until(lambda: not inside.running)
        own, lesson = lab.params["settings"]
        assert (own["file"], own["function"]) == (str(file_of(box)), "fused_kernel")
        assert (own["constants"], own["types"]["x"]) == ({"H": 4096, "BLOCK": 1024}, "*bf16")
        assert lesson["module"] == "kernels.block"


async def test_other_views_of_the_lab_have_neither_editor_nor_reset(box: Box80) -> None:
    async with box.open(lab=Lab()) as learner:
        await learner.press("3", "f4")
        assert "$EDITOR" not in learner.rows[-1]
        assert "F4/^O" in learner.text
        await learner.press("R", "o", "e")
        assert learner.app.learner.context == "lab"


def test_the_draft_is_short_enough_to_be_read_at_80_columns() -> None:
    from rich.cells import cell_len

    from tests.attacks.kernel_cheats import DRAFT

    assert max(map(cell_len, DRAFT.splitlines())) <= 75


def test_what_is_remembered_is_of_this_text_alone() -> None:
    asked = run.ask(json.dumps("no kernel"), demos=Path(), rng=random.Random(1))
    assert isinstance(asked, run.Judgement)
    assert asked.record is None
