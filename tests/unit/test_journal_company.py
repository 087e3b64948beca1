"""Several processes, threads and sessions on one journal, and files that are not locked."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.unit.journals import ROOT, folder, keys, open_at_noon, run_python, sayable, type_code
from tutor.learner import line_file
from tutor.learner.journal import Journal, StateError

__all__ = ["folder"]


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
from tutor.learner.journal import Journal
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

    monkeypatch.setattr("tutor.learner.session_lock.fcntl.flock", no_locks)
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
from tutor.learner.journal import Journal
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
