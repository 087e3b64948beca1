"""A file that is put in place at once."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path

import pytest

from tests.users import as_user, needs_root
from tutor.learner.line_file import write_whole


def test_two_who_write_at_once_both_get_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2, timeout=10)
    place = Path.replace

    def together(self: Path, target: Path) -> Path:
        both.wait()
        return place(self, target)

    monkeypatch.setattr(Path, "replace", together)
    path, failed = tmp_path / "notes.json", []

    def write(raw: bytes) -> None:
        try:
            write_whole(path, raw)
        except OSError as error:
            failed.append(error)

    writers = [threading.Thread(target=write, args=(raw,)) for raw in (b"one", b"two")]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert failed == []
    assert path.read_bytes() in (b"one", b"two")
    assert os.listdir(tmp_path) == ["notes.json"]  # noqa: PTH208


def test_a_write_that_fails_leaves_what_was_there_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notes.json"
    write_whole(path, b"one")

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("tutor.learner.line_file.os.fsync", full)
        with pytest.raises(OSError, match="No space"):
            write_whole(path, b"two")
    assert path.read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["notes.json"]  # noqa: PTH208


@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_its_mode_is_the_one_that_was_asked_for_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    old = os.umask(mask)
    try:
        write_whole(tmp_path / "mine", b"x", mode=0o600)
        write_whole(tmp_path / "all", b"x", mode=0o644)
    finally:
        os.umask(old)
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "all").stat().st_mode & 0o777 == 0o644


@needs_root
def test_what_root_writes_for_somebody_is_theirs() -> None:
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        write_whole(Path(name) / "notes.json", b"x", owner=20001)
        assert as_user(20001, (Path(name) / "notes.json").read_bytes) == "[b'x']"
