"""Whether a lesson is whole, as far as its files alone can tell (pure but for reading the lesson's own folder).

What needs judging (the shipped blank fails, the reference passes, every wrong version) is added by `lesson check`.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tutor.language import LANGS, Bilingual, Lang
from tutor.lesson import text as lesson_text
from tutor.lesson.languages import cells, facts, recorded_quantities, text_problems
from tutor.model import Claim, Demo, Exercise, Figure, Lesson, Message, Plain, Step, Verdict

#: (width in cells, rows): two screens of the lesson, at 80x24 and beside the work at 120x40.
SCREENS = ((78, 38), (54, 68))
FIGURE_NARROW, FIGURE_WIDE = 76, 52
TITLE_CELLS = 30
EXERCISE_ROWS, EXERCISE_CELLS = 22, 76

#: How many rows a step takes in a language at a width; the screen's own layout may be given in its place.
Rows = Callable[[Lesson, Step, Lang, int], int]

_FILES = re.compile(r"(lesson|claims|figures|kernels|rubric)\.toml|demos/\w+\.(toml|py)|recorded/\w+\.[\w.-]+\.jsonl")
#: A package that demos share, and what its own bench recorded.
_PACKAGE_FILES = re.compile(r"demos/(\w+)/\w+\.py|recorded/(\w+)\.(?:[\w.-]+\.jsonl|md)")
_MACHINE = re.compile(r"[^,]+, torch \d+\.\d+")
_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")
_SAID = (Verdict.HOLDS, Verdict.CONDITIONAL, Verdict.DIFFERS)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: `where` is a file of the lesson, with an id after a colon when one is meant."""

    where: str
    what: Message


def estimated_rows(lesson: Lesson, step: Step, lang: Lang, width: int) -> int:
    """Rows of a step when lines break at spaces and after any wide character, figures included."""
    found = lesson_text.blocks(step.text.get(lang))
    rows = 2
    for before, block in zip((None, *found), found, strict=False):
        close = isinstance(block, lesson_text.ClaimMark) or (
            isinstance(block, lesson_text.Item) and isinstance(before, lesson_text.Item)
        )
        rows += (before is not None and not close) + _block_rows(lesson, block, lang, width)
    return rows


def problems(lesson: Lesson, rows: Rows = estimated_rows) -> list[Problem]:
    """Everything that is wrong with `lesson`, in the order of its files; empty when it is whole."""
    return list(_problems(lesson, rows))


def _problems(lesson: Lesson, rows: Rows) -> Iterator[Problem]:
    unread = False
    for step in lesson.steps:
        for lang in LANGS:
            try:
                lesson_text.blocks(step.text.get(lang))
            except lesson_text.LessonTextError as error:
                unread = True
                yield _problem(f"{lang}/{step.id}.md", "notation", error=str(error))
    yield from _strays(lesson)
    yield from _exercise(lesson.exercise, lesson.folder)
    yield from _demos(lesson)
    for claim in lesson.claims.values():
        yield from _claim(claim, lesson.demos)
    for figure in lesson.figures.values():
        yield from _figure(figure)
    if unread:
        return
    for step in lesson.steps:
        for where, what in text_problems(step):
            yield Problem(where, what)
        yield from _heights(lesson, step, rows)
    yield from _recorded(lesson)
    yield from _marks(lesson)
    yield from _questions(lesson)


def _problem(where: str, key: str, **args: str | int) -> Problem:
    return Problem(where, Message(f"lesson.{key}", args))


# --- files ------------------------------------------------------------------------------------------------------------


def _strays(lesson: Lesson) -> Iterator[Problem]:
    known = {f"{lang}/{step.id}.md" for step in lesson.steps for lang in LANGS}
    known |= {f"{part}/{lesson.exercise.function}.py" for part in ("exercise", "reference")}
    known |= {"recorded/verdicts.md", "exercise/fused_kernel.py"}
    known |= {f"recorded/{path.name}" for path in lesson.folder.glob("recorded/fused_kernel.*.jsonl")}
    known |= {f"reference/{lang}/{question.id}.md" for question in lesson.questions for lang in LANGS}
    packages = {path.parent.name for path in lesson.folder.glob("demos/*/__init__.py")}
    for path in sorted(lesson.folder.rglob("*")):
        if path.is_dir() or "__pycache__" in path.parts:
            continue
        name = path.relative_to(lesson.folder).as_posix()
        owner = path.name.partition(".")[0].replace("_", "-")
        listed = _FILES.fullmatch(name) and (path.parent == lesson.folder or owner in lesson.demos)
        in_package = _PACKAGE_FILES.fullmatch(name)
        shared = in_package and packages.intersection(in_package.groups())
        if name not in known and not listed and not shared:
            yield _problem(name, "stray")


def _exercise(exercise: Exercise, folder: Path) -> Iterator[Problem]:
    where = f"exercise/{exercise.function}.py"
    parts = exercise.template.split(exercise.blank)
    if len(parts) != 2:
        yield _problem(where, "blank", blank=exercise.blank, count=len(parts) - 1)
        return
    lines = exercise.template.rstrip("\n").split("\n")
    if len(lines) > EXERCISE_ROWS:
        yield _problem(where, "exercise_rows", rows=len(lines), most=EXERCISE_ROWS)
    if (widest := max(map(cells, lines))) > EXERCISE_CELLS:
        yield _problem(where, "exercise_width", cells=widest, most=EXERCISE_CELLS)
    try:
        shown = _assertions(ast.parse("None".join(parts)), exercise.function)
    except SyntaxError as error:
        yield _problem(where, "exercise_syntax", line=error.lineno or 0)
        return
    if shown != [(given.args, given.expected) for given in exercise.given]:
        yield _problem(where, "given")
    where = f"reference/{exercise.function}.py"
    try:
        reference = (folder / where).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        yield _problem(where, "reference_missing")
        return
    before, after = parts
    filled = reference[len(before) : len(reference) - len(after)]
    if before + filled + after != reference or not filled.strip() or exercise.blank in reference:
        yield _problem(where, "reference")


def _assertions(tree: ast.Module, function: str) -> list[tuple[tuple[Plain, ...], Plain]]:
    """The module's `assert function(literals) == literal`, in order; any other assertion reads as None."""
    found: list[tuple[tuple[Plain, ...], Plain]] = []
    for node in tree.body:
        match node:
            case ast.Assert(
                test=ast.Compare(
                    left=ast.Call(func=ast.Name(id=name), args=args, keywords=[]), ops=[ast.Eq()], comparators=[value]
                )
            ) if name == function:
                try:
                    found.append((tuple(map(ast.literal_eval, args)), ast.literal_eval(value)))
                except ValueError:
                    found.append(((), None))
            case ast.Assert():
                found.append(((), None))
    return found


# --- claims, demos, figures -------------------------------------------------------------------------------------------


def _claim(claim: Claim, demos: Mapping[str, Demo]) -> Iterator[Problem]:
    where = f"claims.toml: {claim.id}"
    if claim.says not in _SAID:
        yield _problem(where, "says", verdict=claim.says)
    if (claim.condition is None) != (claim.says is Verdict.HOLDS):
        yield _problem(where, "condition", verdict=claim.says)
    if claim.demo is not None and claim.demo not in demos:
        yield _problem(where, "demo_missing", demo=claim.demo)
    if not claim.records:
        yield _problem(where, "record_missing")
    for text in (claim.text, claim.condition, *(record.text for record in claim.records)):
        if text is not None:
            yield from _same(where, text)
    for record in claim.records:
        if not _MACHINE.fullmatch(record.where) or not _MONTH.fullmatch(record.when):
            yield _problem(where, "record_source", source=f"{record.where}, {record.when}")
        if record.verdict not in _SAID or (claim.says is Verdict.HOLDS and record.verdict is not Verdict.HOLDS):
            yield _problem(where, "record_verdict", verdict=record.verdict, says=claim.says)
        for lang in LANGS:
            for kind in facts(record.text.get(lang), lang).unnamed:
                yield _problem(where, f"record_{kind}", lang=lang)


def _same(where: str, text: Bilingual) -> Iterator[Problem]:
    """Both languages of a short text say something, with the same numbers and the same code."""
    if not text.zh.strip() or not text.en.strip():
        yield _problem(where, "empty")
    zh, en = facts(text.zh, "zh"), facts(text.en, "en")
    if zh.numbers != en.numbers:
        yield _problem(where, "numbers", zh=_only(zh.numbers, en.numbers), en=_only(en.numbers, zh.numbers))
    if zh.code != en.code:
        yield _problem(where, "code", zh=", ".join(sorted(zh.code - en.code)), en=", ".join(sorted(en.code - zh.code)))


def _only(one: Counter[str], other: Counter[str]) -> str:
    return ", ".join(sorted((one - other).elements()))


def _demos(lesson: Lesson) -> Iterator[Problem]:
    for demo in lesson.demos.values():
        where = f"demos/{demo.script.stem}.toml"
        if not demo.script.is_file():
            yield _problem(where, "script_missing", script=demo.script.name)
        for name in demo.claims:
            if name not in lesson.claims:
                yield _problem(where, "demo_claim", claim=name)


def _figure(figure: Figure) -> Iterator[Problem]:
    where = f"figures.toml: {figure.id}"
    for name, drawing, most in (("narrow", figure.narrow, FIGURE_NARROW), ("wide", figure.wide, FIGURE_WIDE)):
        drawn = "\n".join(drawing)
        if not drawn.isascii():
            yield _problem(where, "figure_ascii", drawing=name)
        if (widest := max(map(cells, drawing))) > most:
            yield _problem(where, "figure_width", drawing=name, cells=widest, most=most)
        for label in sorted({label for step in figure.steps for label in step.lit}):
            if drawn.count(label) != 1:
                yield _problem(where, "label", drawing=name, label=label, count=drawn.count(label))
    if not figure.steps:
        yield _problem(where, "figure_steps")
    for step in figure.steps:
        yield from _same(where, step.text)


# --- the text as a whole ----------------------------------------------------------------------------------------------


def _marks(lesson: Lesson) -> Iterator[Problem]:
    """Every claim and every figure is marked once in each language, and nothing unknown is."""
    for lang in LANGS:
        found: Counter[tuple[str, str]] = Counter()
        for step in lesson.steps:
            for block in lesson_text.blocks(step.text.get(lang)):
                match block:
                    case lesson_text.ClaimMark(claim=name) | lesson_text.FigureMark(figure=name):
                        kind = "claim" if isinstance(block, lesson_text.ClaimMark) else "figure"
                        found[kind, name] += 1
                        if name not in (lesson.claims if kind == "claim" else lesson.figures):
                            yield _problem(f"{lang}/{step.id}.md", "mark_unknown", mark=f"@{kind} {name}")
        wanted = [("claim", name) for name in lesson.claims] + [("figure", name) for name in lesson.figures]
        for kind, name in wanted:
            if found[kind, name] != 1:
                yield _problem(f"{kind}s.toml: {name}", "mark_count", lang=lang, count=found[kind, name])


def _recorded(lesson: Lesson) -> Iterator[Problem]:
    """A quantity that the text calls recorded stands in a claim's record."""
    for lang in LANGS:
        texts = (record.text.get(lang) for claim in lesson.claims.values() for record in claim.records)
        known = set().union(*(facts(text, lang).numbers for text in texts))
        for step in lesson.steps:
            for number in sorted(recorded_quantities(step.text.get(lang), lang) - known):
                yield _problem(f"{lang}/{step.id}.md", "unrecorded", number=number)


def _questions(lesson: Lesson) -> Iterator[Problem]:
    for question in lesson.questions:
        for lang in LANGS:
            if not any(question.text.get(lang) in step.text.get(lang) for step in lesson.steps):
                yield _problem(f"lesson.toml: {question.id}", "question", lang=lang)


def _heights(lesson: Lesson, step: Step, rows: Rows) -> Iterator[Problem]:
    for lang in LANGS:
        where = f"{lang}/{step.id}.md"
        if cells(step.title.get(lang)) > TITLE_CELLS:
            yield _problem(where, "title", cells=cells(step.title.get(lang)), most=TITLE_CELLS)
        if any(
            isinstance(block, lesson_text.FigureMark) and block.figure not in lesson.figures
            for block in lesson_text.blocks(step.text.get(lang))
        ):
            continue
        for width, most in SCREENS:
            if (taken := rows(lesson, step, lang, width)) > most:
                yield _problem(where, "height", rows=taken, width=width, most=most)


def _block_rows(lesson: Lesson, block: lesson_text.Block, lang: Lang, width: int) -> int:
    match block:
        case lesson_text.Heading(spans=spans) | lesson_text.Paragraph(spans=spans):
            return _wrapped("".join(span.text for span in spans), width)
        case lesson_text.Item(spans=spans):
            return _wrapped("".join(span.text for span in spans), width - 2)
        case lesson_text.Fence(lines=lines):
            return len(lines)
        case lesson_text.ClaimMark():
            return 1
        case lesson_text.FigureMark(figure=name):
            figure = lesson.figures[name]
            drawing = figure.narrow if width >= FIGURE_NARROW else figure.wide
            return len(drawing) + max((_wrapped(step.text.get(lang), width - 4) for step in figure.steps), default=0)


def _wrapped(text: str, width: int) -> int:
    """Rows of running text that breaks at spaces and beside wide characters."""
    units: Sequence[str] = re.findall(r"[!-~]+| +|.", text)
    rows, used = 1, 0
    for unit in units:
        size = cells(unit)
        if used + size > width and not unit.isspace():
            rows, used = rows + 1, 0
        used += size
        while used > width and not unit.isspace():
            rows, used = rows + 1, used - width
    return rows
