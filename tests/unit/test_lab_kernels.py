"""The list of kernels that can be looked into."""

from __future__ import annotations

from pathlib import Path

from tutor.lab import kernels
from tutor.lesson import catalog


def test_the_lesson_offers_its_block_and_every_step() -> None:
    found = kernels.of_lesson(catalog.load().folder)
    assert list(found) == ["block", "erf", "polynomial", "tanh", "exp2", "wide", "inductor"]
    for kernel in found.values():
        names = {name for size in kernel.sizes for name in size}
        assert names <= set(kernel.constants)
        assert kernel.warps in kernels.WARPS
        assert (Path(kernel.place["folder"]) / f"{kernel.place['module'].replace('.', '/')}.py").is_file()


def test_a_setting_changes_what_it_names_and_nothing_else() -> None:
    erf = kernels.of_lesson(catalog.load().folder)["erf"]
    asked = erf.setting(100, H=2048)
    assert (asked["target"], asked["warps"], asked["function"]) == (100, 8, "row_kernel")
    assert asked["constants"] == {**erf.constants, "H": 2048}
    assert erf.constants["H"] == 4096


def test_a_lesson_without_kernels_has_none(tmp_path: Path) -> None:
    assert kernels.of_lesson(tmp_path) == {}


def test_a_learners_file_is_asked_for_by_its_whole_path() -> None:
    asked = kernels.of_file(Path("mine.py"), "scale", types={"n": "i32"}).setting(warps=2)
    assert asked["file"] == str(Path.cwd() / "mine.py")
    assert (asked["function"], asked["types"], asked["constants"], asked["warps"]) == ("scale", {"n": "i32"}, {}, 2)
