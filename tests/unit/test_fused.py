"""The exercise's judge without a process: what is drawn, what is right, garbled answers, the learner's file."""

from __future__ import annotations

import base64
import math
import random
import statistics
from array import array
from pathlib import Path
from typing import Any

import pytest

from tutor.fused import cases, exact, inside, large, run, source
from tutor.fused.own import BEFORE, Own, OwnError
from tutor.lab.protocol import Outcome
from tutor.model import Ending, Message

LESSON = Path(__file__).resolve().parents[2] / "lessons" / "lesson_02_torch_compile"
DRAFT = (LESSON / "exercise" / "fused_kernel.py").read_text(encoding="utf-8")


def asked(seed: int = 7) -> run.Asked:
    found = run.ask(DRAFT, demos=LESSON / "demos", rng=random.Random(seed), timed=((64, 16),))
    assert isinstance(found, run.Asked)
    return found


def case(hidden: int = 4, *, used: bool = False, apart: int = cases.NEAR, rows: int = 2) -> cases.Case:
    return cases._case(random.Random(3), "usual", rows, hidden, apart=apart, used=used)


def right(one: cases.Case) -> dict[str, array[int]]:
    after = {name: held[:] for name, held in one.memory.items()}
    bias, weight, shift = (one.row(name, 0) for name in ("bias", "weight", "shift"))
    for row in range(one.rows if one.hidden else 0):
        out, _ = exact.right_row(one.row("x", row), bias, weight, shift, one.row("residual", row))
        at = one.at("out", row, 0)
        after["out"][at : at + one.hidden] = cases.all_to_bf16(out)
    return after


# --- what is drawn ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_every_run_has_the_calls_that_cheats_fear(seed: int) -> None:
    drawn = cases.draw(random.Random(seed))
    assert any(one.rows == 0 for one in drawn)
    assert any(one.rows > 1 and one.hidden == 0 for one in drawn)
    assert any(one.hidden > cases.WIDEST // 2 for one in drawn)
    assert max(one.hidden for one in drawn) <= cases.WIDEST
    starts = [set(one.starts.values()) for one in drawn]
    assert {cases.GUARD} in starts, "aligned"
    assert any(cases.GUARD not in one for one in starts), "all of them somewhere else"
    filled = [one for one in drawn if one.rows and one.hidden]
    poisoned = [one.memory["out"][one.at("out", 0, 0)] == cases.UNWRITTEN for one in filled]
    assert set(poisoned) == {True, False}
    same = [one for one in drawn if (one.rows, one.hidden) == (drawn[-1].rows, drawn[-1].hidden)]
    assert len({bytes(one.memory["x"]) for one in same}) == len(same) >= 3


def test_values_are_rounded_to_the_bits_that_torch_gives() -> None:
    values = [0.0, -0.0, 1.0, 1.00390625, 1.01171875, -3.14159, 65504.0, 1e-40, 3.3e38]  # two ties, one subnormal
    bits = [0x0000, 0x8000, 0x3F80, 0x3F80, 0x3F82, 0xC049, 0x4780, 0x0001, 0x7F78]
    assert list(cases.all_to_bf16(values)) == bits


def test_values_from_a_seed_are_spread_and_another_call_has_others() -> None:
    values = list(map(exact.from_bf16, large.values(5, large.FIRST_X, 0, 4000)))
    assert abs(statistics.mean(values)) < 0.1
    assert 1.05 < statistics.stdev(values) < 1.25
    assert max(map(abs, values)) <= 4.0
    assert large.values(5, large.FIRST_X, 100, 50) == large.values(5, large.FIRST_X, 0, 150)[100:]
    assert large.values(5, large.FIRST_X + 1, 0, 50) != large.values(5, large.FIRST_X, 0, 50)
    assert large.values(6, large.FIRST_X, 0, 50) != large.values(5, large.FIRST_X, 0, 50)


def test_rows_that_are_looked_at_are_of_any_call_and_of_the_last() -> None:
    size = large.draw(random.Random(1), 32768, 4096, calls=200, looked_at=16, rows_each=2, timed=True)
    calls = {call for call, _ in size.samples}
    assert len(size.samples) == 32
    assert len(calls) == 16
    assert 199 in calls
    assert min(calls) < 100


# --- what is right ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("used", [True, False])
def test_right_is_right(used: bool) -> None:
    one = case(used=used)
    assert exact.judge(one, right(one), truncates=False) is None


@pytest.mark.parametrize(("rows", "hidden"), [(0, 7), (3, 0)])
def test_nothing_to_compute_is_right_when_nothing_was_stored(rows: int, hidden: int) -> None:
    one = case(hidden, rows=rows)
    after = right(one)
    assert exact.judge(one, after, truncates=False) is None
    after["out"][one.starts["out"]] = 0x3F80
    found = exact.judge(one, after, truncates=False)
    assert found is not None
    assert found.message == Message("kernel.wrong-outside", {"name": "out"})


@pytest.mark.parametrize("used", [True, False])
def test_what_was_there_before_is_no_result(used: bool) -> None:
    one = case(used=used)
    after = right(one)
    at = one.at("out", 1, 0)
    after["out"][at : at + 4] = one.memory["out"][at : at + 4]
    found = exact.judge(one, after, truncates=False)
    assert found is not None
    assert found.message.key == "kernel.wrong-unwritten"


def test_one_wrong_value_that_was_there_by_chance_does_not_hide_the_others() -> None:
    before, after = [0x3F80, 0x3F80, 0x3F80], [0x3F80, 0x4000, 0x3F80]
    found = exact.judge_row(0, ([5.0, 5.0, 5.0], [0.0, 0.0, 0.0]), after, before, truncates=False)
    assert found is not None
    assert found.message.key == "kernel.wrong-value"


def test_a_write_before_an_unaligned_tensor_is_outside() -> None:
    one = case()
    for name, at in (("out", one.starts["out"] - 1), ("x", one.starts["x"] - 1), ("bias", 0)):
        after = right(one)
        after[name][at] ^= 1
        found = exact.judge(one, after, truncates=False)
        assert found is not None
        assert found.message == Message("kernel.wrong-outside", {"name": name})


def test_a_row_of_a_large_size_is_judged_from_its_bytes() -> None:
    size = large.draw(random.Random(1), 64, 32, calls=2, looked_at=1, rows_each=1)
    ((call, row),) = size.samples
    rows = large.Rows(9, size)

    def values(stream: int, at: int) -> list[float]:
        return list(map(exact.from_bf16, large.values(9, stream, at * 32, 32)))

    bias, weight, shift = (values(large.STREAMS[name], 0) for name in ("bias", "weight", "shift"))
    x, residual = values(large.FIRST_X + call, row), values(large.STREAMS["residual"], row)
    good = cases.all_to_bf16(exact.right_row(x, bias, weight, shift, residual)[0])
    assert rows.judge(call, row, good, truncates=False) is None
    for wrong, key in (
        (array("H", [large.poison(call)]) * 32, "unwritten"),
        (array("H", [0x3F80]) * 32, "value"),
        (array("H", [*good[:-1], 0x7FC0]), "finite"),
    ):
        found = rows.judge(call, row, wrong, truncates=False)
        assert found is not None
        assert found.message.key == f"kernel.wrong-{key}"
    assert rows.judge(call - 1 if call else call + 1, row, good, truncates=False) is not None, "of another call"
    with pytest.raises(ValueError, match="31 elements"):
        rows.judge(call, row, good[:-1], truncates=False)


def test_no_right_row_can_hold_what_the_output_is_filled_with() -> None:
    assert math.isnan(exact.from_bf16(large.poison(0)))
    assert exact.from_bf16(large.poison(1)) > 1e8


# --- what a worker says -----------------------------------------------------------------------------------------------


def seen(series: str, of: str | None = None, **values: Any) -> dict[str, Any]:
    return {"series": series, "call": of, "values": values}


def whole(one: run.Asked) -> list[dict[str, Any]]:
    said = []
    for number, drawn in enumerate(one.drawn):
        after = right(drawn) if drawn.kind not in ("not-finite",) and drawn.hidden else drawn.memory
        for name, held in after.items():
            said.append(seen("memory", call=number, name=name, raw=base64.b64encode(held.tobytes()).decode()))
    return said


@pytest.mark.parametrize(
    "said",
    [
        [],
        [seen("memory", call=0, name="x", raw="AAA=")],
        [seen("memory", call=0, name="x", raw="not base64")],
        [seen("memory", call=99, name="x", raw="AAAA")],
        [seen("memory", call="no", name="x", raw="AAAA")],
        [seen("raised", kind="E")],
        [seen("stray", call=99, name="x", bytes=2, elements=1)],
        [{"series": "memory", "call": None, "values": None}],
    ],
)
def test_an_answer_that_is_not_whole_is_the_tool_s_fault(said: list[dict[str, Any]]) -> None:
    found = run.judged(asked(), said, "cpu")
    assert found.ending is Ending.BROKE
    assert found.message.key == "kernel.garbled"


def test_a_call_that_came_out_wrong_explains_more_than_what_stopped_the_run() -> None:
    one = asked()
    said = [each for each in whole(one) if each["values"]["call"] == 0]
    stray = seen("stray", call=0, name="out", bytes=-4096, elements=3)
    found = run.judged(one, [*said, stray], "cpu")
    assert found.ending is Ending.FAILED
    if one.drawn[0].kind != "not-finite":
        assert found.message == Message("kernel.wrong-stray", {"name": "out", "bytes": 4096})
        assert found.case == one.drawn[0].call


# --- the file ---------------------------------------------------------------------------------------------------------


def test_the_file_begins_as_the_draft_and_is_private(tmp_path: Path) -> None:
    own = Own.of(LESSON, tmp_path / "state")
    assert own.exists
    assert own.stamp() is None
    assert own.read() == DRAFT
    own.ensure()
    assert own.path.read_text() == DRAFT
    assert own.path.stat().st_mode & 0o077 == 0
    own.path.write_text("mine")
    own.ensure()
    assert own.read() == "mine"
    assert not own.is_draft("mine")


def test_reset_and_undo_lose_nothing(tmp_path: Path) -> None:
    own = Own.of(LESSON, tmp_path)
    assert not own.undo()
    own.ensure()
    own.path.write_bytes(b"\xff mine")
    own.reset()
    own.reset()
    assert own.read() == DRAFT
    assert (tmp_path / BEFORE).read_bytes() == b"\xff mine"
    own.path.write_text("newer")
    assert own.undo()
    assert own.path.read_bytes() == b"\xff mine"
    assert own.undo()
    assert own.read() == "newer"
    assert sorted(path.name for path in tmp_path.iterdir()) == [BEFORE, "fused_kernel.py"]


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    own = Own.of(LESSON, tmp_path)
    own.path.mkdir()
    with pytest.raises(OwnError) as raised:
        own.read()
    assert raised.value.message.key == "kernel.own-unreadable"
    with pytest.raises(OwnError) as raised:
        Own.of(LESSON, LESSON / "lesson.toml").reset()
    assert raised.value.message.key == "kernel.own-unwritable"


def test_a_lesson_without_the_exercise_has_none(tmp_path: Path) -> None:
    assert not Own.of(tmp_path, tmp_path).exists


# --- inside -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("hidden", "most", "block"), [(0, 1024, 1), (1, 1024, 1), (17, 1024, 32), (4096, 1024, 1024)])
def test_the_block_is_the_launch_s(hidden: int, most: int, block: int) -> None:
    assert source.block(hidden, most) == block


def test_an_admitted_file_is_looked_into_with_the_exercise_s_types(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(DRAFT.replace("NUM_WARPS = 4", "NUM_WARPS = 8").replace("MAX_BLOCK = 1024", "MAX_BLOCK = 8192"))
    kernel = inside.kernel_of(path)
    assert kernel is not None
    setting = kernel.setting()
    assert setting["warps"] == 8
    assert setting["constants"] == {"H": 4096, "BLOCK": 4096}
    assert {*setting["types"], *setting["constants"]} == set(source.PARAMETERS)
    path.write_text("import os\n")
    assert inside.kernel_of(path) is None
    assert inside.kernel_of(tmp_path / "gone.py") is None


def test_what_evidence_keeps_is_the_verdict_on_one_text() -> None:
    found = run.Judgement(Ending.FAILED, Message("kernel.died", {"signal": 11}), case().call, 2.5, 17, device="cpu")
    record = {"demo": "fused", "environment": {"device": "cpu"}, "observed": {"memory": {"raw": ["x"]}}}
    kept = run._kept(record, found, DRAFT)
    assert "memory" not in kept["observed"]
    again = run.remembered(kept, DRAFT)
    assert again is not None
    assert (again.ending, again.message, again.case, again.ulps) == (
        found.ending,
        found.message,
        found.case,
        found.ulps,
    )
    assert run.remembered(kept, DRAFT + " ") is None
    assert run.remembered({**kept, "demo": "inside"}, DRAFT) is None
    assert run.remembered({**kept, "observed": {}}, DRAFT) is None


def test_the_end_of_a_run_decides_before_what_it_said() -> None:
    for outcome, ending in (("limit", Ending.LIMIT), ("failed", Ending.BROKE), ("cancelled", Outcome.CANCELLED)):
        end = {"event": "ended", "outcome": outcome, "message": {"key": "lab.cancelled", "args": {}}}
        found = run.finish(asked(), iter([end]), lambda _event: None)  # type: ignore[arg-type]
        assert found.ending is ending
        assert found.record is None
