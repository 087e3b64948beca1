"""The exercise on the screen: the learner's file and its verdict, which never belongs to another text."""

from __future__ import annotations

import base64
import json
import queue
import random
import stat
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.ui.learner_app import Box80, Learner, box
from tutor.fused import exact, large, run
from tutor.fused.cases import TENSORS, all_to_bf16
from tutor.lab.host import LabBusy
from tutor.model import Demo
from tutor.ui.panes.answer import AnswerPane
from tutor.ui.panes.lab_exercise import ExerciseView
from tutor.ui.panes.lab_inside import InsideView

__all__ = ["box"]

Event = dict[str, Any]


def ended(outcome: str = "ok", key: str = "lab.ok", **args: Any) -> Event:
    return {"schema": 1, "event": "ended", "at": 1.0, "outcome": outcome, "message": {"key": key, "args": args}}


def seen(series: str, of: str | None = None, **values: Any) -> Event:
    return {"schema": 1, "event": "observation", "at": 0.5, "series": series, "call": of, "values": values}


def result(device: str, **observed: Any) -> Event:
    return {
        **{"schema": 1, "event": "result", "at": 1.0, "demo": "fused", "claims": {}, "because": {}, "units": {}},
        **{"predicted": {}, "answers": {}, "agreed": None, "environment": {"torch": "2.13.0", "device": device}},
        **{"where": None, "source": "measured", "when": "2026-11-30T00:00:00+00:00", "observed": observed},
    }


_ARGS = {"number": 3, "of": 18, "text": "bf16[3, 7]", "seconds": 1, "low": 2.0, "high": 60.0}
STEP = {
    **{"schema": 1, "event": "progress", "at": 0.5, "phase": "running", "elapsed": 1.0},
    "message": {"key": "lab.step", "args": _ARGS},
}
RAISED = [
    seen("raised", kind="InterpreterError", text="TypeError: \x1b[31mno\n  x = y\n      ^\nname y", line=34),
    result("cpu", raised={"kind": ["InterpreterError"]}),
    ended(),
]
SIDES = {"own": 60.0, "lesson": 52.0, "inductor": 140.0, "floor": 50.0}


class Lab:
    """A lab that answers what it is asked, in place of a worker; `stopped` when the run was cancelled."""

    def __init__(self, *events: Event, device: str = "cpu", right: bool = False) -> None:
        self.events, self.device, self.right = list(events), device, right
        self.params: Mapping[str, Any] = {}
        self.demo = ""
        self.gate: queue.Queue[None] | None = None
        self.busy = self.stopped = False

    def warm(self) -> None:
        pass

    def close(self) -> None:
        pass

    def use(self, device: str) -> None:
        pass

    def start(self, demo: Demo, device: Any = None, predicted: Any = None, params: Any = None) -> Lab:
        del device, predicted
        if self.busy:
            raise LabBusy("busy")
        self.demo, self.params = demo.name, params
        return self

    def cancel(self) -> None:
        self.stopped = True
        if self.gate is not None:
            self.gate.put(None)

    def __iter__(self) -> Iterator[Event]:
        yield STEP
        if self.gate is not None:
            self.gate.get(timeout=20)
        if self.stopped:
            yield ended("cancelled", "lab.cancelled")
            return
        if self.right:
            yield from right_answers(self.params, self.device)
        yield from self.events


def right_answers(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """What a worker would say of a kernel that is right: the memory, written as float64 has it."""
    for number, call in enumerate(params["calls"]):
        memory = {name: exact.memory_of(base64.b64decode(raw)) for name, raw in call["memory"].items()}
        rows, hidden, starts = call["rows"], call["hidden"], call["starts"]
        strides = dict(zip(("x", "residual", "out"), call["strides"], strict=True))

        def values(
            name: str,
            row: int,
            memory: Mapping[str, array[int]] = memory,
            at: Any = (hidden, starts, strides),
        ) -> list[float]:
            begin = at[1][name] + row * at[2].get(name, 0)
            return [exact.from_bf16(bits) for bits in memory[name][begin : begin + at[0]]]

        for row in range(rows if hidden else 0):
            vectors = (values(name, row) for name in ("x", "bias", "weight", "shift", "residual"))
            out, _ = exact.right_row(*vectors)  # type: ignore[call-arg]
            begin = starts["out"] + row * strides["out"]
            bits = [0x7FC0 if value != value else 0x7F80 if value == float("inf") else 0 for value in out]
            finite = [value if abs(value) < 1e30 else 0.0 for value in out]
            for column, one in enumerate(all_to_bf16(finite)):
                special = 0xFF80 if out[column] == float("-inf") else bits[column]
                memory["out"][begin + column] = special or one
        for name in TENSORS:
            yield seen("memory", call=number, name=name, raw=base64.b64encode(memory[name].tobytes()).decode())
    tables: dict[str, list[Any]] = {name: [] for name in ("call", "side", "way", "us")}
    for size in params["large"][device]:
        made = large.Large(**{**size, "samples": tuple(map(tuple, size["samples"]))})
        for number, row in made.samples:
            raw = base64.b64encode(right_row(params["seed"], made, number, row).tobytes()).decode()
            yield seen("row", made.shape, call=number, row=row, raw=raw)
        for way in ("graph", "launch") if size["timed"] else ():
            for side, p50 in SIDES.items():
                us = {"n": 100, "p50": p50, "p95": p50 + 1, "p99": p50 + 2, "max": p50 + 9}
                yield seen("timed", made.shape, side=side, way=way, us=us)
                for name, value in (("call", made.shape), ("side", side), ("way", way), ("us", us)):
                    tables[name].append(value)
        yield seen("large", made.shape, unwritten=0, same=True, excess=None)
    yield result(device, **({"timed": tables} if tables["call"] else {}))


def right_row(seed: int, size: large.Large, number: int, row: int) -> array[int]:
    def values(stream: int, first: int) -> list[float]:
        return list(map(exact.from_bf16, large.values(seed, stream, first * size.hidden, size.hidden)))

    bias, weight, shift = (values(large.STREAMS[name], 0) for name in ("bias", "weight", "shift"))
    x, residual = values(large.FIRST_X + number, row), values(large.STREAMS["residual"], row)
    return all_to_bf16(exact.right_row(x, bias, weight, shift, residual)[0])


async def opened(learner: Learner) -> ExerciseView:
    await learner.press("3", "l", "l", "l", "l", "l")
    view = learner.app.learner.active
    assert isinstance(view, ExerciseView)
    return view


async def judged(learner: Learner) -> ExerciseView:
    view = await opened(learner)
    await learner.press("r")
    await learner.until(lambda: view.found is not None)
    return view


def file_of(box: Box80) -> Path:
    (path,) = (box.folder / "state").glob("*/fused_kernel.py")
    return path


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
