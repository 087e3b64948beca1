"""A journal on a disk that is full, or in a folder that cannot be written, entered or found."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.journals import folder, open_at_noon, run_python, sayable, three_events, type_code
from tutor.learner import line_file
from tutor.learner.journal import Journal, StateError

__all__ = ["folder"]


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
from tutor.learner.journal import Journal, StateError
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
from tutor.learner.journal import Journal, StateError
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
    for place in (tmp_path / "file", tmp_path / "file" / "lesson"):
        with pytest.raises(StateError) as caught:
            Journal.open(place)
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
