"""What recorded traces of four versions of torch say: the same programs tell the same story."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tests.unit.test_trace_records import BREAK, FILES, TRACES, record
from tutor.trace.facts import Event, Facts
from tutor.trace.fields import short
from tutor.trace.files import find
from tutor.trace.reading import Reading
from tutor.trace.records import Reader

NEWER = ("2.8", "2.13", "2.14")


def story(name: str) -> tuple[list[Event], Reading]:
    reading = Reading()
    for file in find(TRACES / name).files:
        reading.add(file)
    events = [*reading.more(), *reading.end()]
    return [event for event in events if event["event"] != "progress"], reading


def told(data: bytes) -> tuple[list[Event], Facts]:
    """The events of one process's records."""
    reader, facts = Reader(), Facts("p0")
    events = [event for each in reader.feed(data) for event in facts.take(each)]
    events += [event for each in reader.end() for event in facts.take(each)]
    return [*events, *facts.end()], facts


def rows(events: Iterable[Event], kind: str, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(event[name] for name in names) for event in events if event["event"] == kind]


# --- recompiles and the limit -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", NEWER)
def test_every_recompile_has_its_guard_in_the_users_names(version: str) -> None:
    events, _ = story(f"{version}-sizes")
    found = rows(events, "recompile", "fn", "id", "kind", "why")
    assert found[:4] == [
        ("head", "0/1", "size", "x.size(0) 4 -> 6"),
        ("head", "0/2", "zero_one", "2 <= x.size(0)"),
        ("head", "0/3", "dtype", "w.dtype Float -> Double"),
        ("head", "0/4", "stride", "w.stride(0) 8 -> 1"),
    ]
    assert found[4:] == [("forward", f"1/{n + 1}", "value", f"self.step == {n}") for n in range(7)]


@pytest.mark.parametrize("version", NEWER)
def test_the_limit_is_no_recompile_and_names_its_frame(version: str) -> None:
    events, reading = story(f"{version}-sizes")
    assert rows(events, "eager", "fn", "id", "why", "guard") == [("forward", "1/8", "limit", "self.step == 7")]
    assert len(rows(events, "graph", "id")) == 13
    (process,) = reading.job.processes.values()
    assert (process.facts.limit, process.limits, process.counts.compiles) == (8, 1, 13)


def test_symbolic_sizes_and_the_lines_of_a_graph_are_known() -> None:
    events, _ = story("2.13-sizes")
    graphs = rows(events, "graph", "id", "symbolic", "lines", "ops")
    assert graphs[:3] == [("0/0", False, [6], 2), ("0/1", True, [6], 2), ("0/2", False, [6], 2)]


def test_where_the_guard_comes_from() -> None:
    events, _ = story("2.13-sizes")
    where = [event for event in events if event["event"] == "recompile"]
    assert (where[4]["code"], where[4]["code_line"]) == ("self.step += 1", 15)
    assert where[1]["code"] == "", "the line torch shows for the 0/1 rule is not its cause"
    assert where[4]["called_from"].endswith("sizes.py:26 m(torch.ones(4))")


def test_torch_2_6_asks_for_reasons_and_says_nothing_more_at_the_limit() -> None:
    events, _ = story("2.6-sizes")
    assert rows(events, "recompile", "why") == [("x.size(0) 8 -> 9",), ("2 <= x.size(0)",), ("self.step == 0",)]
    reasons = {"artifact": {"name": "recompile_reasons"}, "frame_id": 3, "frame_compile_id": 8}
    eight = "[" + ", ".join(f"\"3/{n}: G['k'] == {n}\"" for n in range(8)) + "]"
    start = {"dynamo_start": {"stack": [{"line": 5, "name": "g", "filename": "a.py"}]}}
    first = record({**start, "frame_id": 3, "frame_compile_id": 0})
    later = record({**start, "frame_id": 4, "frame_compile_id": 0})
    for after in (later, b""):
        events, _ = told(first + record(reasons, eight) + after)
        assert rows(events, "eager", "fn", "id", "why") == [("g", "3/8", "limit")]
    events, _ = told(first + record(reasons, "3/0: G['k'] == 0"))
    assert rows(events, "eager", "fn") == [], "one reason at the end of a file is a compilation that was cut off"
    assert rows(events, "recompile", "why") == [("k == 0",)]


# --- breaks, eager frames, errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", NEWER)
def test_breaks_have_their_line_once_and_say_whether_the_whole_frame_went(version: str) -> None:
    events, _ = story(f"{version}-breaks")
    assert rows(events, "break", "line", "fn", "text", "whole_frame_eager") == [
        (7, "step", 'print("shape", x.shape)', False),
        (14, "step", "scale = y.sum().item()", False),
        (15, "step", "if y.mean() > 0:", False),
        (24, "loop", 'print("i", i)', True),
        (32, "guarded", 'print("in try")', True),
        (45, "strict", 'print("no")', True),
    ]
    assert all(event["reason"] for event in events if event["event"] == "break")


@pytest.mark.parametrize("version", NEWER)
def test_frames_that_run_in_python_and_those_that_raised(version: str) -> None:
    events, reading = story(f"{version}-breaks")
    eager = dict(rows(events, "eager", "fn", "why"))
    assert eager.keys() == {"loop", "guarded", "strict"}
    assert (eager["loop"], eager["strict"]) == ("break", "gave-up")
    assert rows(events, "error", "fn", "type", "line", "fail_line") == [
        ("lowered", "BackendCompilerFailed", 53, 53),
        ("user_bug", "TorchRuntimeError", 58, 59),
    ]
    assert ("nothing",) in rows(events, "empty", "fn")
    (process,) = reading.job.processes.values()
    assert (process.counts.graphs, process.breaks, process.eager, process.errors) == (4, 6, 3, 2)


def test_a_piece_after_a_break_goes_by_its_function() -> None:
    events, _ = story("2.13-breaks")
    assert ("step", 13) in rows(events, "graph", "fn", "resumed")


def test_torch_2_6_tells_its_breaks_too() -> None:
    events, _ = story("2.6-breaks")
    assert rows(events, "break", "line", "whole_frame_eager") == [
        (12, False), (17, False), (22, False), (30, True), (6, False), (6, False),
    ]  # fmt: skip


def test_a_break_that_is_told_after_the_frame_was_given_up() -> None:
    said = """\
Graph break: skip: from user code at:
  File "/home/me/a.py", line 4, in f
    print(x)

torch._dynamo.exc.Unsupported: a builtin
"""
    events, _ = told(record(BREAK, said))
    assert rows(events, "break", "file", "line", "whole_frame_eager") == [("/home/me/a.py", 4, True)]


# --- time -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted({path.parent.name for path in FILES}))
def test_phases_add_up_to_the_time(name: str) -> None:
    events, reading = story(name)
    for event in events:
        if "phases" in event:
            assert sum(event["phases"].values()) == pytest.approx(event["seconds"], abs=1e-5)
            assert min(event["phases"].values(), default=0) >= 0
    seconds = sum(process.counts.seconds for process in reading.job.processes.values())
    assert sum(reading.job.phases().values()) == pytest.approx(seconds, abs=1e-4)


def test_a_training_step_has_its_backward_and_its_caches() -> None:
    events, reading = story("2.13-train")
    assert [event["id"] for event in events if event["event"] == "backward"] == ["0/0"]
    phases = reading.job.phases()
    assert phases["codegen"] > 0.5 * sum(phases.values())
    (process,) = reading.job.processes.values()
    assert process.facts.caches == {"aotautograd_cache_miss": 3, "fx_graph_cache_miss": 5}
    _, warm = story("2.13-warm")
    (process,) = warm.job.processes.values()
    assert process.facts.caches == {"aotautograd_cache_hit": 3, "fx_graph_cache_hit": 5}


# --- what nobody vouches for ------------------------------------------------------------------------------------------


def test_the_version_is_known_where_torch_says_it() -> None:
    versions = [next(iter(story(name)[1].job.processes.values())).facts.torch for name in ("2.6-sizes", "2.13-sizes")]
    assert versions == ["", "2.13.0+cpu"]


def test_a_compilation_that_does_not_end_is_told() -> None:
    start = {"dynamo_start": {"stack": [{"line": 3, "name": "f", "filename": "a.py"}]}}
    events, facts = told(record({**start, "frame_id": 0, "frame_compile_id": 0}))
    assert rows(events, "unfinished", "fn", "line") == [("f", 3)]
    assert (facts.starts, facts.metrics) == (1, 0)


WRONG: list[Any] = [None, True, -1, 1e300, 2**80, "", "x" * 5000, [], [[]], {}, {"a": []}, [None, {}, 3]]
FIELDS = (
    "compilation_metrics", "dynamo_start", "dynamo_output_graph", "str", "bwd_compilation_metrics",
    "co_name", "co_filename", "co_firstlineno", "fail_type", "fail_reason", "entire_frame_compile_time_s",
    "duration_us", "graph_op_count", "stack", "line", "name", "filename", "loc", "sizes", "dynamo_config",
    "frame_id", "frame_compile_id", "rank", "compiled_autograd_id", "is_forward", "guard_count",
)  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_may_be_anything(field: str) -> None:
    for value in WRONG:
        start = {"dynamo_start": {"stack": [{"line": 3, "name": "f", "filename": 1, "loc": "f(x)"}, {"line": 4}]}}
        graph = {"dynamo_output_graph": {"sizes": {"x": [4, "s0"]}}}
        done = {"compilation_metrics": {"co_name": "f", "co_filename": "a.py", "co_firstlineno": 3, "duration_us": 5}}
        ids = {"frame_id": 0, "frame_compile_id": 0, "rank": 1}
        records = [{"str": ["a.py", 1]}, {**start, **ids}, {**graph, **ids}, {**done, **ids}]
        data = b"".join(record(_with(each, field, value)) for each in records)
        events, _ = told(data)
        assert all(isinstance(event["event"], str) for event in events)


def _with(table: Any, field: str, value: Any) -> Any:
    if isinstance(table, dict):
        return {key: value if key == field else _with(item, field, value) for key, item in table.items()}
    return [_with(item, field, value) for item in table] if isinstance(table, list) else table


def test_texts_are_bounded() -> None:
    long = "x" * 100_000
    said = {"co_name": long, "co_filename": long, "fail_type": long, "fail_reason": long, "co_firstlineno": 1}
    reasons = {"artifact": {"name": "recompile_reasons"}, "frame_id": 0, "frame_compile_id": 1}
    data = record(reasons, f"0/0: {long} == 1") + record({"compilation_metrics": said, **{**reasons, "artifact": 0}})
    events, _ = told(data)
    assert events
    for event in events:
        assert all(len(value) <= 4100 for value in event.values() if isinstance(value, str))


def test_a_line_number_of_thousands_of_digits_is_none() -> None:
    digits = "9" * 5000
    for said in (f"Graph break in user code at a.py:{digits}", f'User code traceback:\n  File "a.py", line {digits}\n'):
        (event,) = told(record(BREAK, f"{said}\n"))[0]
        assert (event["event"], event["line"]) == ("break", 0)


def test_many_long_breaks_of_one_frame_are_not_all_kept() -> None:
    said = "Graph break in user code at {n}.py:1\nGraph Break Reason: {n}" + "x" * 50_000
    facts = Facts("p0")
    reader = Reader()
    for n in range(200):
        for each in reader.feed(record(BREAK, said.format(n=n))):
            assert list(facts.take(each)) == []
    events = list(facts.end())
    assert len(events) == 50
    assert all(len(event["reason"]) <= 2000 for event in events)


def test_many_open_compilations_are_not_all_kept() -> None:
    data = b"".join(
        record({"dynamo_start": {"stack": [{"name": "f"}]}, "frame_id": n, "frame_compile_id": 0}) for n in range(3000)
    )
    assert len(rows(told(data)[0], "unfinished", "id")) == 1000


def test_a_file_as_a_line_has_room_for_it() -> None:
    assert short("/home/me/run/train.py") == "run/train.py"
    assert short("/opt/venv/lib/python3.11/site-packages/torch/optim/adam.py") == "torch/optim/adam.py"
    assert short("<string>") == "<string>"
