"""Imports go one way: front ends use the domain, which knows neither of them; torch stays in the lab's children."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: Forked and walled in; never imported by the tutor.
WALLED = {"tutor.sandbox.child", "tutor.sandbox.zygote", "tutor.sandbox.boot"}
#: What the children may use: themselves, the demos' own package of kernels, and the standard library.
CHILD_ROOM = {"torch", "triton", "parent", "child", "probe", "machine", "timing", "kernels", "phases"}


def modules() -> dict[str, Path]:
    """Every module of the product by its name; lessons and checks by their path."""
    found = {}
    for top in ("tutor", "lessons", "checks"):
        for path in sorted((ROOT / top).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


MODULES = modules()

#: Run by path under the interpreter that has torch; never imported by the tutor.
CHILDREN = {"tutor.lab.parent", "tutor.lab.child", "tutor.lab.probe", "tutor.lab.machine", "tutor.lab.timing"}
CHILDREN |= {name for name in MODULES if name.startswith("tutor.lab.tasks.")}


def imports(name: str, walk: Callable[[ast.AST], Iterator[ast.AST]]) -> set[str]:
    """Every module that `name` imports, at its top or inside its functions, as far as it is written."""
    found = set()
    for node in walk(ast.parse(MODULES[name].read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: imports are absolute"
            base = node.module or ""
            found |= {base} | {f"{base}.{a.name}" for a in node.names if f"{base}.{a.name}" in MODULES}
    return found


def running(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but those that are there for the type checker alone."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield child
            yield from running(child)


IMPORTS = {name: imports(name, running) for name in MODULES}


def importers(*wanted: str) -> Iterator[tuple[str, str]]:
    """Who imports one of the packages or modules, with what they import."""
    for name, found in IMPORTS.items():
        for each in sorted(found):
            if any(each == one or each.startswith(one + ".") for one in wanted):
                yield name, each


def is_in(name: str, *rooms: str) -> bool:
    return any(name == room or name.startswith(room + ".") for room in rooms)


#: The rooms of the house, from the ground up: each may use those before it, and itself.
FLOORS = (
    "language", "model", "literals", "strings", "terminal", "paths", "settings", "table", "lines",
    "sandbox", "rubric", "exercise", "lesson", "lab", "trace", "fused", "learner", "lesson_proof", "doctor", "context",
    "gradebook", "classroom", "ui", "cli", "__main__",
)  # fmt: skip


def test_there_is_something_to_look_at() -> None:
    assert {"tutor.model", "tutor.cli.main", "tutor.ui.app", "tutor.lab.child", "tutor.sandbox.child"} <= set(MODULES)
    assert "tutor.learner.journal" in IMPORTS["tutor.context"]
    assert any(name.startswith("lessons.") for name in MODULES)
    assert any(name.startswith("checks.") for name in MODULES)
    assert set(MODULES) >= CHILDREN | WALLED


def test_every_room_uses_only_those_below_it() -> None:
    rooms = {name: name.split(".")[1] for name in MODULES if is_in(name, "tutor") and name != "tutor"}
    assert set(rooms.values()) == set(FLOORS)
    for name, room in rooms.items():
        for found in IMPORTS[name]:
            if is_in(found, "tutor") and found in rooms:
                assert FLOORS.index(rooms[found]) <= FLOORS.index(room), f"{name} imports {found}"


def test_no_modules_of_the_domain_need_each_other_not_even_for_a_type() -> None:
    domain = [name for name in MODULES if is_in(name, "tutor") and not is_in(name, "tutor.ui")]
    # A module and the package that it is in are no circle.
    needs = {name: {each for each in imports(name, ast.walk) if each in domain and not is_in(name, each)}
             for name in domain}  # fmt: skip
    TopologicalSorter(needs).prepare()  # raises CycleError, which names the circle


@pytest.mark.parametrize(
    ("package", "rooms"),
    [
        ("textual", ("tutor.ui",)),
        ("pygments", ("tutor.ui",)),
        ("rich", ("tutor.ui", "tutor.cli", "tutor.lines")),
    ],
)
def test_only_front_ends_draw(package: str, rooms: tuple[str, ...]) -> None:
    assert [pair for pair in importers(package) if not is_in(pair[0], *rooms)] == []


def test_only_the_lab_s_children_and_demos_import_torch() -> None:
    for name, found in importers("torch", "triton"):
        demo = name.startswith("lessons.") and (".demos." in name or name.endswith(".exercise.fused_kernel"))
        assert name in CHILDREN or demo, f"{name} imports {found}"


def test_nobody_imports_what_runs_elsewhere() -> None:
    for name, found in importers(*CHILDREN):
        assert name in CHILDREN, f"{name} imports {found}"
    for name, found in importers(*WALLED):
        assert name in WALLED, f"{name} imports {found}"


def test_children_need_only_torch_and_the_standard_library() -> None:
    demos = {name for name in MODULES if name.startswith("lessons.") and ".demos." in name}
    for name in CHILDREN | demos:
        for found in IMPORTS[name]:
            top = found.partition(".")[0]
            assert top in sys.stdlib_module_names or top in CHILD_ROOM, f"{name} imports {found}"


def test_the_walled_need_only_the_standard_library_and_their_room() -> None:
    for name in WALLED:
        for found in IMPORTS[name]:
            ours = is_in(found, "tutor.sandbox") or found == "tutor"
            assert ours or found.partition(".")[0] in sys.stdlib_module_names, f"{name} imports {found}"


def test_the_domain_knows_no_front_end() -> None:
    outside = [pair for pair in importers("tutor.ui") if not is_in(pair[0], "tutor.ui")]
    opening = [("tutor.cli.main", "tutor.ui.app"), ("tutor.cli.review", "tutor.ui.review.app")]
    assert outside == opening, "the command line opens the screens, and nobody else does"
    for name, found in importers("tutor.cli"):
        assert is_in(name, "tutor.cli", "tutor.__main__"), f"{name} imports {found}"
    for name, found in importers("tutor.context"):
        assert is_in(name, "tutor.cli", "tutor.ui"), f"{name} imports {found}"


def test_lessons_and_checks_know_only_the_words_of_the_domain() -> None:
    for name, found in IMPORTS.items():
        if name.startswith("checks."):
            tutor = {each for each in found if is_in(each, "tutor")}
            assert tutor <= {"tutor.language", "tutor.model"}, f"{name} imports {tutor}"


def test_the_catalog_is_the_only_reader_of_lessons() -> None:
    for name, path in MODULES.items():
        if is_in(name, "tutor") and name not in ("tutor.lesson.catalog", "tutor.cli.lesson"):
            text = path.read_text(encoding="utf-8")
            assert '"lessons"' not in text, name
            assert '"checks"' not in text, name


# --- what is loaded when something is imported --------------------------------------------------------------------

LISTING = (
    "import sys; {code}; print(*sorted(n for n in sys.modules if n.partition('.')[0] in {heavy!r} or n in {heavy!r}))"
)
HEAVY = (
    "torch", "triton", "numpy", "textual", "rich", "pygments", "argparse", "asyncio", "platformdirs",
    "subprocess", "tutor.learner.journal", "tutor.exercise.judging", "tutor.lab", "tutor.sandbox", "tutor.ui",
    "tutor.lesson.catalog",
)  # fmt: skip


def loaded(code: str, *heavy: str) -> list[str]:
    """Which of the heavy modules a fresh interpreter has loaded after `code`."""
    done = subprocess.run(
        [sys.executable, "-c", LISTING.format(code=code, heavy=heavy)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.splitlines()[-1].split()


def test_version_and_help_load_next_to_nothing() -> None:
    for argv in (["--version"], ["--help"], ["check", "--help"]):
        assert loaded(f"from tutor.cli.main import run; run({argv!r})", *HEAVY) == ["argparse"]


@pytest.mark.parametrize(
    "module",
    [
        "learner.journal",
        "learner.scoring",
        "exercise.judging",
        "lesson.catalog",
        "trace.story",
        "doctor",
        "lab.host",
        "cli.check",
    ],
)
def test_the_domain_loads_neither_torch_nor_a_front_end(module: str) -> None:
    assert loaded(f"import tutor.{module}", "torch", "triton", "numpy", "textual", "rich", "tutor.ui") == []


def test_the_screen_loads_neither_torch_nor_the_children() -> None:
    children = sorted(CHILDREN | WALLED)
    assert loaded("import tutor.ui.app", "torch", "triton", "numpy", *children) == []


def test_a_check_loads_neither_torch_nor_a_front_end() -> None:
    code = "from tutor.cli.main import run; run(['check', '--expr', '1'])"
    assert loaded(code, "torch", "textual", "rich", "pygments", "asyncio", "tutor.ui", "tutor.lab") == []
