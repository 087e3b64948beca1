"""A Triton kernel compiled ahead of time, on a machine without a GPU: every stage, and what the kernel takes."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tutor.lab.inside import Looks

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed in this environment"),
    pytest.mark.skipif(
        importlib.util.find_spec("triton") is None, reason="Triton is not installed in this environment"
    ),
]

TARGETS = ("sm_80", "sm_90", "sm_100")
#: Values that one thread computes: 4096 columns over 4 warps of 32.
A_THREAD = 32
Events = list[dict[str, Any]]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    script = Path(__file__).with_name("kernels_compiled.py")
    env = {"TRITON_CACHE_DIR": str(tmp_path_factory.mktemp("triton")), "PATH": "/usr/bin:/bin"}
    ran = subprocess.run(
        [sys.executable, str(script)], env=env, capture_output=True, text=True, timeout=240, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def code(events: Events) -> Mapping[str, Mapping[str, str]]:
    """The texts by target and stage, put together from their pieces."""
    found: dict[str, dict[str, str]] = {}
    for event in events:
        if event["series"] == "code":
            values = event["values"]
            stages = found.setdefault(TARGETS[values["setting"]], {})
            stages[values["stage"]] = stages.get(values["stage"], "") + values["text"]
    return found


def needs(events: Events, target: str) -> dict[str, Any]:
    [values] = [event["values"] for event in events if event["call"] == f"row_kernel {target}"]
    return dict(values)


def test_every_target_has_every_stage(seen: list[Any]) -> None:
    texts = code(seen[0])
    assert tuple(texts) == TARGETS
    for target, stages in texts.items():
        assert tuple(stages) == ("ttir", "ttgir", "ptx", "sass")
        assert "tt.load" in stages["ttir"]
        assert "#ttg.blocked" in stages["ttgir"]
        assert f".target {target}" in stages["ptx"]
        assert stages["ptx"].rstrip().endswith("}") or "debug_" in stages["ptx"]


def test_no_event_is_longer_than_the_lab_allows(seen: list[Any]) -> None:
    assert max(len(json.dumps(event)) for event in seen[0]) < 60 * 1024


def test_accesses_are_as_wide_as_the_machine_has_them(seen: list[Any]) -> None:
    for stages in code(seen[0]).values():
        assert "ld.global.v4.b32" in stages["ptx"]
        assert "st.global.v4.b32" in stages["ptx"]


def test_one_special_function_a_value(seen: list[Any]) -> None:
    """The two more are the row's square root and division."""
    for target, stages in code(seen[0]).items():
        assert stages["ptx"].count("ex2.approx") == A_THREAD
        assert A_THREAD <= needs(seen[0], target)["instructions"]["MUFU"] <= A_THREAD + 4


def test_what_it_takes_fits_without_a_spill(seen: list[Any]) -> None:
    for target in TARGETS:
        taken = needs(seen[0], target)
        assert 32 <= taken["registers"] <= 96
        assert taken["spilled_bytes"] == 0
        assert 0 < taken["shared_bytes"] < 1024


def test_the_first_draft_issues_far_more_instructions(seen: list[Any]) -> None:
    draft, limit = (sum(needs(events, "sm_90")["instructions"].values()) for events in (seen[1], seen[0]))
    assert draft > 1.5 * limit


def test_a_size_that_is_no_power_of_two_is_masked_and_costs_more(seen: list[Any]) -> None:
    odd, even = (sum(needs(events, "sm_90")["instructions"].values()) for events in (seen[2], seen[0]))
    assert odd > even


def problems(events: list[Events]) -> list[dict[str, Any]]:
    return [each["values"] for one in events for each in one if each["series"] == "problem"]


def test_a_learners_file_says_its_own_types_and_values(seen: list[Any]) -> None:
    [taken] = seen[3][0]
    assert taken["call"] == "double sm_90"
    assert taken["values"]["registers"] > 0


def test_a_mistake_is_said_with_the_line_of_the_file_that_has_it(seen: list[Any]) -> None:
    found = problems(seen[3])
    assert (found[0]["kind"], found[0]["line"]) == ("compile", 9)
    assert "lost is not defined" in found[0]["why"]
    assert [(each["line"], each["why"].split(":")[0]) for each in found if each["kind"] == "file"] == [
        (2, "SyntaxError"),
        (2, "NameError"),
    ]


def test_what_is_missing_or_unknown_is_named(seen: list[Any]) -> None:
    found = [each for each in problems(seen[3]) if each["kind"] not in ("compile", "file")]
    assert [(each["kind"], each.get("name")) for each in found] == [
        ("type-unknown", "x"),
        ("parameter", "SIZE"),
        ("none", "halve"),
        ("which", None),
        ("value", "BLOCK"),
    ]


# --- what Inductor writes ---------------------------------------------------------------------------------------------


def test_the_kernel_that_inductor_writes_is_compiled_without_a_gpu(seen: list[Any]) -> None:
    looks = Looks()
    for event in seen[4]:
        looks.take(event["series"], event["values"])
    look = looks.looks[0]
    assert look.problem is None
    assert look.name.startswith("triton_")
    assert "layer_norm" in look.name
    assert look.needs is not None
    assert look.needs["registers"] > 16
    assert look.needs["spilled_bytes"] == 0
    source = looks.text(0, "source")
    assert source is not None
    assert source.count("libdevice.erf") == 2, "the row is read, and its GELU computed, once more for the result"
    assert "@triton.jit" in source
    assert [row for row in looks.rows(0, "sass") if row.places and Path(row.places[0].file).stem == look.name]


def test_what_inductor_cannot_be_asked_for_is_a_problem(seen: list[Any]) -> None:
    [problem] = [event["values"] for event in seen[5]]
    assert problem["kind"] == "stopped"
    assert "lost" in problem["why"]


def test_machine_code_names_the_calls_that_it_was_inlined_through(seen: list[Any]) -> None:
    looks = Looks()
    for event in seen[0]:
        looks.take(event["series"], event["values"])
    files = {tuple(Path(place.file).name for place in row.places) for row in looks.rows(0, "sass")}
    assert ("gelu.py", "block.py") in files
    assert ("gelu.py",) not in files
