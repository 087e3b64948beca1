"""What a learner has kept of their hand-ins: a damaged receipt hides no other, and what was asked is asked once."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.class_of_one import Class, lesson, nothing_there, room
from tests.users import as_user, needs_root
from tutor.classroom import asking, exchange, handed_in, returned
from tutor.classroom.exchange import ClassFolder, ExchangeError
from tutor.learner.progress import Event, Progress, apply
from tutor.model import Lesson, Message
from tutor.strings import say

__all__ = ["lesson", "nothing_there", "room"]


# --- what the learner keeps -------------------------------------------------------------------------------------------

RECEIPTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no object": lambda _: [],
    "a field that is gone": lambda table: {key: value for key, value in table.items() if key != "reply"},
    "a number that is a text": lambda table: {**table, "number": "1"},
    "a number that is a truth": lambda table: {**table, "number": True},
    "a folder that is a number": lambda table: {**table, "folder": 1},
    "a folder with a NUL": lambda table: {**table, "folder": "/x\0y"},
    "a reply that leads elsewhere": lambda table: {**table, "reply": "../../../etc/passwd"},
    "a file that leads elsewhere": lambda table: {**table, "file": "../../private/class.toml"},
    "a hash that is none": lambda table: {**table, "sha256": "x"},
}


@pytest.mark.parametrize("change", RECEIPTS.values(), ids=RECEIPTS)
@pytest.mark.parametrize("kind", ["receipt", "sending"])
def test_a_receipt_that_was_edited_hides_no_other(
    room: Class, tmp_path: Path, lesson: Lesson, kind: str, change: Callable[[dict[str, Any]], Any]
) -> None:
    first, _ = handed_in.submit(Progress(), lesson, tmp_path, room.folder)
    second, _ = handed_in.submit(Progress(), lesson, tmp_path, room.folder)
    kept = tmp_path / "handed-in"
    (kept / "0002.receipt.json").unlink()
    (kept / f"0002.{kind}.json").write_text(json.dumps(change(second.to_data())))
    found = handed_in.kept_in(tmp_path)
    assert (found.receipts, found.damaged) == ([first], [kept / f"0002.{kind}.json"])
    assert "0002" in say("en", found.notices[0])
    third, _ = handed_in.submit(Progress(), lesson, tmp_path, room.folder)
    assert third.number == 3, "no copy of an earlier hand-in is written over"


@pytest.mark.parametrize("make", ["pipe", "folder", "link", "deep", "huge", "bytes"])
def test_a_receipt_or_note_that_is_no_file_of_ours(room: Class, tmp_path: Path, lesson: Lesson, make: str) -> None:
    first, _ = handed_in.submit(Progress(), lesson, tmp_path, room.folder)
    contents = {"deep": b"[" * 9_000, "huge": b" " * 99_000, "bytes": bytes(range(256))}
    for name in ("0002.receipt.json", "0001.q1.asking", "0001.q1.asked"):
        path = tmp_path / "handed-in" / name
        if make == "pipe":
            os.mkfifo(path)
        elif make == "folder":
            path.mkdir()
        elif make == "link":
            path.symlink_to("/etc/passwd")
        else:
            path.write_bytes(contents[make])
    assert handed_in.kept_in(tmp_path).receipts == [first]
    assert len(handed_in.kept_in(tmp_path).damaged) == 1
    assert handed_in.asked(tmp_path, first) == {"q1"}


def test_what_cannot_be_listed_is_not_taken_for_nothing(tmp_path: Path) -> None:
    assert handed_in.kept_in(tmp_path).receipts == []
    (tmp_path / "handed-in").write_text("")
    with pytest.raises(ExchangeError) as told:
        handed_in.kept_in(tmp_path)
    where = {"path": str(tmp_path / "handed-in"), "why": "Not a directory"}
    assert told.value.message == Message("class.unusable", where)


@needs_root
def test_what_another_user_keeps_is_not_mine_to_read() -> None:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "handed-in").mkdir()
        assert as_user(20001, lambda: handed_in.kept_in(Path(name))).startswith("ExchangeError class.unusable")


def test_a_hand_in_that_the_journal_does_not_know_is_noted(room: Class, tmp_path: Path, lesson: Lesson) -> None:
    """Killed after the file was in the inbox and before the journal heard of it."""
    receipt, _ = handed_in.submit(Progress(), lesson, tmp_path, room.folder)
    progress = Progress()
    events = list(returned.look(tmp_path).events(progress))
    assert events == [("handed_in", {"number": 1, "sha256": receipt.sha256})]
    apply(progress, Event("s-1", "2026-12-01T00:00:00Z", *events[0]))
    assert progress.handed_in == 1
    assert Progress.from_data(json.loads(json.dumps(progress.to_data()))).handed_in == 1
    assert list(returned.look(tmp_path).events(progress)) == []


# --- asking to look again ---------------------------------------------------------------------------------------------


def test_a_question_is_asked_about_once_whatever_two_windows_think(room: Class, lesson: Lesson) -> None:
    room.write(room.body())
    came = returned.look(room.state)
    found = came.to_ask("q1")
    before = len(list(room.folder.inbox.iterdir()))
    assert asking.ask(room.state, found, lesson, "q1", "see line 2") == []
    with pytest.raises(ExchangeError) as caught:
        asking.ask(room.state, found, lesson, "q1", "from another window")
    assert caught.value.message.key == "handin.ask-twice"
    assert len(list(room.folder.inbox.iterdir())) == before + 1
    for question, key in (("q1", "ask-twice"), ("q2", "ask-no-score"), ("q9", "ask-no-score")):
        with pytest.raises(ExchangeError) as caught:
            returned.look(room.state).to_ask(question)
        assert caught.value.message.key == f"handin.{key}"
    with pytest.raises(ExchangeError) as caught:
        found._replace(newest=2).check_again("q1")
    assert caught.value.message.key == "handin.ask-old"


# --- a class folder that is gone, or was moved ------------------------------------------------------------------------


@pytest.fixture
def own(lesson: Lesson, tmp_path: Path) -> Class:
    """A class for one test alone."""
    folder, _ = exchange.create(tmp_path / "class", lesson.id)
    state = tmp_path / "state" / lesson.id
    receipt, _ = handed_in.submit(Progress(), lesson, state, folder)
    return Class(folder, state, receipt)


def test_a_class_folder_that_is_gone_is_told(own: Class) -> None:
    own.folder.path.rename(own.folder.path.with_name("moved"))
    with pytest.raises(ExchangeError) as told:
        returned.look(own.state)
    assert told.value.message == Message("handin.class-gone", {"path": str(own.folder.path)})
    own.folder.path.symlink_to(own.folder.path.with_name("moved"))
    assert returned.look(own.state).found is None, "a link at the old place is enough"


def test_feedback_is_looked_for_where_the_class_was_last_handed_in_to(own: Class, lesson: Lesson) -> None:
    own.write(own.body())
    moved = ClassFolder.open(own.folder.path.rename(own.folder.path.with_name("moved")))
    handed_in.submit(Progress(), lesson, own.state, moved)
    found = returned.look(own.state).found
    assert found is not None
    assert (found.receipt.number, found.receipt.folder, found.is_old) == (1, str(moved.path), True)


def test_an_older_class_that_is_gone_hides_nothing_of_the_newest(own: Class, lesson: Lesson, tmp_path: Path) -> None:
    shutil.rmtree(own.folder.path)
    other, _ = exchange.create(tmp_path / "other", lesson.id)
    handed_in.submit(Progress(), lesson, own.state, other)
    assert returned.look(own.state).found is None
