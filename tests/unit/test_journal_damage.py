"""A journal whose lines are damaged, cut off or of another schema: nothing else is lost, and it is said once."""

from __future__ import annotations

import hashlib
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.journals import folder, keys, open_at_noon, run_python, sayable, three_events, type_code
from tutor.learner.journal import Journal, StateError
from tutor.learner.journal_lines import Damaged, FromTheFuture, decode, encode, seal, unseal
from tutor.learner.progress import Event, Progress, apply
from tutor.ui.views.pages import evidence_page

__all__ = ["folder"]


# --- damage -----------------------------------------------------------------------------------------------------------


@given(place=st.integers(min_value=0), bit=st.integers(0, 7))
@settings(max_examples=200)
def test_one_changed_bit_is_seen(place: int, bit: int) -> None:
    line = bytearray(encode(Event("a-1", "2026", "draft", {"text": "你好", "n": 1}))[:-1])
    line[place % len(line)] ^= 1 << bit
    if b"\n" not in line:
        assert isinstance(decode(bytes(line), 1), Damaged)


def test_a_damaged_line_is_set_aside_reported_once_and_loses_itself_only(folder: Path) -> None:
    lines = three_events(folder)
    lines[1] = lines[1].replace(b'"value":1', b'"value":7')
    (folder / "journal.jsonl").write_bytes(b"".join(lines))

    journal = open_at_noon(folder)
    assert journal.progress.settings == {"s0": 0, "s2": 2}
    (notice,) = journal.notices
    assert notice.key == "state.damaged"
    assert notice.args["count"] == 1
    assert notice.args["lines"] == "2"
    sayable(notice)
    aside = folder / "damaged-2026-11-30.jsonl"
    assert notice.args["aside"] == str(aside)
    assert aside.read_bytes() == lines[1]

    again = open_at_noon(folder)
    assert again.notices == []
    assert again.progress == journal.progress
    assert aside.read_bytes() == lines[1]


@pytest.mark.parametrize(
    "garbage", [b"\0" * 5000, b"{}", b"[]", b"\xff\xfe", b'{"schema":1}', b'{"schema":0,', b"[" * 9000]
)
def test_garbage_between_lines(folder: Path, garbage: bytes) -> None:
    first, second, third = three_events(folder)
    (folder / "journal.jsonl").write_bytes(first + garbage + b"\n" + second + third)
    journal = open_at_noon(folder)
    assert journal.progress.settings == {"s0": 0, "s1": 1, "s2": 2}
    assert keys(journal.notices) == ["state.damaged"]


@pytest.mark.parametrize("kept", [1, 20, -2, -1])
def test_a_last_line_that_was_cut_off(folder: Path, kept: int) -> None:
    first, second, third = three_events(folder)
    (folder / "journal.jsonl").write_bytes(first + second + third[:kept])
    journal = open_at_noon(folder)
    whole = kept == -1  # Only the line feed is missing: nothing is.
    assert journal.progress.settings == ({"s0": 0, "s1": 1, "s2": 2} if whole else {"s0": 0, "s1": 1})
    assert keys(journal.notices) == ([] if whole else ["state.damaged"])
    type_code(journal, "next")
    after = open_at_noon(folder)
    assert after.progress.text("code") == "next"
    assert after.notices == []


def test_killed_in_the_middle_of_a_write(folder: Path) -> None:
    code = """
import os, sys, signal, pathlib
from tutor.learner.journal import Journal
journal = Journal.open(pathlib.Path(sys.argv[1]))
journal.append("draft", name="code", text="kept", cursor=[0, 0])
write = os.write
def half(fd, raw):
    write(fd, raw[:len(raw) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
os.write = half
journal.append("draft", name="code", text="lost", cursor=[0, 0])
"""
    assert run_python(code, str(folder)).returncode == -signal.SIGKILL
    journal = Journal.open(folder)
    assert journal.progress.text("code") == "kept"
    assert keys(journal.notices) == ["state.damaged"]
    type_code(journal, "on")
    assert Journal.open(folder).progress.text("code") == "on"


def test_an_empty_file(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "journal.jsonl").touch()
    journal = open_at_noon(folder)
    assert journal.notices == []
    type_code(journal, "x")
    assert open_at_noon(folder).progress.text("code") == "x"


def test_a_sound_line_whose_data_does_not_fit_its_kind_is_damage(folder: Path) -> None:
    three_events(folder)
    with (folder / "journal.jsonl").open("ab") as file:
        file.write(encode(Event("zz-1", "2026", "draft", {"name": "code"})))
    journal = open_at_noon(folder)
    assert keys(journal.notices) == ["state.damaged"]
    assert journal.progress.drafts == {}


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_none_is_damage_and_does_not_stop_the_tutor(folder: Path, number: str) -> None:
    """No whole number can be made of it: an edited line with a sum that fits would end every start."""
    open_at_noon(folder).append("setting", name="kept", value=1)
    event = {"schema": 1, "id": "x-1", "at": "2026", "kind": "handed_in", "data": {"number": 0, "sha256": ""}}
    body = seal(event).rpartition(b',"sum":"')[0].replace(b'"number":0', f'"number":{number}'.encode())
    line = body + b',"sum":"' + hashlib.sha256(body).hexdigest()[:16].encode() + b'"}\n'
    with (folder / "journal.jsonl").open("ab") as journal:
        journal.write(line)
    found = open_at_noon(folder)
    assert found.progress.settings == {"kept": 1}
    assert keys(found.notices) == ["state.damaged"]
    with pytest.raises(ValueError, match="JSON"):
        found.append("setting", name="x", value=float(number))


@pytest.mark.parametrize("table", ["claims", "observed", "environment", "predicted", "answers"])
def test_evidence_whose_tables_are_none_is_damage(table: str) -> None:
    record = {"demo": "hits", "source": "measured", "claims": {}}
    progress = Progress()
    apply(progress, Event("a-1", "2026", "evidence", {"id": "E1", "record": {**record, table: {}}}))
    with pytest.raises((TypeError, ValueError)):
        apply(progress, Event("a-2", "2026", "evidence", {"id": "E2", "record": {**record, table: "x"}}))
    assert list(progress.evidence) == ["E1"]


@pytest.mark.parametrize("wrong", [{"demo": 3}, {"demo": None}, {"observed": {"s": 1}}, {"observed": {"s": {"n": 1}}}])
def test_evidence_that_no_page_could_show_is_damage(wrong: dict[str, Any]) -> None:
    record = {"demo": "hits", "source": "measured", "claims": {}, **wrong}
    with pytest.raises(TypeError):
        apply(Progress(), Event("a-1", "2026", "evidence", {"id": "E1", "record": record}))


def test_evidence_without_its_tables_can_be_shown() -> None:
    record = {"demo": "hits", "source": "measured", "claims": {"zero-one": "holds"}}
    progress = Progress()
    apply(progress, Event("a-1", "2026-01-05T08:00:00Z", "evidence", {"id": "E1", "record": record}))
    lines = evidence_page(progress.evidence["E1"], "en", 78)
    assert any("2026-01-05" in row.text for row in lines)


def test_a_kind_that_is_not_known_is_kept_and_changes_nothing(folder: Path) -> None:
    open_at_noon(folder).append("later-invention", x=1)
    journal = open_at_noon(folder)
    assert journal.notices == []
    assert journal.progress.settings == {}


# --- other schemas ----------------------------------------------------------------------------------------------------

SCHEMA_0 = """\
{"schema":0,"at":"2026-01-05T08:00:00Z","kind":"setting","name":"lang","value":"en"}
{"schema":0,"at":"2026-01-05T08:01:00Z","kind":"draft","name":"code","text":"guarded_shape"}
{"schema":0,"at":"2026-01-05T08:02:00Z","kind":"draft","name":"q1","text":"早先写的","cursor":[0,4]}
"""


def test_schema_0_is_read_and_written_on(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "journal.jsonl").write_text(SCHEMA_0, encoding="utf-8")
    journal = open_at_noon(folder)
    assert journal.notices == []
    assert journal.progress.settings == {"lang": "en"}
    assert journal.progress.text("code") == "guarded_shape"
    assert journal.progress.drafts["q1"].cursor == (0, 4)
    type_code(journal, "new")
    assert open_at_noon(folder).progress.text("code") == "new"
    assert (folder / "journal.jsonl").read_text(encoding="utf-8").startswith(SCHEMA_0)


def test_from_the_future_is_read_and_never_written(folder: Path) -> None:
    three_events(folder)
    with (folder / "journal.jsonl").open("ab") as file:
        file.write(seal({"schema": 2, "id": "n-1", "at": "2030", "kind": "setting", "more": []}) + b"\n")
        file.write(b"damage in the same file\n")
    before = (folder / "journal.jsonl").read_bytes()
    journal = open_at_noon(folder)
    assert journal.progress.settings == {"s0": 0, "s1": 1, "s2": 2}
    assert keys(journal.notices) == ["state.from-the-future", "state.damaged-read-only"]
    sayable(*journal.notices)
    with pytest.raises(StateError) as caught:
        type_code(journal, "x")
    assert caught.value.message.key == "state.from-the-future"
    assert journal.claim_session() is None
    journal.close()
    assert (folder / "journal.jsonl").read_bytes() == before
    assert not list(folder.glob("damaged-*"))


def test_lines_of_the_notation() -> None:
    future = seal({"schema": 9})
    assert decode(future, 1) == FromTheFuture(9)
    assert unseal(future) == {"schema": 9}
    with pytest.raises(ValueError, match="sum"):
        unseal(future[:-3] + b'f"}')
