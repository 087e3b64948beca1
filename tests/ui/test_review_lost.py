"""What is begun and not saved: through a kill -9 in a real terminal, a lost gradebook, a full disk, several windows."""

from __future__ import annotations

import json
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ui.pty_screen import DEADLINE_S, ScreenView, Terminal
from tests.ui.review_room import LEARNERS, Room, files, lesson, room
from tutor.classroom.class_criteria import class_criteria
from tutor.classroom.handed_in import myself
from tutor.gradebook import holder
from tutor.gradebook.database import ConnectionLost, GradebookError
from tutor.gradebook.queue import LeaseLost
from tutor.gradebook.scores import Mark, Score, Scores
from tutor.learner import line_file
from tutor.learner.scoring import VETOES
from tutor.ui.review.criteria_edit import CriteriaScreen

__all__ = ["files", "lesson", "room"]


def seen(*words: str) -> Callable[[ScreenView], bool]:
    return lambda view: all(word in view.text for word in words)


def window(room: Room) -> Terminal:
    command = [sys.executable, "-m", "tutor", "review", str(room.folder.path), "--lang", "en"]
    return Terminal([*command, "--state", str(room.state)], env={"XDG_CONFIG_HOME": str(room.state / "config")})


def drafts(room: Room) -> list[Path]:
    return sorted(room.state.glob("review-*/*.json"))


def kept(terminal: Terminal, room: Room, words: str) -> None:
    """Wait until a draft with these words is on the disk: just after they are on the screen."""
    end = time.monotonic() + DEADLINE_S
    while not any(words in path.read_text() for path in drafts(room)):
        assert time.monotonic() < end, terminal.screen.text
        terminal.read(0.02)


def test_a_window_that_is_killed_loses_nothing_and_holds_nothing(room: Room) -> None:
    with window(room) as first:
        first.wait(seen("Enter review"))
        first.press("l", "l", "enter")
        first.wait(seen("0 of 6", "Comment  none"))
        blind = first.screen.text.partition("blind: ")[2].partition(" ")[0]
        first.press("1", "=", "c")
        first.wait(seen("Comment for the learner"))
        first.write(b"name the log")
        first.wait(seen("name the log"))
        kept(first, room, "name the log")
        with window(room) as second:  # of the same grader: the first one lives, and keeps what it has
            second.wait(seen("Enter review", "held by you"))
            second.press("l", "l", "enter")
            second.wait(seen(f"{myself().login} has this item now"))
            first.kill(signal.SIGKILL)
            first.wait_for_exit()
            second.press("enter")
            shown = second.wait(seen("Restored, not yet saved", f"blind: {blind}"))
            assert "1 [x]" in shown.text
            assert "Points 2 of 2, by hand" in shown.text
            assert "Comment  name the log" in shown.text
            second.press("v")
            second.wait(seen("y/n"))
            second.press("v")
            done, flagged = seen("All vetoes are answered."), seen("The finder quotes")
            second.wait(lambda view: done(view) or flagged(view))
            while not done(second.screen):
                before = second.screen.text
                second.press("n")
                second.wait(lambda view, before=before: view.text != before)  # type: ignore[misc]
            # A save that waits for the gradebook when its window dies.
            other = sqlite3.connect(room.folder.private / "gradebook.sqlite", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            second.press("enter")
            second.wait(seen("| saving"))
            second.kill(signal.SIGKILL)
            second.wait_for_exit()
            other.execute("ROLLBACK")
            other.close()
    assert room.holders() != {None}
    (path,) = drafts(room)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert not any(login in path.name + path.read_text() for login in room.logins)
    with window(room) as third:
        shown = third.wait(seen("Q1 begun, not saved"))
        assert "held by" not in shown.text
        third.press("v")  # only what needs somebody: this one
        third.wait(lambda view: blind in view.rows[2] and not view.rows[3])
        third.press("enter")
        third.wait(seen("Restored, not yet saved", "name the log", "no | isolation no"))
        third.press("enter")
        third.wait(seen("1 of 6", "| saved"))
        third.press("ctrl+q")
        assert third.wait_for_exit() == 0
    assert drafts(room) == []
    (score,) = [one for number in range(1, 4 * LEARNERS + 1) for one in room.book.scores.history(number)]
    assert (score.points, score.comment) == (2, "name the log")
    assert room.holders() == {None}


async def test_what_came_into_the_gradebook_before_the_window_died_is_not_restored(room: Room) -> None:
    async with room.open(question="q1") as first:
        number = first.number
        await first.press("=")
        await first.clear_vetoes()
        first.app.drafts.flush(10)
        (path,) = drafts(room)
        begun = path.read_bytes()
        await first.press("enter")
        first.app.drafts.flush(10)
        assert drafts(room) == []
    path.write_bytes(begun)  # as if it died between the two
    async with room.open() as second:
        await second.app.open_item("q1", number)
        assert "Restored" not in await second.settle()
        second.app.drafts.flush(10)
    assert drafts(room) == []


async def test_undo_takes_back_what_was_restored_and_a_gone_slot_stays_gone(room: Room) -> None:
    async with room.open(question="q1") as first:
        number = first.number
        await first.press("1", "c", *"say why", "escape")
    slots = list(class_criteria(room.book, room.lesson)["q1"].slots)
    (path,) = drafts(room)
    data = json.loads(path.read_text())
    assert data["ticks"] == slots[:1]
    path.write_text(json.dumps({**data, "ticks": [*data["ticks"], "no-slot"], "by_hand": 99}))
    async with room.open() as second:
        await second.app.open_item("q1", number)
        text = await second.settle()
        assert "1 [x]" in text
        assert "Points 2 of 2, by hand" in text
        text = await second.press("u")
        assert "1 [ ]" in text
        assert "Comment  none" in text
        second.app.drafts.flush(10)
    assert drafts(room) == []


async def test_what_others_gave_since_is_said_with_what_is_restored(room: Room) -> None:
    async with room.open(question="q1") as first:
        number = first.number
        await first.press("1")
    room.book.scores.give(number, "bob", Mark(1, {}, dict.fromkeys(VETOES, False)))
    async with room.open() as second:
        await second.app.open_item("q1", number)
        text = " ".join((await second.settle()).split())
        assert "Restored, not yet saved" in text
        assert "Since then bob gave 1." in text


def test_a_line_that_drops_keeps_what_was_begun_and_gives_the_item_back(room: Room) -> None:
    with window(room) as first:
        first.wait(seen("Enter review"))
        first.press("l", "l", "enter")
        first.wait(seen("Comment  none"))
        first.press("3", "c")
        first.wait(seen("Comment for the learner"))
        first.write(b"half a sen")
        kept(first, room, "half a sen")
        first.kill(signal.SIGHUP)
        assert first.wait_for_exit() == -signal.SIGHUP
    (path,) = drafts(room)
    data = json.loads(path.read_text())
    assert (len(data["ticks"]), data["comment"]) == (1, "half a sen")
    assert room.holders() == {None}


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"schema": 1}', b'{"schema": 2}', b"[" * 100_000, b"\xff"])
async def test_a_draft_that_cannot_be_read_is_none(room: Room, raw: bytes) -> None:
    async with room.open(question="q1") as first:
        await first.press("1")
        number = first.number
    (path,) = drafts(room)
    path.write_bytes(raw)
    async with room.open() as second:
        await second.app.open_item("q1", number)
        assert "1 [ ]" in await second.settle()
        await second.press("2")
        second.app.drafts.flush(10)
    assert json.loads(path.read_text())["schema"] == 1


async def test_a_state_folder_that_is_full_is_said_once_and_leaving_asks(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with room.open(question="q1") as window:
        with monkeypatch.context() as patch:

            def full(*_: object) -> None:
                raise OSError(28, "No space left on device")

            patch.setattr("tutor.classroom.sitting_drafts.write_whole", full)
            await window.press("1")
            await window.until(lambda: "cannot be kept in" in window.text and "No space left" in window.text)
            assert "neither saved nor kept: 1." in await window.press("ctrl+q")
            await window.press("n")
        assert line_file.write_whole is not full
        await window.press("2")
        window.app.drafts.flush(10)
        assert len(drafts(room)) == 1
        await window.press("ctrl+q")
        await window.until(lambda: not window.app.is_running)


async def test_a_save_that_the_gradebook_cannot_take_is_sent_again(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    async with room.open(question="q1") as window:
        number = window.number
        await window.press("=")
        await window.clear_vetoes()
        with monkeypatch.context() as patch:

            def refuse(*_: object, **__: object) -> None:
                raise GradebookError("class.db-full", db="book")

            patch.setattr(Scores, "give", refuse)
            text = await window.press("enter")
            assert "is not saved yet: what you gave is kept and sent again" in " ".join(text.split())
            assert "The disk of book is full" in " ".join(text.split())
            assert "1 not saved" in text
            window.app.saving.send_again()
            assert "1 not saved" in await window.settle()
        assert len(drafts(room)) == 1
        window.app.saving.send_again()
        text = await window.settle()
        assert "is saved now." in text
        assert [each.points for each in room.book.scores.history(number)] == [2]
        window.app.drafts.flush(10)
    assert drafts(room) == []


@pytest.mark.parametrize("arrived", [False, True])
async def test_a_line_that_is_cut_in_a_save_gives_one_score(
    room: Room, monkeypatch: pytest.MonkeyPatch, arrived: bool
) -> None:
    give, cut = Scores.give, [True]

    def once(scores: Scores, *args: object, **more: object) -> tuple[Score, Score | None]:
        first, cut[:] = bool(cut), []
        if first and not arrived:
            raise ConnectionLost("class.db-unusable", db="book", why="gone")
        given = give(scores, *args, **more)  # type: ignore[arg-type]
        if first:
            raise ConnectionLost("class.db-unusable", db="book", why="gone")
        return given

    async with room.open(question="q1") as window:
        number = window.number
        await window.press("=")
        await window.clear_vetoes()
        monkeypatch.setattr(Scores, "give", once)
        text = await window.press("enter")
        assert "not saved" not in text
    assert [each.points for each in room.book.scores.history(number)] == [2]


async def test_the_rule_is_changed_from_inside_an_item_and_what_was_given_stays(room: Room) -> None:
    async with room.open(question="q1") as window:
        number = window.number
        await window.press("1", "c", *"say why", "escape", "E")
        await window.press("escape")
        assert window.number == number
        assert "say why" in window.text
        await window.press("E")
        screen = window.screen(CriteriaScreen)
        await window.until(lambda: screen.draft is not None)
        await window.press("j", "j", "space", "P", "y")
        assert not window.has(CriteriaScreen)
        assert window.number == number
        assert "What earns points on Q1 has changed" in window.text
        assert "1 [x]" in window.text
        assert "Comment  say why" in window.text
        assert window.item.draft is not None
        version = class_criteria(room.book, room.lesson)["q1"].version
        assert window.item.draft.criteria.version == version
        await window.press("=")
        await window.clear_vetoes()
        await window.press("enter")
        assert room.book.scores.history(number)[-1].criteria == version


def test_only_a_window_that_has_ended_here_is_gone() -> None:
    mine = holder.new()
    assert len(mine) <= 64
    assert not holder.is_gone(mine)
    with subprocess.Popen(
        [sys.executable, "-c", "from tutor.gradebook import holder; print(holder.new(), flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        theirs = other.stdout.readline().strip()
        assert not holder.is_gone(theirs)
        other.kill()
    assert holder.is_gone(theirs)
    host, machine, pid, started, own = mine.rsplit(".", 4)
    assert holder.is_gone(f"{host}.{machine}.{pid}.{int(started) - 1}.{own}"), "the number came round"
    assert not holder.is_gone(f"{host}.{machine[::-1]}x.{pid}.{started}.{own}"), "of another machine nobody knows"
    for unknown in ("", "ann/12", "0" * 32, f"h.{machine}.0.1.a", f"h.{machine}.x.1.a", f"h.{machine}.{9**30}.1.a"):
        assert not holder.is_gone(unknown)


def test_what_a_gone_window_held_is_free_for_its_grader_alone(room: Room) -> None:
    host, machine, pid, started, own = holder.new().rsplit(".", 4)
    dead = f"{host}.{machine}.{pid}.{int(started) - 1}.{own}"
    elsewhere = f"{host}.{'0' * 16}.{pid}.{started}.{own}"
    two = room.book.queue.claim("ann", elsewhere, ("q1",))
    one = room.book.queue.claim("ann", dead, ("q1",))
    assert one is not None
    assert two is not None
    with pytest.raises(LeaseLost):
        room.book.queue.claim_this(one.id, "bob", "bob/1")
    with pytest.raises(LeaseLost):
        room.book.queue.claim_this(two.id, "ann", "ann/2")
    assert room.book.queue.claim_this(one.id, "ann", "ann/2").id == one.id
    room.book.scores.give(one.id, "ann", Mark(1, {}, dict.fromkeys(VETOES, False)), holder="ann/2")
