"""The records of a trace file: however the bytes come in, whatever is wrong with them, and never more than is kept."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutor.trace import records as trace_records
from tutor.trace.records import HEAD_MAX, PAYLOAD_MAX, Reader, Record

TRACES = Path(__file__).parent / "data" / "traces"
FILES = sorted(TRACES.glob("*/*.log"))
BREAK = {"artifact": {"name": "dynamo_graph_break_reason", "encoding": "string"}, "frame_id": 0, "frame_compile_id": 0}


def record(meta: dict[str, Any], payload: str | None = None, process: int = 7, second: int = 0) -> bytes:
    """One record as torch writes it."""
    if payload is not None:
        meta = {**meta, "has_payload": hashlib.md5(payload.encode(), usedforsecurity=False).hexdigest()}
    head = f"V1130 08:00:{second:02}.000000 {process} torch/_logging/structured.py:28] {json.dumps(meta)}"
    rows = "" if payload is None else "".join(f"\n\t{row}" for row in payload.split("\n"))
    return f"{head}{rows}\n".encode()


def read(data: bytes, size: int = 1 << 20) -> tuple[list[Record], Reader]:
    """All records of a file that comes in pieces of `size` bytes."""
    reader, found = Reader(), []
    for start in range(0, len(data), size):
        found += reader.feed(data[start : start + size])
    return found + list(reader.end()), reader


def damages(data: bytes) -> list[str | None]:
    return [each.damage for each in read(data)[0]]


def test_there_are_traces_of_several_versions() -> None:
    assert {path.parent.name.partition("-")[0] for path in FILES} == {"2.6", "2.8", "2.13", "2.14"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_what_torch_wrote_is_read_whole(path: Path) -> None:
    found, reader = read(path.read_bytes())
    assert found
    assert {each.damage for each in found} == {None}
    assert reader.kinds["dynamo_start"] == sum(each.kind == "dynamo_start" for each in found) > 0
    assert set(reader.kinds) <= trace_records.KNOWN
    assert all(each.process > 0 and each.at.startswith("11-30 ") for each in found)


@given(size=st.integers(1, 500))
@settings(max_examples=20)
def test_it_does_not_matter_how_the_bytes_come(size: int) -> None:
    data = FILES[0].read_bytes()
    assert read(data, size)[0] == read(data)[0]


def test_payloads_keep_empty_lines_tabs_and_every_script() -> None:
    payload = "one\n\n\ttabbed\n图断了 \u2028 \x0b end"
    (found,), _ = read(record(BREAK, payload))
    assert (found.payload, found.damage, found.name) == (payload, None, "dynamo_graph_break_reason")


def test_kinds_that_explain_nothing_are_counted_and_skipped() -> None:
    found, reader = read(b"\n\n" + record({"chromium_event": {}}, "{}") + record({"new_thing": 1}) + record(BREAK, "x"))
    assert [each.name for each in found] == ["dynamo_graph_break_reason"]
    assert dict(reader.kinds) == {"chromium_event": 1, "new_thing": 1, "artifact": 1}


@pytest.mark.parametrize(
    ("broken", "damage"),
    [
        (b"some other program wrote here\n", "stray"),
        (b"\xff\xfe\x00\x01\n", "stray"),
        (b'V1130 08:00:00.000000 7 a.py:1] {"artifact": \n', "json"),
        (b"V1130 08:00:00.000000 7 a.py:1] {}\n", "json"),
        (b'V1130 08:00:00.000000 7 a.py:1] {"dynamo_start": ' + b"[" * 100_000 + b"\n", "json"),
        (b'V1130 08:00:00.000000 7 a.py:1] {"dynamo_start": ' + b"9" * 5000 + b"}\n", "json"),
        (record(BREAK, "what torch wrote").replace(b"torch wrote", b"other wrote"), "payload"),
        (record(BREAK, "x" * (PAYLOAD_MAX + 1)), "long"),
        (b"V1130 08:00:00.000000 7 a.py:1] {" + b"x" * (HEAD_MAX + 1) + b"\n", "json"),
    ],
    ids=["text", "binary", "half", "empty", "deep", "digits", "md5", "payload-long", "head-long"],
)
def test_damage_is_named_and_the_rest_is_read(broken: bytes, damage: str) -> None:
    good = record(BREAK, "good")
    found, _ = read(good + broken + good)
    assert [each.payload for each in (found[0], found[-1])] == ["good", "good"]
    assert [each.damage for each in found] == [None, damage, None]


def test_a_header_too_long_of_a_kind_that_is_read_is_long() -> None:
    head = b'V1130 08:00:00.000000 7 a.py:1] {"dynamo_start": "' + b"x" * HEAD_MAX + b'"}\n'
    assert damages(head + record(BREAK, "x")) == ["long", None]


@pytest.mark.parametrize("cut", [5, 40, 100, 170, 230])
def test_a_file_that_ends_inside_a_record_says_so(cut: int) -> None:
    whole = record(BREAK, "good")
    assert damages(whole + record(BREAK, "a longer text\nof two lines")[:cut]) == [None, "cut"]


def test_a_last_record_without_its_newline_is_whole_when_its_text_is() -> None:
    assert damages(record(BREAK, "good")[:-1]) == [None]


def test_nan_is_no_number() -> None:
    line = b'V1130 08:00:00.000000 7 a.py:1] {"compilation_metrics": {"duration_us": NaN, "x": Infinity}}\n'
    assert read(line)[0][0].meta["compilation_metrics"] == {"duration_us": None, "x": None}


def test_kinds_are_counted_up_to_a_number() -> None:
    data = b"".join(record({f"kind_{number}": 1}) for number in range(2 * trace_records.KINDS_MAX))
    assert len(read(data)[1].kinds) == trace_records.KINDS_MAX


@pytest.mark.parametrize(
    "piece",
    [b"x" * 65536, b"\t" + b"x" * 65535, b"\n" * 65536, b"\t\n" * 32768],
    ids=["one-line", "one-payload-line", "blank-lines", "payload-lines"],
)
def test_memory_does_not_follow_the_size_of_what_is_read(piece: bytes) -> None:
    reader = Reader()
    tracemalloc.start()
    try:
        for data in (record(BREAK, "x")[:-1], *[piece] * 320):
            for _ in reader.feed(data):
                pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 12 << 20


@given(st.binary(max_size=400), st.integers(0, 20_000), st.integers(0, 300))
@settings(max_examples=150)
def test_no_bytes_stop_the_reader(junk: bytes, place: int, left_out: int) -> None:
    data = FILES[0].read_bytes()[:20_000]
    found, _ = read(data[:place] + junk + data[place + left_out :])
    assert all(isinstance(each, Record) for each in found)
