"""The lesson check can fail: every kind of problem is made once and has to be reported where it is."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tutor import strings
from tutor.language import LANGS
from tutor.lesson import catalog
from tutor.lesson import check as lesson_check
from tutor.model import Lesson

LESSON = catalog.DEFAULT_LESSON


def edited(file: str, old: str, new: str) -> Callable[[Path], None]:
    """Replace the first `old` in a file of the lesson."""

    def change(folder: Path) -> None:
        path = folder / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} no longer has {old!r}: the mutation would change nothing"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


def added(file: str, text: str) -> Callable[[Path], None]:
    """A further file, or more text at the end of one."""

    def change(folder: Path) -> None:
        with (folder / file).open("a", encoding="utf-8") as out:
            out.write(text)

    return change


def removed(file: str) -> Callable[[Path], None]:
    return lambda folder: (folder / file).unlink()


EXERCISE, REFERENCE = "exercise/guard_key.py", "reference/guard_key.py"
LONG = "\n\none more paragraph" * 20 + "\n"

MUTATIONS: dict[str, tuple[str, str, Callable[[Path], None]]] = {
    "a table": ("notation", "en/hit.md", added("en/hit.md", "\n| a | b |\n")),
    "a fence left open": ("notation", "zh/hit.md", added("zh/hit.md", "\n```python\nx = 1\n")),
    "a mark of another kind": ("notation", "zh/hit.md", added("zh/hit.md", "\n@demo automatic-dynamic\n")),
    "a forgotten draft": ("stray", "zh/hit-old.md", added("zh/hit-old.md", "# old\n")),
    "a file from an editor": ("stray", "claims.toml~", added("claims.toml~", "")),
    "a recording of no demo": ("stray", "recorded/gone.cpu.jsonl", added("recorded/gone.cpu.jsonl", "{}\n")),
    "notes in a package": ("stray", "demos/kernels/notes.txt", added("demos/kernels/notes.txt", "")),
    "no blank": ("blank", EXERCISE, edited(EXERCISE, "______", "guarded_shape")),
    "two blanks": ("blank", EXERCISE, edited(EXERCISE, "return ______", "return ______, ______")),
    "an exercise too long": ("exercise_rows", EXERCISE, added(EXERCISE, "# more\n" * 3)),
    "an exercise too wide": ("exercise_width", EXERCISE, edited(EXERCISE, "# TODO", "# TODO: " + "返回值 " * 6)),
    "an exercise that is not Python": ("exercise_syntax", EXERCISE, edited(EXERCISE, "raise ", "raise from ")),
    "another assertion": ("given", EXERCISE, edited(EXERCISE, "(2, 128, 4096)", "(2, 64, 4096)")),
    "one assertion too many": ("given", EXERCISE, added(EXERCISE, "assert True\n")),
    "a loosened assertion": ("given", EXERCISE, edited(EXERCISE, '"cuda") == (', '"cuda") != (')),
    "an assertion that computes": ("given", EXERCISE, edited(EXERCISE, "(2, 128, 4096)", "(1 + len('a'), 128, 4096)")),
    "no reference": ("reference_missing", REFERENCE, removed(REFERENCE)),
    "a reference with the blank": (
        "reference",
        REFERENCE,
        edited(REFERENCE, "(guarded_shape, dtype, device)", "______"),
    ),
    "a reference with nothing in it": ("reference", REFERENCE, edited(REFERENCE, "(guarded_shape, dtype, device)", "")),
    "a reference that changes a locked line": ("reference", REFERENCE, edited(REFERENCE, "dim < 0", "dim < 1")),
    "a claim that says unavailable": (
        "says",
        "claims.toml: zero-one",
        edited("claims.toml", 'id = "zero-one"\nsays = "holds"', 'id = "zero-one"\nsays = "unavailable"'),
    ),
    "a condition missing": (
        "condition",
        "claims.toml: zero-one",
        edited("claims.toml", 'id = "zero-one"\nsays = "holds"', 'id = "zero-one"\nsays = "conditional"'),
    ),
    "a condition too many": (
        "condition",
        "claims.toml: scalars",
        edited("claims.toml", 'id = "scalars"\nsays = "conditional"', 'id = "scalars"\nsays = "holds"'),
    ),
    "a demo that is not there": (
        "demo_missing",
        "claims.toml: zero-one",
        edited("claims.toml", 'demo = "zero-one"', 'demo = "sizes"'),
    ),
    "a record without versions": (
        "record_source",
        "claims.toml: eager-traffic",
        edited("claims.toml", 'where = "H200, torch 2.11"', 'where = "H200"'),
    ),
    "a record without a month": (
        "record_source",
        "claims.toml: eager-traffic",
        edited("claims.toml", 'when = "2026-11"', 'when = "2026"'),
    ),
    "a record that says otherwise": (
        "record_verdict",
        "claims.toml: eager-traffic",
        edited("claims.toml", 'verdict = "holds"', 'verdict = "differs"'),
    ),
    "a recorded time without a percentile": (
        "record_percentile",
        "claims.toml: cold-start",
        edited("claims.toml", "(single runs, import apart)", "(import apart)"),
    ),
    "an empty translation": (
        "empty",
        "claims.toml: stride-dynamic",
        edited("claims.toml", "`dynamic=True` frees sizes, not layouts.", ""),
    ),
    "a record with another number": (
        "numbers",
        "claims.toml: eager-traffic",
        edited("claims.toml", "4 kernels in eager", "5 kernels in eager"),
    ),
    "a record with other code": (
        "code",
        "claims.toml: safe-partition",
        edited("claims.toml", "With a `print` inside", "With a print inside"),
    ),
    "an arrow in a figure": ("figure_ascii", "figures.toml: life-cycle", edited("figures.toml", "CALL -->", "CALL ─→")),
    "a figure too wide": (
        "figure_width",
        "figures.toml: life-cycle",
        edited("figures.toml", "last used first\n", "last used first" + " " * 40 + "|\n"),
    ),
    "a label that is not drawn": (
        "label",
        "figures.toml: life-cycle",
        edited("figures.toml", "FAST PATH ", "SLOW PATH "),
    ),
    "a label that is drawn twice": (
        "label",
        "figures.toml: life-cycle",
        edited("figures.toml", "or no entry yet", "MISS again     "),
    ),
    "a figure's sentence with another number": (
        "numbers",
        "figures.toml: life-cycle",
        edited("figures.toml", "First call:", "First of 2 calls:"),
    ),
    "an unknown claim": ("mark_unknown", "zh/hit.md", edited("zh/hit.md", "@claim guard-fast", "@claim guard-quick")),
    "an unknown figure": (
        "mark_unknown",
        "en/life-cycle.md",
        edited("en/life-cycle.md", "@figure life-cycle", "@figure life"),
    ),
    "a claim not marked": ("mark_count", "claims.toml: guard-fast", edited("en/hit.md", "@claim guard-fast\n", "")),
    "a claim marked twice": ("mark_count", "claims.toml: guard-fast", added("en/guards.md", "\n@claim guard-fast\n")),
    "a figure not drawn": (
        "mark_count",
        "figures.toml: life-cycle",
        edited("zh/life-cycle.md", "@figure life-cycle\n", ""),
    ),
    "a claim that the text forgot": (
        "mark_count",
        "claims.toml: new",
        added("claims.toml", '\n[[claim]]\nid = "new"\nsays = "holds"\ntext.zh = "新"\ntext.en = "new"\n'),
    ),
    "a claim without a record": (
        "record_missing",
        "claims.toml: new",
        added("claims.toml", '\n[[claim]]\nid = "new"\nsays = "holds"\ntext.zh = "新"\ntext.en = "new"\n'),
    ),
    "a question asked otherwise": (
        "question",
        "lesson.toml: q1",
        edited("en/questions.md", "How does a graph break differ", "How does a break differ"),
    ),
    "a long title": (
        "title",
        "zh/hit.md",
        edited("zh/hit.md", "# 命中也要花钱", "# 命中也要花钱，而且随着守卫的个数变多"),
    ),
    "a step of more than two screens": ("height", "en/hit.md", added("en/hit.md", LONG)),
    "a number in one language": ("numbers", "hit.md", edited("en/hit.md", "64 tensors", "65 tensors")),
    "code in one language": ("code", "hit.md", edited("en/hit.md", "`cpp_wrapper`", "cpp_wrapper")),
    "another fence": ("fences", "breaks.md", edited("zh/breaks.md", 'print("step")  ', 'print("loss")  ')),
    "claims in another order": ("marks", "hit.md", edited("zh/hit.md", "@claim guard-fast", "@claim wrapper-python")),
    "another source": ("sources", "breaks.md", edited("zh/breaks.md", "[引用]", "[录 H200 2026-11]")),
    "a box-drawing line": ("ambiguous", "en/hit.md", added("en/hit.md", "\na ─ b\n")),
    "a curly quote": ("ambiguous", "zh/hit.md", added("zh/hit.md", "\n“命中”\n")),
    "a middle dot": ("ambiguous", "en/hit.md", added("en/hit.md", "\na · b\n")),
    "a fence too wide": (
        "fence_width",
        "zh/breaks.md",
        edited("zh/breaks.md", "# graph A", "# graph A" + " " * 40 + "# 切开之前"),
    ),
    "a time without a source": (
        "unsourced",
        "en/hit.md",
        edited("en/hit.md", "p99 1.90 us [rec H200 2026-11]", "p99 1.90 us"),
    ),
    "a factor without a source": ("unsourced", "zh/fusion.md", edited("zh/fusion.md", "1.5-2.5x [引用]", "1.5-2.5x")),
    "a time without a percentile": (
        "percentile",
        "en/hit.md",
        edited("en/hit.md", "p50 1.66 us, p99 1.90 us", "1.66 us to 1.90 us"),
    ),
    "a mean in its place": (
        "percentile",
        "zh/hit.md",
        edited("zh/hit.md", "p50 1.66 us，p99 1.90 us", "平均 1.66 us，1.90 us"),
    ),
    "seconds not called a single run": (
        "percentile",
        "zh/start.md",
        edited("zh/start.md", "都是单次，不含", "不含"),
    ),
    "a number that nobody recorded": ("unrecorded", "zh/hit.md", edited("zh/hit.md", "p50 1.66 us", "p50 1.67 us")),
    "a Chinese paragraph on two lines": (
        "broken_paragraph",
        "zh/hit.md",
        edited("zh/hit.md", "然后跳进编译好的代码。", "然后跳进\n编译好的代码。"),
    ),
    "an item on two lines": (
        "broken_paragraph",
        "en/goal.md",
        edited("en/goal.md", "without a veto.", "\nwithout a veto."),
    ),
}


def mutated(tmp_path: Path, change: Callable[[Path], None]) -> Lesson:
    """The shipped lesson, copied, changed and read again."""
    home = catalog.root()
    folder = tmp_path / LESSON
    shutil.copytree(home / "lessons" / LESSON, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "recorded").mkdir(exist_ok=True)
    change(folder)
    return catalog.load_folder(folder, home / "checks" / LESSON)


def reported(lesson: Lesson) -> set[tuple[str, str]]:
    return {(found.what.key.removeprefix("lesson."), found.where) for found in lesson_check.problems(lesson)}


def test_the_shipped_lesson_has_no_problems() -> None:
    found = lesson_check.problems(catalog.load())
    assert [f"{problem.where}: {strings.say('en', problem.what)}" for problem in found] == []


def test_a_copy_of_the_lesson_has_no_problems(tmp_path: Path) -> None:
    assert reported(mutated(tmp_path, lambda _: None)) == set()


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_fault_is_reported_where_it_is(name: str, tmp_path: Path) -> None:
    key, where, change = MUTATIONS[name]
    assert (key, where) in reported(mutated(tmp_path, change))


def test_every_kind_of_problem_has_been_made() -> None:
    in_memory = {"script_missing", "demo_claim", "figure_steps"}
    made = {key for key, _, _ in MUTATIONS.values()} | in_memory
    for lang in LANGS:
        assert made == set(strings.section(lang, "lesson"))


def test_a_demo_whose_script_or_claim_is_gone_is_reported(tmp_path: Path) -> None:
    lesson = catalog.load()
    name, demo = next(iter(lesson.demos.items()))
    broken = replace(demo, script=tmp_path / "gone.py", claims=(*demo.claims, "gone"))
    found = reported(replace(lesson, read_demos=lambda: {**lesson.demos, name: broken}))
    assert found == {("script_missing", "demos/gone.toml"), ("demo_claim", "demos/gone.toml")}


def test_a_figure_without_steps_is_reported() -> None:
    lesson = catalog.load()
    bare = {name: replace(figure, steps=()) for name, figure in lesson.figures.items()}
    assert reported(replace(lesson, figures=bare)) == {("figure_steps", "figures.toml: life-cycle")}


def test_the_layout_of_the_screen_may_replace_the_estimate() -> None:
    found = lesson_check.problems(catalog.load(), rows=lambda *asked: 39 if asked[1].id == "hit" else 1)
    assert [(problem.where, problem.what.args["width"]) for problem in found] == [("zh/hit.md", 78), ("en/hit.md", 78)]


@pytest.mark.parametrize("lang", LANGS)
def test_every_problem_can_be_said(lang: str, tmp_path: Path) -> None:
    def all_at_once(folder: Path) -> None:
        for file, text in (
            ("en/hit.md", "\na · b\nsecond line, 3 us\n"),
            ("zh/old.md", "# old\n"),
            (EXERCISE, "assert 1\n"),
        ):
            added(file, text)(folder)

    said = [
        strings.say("zh" if lang == "zh" else "en", p.what)
        for p in lesson_check.problems(mutated(tmp_path, all_at_once))
    ]
    assert len(said) >= 6
    assert all(sentence and "{" not in sentence for sentence in said)
