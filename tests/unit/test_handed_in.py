"""Handing in when something goes wrong: what is said, that nothing half done counts, and that the next try works."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tutor.classroom import exchange, handed_in
from tutor.classroom.exchange import ClassFolder, ExchangeError
from tutor.classroom.handed_in import alone
from tutor.cli.main import run
from tutor.learner.progress import Progress
from tutor.lesson import catalog
from tutor.model import Lesson


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return catalog.load()


@pytest.fixture
def folder(tmp_path: Path, lesson: Lesson) -> ClassFolder:
    return exchange.create(tmp_path / "class", lesson.id)[0]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def parts(folder: ClassFolder) -> list[Path]:
    return [path for path in folder.inbox.iterdir() if path.name.endswith(exchange.PART)]


# --- two at once ------------------------------------------------------------------------------------------------------


def test_a_second_hand_in_is_refused_while_one_is_under_way(tmp_path: Path) -> None:
    with alone(tmp_path):
        with pytest.raises(ExchangeError) as refused, alone(tmp_path):
            pass
        assert refused.value.message.key == "handin.busy"
    with alone(tmp_path):
        assert (tmp_path / "lock").exists()


def test_without_locks_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with alone(tmp_path), alone(tmp_path):
        assert (tmp_path / "lock").exists()


def test_windows_that_hand_in_at_once_never_take_one_number(folder: ClassFolder, lesson: Lesson, state: Path) -> None:
    def window() -> int:
        for _ in range(6):
            try:
                handed_in.submit(Progress(), lesson, state, folder)
            except ExchangeError as error:
                if error.message.key != "handin.busy":
                    return 1
        return 0

    handed_in.submit(Progress(), lesson, state, folder)
    children = [in_child(window) for _ in range(2)]
    assert [ended(child) for child in children] == [0, 0]
    kept = handed_in.kept_in(state)
    assert [each.number for each in kept.receipts] == list(range(1, kept.last + 1))
    assert {each.file for each in kept.receipts} == {path.name for path in folder.inbox.iterdir()}


def in_child(act: Callable[[], int]) -> int:
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = act()
        finally:
            os._exit(code)
    return child


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# --- killed -----------------------------------------------------------------------------------------------------------


def kill_me(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(
    ("where", "name", "arrived"),
    [
        (handed_in, "drop", False),  # the note is there, the inbox has nothing
        (os, "fsync", False),  # of the copy, before the note is
        (os, "fchmod", False),  # the file is written in part
        (handed_in, "suppress", True),  # it is in the inbox, and still called a note
    ],
    ids=["before the inbox", "at the copy", "in the middle", "before the receipt"],
)
def test_kill_9(
    folder: ClassFolder,
    lesson: Lesson,
    state: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: object,
    name: str,
    arrived: bool,
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(where, name, kill_me)
        child = in_child(lambda: len(handed_in.submit(Progress(), lesson, state, folder)))
    assert ended(child) == -signal.SIGKILL
    whole = {path.name for path in folder.inbox.iterdir()} - {path.name for path in parts(folder)}
    assert len(whole) == arrived
    assert len(exchange.dropped(folder)) == arrived, "what was cut off is nothing that anybody reads"
    assert [each.number for each in handed_in.receipts(state)] == [1] * arrived
    again, _ = handed_in.submit(Progress(), lesson, state, folder)
    assert again.number == 1 + arrived
    assert {each.file for each in handed_in.receipts(state)} == {
        each.name.decode() for each in exchange.dropped(folder)
    }


# --- disks and clocks -------------------------------------------------------------------------------------------------


@contextmanager
def small_disk(place: Path, pages: int) -> Iterator[None]:
    """A disk of so many pages at `place`. Skips, with the reason, where this process may not mount one."""
    place.mkdir(parents=True, exist_ok=True)
    options = f"size={pages * 4}k,mode=0755"
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"needs a mount of its own: {done.stderr.decode().strip()}; the errors are made up elsewhere")
    try:
        yield
    finally:
        subprocess.run(["umount", place], check=True)


def fill(place: Path) -> None:
    with (place / "ballast").open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    assert os.statvfs(place).f_bfree == 0


def test_the_class_s_disk_is_full_then_read_only_then_neither(tmp_path: Path, lesson: Lesson, state: Path) -> None:
    with small_disk(tmp_path / "disk", 16):
        folder, _ = exchange.create(tmp_path / "disk" / "class", lesson.id)
        fill(tmp_path / "disk")
        assert said(folder, lesson, state) == "class.submit-full"
        assert list(folder.inbox.iterdir()) == []
        (tmp_path / "disk" / "ballast").unlink()
        subprocess.run(["mount", "-o", "remount,ro", tmp_path / "disk"], check=True)
        assert said(folder, lesson, state) == "class.submit-read-only"
        subprocess.run(["mount", "-o", "remount,rw", tmp_path / "disk"], check=True)
        assert said(folder, lesson, state) == ""
        assert [each.number for each in handed_in.receipts(state)] == [1]


def test_the_learner_s_own_disk_is_full(tmp_path: Path, folder: ClassFolder, lesson: Lesson) -> None:
    state = tmp_path / "disk" / "state"
    with small_disk(tmp_path / "disk", 8):
        handed_in.submit(Progress(), lesson, state, folder)
        fill(tmp_path / "disk")
        assert said(folder, lesson, state) == "handin.not-kept"
        assert len(list(folder.inbox.iterdir())) == 1, "nothing is handed in of which there is no receipt"
        (tmp_path / "disk" / "ballast").unlink()
        assert said(folder, lesson, state) == ""
        assert [each.number for each in handed_in.receipts(state)] == [1, 2]


def said(folder: ClassFolder, lesson: Lesson, state: Path) -> str:
    """The key of what is said of a hand-in that fails; nothing of one that gets there."""
    try:
        handed_in.submit(Progress(), lesson, state, folder)
    except ExchangeError as error:
        return error.message.key
    return ""


def test_a_clock_that_was_in_the_future_changes_no_order(
    folder: ClassFolder, lesson: Lesson, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ahead(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            del tz
            return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=40_000)

    with monkeypatch.context() as patched:
        patched.setattr(handed_in, "datetime", Ahead)
        first, _ = handed_in.submit(Progress(), lesson, state, folder)
    second, _ = handed_in.submit(Progress(), lesson, state, folder)
    assert first.made > second.made
    assert handed_in.receipts(state) == [first, second]


# --- by command -------------------------------------------------------------------------------------------------------


def error_at(name: str, number: int) -> Callable[[Path, pytest.MonkeyPatch], None]:
    def make(place: Path, patched: pytest.MonkeyPatch) -> None:
        whole = getattr(os, name)

        def failing(*args: object, **named: object) -> object:
            if any(str(place / "inbox") in os.fspath(arg) for arg in args if isinstance(arg, str | Path)):
                raise OSError(number, os.strerror(number))
            return whole(*args, **named)

        patched.setattr(os, name, failing)

    return make


FAULTS: dict[str, tuple[Callable[[Path, pytest.MonkeyPatch], object], str]] = {
    "no such folder": (lambda place, _: place.rename(place.with_name("gone")), "is no class folder"),
    "no inbox": (lambda place, _: (place / "inbox").rmdir(), "no inbox"),
    "a class file that is damaged": (lambda place, _: (place / "class.toml").write_bytes(b"\xff"), "is damaged"),
    "a class file without end": (
        lambda place, _: (place / "class.toml").write_text("id = " + "[" * 60_000),
        "is damaged",
    ),
    "a class file that is a folder": (lambda place, _: folder_for(place / "class.toml"), "cannot be used"),
    "a class of another lesson": (
        lambda place, _: (place / "class.toml").write_text('id = "x"\nlesson = "lesson_01"\n'),
        "is about lesson_01",
    ),
    "the disk is full": (error_at("open", errno.ENOSPC), "is full"),
    "a quota": (error_at("open", errno.EDQUOT), "no room left"),
    "read-only": (error_at("open", errno.EROFS), "only be read"),
    "forbidden": (error_at("open", errno.EACCES), "may not put files"),
    "a file server that fails": (error_at("open", errno.EIO), "did not get into"),
    "a file handle that is stale": (error_at("rename", errno.ESTALE), "did not get into"),
}


def folder_for(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(("make", "words"), FAULTS.values(), ids=FAULTS)
def test_each_fault_is_one_sentence_and_the_next_try_works(
    folder: ClassFolder,
    state: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    make: Callable[[Path, pytest.MonkeyPatch], object],
    words: str,
) -> None:
    submit = ["--lang", "en", "--state", str(state), "submit", "--to", str(folder.path)]
    with monkeypatch.context() as patched:
        make(folder.path, patched)
        assert run(submit) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err
    lesson_state = state / folder.lesson
    assert handed_in.receipts(lesson_state) == []
    if not folder.path.exists():
        folder.path.with_name("gone").rename(folder.path)
    if (folder.path / "class.toml").is_dir():
        (folder.path / "class.toml").rmdir()
    (folder.path / "class.toml").write_text(f'id = "{folder.id}"\nlesson = "{folder.lesson}"\n')
    exchange.create(folder.path, folder.lesson)
    assert run(submit) == 0
    assert [each.number for each in handed_in.receipts(lesson_state)] == [1]
    assert parts(folder) == []
