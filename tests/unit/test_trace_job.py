"""A job of several ranks: who compiled otherwise, and what is to be done about it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.unit.test_trace_facts import story
from tests.unit.test_trace_records import BREAK, TRACES, record
from tutor.language import LANGS
from tutor.strings import say
from tutor.trace import files as trace_files
from tutor.trace import reading as trace_reading
from tutor.trace.advice import advise, kind_of
from tutor.trace.files import TraceFile, find
from tutor.trace.job import Job
from tutor.trace.reading import Reading
from tutor.trace.story import tell


def compiled(fn: str = "f", count: int = 1, ops: int = 2, why: str = "", **more: Any) -> bytes:
    """`count` compilations of a function, each but the first for the reason `why`."""
    data = b""
    for n in range(count):
        ids = {"frame_id": 0, "frame_compile_id": n, **more}
        if n and why:
            data += record({"artifact": {"name": "recompile_reasons"}, **ids}, f"0/{n - 1}: {why}")
        frame = {"line": 3, "name": fn, "filename": "/run/a.py"}
        data += record({"dynamo_start": {"stack": [frame]}, **ids})
        data += record({"dynamo_output_graph": {"sizes": {}}, **ids}, "class GraphModule: pass")
        done = {"co_name": fn, "co_filename": "/run/a.py", "co_firstlineno": 3, "graph_op_count": ops}
        data += record({"compilation_metrics": {**done, "entire_frame_compile_time_s": 1.5}, **ids}, second=n)
    return data


def job(tmp_path: Path, *ranks: bytes, names: bool = True) -> Job:
    """A job of a file a rank."""
    for rank, data in enumerate(ranks):
        name = f"dedicated_log_torch_trace_{f'rank_{rank}_' if names else f'{rank}_'}x.log"
        (tmp_path / name).write_bytes(data)
    return read(tmp_path)


def read(folder: Path) -> Job:
    reading = Reading()
    for file in find(folder).files:
        reading.add(file)
    assert [*reading.more(), *reading.end()]
    return reading.job


def advice(made: Job) -> list[str]:
    found = advise(made, made.differences())
    for lang in LANGS:
        assert all(say(lang, message) for _, message in found)
    return [name for name, _ in found]


# --- ranks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["2.8-ranks", "2.13-ranks"])
def test_a_rank_that_recompiles_more_is_found_with_its_guards(name: str) -> None:
    made = story(name)[1].job
    encode, project = made.differences()
    assert (encode.kind, encode.frame.fn) == ("frame", "encode")
    assert [(group.ranks, group.counts.compiles) for group in encode.groups] == [((0,), 1), ((1,), 3)]
    assert [more.why.event["why"] for more in encode.whys] == ["x.size(0) 8 -> 11", "2 <= x.size(0)"]
    assert 0 < encode.extra_s < 1
    assert [more.why.event["why"] for more in project.whys] == ["x.dtype Float -> Double"]
    assert advice(made)[0] == "ranks"


def test_of_eight_ranks_the_odd_one_is_named(tmp_path: Path) -> None:
    usual, odd = compiled(count=2, why="x == 1"), compiled(count=4, why="x == 1")
    made = job(tmp_path, *[odd if rank == 5 else usual for rank in range(8)])
    (one,) = made.differences()
    assert [group.ranks for group in one.groups] == [(0, 1, 2, 3, 4, 6, 7), (5,)]
    assert one.extra_s == pytest.approx(3.0)
    (more,) = one.whys
    assert (more.times, more.others, more.at) == (3, 1, "11-30 08:00:01.000")
    ends = made.extremes()
    assert ends is not None
    assert (ends[0].rank, ends[1].counts.seconds) == (5, 3.0)


def test_ranks_that_did_the_same_do_not_differ(tmp_path: Path) -> None:
    made = job(tmp_path, *[compiled(count=2, why=f"x == {rank}") for rank in range(4)])
    assert made.differences() == []
    assert sorted(made.ranks()) == [0, 1, 2, 3]


def test_a_rank_that_never_compiled_a_function_is_told(tmp_path: Path) -> None:
    made = job(tmp_path, compiled("f") + compiled("g", frame_id=1), compiled("f"))
    (one,) = made.differences()
    assert (one.frame.fn, one.groups[0].ranks, one.groups[0].counts.compiles) == ("g", (1,), 0)
    assert advice(made) == ["ranks-some"]


def test_other_graphs_of_one_function_are_told(tmp_path: Path) -> None:
    made = job(tmp_path, compiled(ops=3), compiled(ops=3), compiled(ops=4))
    (one,) = made.differences()
    assert (one.kind, one.groups[1].ranks, one.groups[1].counts.ops) == ("ops", (2,), [4])
    assert advice(made) == ["ops"]


def test_ranks_without_the_cached_code_are_told(tmp_path: Path) -> None:
    cache = [record({"artifact": {"name": f"fx_graph_cache_{how}"}}, "{}") for how in ("hit", "hit", "miss")]
    slow = compiled().replace(b'"entire_frame_compile_time_s": 1.5', b'"entire_frame_compile_time_s": 9.5')
    assert job(tmp_path, *[compiled() + each for each in cache]).differences() == [], "a race costs nobody"
    made = job(tmp_path, compiled() + cache[0], compiled() + cache[1], slow + cache[2])
    (one,) = made.differences()
    assert (one.kind, [group.ranks for group in one.groups]) == ("cache", [(0, 1), (2,)])
    assert advice(made) == ["cache"]


def test_other_collectives_are_told_with_the_first_that_differs(tmp_path: Path) -> None:
    def schedule(*names: str) -> bytes:
        rows = ", ".join(f'"{name}"' for name in names)
        return compiled() + record({"artifact": {"name": "inductor_collective_schedule"}}, f"[{rows}]")

    made = job(tmp_path, schedule("a", "b", "c"), schedule("a", "c"))
    (one,) = made.differences()
    assert (one.kind, one.at) == ("collectives", 1)
    assert advice(made) == ["collectives"]


def test_a_rank_that_was_started_again_is_compared_by_its_newest_process(tmp_path: Path) -> None:
    later = compiled().replace(b"V1130 08:00:00", b"V1130 09:00:00").replace(b" 7 torch", b" 8 torch")
    for name, data in (("rank_0_a", compiled(count=3)), ("rank_0_b", later), ("rank_1_c", later)):
        (tmp_path / f"dedicated_log_torch_trace_{name}.log").write_bytes(data)
    made = read(tmp_path)
    assert (made.older(), made.differences()) == (1, [])
    assert [(process.rank, process.pid) for process in made.told()] == [(0, 7), (0, 8), (1, 8)]


def test_a_rank_is_known_from_its_records_too(tmp_path: Path) -> None:
    made = job(tmp_path, compiled(rank=3), compiled(rank=4, count=2), names=False)
    assert sorted(made.ranks()) == [3, 4]
    assert len(made.differences()) == 1


def test_processes_without_a_rank_are_not_compared(tmp_path: Path) -> None:
    made = job(tmp_path, compiled(), compiled(count=3), names=False)
    assert (made.ranks(), made.differences(), len(made.processes)) == ({}, [], 2)


def test_two_processes_in_one_file_are_told_apart(tmp_path: Path) -> None:
    one = compiled()
    (tmp_path / "trace.log").write_bytes(one + one.replace(b" 7 torch", b" 9 torch"))
    assert [process.counts.graphs for process in read(tmp_path).processes.values()] == [1, 1]


# --- what is not there ------------------------------------------------------------------------------------------------


def test_kinds_that_are_new_are_named(tmp_path: Path) -> None:
    made = job(tmp_path, compiled() + 3 * record({"dynamo_dream": {}}))
    assert made.unknown() == {"dynamo_dream": 3}


def test_a_file_of_kinds_that_are_all_new_says_so(tmp_path: Path) -> None:
    (tmp_path / "t.log").write_bytes(3 * record({"dynamo_dream": {}}))
    reading = Reading()
    for file in find(tmp_path).files:
        reading.add(file)
    assert [event["event"] for event in [*reading.more(), *reading.end()]] == ["progress"]
    told = [said.text for said in tell(reading.job, [], "en")]
    assert "Nothing was compiled in this trace." in told
    assert any("dynamo_dream (3)" in text for text in told)


def test_a_process_that_never_says_how_it_ended_is_named(tmp_path: Path) -> None:
    start = {"dynamo_start": {"stack": []}, "frame_id": 0, "frame_compile_id": 0}
    assert [process.label for process in job(tmp_path, record(start)).silent()] == ["p0"]


def test_frames_and_breaks_are_kept_up_to_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tutor.trace.job.FRAMES_MAX", 5)
    monkeypatch.setattr("tutor.trace.job.BREAKS_MAX", 5)
    data = b"".join(compiled(f"f{n}", frame_id=n) for n in range(9))
    said = "Graph break in user code at a.py:{n}\nGraph Break Reason: x"
    data += b"".join(record(BREAK, said.format(n=n)) for n in range(9))
    made = job(tmp_path, data)
    assert (len(made.frames), made.frames_left_out, len(made.breaks)) == (5, 4, 5)
    assert sum(process.counts.graphs for process in made.processes.values()) == 9


# --- advice -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2.8", "2.13", "2.14"])
def test_what_to_do_about_sizes_and_the_limit(version: str) -> None:
    made = story(f"{version}-sizes")[1].job
    assert advice(made) == ["limit", "values", "sizes", "zero-one", "kinds", "layouts"]


@pytest.mark.parametrize("version", ["2.8", "2.13", "2.14"])
def test_what_to_do_about_each_kind_of_break(version: str) -> None:
    made = story(f"{version}-breaks")[1].job
    assert advice(made) == ["error", "whole-frame", "break-print", "break-item", "break-branch"]


def test_the_kinds_of_breaks_of_torch_2_6() -> None:
    made = story("2.6-breaks")[1].job
    kinds = [kind_of(one.event) for one in made.breaks.values()]
    assert kinds == ["print", "item", "branch", "asked", "item", "print"]


@pytest.mark.parametrize(
    ("why", "words"),
    [
        ("tensor 'x' size mismatch at index 0. expected 4, actual 5", "x.size(0) 4 -> 5"),
        ("L['k'] == 1.5", "k == 1.5 (guard failed)"),
        ("len(L['d']) != 1", "now len(d) != 1"),
        ("GLOBAL_STATE changed: grad_mode ", "grad_mode changed"),
        ("Unexpected recompilation: runtime guards failed", "a guard failed that torch could not name afterwards"),
    ],
)
def test_a_guard_is_told_as_torch_means_it(tmp_path: Path, why: str, words: str) -> None:
    lines = [said.text for said in tell(job(tmp_path, compiled(count=2, why=why)), [], "en")]
    assert f"recompiled: {words}" in lines


def test_a_frame_of_a_library_goes_by_the_line_that_calls_it(tmp_path: Path) -> None:
    inner = "/opt/venv/lib/python3.11/site-packages/torch/_dynamo/external_utils.py"
    stack = [
        {"line": 12, "name": "<module>", "filename": "/run/a.py", "loc": "out = model(x)"},
        {"line": 67, "name": "inner"},
    ]
    ids = {"frame_id": 0, "frame_compile_id": 1}
    data = record(
        {"artifact": {"name": "recompile_reasons"}, **ids},
        "0/0: tensor 'x' size mismatch at index 0. expected 4, actual 5",
    )
    data += record({"dynamo_start": {"stack": stack}, **ids})
    data += record({"compilation_metrics": {"co_name": "inner", "co_filename": inner, "graph_op_count": 0}, **ids})
    made = job(tmp_path, data)
    (story_of,) = made.frames.values()
    assert story_of.called_from == "/run/a.py:12 out = model(x)"
    ((_, message),) = advise(made, [])
    assert message.args["place"] == "run/a.py:12"


def test_a_break_that_a_library_asks_for_is_not_the_user_s_to_take_out() -> None:
    said = "Call to `torch._dynamo.graph_break()`"
    assert kind_of({"reason": said, "text": "torch._dynamo.graph_break()"}) == "asked"
    assert kind_of({"reason": said, "text": "opt.step()"}) == "other"


def test_a_cold_start_that_takes_long_is_worth_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tutor.trace.advice.COLD_S", 1.0)
    assert "cold" in advice(story("2.13-train")[1].job)
    assert "cold" not in advice(story("2.13-warm")[1].job)


# --- files ------------------------------------------------------------------------------------------------------------


def test_traces_are_known_by_what_they_hold(tmp_path: Path) -> None:
    data = next(iter((TRACES / "2.13-ranks").glob("*rank_1*"))).read_bytes()
    (tmp_path / "node0").mkdir()
    (tmp_path / "node0" / "renamed rank_7_x").write_bytes(data)
    (tmp_path / "notes.log").write_text("V1130 is a nice number\n")
    (tmp_path / "empty.log").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe.log")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    found = find(tmp_path)
    assert [(file.name, file.rank, file.size) for file in found.files] == [("node0/renamed rank_7_x", 7, len(data))]
    assert sorted(found.others) == ["empty.log", "notes.log", "pipe.log"]
    assert [name for name, _ in found.unreadable] == ["gone"]


def test_one_file_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "one.log").write_bytes(compiled())
    assert [file.name for file in find(tmp_path / "one.log").files] == ["one.log"]


def test_more_files_than_anybody_has_are_not_all_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_files, "FILES_MAX", 3)
    for n in range(5):
        (tmp_path / f"{n}.log").write_bytes(compiled())
    found = find(tmp_path)
    assert (len(found.files), found.left_out) == (3, True)


def test_a_trace_is_followed_while_it_is_written(tmp_path: Path) -> None:
    path, data = tmp_path / "t.log", compiled(count=3, why="x == 1")
    reading, seen = Reading(), []
    reading.add(TraceFile(path, "t.log", None, 0))
    for end in (1, 90, 400, len(data) // 2, len(data)):
        path.write_bytes(data[:end])
        reading.add(TraceFile(path, "t.log", None, 0))
        seen.append(sum(event["event"] == "graph" for event in reading.more()))
    assert list(reading.end()) == []
    assert sum(seen) == 3
    assert seen[0] == 0
    assert reading.compiling() == []


def test_what_is_being_compiled_now(tmp_path: Path) -> None:
    (tmp_path / "t.log").write_bytes(compiled()[:-300].rpartition(b"\nV")[0] + b"\n" + record({"str": ["x", 1]}))
    reading = Reading()
    for file in find(tmp_path).files:
        reading.add(file)
    list(reading.more())
    assert [frame.fn for frame in reading.compiling()] == ["f"]


def test_a_file_that_goes_away_is_named_once(tmp_path: Path) -> None:
    reading = Reading()
    reading.add(TraceFile(tmp_path / "gone.log", "gone.log", None, 0))
    assert [*reading.more(), *reading.more()] == []
    assert list(reading.unreadable) == ["gone.log"]


def test_more_processes_than_are_told_apart_are_counted_with_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_reading, "PROCESSES_MAX", 2)
    one = compiled()
    data = b"".join(one.replace(b" 7 torch", f" {pid} torch".encode()) for pid in range(1, 6))
    (tmp_path / "t.log").write_bytes(data)
    made = read(tmp_path)
    assert len(made.processes) == 2
    assert sum(process.counts.graphs for process in made.processes.values()) == 5
