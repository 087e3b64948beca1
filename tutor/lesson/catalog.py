"""The only reader of lessons and checks: content that is found by path, so that a second lesson is a second folder."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tutor.language import Bilingual
from tutor.lesson import text as lesson_text
from tutor.model import Ask, Claim, Demo, Exercise, Figure, FigureStep, Lesson, Question, Record, Step, Verdict

if TYPE_CHECKING:
    from tutor.rubric.model import Rubric

DEFAULT_LESSON = "lesson_02_torch_compile"


class CatalogError(Exception):
    """A lesson is missing or its files cannot be read; the message names the file and what is wrong with it."""


def root() -> Path:
    """The folder that holds `lessons/` and `checks/`: inside the package when installed, else the checkout."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "content"
    return inside if inside.is_dir() else package.parent


def lesson_ids() -> tuple[str, ...]:
    """Every lesson there is, in order of its name."""
    return tuple(sorted(path.parent.name for path in (root() / "lessons").glob("*/lesson.toml")))


def load(lesson_id: str = DEFAULT_LESSON) -> Lesson:
    """One lesson with its checks. Raises CatalogError."""
    if lesson_id not in lesson_ids():
        known = ", ".join(lesson_ids()) or "none"
        raise CatalogError(f"there is no lesson {lesson_id!r}; known lessons: {known}")
    folder, checks = root() / "lessons" / lesson_id, root() / "checks" / lesson_id
    return load_folder(folder, checks)


def load_folder(folder: Path, checks: Path) -> Lesson:
    """The lesson in `folder` with the checks in `checks`. Raises CatalogError."""
    about = _toml(folder / "lesson.toml")
    try:
        return Lesson(
            id=folder.name,
            number=about["number"],
            title=_both(about["title"]),
            about=_both(about["about"]),
            folder=folder,
            steps=tuple(_step(folder, name) for name in about["steps"]),
            claims={claim.id: claim for claim in map(_claim, _toml(folder / "claims.toml")["claim"])},
            figures={figure.id: figure for figure in map(_figure, _toml(folder / "figures.toml")["figure"])},
            questions=tuple(Question(q["id"], _both(q["text"]), q["points"]) for q in about["question"]),
            read_demos=partial(_demos, folder),
            read_exercise=partial(_exercise, folder, checks, about["exercise"]),
            read_versions=lambda: (_hash(folder), _hash(checks)),
            read_rubric=partial(_rubric, folder),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CatalogError(f"{folder.name}: {type(error).__name__}: {error}") from error


def _toml(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError as error:
        raise CatalogError(f"{path}: the file is missing") from error
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CatalogError(f"{path}: {error}") from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError(f"{path}: {error}") from error


def _both(table: Mapping[str, str]) -> Bilingual:
    return Bilingual(zh=table["zh"], en=table["en"])


def _step(folder: Path, name: str) -> Step:
    text = Bilingual(zh=_text(folder / "zh" / f"{name}.md"), en=_text(folder / "en" / f"{name}.md"))
    try:
        return Step(name, Bilingual(zh=lesson_text.title(text.zh), en=lesson_text.title(text.en)), text)
    except lesson_text.LessonTextError as error:
        raise CatalogError(f"{folder.name}, step {name}: {error}") from error


def _claim(table: Mapping[str, Any]) -> Claim:
    return Claim(
        id=table["id"],
        text=_both(table["text"]),
        says=Verdict(table["says"]),
        condition=_both(table["condition"]) if "condition" in table else None,
        demo=table.get("demo"),
        records=tuple(
            Record(r["where"], r["when"], Verdict(r["verdict"]), _both(r["text"])) for r in table.get("record", ())
        ),
    )


def _figure(table: Mapping[str, Any]) -> Figure:
    return Figure(
        id=table["id"],
        narrow=tuple(table["narrow"].strip("\n").split("\n")),
        wide=tuple(table["wide"].strip("\n").split("\n")),
        steps=tuple(FigureStep(tuple(s["lit"]), _both(s["text"])) for s in table["step"]),
    )


def _demos(folder: Path) -> dict[str, Demo]:
    found = {}
    for path in sorted((folder / "demos").glob("*.toml")):
        table = _toml(path)
        try:
            demo = _demo(path, table)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CatalogError(f"{path}: {type(error).__name__}: {error}") from error
        found[demo.name] = demo
    return found


def _demo(path: Path, table: Mapping[str, Any]) -> Demo:
    low, high = table["usual_s"]
    return Demo(
        name=path.stem.replace("_", "-"),
        title=_both(table["title"]),
        shows=_both(table["shows"]),
        question=_both(table["question"]),
        asks=tuple(Ask(a["id"], a["label"], tuple(map(_both, a.get("choices", ())))) for a in table["ask"]),
        claims=tuple(table["verdicts"]),
        verdicts=table["verdicts"],
        script=path.with_suffix(".py"),
        recorded=tuple(sorted((path.parent.parent / "recorded").glob(f"{path.stem}.*.jsonl"))),
        usual_s=(float(low), float(high)),
        needs=tuple(table["needs"]),
        why={key: _both(sentence) for key, sentence in table.get("why", {}).items()},
        units=dict(table.get("units", {})),
    )


def _exercise(folder: Path, checks: Path, about: Mapping[str, str]) -> Exercise:
    path = checks / "exercise.py"
    try:
        return _exercise_of(folder, _module(path), about)
    except (KeyError, TypeError, ValueError, AttributeError, SyntaxError, ImportError) as error:
        raise CatalogError(f"{path}: {type(error).__name__}: {error}") from error


def _exercise_of(folder: Path, module: ModuleType, about: Mapping[str, str]) -> Exercise:
    return Exercise(
        function=about["function"],
        template=_text(folder / about["file"]),
        blank=about["blank"],
        given=module.GIVEN,
        reference=module.reference,
        wrong=module.WRONG,
        probes=module.probes,
        malformed=module.malformed,
    )


def _rubric(folder: Path) -> Rubric:
    # Read when a free text is first looked at; the first screen pays nothing for it.
    from tutor.rubric import file as rubric_file

    try:
        return rubric_file.load(folder / "rubric.toml")
    except rubric_file.RubricError as error:
        raise CatalogError(str(error)) from error


def _module(path: Path) -> ModuleType:
    name = f"tutor_checks_{path.parent.name}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise CatalogError(f"{path}: the file is missing")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _hash(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
