"""Traces made to break the reader: whatever stands in the files, the whole story can be told and stays small."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.test_trace_job import compiled, read
from tests.unit.test_trace_records import BREAK, FILES, record
from tutor.language import LANGS
from tutor.strings import say
from tutor.trace.advice import advise
from tutor.trace.files import find
from tutor.trace.reading import Reading
from tutor.trace.story import head, tell

ROOT = Path(__file__).resolve().parents[2]


def told(folder: Path) -> str:
    """The whole story in every language, as text."""
    job = read(folder)
    differences = job.differences()
    words = []
    for lang in LANGS:
        words += [said.text for said in tell(job, differences, lang)]
        words += [say(lang, message) for _, message in advise(job, differences)]
    return "\n".join(words)


@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_recorded_traces_with_a_few_bytes_changed_can_be_told(data: st.DataObject, tmp_path: Path) -> None:
    raw = bytearray(data.draw(st.sampled_from(FILES)).read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(raw) - 1))
        piece = data.draw(
            st.sampled_from([b"", b"\n", b"\t", b"\x00", b'"', b"}", b"{}", b"null", b"1e999", b"\xff", b"\n\nV"])
        )
        raw[at : at + data.draw(st.integers(0, 40))] = piece
    (tmp_path / "dedicated_log_torch_trace_rank_1_x.log").write_bytes(FILES[0].read_bytes()[:3000] + bytes(raw))
    assert told(tmp_path)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KINDS = st.sampled_from(
    ["str", "dynamo_start", "dynamo_output_graph", "compilation_metrics", "bwd_compilation_metrics", "artifact"]
)
NAMES = st.sampled_from(
    ["recompile_reasons", "dynamo_graph_break_reason", "dynamo_error", "torch_version", "inductor_collective_schedule"]
)


@given(records=st.lists(st.tuples(KINDS, NAMES, JUNK, JUNK, st.text(max_size=60)), max_size=8))
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_records_with_any_values_can_be_told(records: list[tuple[str, str, Any, Any, str]], tmp_path: Path) -> None:
    out = compiled(rank=0)
    for kind, name, value, other, payload in records:
        body = {"name": name} if kind == "artifact" else value
        meta = json.loads(json.dumps({kind: body, "frame_id": other, "frame_compile_id": value, "rank": other}))
        out += record(meta, payload.encode("utf-8", "replace").decode())
    (tmp_path / "t.log").write_bytes(out)
    assert told(tmp_path)


@pytest.mark.parametrize(
    "payload",
    [
        "\n" * 500_000,
        " " * 900_000,
        "aError\n" * 140_000,
        '  File "a.py", line 1\n' * 40_000,
        "Graph break in user code at " + ":1" * 400_000,
        "User code traceback:\n" + '  File "' * 100_000,
        "  Hint: " * 100_000,
        "# File: " * 100_000,
    ],
    ids=["newlines", "blanks", "errors", "files", "colons", "half-files", "hints", "graph-lines"],
)
def test_no_text_takes_long_to_read(payload: str, tmp_path: Path) -> None:
    """In a process of its own, whose processor time is limited: an expression that is squared would use it up."""
    names = ("dynamo_graph_break_reason", "dynamo_error", "recompile_reasons")
    data = b"".join(record({**BREAK, "artifact": {"name": name}}, payload) for name in names)
    data += record({"dynamo_output_graph": {}, "frame_id": 0, "frame_compile_id": 0}, payload) + compiled()
    (tmp_path / "t.log").write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-m", "tutor", "lab", "--json", "--trace", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (8, 8)),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["graphs"] == 1


def test_a_file_that_grows_while_it_is_read_is_read_as_far_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "t.log"
    path.write_bytes(compiled("first"))
    reading = Reading()
    reading.add(find(path).files[0])
    seen = []
    with path.open("ab") as more:
        for event in reading.more():
            seen.append(event)
            more.write(compiled("later"))
            more.flush()
            assert len(seen) < 100, "it runs after whoever writes"
    assert {event["fn"] for event in seen if event["event"] == "graph"} == {"first"}
    assert {event["fn"] for event in reading.more() if event["event"] == "graph"} == {"later"}


def test_a_file_that_became_a_pipe_or_a_device_is_not_waited_for(tmp_path: Path) -> None:
    reading = Reading()
    for name in ("pipe.log", "device.log"):
        (tmp_path / name).write_bytes(compiled(name))
    for file in find(tmp_path).files:
        reading.add(file)
    assert sum(event["event"] == "graph" for event in reading.more()) == 2
    for name in ("pipe.log", "device.log"):
        (tmp_path / name).unlink()
    os.mkfifo(tmp_path / "pipe.log")
    (tmp_path / "device.log").symlink_to("/dev/zero")
    assert [event["event"] for event in reading.more()] == []
    assert list(reading.unreadable) == ["pipe.log"]


def test_head_of_a_hostile_name(tmp_path: Path) -> None:
    (tmp_path / "{0}{name}.log").write_bytes(compiled("{fn}{0}"))
    job = read(tmp_path)
    assert "{x}" in head("{x}", find(tmp_path), job, "en").text
    assert "{fn}{0}" in told(tmp_path)
