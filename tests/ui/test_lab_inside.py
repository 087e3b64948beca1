"""Inside a kernel on the screen: two settings, their code by stage beside each other, searched, with its source."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ui.learner_app import Box80, FakeLab, Learner, box
from tutor.ui.panes.lab_inside import InsideView

__all__ = ["box"]

FILE = "/a/block.py"
TTGIR = """\
#blocked = #ttg.blocked<{{sizePerThread = [{size}]}}>
module attributes {{"ttg.num-warps" = {warps} : i32}} {{
  %v_1 = tt.load %x : f32 loc(#loc1)
  %v_2 = math.{op} %v_1 : f32{tail} loc(#loc2)
}}
#loc1 = loc("/a/block.py":2:4)
#loc2 = loc("/a/block.py":3:4)
"""


def seen(series: str, **values: Any) -> dict[str, Any]:
    return {"schema": 1, "event": "observation", "at": 0.5, "series": series, "call": None, "values": values}


def ended(outcome: str = "ok", key: str = "lab.ok") -> dict[str, Any]:
    message = {"key": key, "args": {}}
    return {"schema": 1, "event": "ended", "at": 1.0, "outcome": outcome, "message": message}


def of_setting(n: int, **fields: Any) -> list[dict[str, Any]]:
    code = TTGIR.format(**fields)
    needs = {"registers": 76 - n, "spilled_bytes": 0, "shared_bytes": 16, "instructions": {"FFMA": 288 - n}}
    return [
        seen("kernel", setting=n, name="k", file=FILE, first=1, last=3),
        seen("code", setting=n, stage="ttgir", text=code[:40]),
        seen("code", setting=n, stage="ttgir", text=code[40:]),
        seen("code", setting=n, stage="sass", text="        /*0000*/    FFMA R1, R2, R3 ;\n"),
        seen("needs", setting=n, **needs),
    ]


RESULT = {
    **{"schema": 1, "event": "result", "at": 1.0, "demo": "inside", "claims": {}, "because": {}, "units": {}},
    **{"predicted": {}, "answers": {}, "agreed": None, "environment": {"torch": "2.13.0"}, "where": None},
    **{"source": "measured", "when": "2026-11-30T00:00:00+00:00"},
    "observed": {"code": {"setting": [0, 0], "stage": ["ttgir", "ttgir"], "text": ["abc", "de"]}},
}
GOOD = [
    seen("compiler", triton="3.6.0"),
    seen("file", path=FILE, text="def k(x):\n    v = load(x) \x1b[31m\n    return erf(v)\n"),
    *of_setting(0, size=8, warps=4, op="exp2", tail=" " + "z" * 90 + "end"),
    *of_setting(1, size=8, warps=8, op="erf", tail=""),
    RESULT,
    ended(),
]


async def opened(learner: Learner) -> InsideView:
    await learner.press("3", "l", "l", "l", "l")
    view = learner.app.learner.active
    assert isinstance(view, InsideView)
    return view


async def ran(learner: Learner) -> InsideView:
    view = await opened(learner)
    await learner.press("r")
    await learner.until(lambda: not view.running and (view.code or view.said))
    return view


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_the_settings_are_chosen_and_reach_the_compiler(box: Box80, lang: str) -> None:
    lab = FakeLab(GOOD)
    async with box.open(lang=lang, lab=lab) as learner:
        view = await opened(learner)
        assert "sm_90" in learner.text
        assert "H=4096  BLOCK=4096" in learner.text
        await learner.press("j", "v", "j", "v", "j", "v")
        await learner.press("r")
        await learner.until(lambda: view.code)
        a, b = lab.params["settings"]
        assert (a["target"], a["warps"], a["constants"]["H"]) == (100, 8, 2048)
        assert (b["target"], b["warps"], b["constants"]["H"], b["constants"]["GELU"]) == (
            *(90, 8, 4096),
            "kernels.gelu:gelu_erf",
        )


@pytest.mark.parametrize(("lang", "made"), [("en", "without a GPU"), ("zh", "没有用 GPU")])
async def test_both_stand_side_by_side_where_there_is_room(box: Box80, lang: str, made: str) -> None:
    async with box.open(lang=lang, lab=FakeLab(GOOD), size=(120, 40)) as learner:
        await ran(learner)
        await learner.press("z")
        rows = learner.rows
        assert any("exp2" in row and " | " in row and "math.erf" in row for row in rows)
        assert any(row.count("tt.load") == 2 for row in rows)
        assert "loc(" not in learner.text
        head = " ".join(rows[:8])
        assert made in head
        assert "Triton 3.6.0" in head
        assert "FFMA=288" in head
        assert "FFMA=287" in head


async def test_on_a_narrow_screen_both_come_one_after_the_other_or_one_alone(box: Box80) -> None:
    async with box.open(lab=FakeLab(GOOD)) as learner:
        await ran(learner)
        assert "< " in learner.text
        assert learner.text.index("math.exp2") < learner.text.index("math.erf")
        assert learner.text.count("tt.load") == 1
        await learner.press("equals_sign")
        assert "math.erf" not in learner.text
        assert "FFMA=287" not in learner.text
        await learner.press("equals_sign")
        assert "math.exp2" not in learner.text
        assert "v stage" in learner.rows[-2]  # The key line has no room for these keys.


async def test_enter_names_the_source_line_on_the_message_row(box: Box80) -> None:
    async with box.open(lab=FakeLab(GOOD)) as learner:
        await ran(learner)
        await learner.press("enter")
        assert "comes from no line of the source" in learner.text
        await learner.press("slash")
        await learner.type("tt.load")
        await learner.press("enter")
        await learner.press("enter")
        assert "block.py:2  v = load(x) \\x1b[31m" in learner.text


async def test_search_finds_what_is_out_of_sight_and_goes_both_ways(box: Box80) -> None:
    async with box.open(lab=FakeLab(GOOD)) as learner:
        view = await ran(learner)
        await learner.press("slash")
        await learner.type("%V_")
        await learner.press("enter")
        first = view.body.at
        await learner.press("n")
        assert view.body.at == first + 1
        await learner.press("p")
        assert view.body.at == first
        await learner.press("slash")
        await learner.type("zzend")
        await learner.press("enter")
        assert "zzend" not in learner.text.replace("search: zzend", "")
        assert view.body.item.endswith("<")
        await learner.press(*["full_stop"] * 5)
        assert "zzend" in learner.text
        await learner.press(*["comma"] * 9)
        assert view.shift == 0


async def test_stages_go_round_and_a_missing_one_is_said(box: Box80) -> None:
    async with box.open(lab=FakeLab(GOOD)) as learner:
        view = await ran(learner)
        await learner.press("v")
        assert view.stage == "ptx"
        assert "no ptx" in learner.text
        await learner.press("v")
        assert "FFMA R1, R2, R3" in learner.text
        await learner.press("v")
        assert "def k(x):" in learner.text
        await learner.press("b")
        assert "sm_90" in learner.text
        assert not view.code


async def test_evidence_keeps_sizes_and_no_code(box: Box80) -> None:
    async with box.open(lab=FakeLab(GOOD)) as learner:
        view = await ran(learner)
        record = learner.store.progress.evidence[view.evidence or ""].record
        assert record["observed"]["code"] == {
            "setting": [0, 0],
            "stage": ["ttgir", "ttgir"],
            "characters": [3, 2],
        }


async def test_without_triton_one_sentence_and_the_settings_stay(box: Box80) -> None:
    async with box.open(lab=FakeLab([ended("unavailable", "lab.needs-triton-compiler")])) as learner:
        view = await ran(learner)
        assert "pip install triton" in learner.text
        assert not view.code
        await learner.press("j", "v")
        assert "sm_100" in learner.text


async def test_a_file_of_ones_own_is_looked_into_and_its_mistake_is_said(box: Box80) -> None:
    own = box.folder / "mine.py"
    own.write_text("")
    problem = seen("problem", setting=0, kind="compile", file=str(own), line=7, why="no lod")
    lab = FakeLab([seen("compiler", triton="3.6.0"), problem, ended()])
    async with box.open(lab=lab) as learner:
        view = await opened(learner)
        view.add_file("gone.py")
        assert view.choices[0].kernel == "block"
        view.add_file(f"{own}:k")
        await learner.press("r")
        await learner.until(lambda: view.said and not view.running)
        assert (lab.params["settings"][0]["file"], lab.params["settings"][0]["function"]) == (str(own), "k")
        assert "line 7: no lod" in " ".join(learner.text.split())


async def test_a_lesson_without_kernels_takes_a_file(box: Box80, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tutor.lab.kernels.of_lesson", lambda _folder: {})
    own = box.folder / "mine.py"
    own.write_text("")
    async with box.open(lab=FakeLab(GOOD)) as learner:
        view = await opened(learner)
        await learner.press("r", "v", "enter", "equals_sign", "n", "b")
        assert "no kernels" in learner.text
        view.add_file(str(own))
        await learner.press("r")
        await learner.until(lambda: view.code)
        assert "FFMA=288" in learner.text
