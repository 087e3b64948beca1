"""One call drawn as text: the CPU's row, the GPU's with its gaps, the scale; and the profiler's events read for it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st


def load() -> ModuleType:
    demos = Path(__file__).resolve().parents[2] / "lessons" / "lesson_02_torch_compile" / "demos"
    spec = importlib.util.spec_from_file_location("timeline_under_test", demos / "kernels" / "timeline.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


timeline = load()
#: Three launches in 120 us, each kernel short, and one long kernel at the end, after the call has returned.
STARVED = timeline.Activity(
    [timeline.Span(0.0, 90.0)], [10.0, 40.0, 80.0], [timeline.Span(*each) for each in ((14, 16), (44, 46), (84, 120))]
)


def event(name: str, device: str, start: float, end: float) -> Any:
    return SimpleNamespace(
        name=name, device_type=SimpleNamespace(name=device), time_range=SimpleNamespace(start=start, end=end)
    )


def test_the_drawing_at_a_narrow_width_to_the_letter() -> None:
    assert timeline.draw(STARVED, 28) == [
        "CPU ==|=====|=======|=",
        "GPU ..::....::......:#######",
        " us 0         50        100",
    ]


@pytest.mark.parametrize("width", [80, 120])
def test_both_screens_show_launches_gaps_and_a_scale(width: int) -> None:
    cpu, gpu, scale = timeline.draw(STARVED, width)
    assert max(map(len, (cpu, gpu, scale))) <= width
    assert cpu.count("|") == 3
    assert ".." in gpu.rstrip(".")
    marks = [int(mark) for mark in scale.split()[1:]]
    assert marks[0] == 0
    assert len(marks) >= 4
    a_column = 120 / (width - timeline.NAME)
    for mark in marks[1:]:
        assert scale.index(f" {mark}") + 1 - timeline.NAME == int(mark / a_column)


def test_what_is_said_of_a_call_in_numbers() -> None:
    assert STARVED.busy_share() == pytest.approx(40 / 120)
    assert STARVED.gaps() == [28.0, 38.0]
    overlapping = STARVED._replace(gpu=[timeline.Span(0, 10), timeline.Span(5, 20), timeline.Span(30, 40)])
    assert overlapping.gaps() == [10]


def test_nothing_and_no_room_are_refused() -> None:
    with pytest.raises(ValueError, match="nothing happened"):
        timeline.draw(timeline.Activity([], [], []), 80)
    with pytest.raises(ValueError, match="23 columns are too few"):
        timeline.draw(STARVED, 23)


SPANS = st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e5)).map(lambda t: timeline.Span(t[0], t[0] + t[1])))


@given(SPANS, st.lists(st.floats(0, 1e6)), SPANS, st.integers(24, 200))
def test_any_call_fits_and_is_ascii(cpu: list[Any], launches: list[float], gpu: list[Any], width: int) -> None:
    seen = timeline.Activity(cpu, launches, gpu)
    if not (cpu or launches or gpu):
        return
    rows = timeline.draw(seen, width)
    assert all(len(row) <= width and row.isascii() for row in rows)
    assert -1e-9 <= seen.busy_share() <= 1 + 1e-9
    assert all(gap >= 0 for gap in seen.gaps())


def test_the_profiler_s_events_are_read() -> None:
    events = [
        event("the call", "CPU", 0, 100),
        event("aten::add", "CPU", 2, 12),
        event("cudaLaunchKernel", "CPU", 5, 9),
        event("cuLaunchKernelEx", "CPU", 40, 44),
        event("cudaDeviceSynchronize", "CPU", 100, 130),
        event("add_kernel", "CUDA", 10, 20),
        event("Memcpy DtoD", "CUDA", 60, 70),
    ]
    seen = timeline.activity_of(events, "the call")
    assert seen.cpu == [(0, 100)]
    assert seen.launches == [5, 40]
    assert seen.gpu == [(10, 20), (60, 70)]


@pytest.mark.torch
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed in this environment")
def test_torch_s_own_events_are_read_on_a_cpu() -> None:
    import subprocess

    code = f"""
import sys
sys.path[:0] = {[str(Path(timeline.__file__).parents[1]), str(Path(__file__).resolve().parents[2])]!r}
import torch
from tutor.lab import timing
from kernels import timeline
x = torch.ones(64)
seen = timeline.activity_of(timing.trace(lambda: x + x, "cpu"), timing.CALL)
print(len(seen.cpu), len(seen.launches), len(seen.gpu), *map(len, timeline.draw(seen, 80)[1:2]))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["1", "0", "0", "80"]
