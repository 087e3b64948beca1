"""The journal's events: on the disk when the call returns, for this user alone, any text as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.journals import folder, open_at_noon, sayable, type_code
from tutor.learner.journal import Journal, StateError
from tutor.learner.journal_lines import decode, encode
from tutor.learner.progress import MAX_TEXT, Event
from tutor.model import Message

__all__ = ["folder"]


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


VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5)


@given(st.dictionaries(st.text(), VALUES, max_size=3))
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
