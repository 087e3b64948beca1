"""A long journal is folded into a snapshot, and nothing is lost by that."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tests.unit.journals import folder, keys, open_at_noon, sayable, three_events, type_code
from tutor.learner import journal as journal_module
from tutor.learner.journal import StateError
from tutor.learner.journal_lines import seal

__all__ = ["folder"]


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
