"""First calls by way of starting: where torch's marks put the time, and the table of what was recorded."""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tutor.lab import startup_table as table
from tutor.lab import transcripts
from tutor.lesson import catalog

LESSON = catalog.load()
DEMO = LESSON.demos["cold-warm"]


@pytest.fixture(scope="module")
def phases() -> ModuleType:
    path = DEMO.script.parent / "startup" / "phases.py"
    spec = importlib.util.spec_from_file_location("start_phases", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def marks(*rows: tuple[str, str, float]) -> list[dict[str, Any]]:
    return [{"ph": kind, "name": name, "ts": seconds * 1e6} for kind, name, seconds in rows]


COLD = marks(
    ("B", "entire_frame_compile", 0),
    ("B", "bytecode_tracing", 0.1),
    ("E", "bytecode_tracing", 0.2),
    ("B", "backend_compile", 1),
    ("B", "compile_file", 2),
    ("E", "compile_file", 4),
    ("B", "PyCodeCache.load_by_key_path", 5),
    ("B", "compile_file", 5.5),
    ("E", "compile_file", 8.5),
    ("E", "PyCodeCache.load_by_key_path", 9),
    ("E", "backend_compile", 10),
    ("E", "entire_frame_compile", 11),
)


def test_each_moment_belongs_to_the_innermost_part(phases: ModuleType) -> None:
    got = phases.split(COLD, "tracing")
    assert got == pytest.approx({"tracing": 2, "codegen": 3, "compiler": 5, "load": 1})
    assert sum(got.values()) == pytest.approx(11)


def test_what_nothing_names_belongs_to_what_is_around_it(phases: ModuleType) -> None:
    rows = marks(("B", "anything", 0), ("B", "compile_file", 1), ("E", "compile_file", 2), ("E", "anything", 3))
    assert phases.split(rows, "codegen") == pytest.approx({"codegen": 2, "compiler": 1})


def test_inside_the_compiler_nothing_else_begins(phases: ModuleType) -> None:
    inner = ("PyCodeCache.load_by_key_path", "backend_compile")
    rows = marks(("B", "async_compile.precompile", 0), *((k, name, 1) for name in inner for k in "BE"))
    assert phases.split([*rows, *marks(("E", "async_compile.precompile", 2))], "load") == pytest.approx({"compiler": 2})


def test_marks_of_another_kind_or_without_their_partner_do_no_harm(phases: ModuleType) -> None:
    stray = [{"ph": "i", "name": "cache_miss", "ts": 1}, {"ph": "E", "name": "never_begun", "ts": 2}, {"ph": "B"}, {}]
    assert phases.split(stray, "tracing") == {}
    cut = marks(("B", "backend_compile", 0), ("B", "compile_file", 1), ("E", "backend_compile", 3))
    assert phases.split(cut, "tracing") == pytest.approx({"codegen": 1, "compiler": 2})


def test_marks_are_heard_only_while_they_are_asked_for(phases: ModuleType) -> None:
    logger = logging.getLogger("torch.__trace")
    before, logger.propagate = logger.propagate, False
    level, logger.level = logger.level, logging.DEBUG
    handlers = set(logger.handlers)
    try:
        with phases.Marks() as heard:
            added = set(logger.handlers) - handlers
            mark = {"metadata": {"chromium_event": {}}, "payload": '{"ph": "B", "name": "x", "ts": 1}'}
            logger.debug("", extra=mark)
            logger.debug("", extra={"metadata": {"artifact": {}}, "payload": "not JSON"})
            logger.debug("", extra={**mark, "payload": lambda: '{"ph": "E", "name": "x", "ts": 2}'})
        logger.debug("", extra=mark)
    finally:
        logger.propagate, logger.level = before, level
    assert [mark["ph"] for mark in heard.seen] == ["B", "E"]
    assert len(added) == 1
    assert not added & set(logger.handlers)  # of the others torch's own may leave at the first record


def test_the_table_says_what_was_recorded() -> None:
    path = LESSON.folder / "recorded" / "startup.md"
    assert path.read_text(encoding="utf-8") == table.write(DEMO)


def recorded(path: Path) -> list[dict[str, Any]]:
    return [event for event in transcripts.replay(DEMO, path) if event["event"] == "observation"]


@pytest.mark.parametrize("path", DEMO.recorded, ids=lambda path: path.name)
def test_the_phases_of_a_recorded_call_add_up_to_it(path: Path) -> None:
    names = [f"{name}_s" for name in table.COLUMNS[1:8]]
    for event in recorded(path):
        values = event["values"]
        if "run_s" in values:
            assert sum(values.get(name, 0.0) for name in names) == pytest.approx(values["first_call_s"], abs=0.001)
            assert values["same_as_eager"] is True


def test_the_recording_on_a_cpu_has_every_way_and_its_phases() -> None:
    path = next(path for path in DEMO.recorded if ".cpu-" in path.name)
    ways = [event["series"] for event in recorded(path) if "run_s" in event["values"]]
    assert ways == ["control", "cold", "warm", "warm", "artifacts", "make", "package", "package_again", "warmed"]
