"""Rubric files: patterns that cannot run long, and errors that name file, line and field."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tutor.lesson import catalog
from tutor.rubric import file as rubric_file
from tutor.rubric.pattern import TRIES, Index, PatternError, bounded_regex, compile_pattern
from tutor.rubric.text import Text

SHIPPED = catalog.root() / "lessons" / catalog.DEFAULT_LESSON / "rubric.toml"


def found(pattern: str, text: str) -> list[str]:
    folded = Text(text).folded
    return [folded[a:b] for a, b in Index({"it": [compile_pattern(pattern)]}).find(folded, 9)["it"]]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("guard", "guard guards Guard_x regard", ["guard"]),
        ("guard*", "Guard guards regard", ["guard", "guards"[:5]]),
        ("重编译", "要重编译了", ["重编译"]),
        ("(cannot|can't) be traced", "It can't be traced", ["can't be traced"]),
        ("(x|xyz|not xyz)", "x xy xyz not xyz", ["x", "xyz", "not xyz", "xyz"]),
        ("图", "一张图，两张图", ["图", "图"]),
        ("split*..graph", "splits the whole graph", ["splits the whole graph"]),
        ("split*..graph", "splits " + "x" * 30 + " graph", []),
        ("切成..图", "切成、图", []),
        ("graph 断", "graph断 graph 断", ["graph断", "graph断"]),
        ("re:s\\d ?[<>]", "s0 > 1, s1<2", ["s0 >", "s1<"]),
    ],
)
def test_patterns(pattern: str, text: str, expected: list[str]) -> None:
    assert found(pattern, text) == expected


@pytest.mark.parametrize(
    "source",
    ["(a+)+$", "(a|a)*b", "a*", "a+", ".*x", "(?:a{1,9}){1,9}", "(?:ab)+", "a{1,99}", "a{2,1}", "a{,3}", "(ab)",
     "(?=a)", "(?<=a)b", "\\1", "\\Aa", "[ab", "(?:a", "a)", "?a", "a??", "a" * 200, "a?" * 9, "[ab]{1,9}[bc]{1,9}"],
)  # fmt: skip
def test_a_regular_expression_that_could_run_long_is_refused(source: str) -> None:
    with pytest.raises(PatternError):
        bounded_regex(source)


def test_what_may_be_tried_is_bounded_and_the_shipped_ones_are_within() -> None:
    assert TRIES <= 64
    shipped = [p.regex for group in rubric_file.load(SHIPPED).concepts.values() for p in group if p.regex is not None]
    assert shipped
    for regex in shipped:
        assert isinstance(regex, re.Pattern)


@pytest.mark.parametrize("source", ["", "  ", "a | b", "*", "a..", "..b", "(a|b)(c|d)" * 12])
def test_a_pattern_that_cannot_be_read(source: str) -> None:
    with pytest.raises(PatternError):
        compile_pattern(source)


def test_every_condition_that_a_demo_can_show_names_it() -> None:
    # No demo has the same model at two hidden sizes.
    assert [change.id for change in rubric_file.load(SHIPPED).changes if change.demo is None] == ["hidden-doubles"]


PROMPTS = SHIPPED.read_text(encoding="utf-8").partition("gb_cause")[2].partition("prompts = [")[2].partition("\n]\n")[0]
PROMPTS = f"prompts = [{PROMPTS}\n]\n"

EDITS = {
    "a language missing": ('zh = "为什么会这样？"\n', "", "ladder: the language zh is missing"),
    "a slot twice": ('id = "gb_effect"', 'id = "gb_cause"', "question q1, slot, id: 'gb_cause' stands there twice"),
    "a question twice": ('id = "q2"', 'id = "q1"', "question, id: 'q1' stands there twice"),
    "a regular expression": ('"re:% ?', '"re:(a+)+', "concepts.relation: "),
    "an unknown kind": ('kind = "cause"', 'kind = "reason"', "slot gb_cause, kind: 'reason' is not one of cause, "),
    "an unknown concept": ('[["mismatch"]]', '[["mismach"]]', "slot gf_cause, evidence: there is no concept 'mismach'"),
    "an unknown subject": ('about = "gf"\nevidence = [["mismatch"]]', 'about = "gx"\nevidence = [["mismatch"]]',
                           "slot gf_cause, about: there is no subject 'gx'"),
    "an unknown slot in the points": ('every = ["mech"]', 'every = ["mecch"]', "points: there is no slot 'mecch'"),
    "a field that is not known": ("core = true", "kore = true", "slot gb_cause: the field 'kore' is not known"),
    "another schema": ("schema = 1", "schema = 2", "schema: is 2; this tutor reads 1"),
    "a text missing": ('version = "1"', "version = 1", "version: a text is missing"),
    "a flag that is none": ("core = true", 'core = "yes"', "slot gb_cause, core: is true or false"),
    "no prompt": (PROMPTS, "prompts = []\n", "slot gb_cause, prompts: has 0; one or 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_an_error_names_file_line_and_field(name: str, tmp_path: Path) -> None:
    old, new, said = EDITS[name]
    source = SHIPPED.read_text(encoding="utf-8")
    assert old in source
    path = tmp_path / "rubric.toml"
    path.write_text(source.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(rubric_file.RubricError) as caught:
        rubric_file.load(path)
    text = str(caught.value)
    assert re.fullmatch(rf"{re.escape(str(path))}:\d+: (question \w+, )?{re.escape(said)}.*", text, re.DOTALL), text


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a = ", b"", b"schema = 1\n"])
def test_what_is_no_rubric_file_is_said(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rubric.toml"
    path.write_bytes(content)
    with pytest.raises(rubric_file.RubricError, match=re.escape(str(path))):
        rubric_file.load(path)
    with pytest.raises(rubric_file.RubricError, match="missing"):
        rubric_file.load(tmp_path / "gone.toml")
