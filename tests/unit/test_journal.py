"""The journal: nothing is lost, whatever happens to the file, the disk or the line."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutor import journal as journal_module
from tutor import line_file
from tutor.journal import Journal, StateError
from tutor.journal_lines import Damaged, FromTheFuture, decode, encode, seal, unseal
from tutor.model import LANGS, Message
from tutor.progress import MAX_TEXT, Event
from tutor.strings import say

ROOT = Path(__file__).resolve().parents[2]
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "lesson"


def open_at_noon(folder: Path) -> Journal:
    return Journal.open(folder, clock=lambda: NOON)


def type_code(journal: Journal, text: str) -> None:
    journal.append("draft", name="code", text=text, cursor=[0, len(text)])


def keys(messages: list[Message]) -> list[str]:
    return [message.key for message in messages]


def sayable(*messages: Message) -> None:
    for message in messages:
        for lang in LANGS:
            assert say(lang, message)


def run_python(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *args], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


# --- what is written --------------------------------------------------------------------------------------------------


def test_an_event_is_on_the_disk_when_append_returns(folder: Path) -> None:
    journal = open_at_noon(folder)
    event = journal.append("setting", name="lang", value="en")
    table = json.loads((folder / "journal.jsonl").read_text(encoding="utf-8"))
    assert table["schema"] == 1
    assert table["id"] == event.id == f"{journal.session}-1"
    assert table["at"] == "2026-11-30T12:00:00.000Z"
    assert (table["kind"], table["data"]) == ("setting", {"name": "lang", "value": "en"})
    assert len(table["sum"]) == 16
    assert Journal.open(folder).progress.settings == {"lang": "en"}


def test_folders_and_files_are_for_this_user_alone(folder: Path) -> None:
    journal = open_at_noon(folder)
    journal.claim_session()
    for path in [folder.parent, folder, *folder.iterdir()]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_folder_that_others_could_enter_is_closed(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    assert open_at_noon(folder).notices == []
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_was_there_before_ours_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    open_at_noon(tmp_path / "lesson")
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_mode_that_cannot_be_mended_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    monkeypatch.setattr(Path, "chmod", lambda _, __: None)
    (notice,) = open_at_noon(folder).notices
    assert notice == Message("state.open-to-others", {"path": str(folder), "mode": "0755"})
    sayable(notice)


@given(st.dictionaries(st.text(), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists)))
def test_any_text_comes_back_as_it_was(data: dict[str, object]) -> None:
    event = Event("s-1", "t", "k", data)
    line = encode(event)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line[:-1], 1) == event


def test_a_lone_surrogate_comes_back(folder: Path) -> None:
    type_code(open_at_noon(folder), "a\ud800b")
    assert open_at_noon(folder).progress.text("code") == "a\ud800b"


def test_a_text_over_the_bound_is_refused_and_the_last_one_stays(folder: Path) -> None:
    journal = open_at_noon(folder)
    type_code(journal, "x" * MAX_TEXT)
    with pytest.raises(StateError) as caught:
        type_code(journal, "é" * (MAX_TEXT // 2 + 1))
    sayable(caught.value.message)
    assert caught.value.message.key == "state.text-too-long"
    assert journal.progress.text("code") == "x" * MAX_TEXT
    assert journal.pending == []


def test_data_that_is_no_event_of_its_kind_changes_nothing(folder: Path) -> None:
    journal = open_at_noon(folder)
    type_code(journal, "before")
    with pytest.raises(KeyError):
        journal.append("draft", name="code")
    with pytest.raises(TypeError):
        journal.append("setting", name="x", value=object())
    assert journal.pending == []
    type_code(journal, "after")
    assert Journal.open(folder).progress.text("code") == "after"


# --- damage -----------------------------------------------------------------------------------------------------------


def three_events(folder: Path) -> list[bytes]:
    journal = open_at_noon(folder)
    for number in range(3):
        journal.append("setting", name=f"s{number}", value=number)
    return (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)


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
from tutor.journal import Journal
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


# --- disks and folders ------------------------------------------------------------------------------------------------


def test_a_full_disk_keeps_everything_in_memory_until_there_is_room(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = open_at_noon(folder)
    type_code(journal, "on disk")
    size = (folder / "journal.jsonl").stat().st_size
    write, room = os.write, [30]

    def tight(fd: int, raw: bytes) -> int:
        if room[0] <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = write(fd, raw[: room[0]])
        room[0] -= done
        return done

    monkeypatch.setattr(line_file.os, "write", tight)
    with pytest.raises(StateError) as caught:
        type_code(journal, "in memory")
    sayable(caught.value.message)
    assert caught.value.message.key == "state.disk-full"
    assert journal.progress.text("code") == "in memory"
    assert len(journal.pending) == 1
    assert (folder / "journal.jsonl").stat().st_size == size, "a part of a line stayed behind"
    with pytest.raises(StateError):
        journal.append("setting", name="lang", value="en")
    with pytest.raises(StateError):
        journal.retry()
    assert open_at_noon(folder).progress.text("code") == "on disk"

    monkeypatch.undo()
    assert journal.retry()
    assert journal.pending == []
    after = open_at_noon(folder)
    assert after.progress == journal.progress
    assert after.notices == []


def test_a_real_limit_on_the_file_size(folder: Path) -> None:
    code = """
import pathlib, resource, sys
from tutor.journal import Journal, StateError
journal = Journal.open(pathlib.Path(sys.argv[1]))
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (300, hard))
for text in ("first", "x" * 500):
    try:
        journal.append("draft", name="code", text=text, cursor=[0, 0])
    except StateError as error:
        print(error.message.key, len(journal.pending))
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
print(journal.retry())
"""
    done = run_python(code, str(folder))
    assert done.stdout.split() == ["state.disk-full", "1", "True"], done.stderr
    assert Journal.open(folder).progress.text("code") == "x" * 500


def test_an_event_that_was_written_but_not_confirmed_counts_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = open_at_noon(folder)

    def no_sync(*_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(line_file.os, "fsync", no_sync)
    monkeypatch.setattr(line_file.os, "ftruncate", no_sync)
    with pytest.raises(StateError) as caught:
        type_code(journal, "v1")
    assert caught.value.message.key == "state.unusable"
    monkeypatch.undo()
    assert journal.retry()
    assert (folder / "journal.jsonl").read_bytes().count(b"\n") == 2
    for each in (journal, open_at_noon(folder)):
        assert each.progress.drafts["code"].versions == 1


def open_as_ordinary_user(folder: Path, mode: int) -> list[str]:
    """Open the journal in `folder`, of that mode, as a user whom modes bind (root is not), and try to write to it."""
    code = """
import os, pathlib, sys
from tutor.journal import Journal, StateError
folder = pathlib.Path(sys.argv[1])
if os.geteuid() == 0:
    for path in (folder, *folder.iterdir()):
        os.chown(path, 65534, 65534)
    os.setgid(65534)
    os.setuid(65534)
folder.chmod(int(sys.argv[2]))
try:
    journal = Journal.open(folder)
    print("opened", *(notice.key for notice in journal.notices), len(journal.progress.settings))
    journal.append("setting", name="a", value=1)
except StateError as error:
    print(error.message.key)
"""
    done = run_python(code, str(folder), str(mode))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def reachable(tmp_path: Path) -> Iterator[Path]:
    """A folder that an ordinary user can get to, and the modes put back."""
    above = [path for path in (tmp_path, *tmp_path.parents) if path.stat().st_uid == os.getuid() and path != Path("/")]
    modes = {path: path.stat().st_mode & 0o7777 for path in above}
    for path in above:
        path.chmod(modes[path] | 0o011)
    yield tmp_path
    for path, mode in modes.items():
        path.chmod(mode)


def test_a_journal_that_cannot_be_written_is_shown_all_the_same(reachable: Path) -> None:
    folder = reachable / "lesson"
    three_events(folder)
    (folder / "journal.jsonl").chmod(0o444)
    assert open_as_ordinary_user(folder, 0o700) == ["opened state.not-writable 3", "state.not-writable"]


def test_a_folder_that_cannot_be_written(reachable: Path) -> None:
    (reachable / "lesson").mkdir()
    assert open_as_ordinary_user(reachable / "lesson", 0o500) == ["state.unusable"]


def test_a_folder_that_cannot_be_entered(reachable: Path) -> None:
    (reachable / "lesson").mkdir()
    assert open_as_ordinary_user(reachable / "lesson", 0o000) == ["state.folder-unusable"]


def test_a_file_in_place_of_the_folder_and_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "lesson"):
        with pytest.raises(StateError) as caught:
            Journal.open(folder)
        assert caught.value.message.key == "state.not-a-folder"
        sayable(caught.value.message)
    (tmp_path / "lesson" / "journal.jsonl").mkdir(parents=True)
    with pytest.raises(StateError) as caught:
        Journal.open(tmp_path / "lesson")
    assert caught.value.message.key == "state.not-a-file"
    sayable(caught.value.message)


def test_the_folder_goes_away_while_we_run(folder: Path) -> None:
    journal = open_at_noon(folder)
    type_code(journal, "v1")
    folder.rename(folder.parent / "moved")
    with pytest.raises(StateError) as caught:
        type_code(journal, "v2")
    assert caught.value.message.key == "state.unusable"
    assert journal.progress.text("code") == "v2"
    (folder.parent / "moved").rename(folder)
    assert journal.retry()
    assert open_at_noon(folder).progress.text("code") == "v2"


# --- company ----------------------------------------------------------------------------------------------------------


def test_two_processes_see_each_other_and_neither_overwrites(folder: Path) -> None:
    one, two = open_at_noon(folder), open_at_noon(folder)
    type_code(one, "from one")
    two.append("setting", name="theme", value="dark")
    assert two.progress.text("code") == "from one"
    assert one.progress.settings == {}
    assert one.refresh()
    assert one.progress.settings == {"theme": "dark"}
    assert not one.refresh()
    assert one.progress == two.progress == open_at_noon(folder).progress


def test_a_worker_thread_may_write_too(folder: Path) -> None:
    journal = open_at_noon(folder)
    threads = [
        threading.Thread(target=lambda n=n: [journal.append("setting", name=f"{n}-{i}", value=i) for i in range(25)])
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    after = open_at_noon(folder)
    assert len(after.progress.settings) == 100
    assert after.progress == journal.progress
    assert after.notices == []


def test_evidence_ids_are_unique_across_processes(folder: Path) -> None:
    code = """
import pathlib, sys
from tutor.journal import Journal
journal = Journal.open(pathlib.Path(sys.argv[1]))
print(*[journal.add_evidence({"source": "measured", "claims": {"zero-one": "holds"}}) for _ in range(25)])
"""
    folder.mkdir(parents=True)
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    given_out = [name for each in started for name in each.communicate(timeout=60)[0].split()]
    assert sorted(given_out, key=lambda name: int(name[1:])) == [f"E{number}" for number in range(1, 76)]
    journal = Journal.open(folder)
    assert list(journal.progress.evidence) == [f"E{number}" for number in range(1, 76)]
    assert journal.notices == []


def test_evidence_that_waited_for_room_gives_way_to_the_one_that_was_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = open_at_noon(folder), open_at_noon(folder)
    record = {"source": "measured", "claims": {"zero-one": "holds"}}
    write = os.write

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(line_file.os, "write", full)
    with pytest.raises(StateError):
        one.add_evidence({**record, "demo": "of one"})
    monkeypatch.setattr(line_file.os, "write", write)
    assert two.add_evidence({**record, "demo": "of two"}) == "E1"
    assert one.retry()
    for journal in (one, open_at_noon(folder)):
        assert {name: kept.record["demo"] for name, kept in journal.progress.evidence.items()} == {
            "E1": "of two",
            "E2": "of one",
        }
    assert keys(one.notices) == ["state.evidence-renamed"]
    sayable(*one.notices)


def test_a_stopped_process_that_holds_the_lock_does_not_hang_us(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, other = open_at_noon(folder), open_at_noon(folder)
    monkeypatch.setattr(line_file, "PATIENCE", 0.02)
    with other._file.locked(), pytest.raises(StateError) as caught:
        type_code(journal, "typed")
    assert caught.value.message.key == "state.busy"
    sayable(caught.value.message)
    assert journal.progress.text("code") == "typed"
    assert journal.retry()
    assert open_at_noon(folder).progress.text("code") == "typed"


def test_a_file_system_without_locks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("tutor.session_lock.fcntl.flock", no_locks)
    journal = open_at_noon(folder)
    assert keys(journal.notices) == ["state.no-locks"]
    assert journal.claim_session() is None
    assert keys(journal.notices) == ["state.no-locks"]
    type_code(journal, "x")
    assert open_at_noon(folder).progress.text("code") == "x"
    sayable(*journal.notices)


# --- sessions ---------------------------------------------------------------------------------------------------------


def test_the_second_session_is_told_and_may_take_over(folder: Path) -> None:
    first, second, third = open_at_noon(folder), open_at_noon(folder), open_at_noon(folder)
    assert first.claim_session() is None
    owner = second.claim_session()
    assert owner is not None
    assert (owner.pid, owner.session, owner.since) == (os.getpid(), first.session, "2026-11-30T12:00:00+00:00")
    assert owner.host
    assert not first.refresh()

    second.take_over()
    assert first.refresh()
    assert first.lost_session
    assert keys(first.notices) == ["state.session-lost"]
    with pytest.raises(StateError) as caught:
        type_code(first, "too late")
    sayable(caught.value.message)
    type_code(second, "mine")
    second.refresh()
    owner = third.claim_session()
    assert owner is not None
    assert owner.session == second.session
    first.close()
    assert second.progress.owner == second.session
    second.close()
    assert third.claim_session() is None
    assert third.progress.dropped is None
    assert third.progress.text("code") == "mine"


def test_a_write_that_meets_a_take_over_is_refused(folder: Path) -> None:
    first, second = open_at_noon(folder), open_at_noon(folder)
    first.claim_session()
    type_code(first, "before")
    second.claim_session()
    second.take_over()
    type_code(second, "newer")
    with pytest.raises(StateError) as caught:
        type_code(first, "older")
    assert caught.value.message.key == "state.session-lost"
    assert open_at_noon(folder).progress.text("code") == "newer"


def test_a_reader_writes_nothing(folder: Path) -> None:
    first, second = open_at_noon(folder), open_at_noon(folder)
    first.claim_session()
    assert second.claim_session() is not None
    second.only_read()
    with pytest.raises(StateError):
        type_code(second, "x")
    type_code(first, "y")
    assert second.refresh()
    assert second.progress.text("code") == "y"
    second.close()
    assert not first.lost_session


@pytest.mark.parametrize(("end", "how"), [("hangup", "hangup"), ("kill", "crash")])
def test_a_session_that_ended_badly_is_known_at_the_next_start(folder: Path, end: str, how: str) -> None:
    code = """
import os, pathlib, signal, sys
from tutor.journal import Journal
journal = Journal.open(pathlib.Path(sys.argv[1]))
journal.claim_session()
journal.append("draft", name="q1", text="half a sent", cursor=[0, 11])
if sys.argv[2] == "hangup":
    journal.append("hangup", demo="automatic-dynamic", call=2)
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert run_python(code, str(folder), end).returncode == -signal.SIGKILL
    journal = Journal.open(folder)
    assert journal.claim_session() is None
    dropped = journal.progress.dropped
    assert dropped is not None
    assert dropped.how == how
    assert (dropped.demo, dropped.call) == (("automatic-dynamic", 2) if how == "hangup" else (None, None))
    assert journal.progress.last_draft == "q1"
    assert journal.progress.text("q1") == "half a sent"
    assert dropped.seen <= journal.progress.open_seen
    journal.close()
    after = Journal.open(folder)
    after.claim_session()
    assert after.progress.dropped is None


def test_closing_twice_and_using_nothing_afterwards(folder: Path) -> None:
    journal = open_at_noon(folder)
    journal.claim_session()
    journal.close()
    journal.close()
    assert open_at_noon(folder).progress.open_session is None


# --- folding ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "SEGMENT", 1500)


@pytest.mark.usefixtures("small_segments")
def test_a_long_journal_is_folded_and_nothing_is_lost(folder: Path) -> None:
    journal, other = open_at_noon(folder), open_at_noon(folder)
    held = journal.progress
    for number in range(40):
        type_code(journal, f"version {number}")
        if number % 3 == 0:
            other.append("setting", name=f"s{number}", value=number)
    assert journal.progress is held
    other.refresh()
    journal.refresh()
    assert len(list((folder / "history").iterdir())) > 3
    assert (folder / "journal.jsonl").stat().st_size < 3000
    after = open_at_noon(folder)
    assert after.progress == journal.progress == other.progress
    assert after.progress.drafts["code"].versions == 40
    assert len(after.progress.settings) == 14
    raw = b"".join(path.read_bytes() for path in sorted((folder / "history").iterdir()))
    assert raw.count(b"\n") + (folder / "journal.jsonl").read_bytes().count(b"\n") == 54


@pytest.mark.usefixtures("small_segments")
def test_a_fold_that_was_cut_short_counts_nothing_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = open_at_noon(folder)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", lambda *_: (_ for _ in ()).throw(OSError(errno.EIO, "no")))
        for number in range(12):
            type_code(journal, f"version {number}")
    assert keys(journal.notices) == ["state.no-snapshot"]
    sayable(*journal.notices)
    assert (folder / "snapshot.json").exists()
    after = open_at_noon(folder)
    assert after.progress == journal.progress
    assert after.progress.drafts["code"].versions == 12


@pytest.mark.usefixtures("small_segments")
def test_a_damaged_snapshot_is_made_good_from_the_history(folder: Path) -> None:
    journal = open_at_noon(folder)
    for number in range(30):
        type_code(journal, f"version {number}")
    snapshot = folder / "snapshot.json"
    snapshot.write_bytes(snapshot.read_bytes().replace(b"version", b"VERSION", 1))
    after = open_at_noon(folder)
    assert keys(after.notices) == ["state.snapshot-damaged"]
    sayable(*after.notices)
    assert after.progress == journal.progress
    assert len(list(folder.glob("damaged-*snapshot.json"))) == 1
    assert open_at_noon(folder).progress == journal.progress


def test_a_damaged_snapshot_without_history_is_kept_and_said(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "snapshot.json").write_text("{}", encoding="utf-8")
    journal = open_at_noon(folder)
    assert keys(journal.notices) == ["state.snapshot-lost"]
    sayable(*journal.notices)
    (kept,) = folder.glob("damaged-*snapshot.json")
    assert kept.read_text(encoding="utf-8") == "{}"


def test_a_snapshot_from_the_future(folder: Path) -> None:
    three_events(folder)
    (folder / "snapshot.json").write_bytes(seal({"schema": 2, "everything": "new"}))
    journal = open_at_noon(folder)
    assert keys(journal.notices) == ["state.from-the-future"]
    assert journal.progress.settings == {"s0": 0, "s1": 1, "s2": 2}
    with pytest.raises(StateError):
        type_code(journal, "x")
