"""What lesson 2 has to teach, whoever edits its words."""

from __future__ import annotations

import pytest

from tutor.language import LANGS, Lang
from tutor.lesson import catalog
from tutor.lesson import check as lesson_check
from tutor.lesson import text as lesson_text
from tutor.model import Lesson, Step, Verdict
from tutor.ui.views.lesson import LessonState, step_lines

CLAIMS = [
    "eager-traffic",
    "fused-traffic",
    "eager-launch",
    "launch-gaps",
    "three-layers",
    "safe-partition",
    "fusion-speedup",
    "fused-caller",
    "frame-capture",
    "guard-fast",
    "wrapper-python",
    "guard-metadata",
    "guard-layout",
    "guard-shape-globals",
    "guard-global-state",
    "automatic-dynamic",
    "mark-dynamic",
    "dynamic-false",
    "graph-break-causes",
    "graph-break-split",
    "guards-bound-correctness",
    "zero-one",
    "duck-shape",
    "stride-dynamic",
    "op-constraints",
    "scalars",
    "fullgraph-assert",
    "not-in-production-loop",
    "static-faster",
    "static-constants",
    "compile-storm",
    "dynamic-few",
    "recompile-limit",
    "cold-start",
    "warm-start",
    "disk-cache",
    "cudagraph-rerecord",
    "cudagraph-overwrite",
    "cudagraph-copy",
    "cudagraph-refused",
    "size-decides",
    "erf-issue",
    "tanh-tail",
    "hand-kernel",
    "diagnose-breaks",
    "diagnose-recompiles",
    "break-vs-recompile",
]


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return catalog.load()


def whole(lesson: Lesson, lang: Lang) -> str:
    return "\n".join(step.text.get(lang) for step in lesson.steps)


def step_text(lesson: Lesson, step_id: str, lang: Lang) -> str:
    return next(step.text.get(lang) for step in lesson.steps if step.id == step_id)


@pytest.mark.parametrize("lang", LANGS)
def test_the_claims_are_taught_in_this_order(lesson: Lesson, lang: Lang) -> None:
    marked = [
        block.claim
        for step in lesson.steps
        for block in lesson_text.blocks(step.text.get(lang))
        if isinstance(block, lesson_text.ClaimMark)
    ]
    assert marked == CLAIMS
    assert set(lesson.claims) == set(CLAIMS)


@pytest.mark.parametrize("lang", LANGS)
def test_a_claim_stands_under_the_text_that_states_it(lesson: Lesson, lang: Lang) -> None:
    for step in lesson.steps:
        before: lesson_text.Block | None = None
        for block in lesson_text.blocks(step.text.get(lang)):
            if isinstance(block, lesson_text.ClaimMark):
                assert isinstance(before, lesson_text.Paragraph | lesson_text.Item), f"{lang}/{step.id}: {block.claim}"
            before = block


def test_popular_numbers_that_measurement_denies_are_taught_as_measured(lesson: Lesson) -> None:
    assert lesson.claims["fusion-speedup"].says is Verdict.DIFFERS
    assert lesson.claims["guard-fast"].says is Verdict.CONDITIONAL
    assert lesson.claims["warm-start"].says is Verdict.CONDITIONAL
    for lang in LANGS:
        assert "0.64x" in step_text(lesson, "fusion", lang)
        assert "p50 1.66 us" in step_text(lesson, "hit", lang)


def test_every_claim_names_its_experiment(lesson: Lesson) -> None:
    assert all(claim.demo is not None for claim in lesson.claims.values())
    for claim in lesson.claims.values():
        assert claim.id in lesson.demos[claim.demo or ""].claims


def test_every_step_fits_two_screens_as_the_screen_lays_it_out(lesson: Lesson) -> None:
    longest = max(len(figure.steps) for figure in lesson.figures.values())

    def drawn(lesson: Lesson, step: Step, lang: Lang, width: int) -> int:
        states = (LessonState(seen={}, can_run=True, figure_step=at) for at in range(-1, longest))
        return max(len(step_lines(lesson, step, lang, width, state)) for state in states)

    assert lesson_check.problems(lesson, rows=drawn) == []


@pytest.mark.parametrize("lang", LANGS)
def test_the_exercise_step_shows_the_assertions_of_the_exercise(lesson: Lesson, lang: Lang) -> None:
    fences = [
        "\n".join(block.lines)
        for block in lesson_text.blocks(step_text(lesson, "exercise", lang))
        if isinstance(block, lesson_text.Fence) and block.language == "python"
    ]
    assert len(fences) == 1
    assert lesson.exercise.template.endswith("\n\n" + fences[0] + "\n")
    assert '`ValueError("dynamic dim out of range")`' in step_text(lesson, "exercise", lang)


@pytest.mark.parametrize("lang", LANGS)
def test_the_notation_of_edge_inputs_is_shown_without_giving_one_away(lesson: Lesson, lang: Lang) -> None:
    text = step_text(lesson, "exercise", lang)
    lines = [
        line
        for block in lesson_text.blocks(text)
        if isinstance(block, lesson_text.Fence) and not block.language
        for line in block.lines
    ]
    assert any(" raises ValueError" in line for line in lines)
    assert any(" == " in line for line in lines)
    assert not any("-1" in line or "()," in line for line in lines)


@pytest.mark.parametrize("lang", LANGS)
def test_the_worked_example_has_its_three_requests(lesson: Lesson, lang: Lang) -> None:
    text = step_text(lesson, "example", lang)
    assert 'key = (("*", "*", 4096), "bfloat16", "cuda")' in text
    places = [text.index(f"- `{shape}`") for shape in ("(2, 128, 4096)", "(8, 256, 4096)", "(2, 128, 2048)")]
    assert places == sorted(places)


def test_questions_and_points(lesson: Lesson) -> None:
    assert [(question.id, question.points) for question in lesson.questions] == [("q1", 2), ("q2", 2), ("q3", 2)]


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("zh", ["第 1 课", "第 3 课", "MLIR", "process group", "尾延迟", "租户", "失败路径", "推测", "guard（守卫）"]),
        ("zh", ["torch.compile 文档", "TorchDynamo 排错", "动态形状指南", "TorchInductor 架构"]),
        ("en", ["Lesson 1", "lesson 3", "MLIR", "process groups", "tail latency", "tenants", "failure path"]),
        ("en", ["torch.compile documentation", "TorchDynamo troubleshooting", "dynamic shapes guide"]),
    ],
)
def test_neighbours_vetoes_terms_and_references_are_named(lesson: Lesson, lang: Lang, words: list[str]) -> None:
    text = whole(lesson, lang)
    assert [word for word in words if word not in text] == []


def test_chinese_keeps_to_its_terms_and_tone(lesson: Lesson) -> None:
    text = whole(lesson, "zh") + "".join(claim.text.zh for claim in lesson.claims.values())
    shunned = ["！", "您", "图中断", "图截断", "重新编译上限", "“", "守护条件", "急切模式"]
    assert [word for word in shunned if word in text] == []


@pytest.mark.parametrize("lang", LANGS)
def test_terms_are_explained_where_they_first_stand(lesson: Lesson, lang: Lang) -> None:
    first = {"zh": ["guard（守卫）", "graph break（图断裂）"], "en": ["the guards", "a graph break"]}[lang]
    text = step_text(lesson, "layers", lang)
    assert [term for term in first if term not in text] == []


def test_every_way_through_the_figure_begins_with_a_call_and_ends_with_a_result(lesson: Lesson) -> None:
    steps = lesson.figures["life-cycle"].steps
    assert len(steps) == 7
    for step in steps:
        assert (step.lit[:2], step.lit[-1]) == (("CALL", "GUARDS"), "RESULT")
        assert ("HIT" in step.lit) != ("MISS" in step.lit)
        assert ("LIMIT" in step.lit) == ("EAGER" in step.lit)
        assert {"STATIC", "DYNAMIC"} - set(step.lit), "a variant is static or dynamic, not both"
