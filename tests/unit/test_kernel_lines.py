"""The compiler's texts as lines with their source, and side by side; the texts are cut from Triton 3.6's own."""

from __future__ import annotations

import pytest

from tutor.lab import inside
from tutor.lab.inside import Looks
from tutor.lab.kernel_lines import Place, Row, beside, rows, with_calls

TTIR = """\
#loc = loc("/a/block.py":24:0)
#loc8 = loc(unknown)
#loc65 = loc("x"(#loc))
module {
  tt.func public @row_kernel(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32} loc("x"(#loc)), %n: i32 loc(#loc8)) {
    %row = tt.get_program_id x : i32 loc(#loc75)
    %cst = arith.constant 1.0 : f32 loc(#loc8)
    ^bb0(%mean_62: f32 loc(callsite(#loc8 at #loc105)), %mean_63: f32 loc(callsite(#loc8 at #loc105))):
      %mean_64 = arith.addf %mean_62, %mean_63 : f32 loc(#loc145)
      tt.reduce.return %mean_64 : f32 loc(callsite(#loc36 at callsite(#loc38 at #loc105)))
  } loc(#loc)
} loc(#loc)
#loc1 = loc("/a/block.py":41:24)
#loc36 = loc("/t/standard.py":293:36)
#loc38 = loc("/t/standard.py":263:12)
#loc75 = loc("row"(#loc1))
#loc105 = loc("/a/block.py":51:30)
#loc141 = loc(callsite(#loc36 at #loc105))
#loc145 = loc(callsite(#loc38 at #loc141))
"""

PTX = """\
.version 8.7
.visible .entry row_kernel(
)
{
\t.reg .b32 \t%r<9>;
\t.loc\t1 24 0                          // block.py:24:0
$L__func_begin0:
\t.loc\t1 41 24                         // block.py:41:24
\tmov.u32 \t%r1, %ctaid.x;
$L__tmp1:
\t.loc\t2 24 35                         // gelu.py:24:35 @[ block.py:48:30 ]
\tmul.f32 \t%r30, %r112, 0f3F3504F3;
$L__BB0_2:
\t.loc\t1 0 0                           // block.py:0:0
\tret;
}
\t.file\t1 "/a" "block.py"
\t.file\t2 "/a" "gelu.py"
\t.section\t.debug_abbrev
\t{
.b8 1
"""

SASS = """\
\t.section\t.text.row_kernel,"ax",@progbits
.text.row_kernel:
\t//## File "/a/block.py", line 24
        /*0000*/                   LDC R1, c[0x0][0x28] ;
\t//## File "/a/gelu.py", line 59 inlined at "/a/block.py", line 48
        /*0010*/                   FFMA R20, |R55|, R20, 1.5 ;
.L_x_0:
        /*0020*/                   BRA `(.L_x_0) ;


"""


def test_mlir_says_the_calls_from_the_inside_and_hides_what_says_so() -> None:
    found = rows("ttir", TTIR)
    assert not any("loc" in row.text for row in found)
    places = {row.text.strip(): row.places for row in found}
    assert places["%row = tt.get_program_id x : i32"] == (Place("/a/block.py", 41),)
    assert places["%cst = arith.constant 1.0 : f32"] == ()
    assert places["^bb0(%mean_62: f32, %mean_63: f32):"] == (Place("/a/block.py", 51),)
    inner, outer = Place("/t/standard.py", 263), Place("/a/block.py", 51)
    assert places["%mean_64 = arith.addf %mean_62, %mean_63 : f32"] == (inner, Place("/t/standard.py", 293), outer)
    assert places["tt.reduce.return %mean_64 : f32"] == (Place("/t/standard.py", 293), inner, outer)


def test_a_definition_that_refers_to_itself_ends() -> None:
    [row] = rows("ttgir", "x loc(#loc1)\n#loc1 = loc(callsite(#loc1 at #loc1))\n".replace("callsite(#loc1 at ", '"x"('))
    assert row == Row("x")


def test_ptx_names_the_line_and_its_caller_and_ends_before_the_debugger() -> None:
    found = rows("ptx", PTX)
    assert found[-1].text == "}"
    places = {row.text.split()[0]: row.places for row in found if row.text}
    assert places["mov.u32"] == (Place("/a/block.py", 41),)
    assert places["mul.f32"] == (Place("/a/gelu.py", 24), Place("/a/block.py", 48))
    assert places["ret;"] == places[".reg"] == ()
    assert "$L__BB0_2:" in places
    assert not any(".loc" in row.text or "tmp" in row.text or "func_begin" in row.text for row in found)


def test_newer_ptx_and_machine_code_say_the_calls_one_at_a_time() -> None:
    ptx = """\
\t.loc\t1 48 30                          // block.py:48:30
\tmov.u32 \t%r1, 0;
\t.loc\t2 57 9, function_name $L__info_string0, inlined_at 1 48 30 // gelu.py:57:9
\tadd.f32 \t%r2, %r1, %r1;
\t.loc\t3 9 5, function_name $L__info_string1, inlined_at 2 57 9 // standard.py:9:5
\tmul.f32 \t%r3, %r1, %r1;
\t.loc\t3 9 5, function_name $L__info_string1, inlined_at 1 50 1 // standard.py:9:5
\tneg.f32 \t%r4, %r1;
\t.file\t1 "/a" "block.py"
\t.file\t2 "/a" "gelu.py"
\t.file\t3 "/t" "standard.py"
"""
    block, gelu, standard = Place("/a/block.py", 48), Place("/a/gelu.py", 57), Place("/t/standard.py", 9)
    assert [row.places for row in rows("ptx", ptx)] == [
        (block,),
        (gelu, block),
        (standard, gelu, block),
        (standard, Place("/a/block.py", 50)),
    ]
    sass = """\
\t//## File "/t/standard.py", line 9 inlined at "/a/gelu.py", line 57
\t//## File "/a/gelu.py", line 57 inlined at "/a/block.py", line 48
\t//## File "/a/block.py", line 48
        /*0010*/                   FFMA R20, R55, R20, 1.5 ;
\t//## File "/a/block.py", line 48
        /*0020*/                   EXIT ;
"""
    assert [row.places for row in rows("sass", sass)] == [(standard, gelu, block), (block,)]


def test_machine_code_names_the_line_of_each_instruction() -> None:
    found = rows("sass", SASS)
    assert [row.places for row in found if "/*" in row.text] == [
        (Place("/a/block.py", 24),),
        (Place("/a/gelu.py", 59), Place("/a/block.py", 48)),
        (Place("/a/gelu.py", 59), Place("/a/block.py", 48)),
    ]
    assert not any("//##" in row.text for row in found)
    assert found[-1].text.endswith("BRA `(.L_x_0) ;")


@pytest.mark.parametrize(
    ("one", "other", "mark"),
    [
        ("fma.rn.f32 %r1, %r2, %r3, 0f3F000000;", "fma.rn.f32 %r71, %r8, %r3, 0f3F000000;", " "),
        ("fma.rn.f32 %r1, %r2, %r3, 0f3F000000;", "fma.rn.f32 %r1, %r2, %r3, 0f3F000001;", "|"),
        ("/*0010*/ FFMA R20, R5, UR4, 1.5 ;", "  /*00f0*/ FFMA R2, R55, UR14, 1.5 ;", " "),
        ("%mean_62 = arith.addf %cst_1", "%mean_64 = arith.addf %cst_7", " "),
        ("%mean_62 = arith.addf %cst_1", "%rstd_62 = arith.addf %cst_1", "|"),
        ("@P0 BRA `(.L_x_1)", "@P3 BRA `(.L_x_7)", " "),
    ],
)
def test_numbers_of_the_compiler_are_no_difference(one: str, other: str, mark: str) -> None:
    [pair] = beside([Row(one)], [Row(other)])
    assert pair == (Row(one), Row(other), mark)


def test_every_line_of_both_is_there_in_order() -> None:
    a = [Row(word) for word in ["same", "gone", "gone2", "same2", "old", "tail"]]
    b = [Row(word) for word in ["same", "same2", "new", "new2", "tail", "added"]]
    pairs = beside(a, b)
    assert [pair.a for pair in pairs if pair.a is not None] == a
    assert [pair.b for pair in pairs if pair.b is not None] == b
    assert "".join(pair.mark for pair in pairs) == " << |> >"


def test_pieces_are_joined_and_the_source_is_the_kernels_own_lines() -> None:
    looks = Looks()
    looks.take("compiler", {"triton": "3.6.0"})
    looks.take("file", {"path": "/a/block.py", "text": "import x\n@triton.jit\ndef k"})
    looks.take("file", {"path": "/a/block.py", "text": "(n):\n    pass\n"})
    looks.take("kernel", {"setting": 0, "name": "k", "file": "/a/block.py", "first": 2, "last": 4})
    looks.take("code", {"setting": 0, "stage": "sass", "text": SASS[:100]})
    looks.take("code", {"setting": 0, "stage": "sass", "text": SASS[100:]})
    looks.take("problem", {"setting": 1, "kind": "none"})
    assert looks.text(0, "source") == "@triton.jit\ndef k(n):\n    pass"
    assert looks.rows(0, "sass") == rows("sass", SASS)
    assert looks.source(looks.rows(0, "source")[1].places[0]) == "def k(n):"
    assert looks.source(Place("/nowhere.py", 3)) == looks.source(Place("/a/block.py", 99)) == ""
    assert looks.rows(0, "ttir") == looks.rows(1, "source") == looks.rows(7, "ptx") == []


def test_evidence_keeps_the_sizes_of_the_code() -> None:
    observed = {"code": {"setting": [0], "text": ["abc"]}, "needs": {"registers": [3]}}
    assert inside.without_code(observed) == {
        "code": {"setting": [0], "characters": [3]},
        "needs": {"registers": [3]},
    }


@pytest.mark.parametrize(
    ("kind", "why", "missing"),
    [
        ("stopped", "RuntimeError: Cannot find ptxas", True),
        ("stopped", "FileNotFoundError: ptxas", True),
        ("stopped", "PTXASError: too many registers", False),
        ("compile", "Cannot find ptxas", False),
    ],
)
def test_a_missing_tool_is_nobodys_mistake(kind: str, why: str, missing: bool) -> None:
    assert inside.tool_missing({"kind": kind, "why": why}) is missing


def test_calls_are_taken_from_the_ptx_where_there_is_one_way_only() -> None:
    inner, other, outer, elsewhere = (Place("g.py", 3), Place("g.py", 4), Place("b.py", 9), Place("b.py", 12))
    ptx = [Row("", (inner, outer)), Row("", (other, outer)), Row("", (other, elsewhere)), Row("", (outer,)), Row("")]
    sass = [Row("", (inner,)), Row("", (other,)), Row("", (outer,)), Row(""), Row("", (inner, other))]
    got = [row.places for row in with_calls(sass, ptx)]
    assert got == [(inner, outer), (other,), (outer,), (), (inner, other)]
