"""The review screen: a generated class, one grader, then two; every key; what is refused, and what is never lost."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.ui.review_room import LEARNERS, Room, files, lesson, room
from tutor.classroom import submission
from tutor.classroom.class_criteria import change, class_criteria, read_rule
from tutor.classroom.intake import questions_of
from tutor.cli import main
from tutor.gradebook.scores import Mark
from tutor.learner.scoring import VETOES
from tutor.model import Lesson

__all__ = ["files", "lesson", "room"]


async def test_it_shows_a_blind_item_and_saves_it_behind(room: Room) -> None:
    async with room.open(question="q1") as window:
        first = window.number
        assert window.item.now is not None
        assert f"Q1 | 0 of 6 | blind: {window.item.now.blind} | rubric lesson" in window.text
        assert "uid-2000" not in window.text
        await window.press("1", "2")
        refused = await window.press("enter")
        assert "Not saved: 4 vetoes are not answered. v asks them." in refused
        assert window.number == first
        await window.clear_vetoes()
        await window.press("enter")
        assert window.number != first
        (score,) = room.book.scores.history(first)
        slots = list(class_criteria(room.book, room.lesson)["q1"].slots)
        assert [slot for slot, ticked in score.slots.items() if ticked] == slots[:2]
        assert score.vetoes == dict.fromkeys(VETOES, False)
        assert not score.by_hand
        assert score.seconds is not None
        assert score.grader == "ann"
        assert room.book.queue.count("q1") == (1, 6)


async def test_points_by_hand_and_undo_one_by_one_then_the_last_item(room: Room) -> None:
    async with room.open(question="q1") as window:
        first = window.number
        text = await window.press("1", "=")
        assert "Points 2 of 2, by hand" in text
        text = await window.press("-")
        assert "Points 1 of 2, by hand" in text
        text = await window.press("u", "u")
        assert "from your ticks" in text
        assert "1 [x]" in text
        await window.press("u")
        assert "1 [ ]" in window.text
        text = await window.press("u")
        assert "There is nothing to take back." in text
        await window.press("-")
        await window.clear_vetoes()
        await window.press("enter")
        second = window.number
        text = await window.press("2", "u", "u")
        assert window.number == first
        assert "Reopened" in text
        assert "Points 0 of 2, by hand" in text
        await window.press("=", "enter")
        assert [each.points for each in room.book.scores.history(first)] == [0, 1]
        assert window.number == second


async def test_skip_loses_nothing_and_comes_round_again(room: Room) -> None:
    async with room.open(question="q1") as window:
        first = window.number
        await window.press("3", "s")
        assert window.number != first
        seen = {window.number}
        for _ in range(LEARNERS - 1):
            await window.press("s")
            seen.add(window.number)
        assert window.number == first
        assert len(seen) == LEARNERS
        assert "3 [x]" in window.text


async def test_a_second_look_comes_after_everything_open(room: Room) -> None:
    async with room.open(question="q1") as window:
        first = window.number
        await window.press("f")
        assert window.number != first
        for _ in range(LEARNERS - 1):
            await window.clear_vetoes()
            await window.press("enter")
        assert window.number == first
        await window.press("=")
        await window.clear_vetoes()
        await window.press("f")
        assert room.book.scores.standing(first).popitem()[1]["q1"].points == 2


async def test_comment_with_phrases_memo_and_hand_over(room: Room) -> None:
    async with room.open(question="q1") as window:
        first = window.number
        await window.press("c")
        await window.press(*"name the log [b]x[/b] 1")
        await window.press("escape")
        assert "name the log [b]x[/b] 1" in window.text
        await window.clear_vetoes()
        await window.press("enter")
        assert room.book.scores.history(first)[0].comment == "name the log [b]x[/b] 1"
        second = window.number
        await window.press("s", "s")
        third = window.number
        text = await window.press("c")
        assert "1 name the log" in text
        await window.press("1", "escape")
        assert "Comment  name the log [b]x[/b] 1" in window.text
        await window.press("m")
        await window.press(*"ask Bob")
        text = await window.press("enter")
        assert "Memo kept." in text
        assert [memo.text for memo in room.book.scores.notes(third)] == ["ask Bob"]
        await window.press("w")
        await window.press(*"bob")
        text = await window.press("enter")
        assert "Handed to bob." in text
        assert window.number not in (third, first)
        claimed = room.book.queue.claim("bob", "bob/1", ("q1",))
        assert claimed is not None
        assert claimed.id == third != second


async def test_two_graders_who_differ_are_both_shown(room: Room) -> None:
    async with room.open(question="q1") as window:
        number = window.number
        room.book.queue.release(number, window.app.holder)
        taken = room.book.queue.claim_this(number, "bob", "bob/1")
        await window.press("1")
        window.item.keep_held()
        text = await window.settle()
        assert "somebody else's by now" in text
        assert "1 [x]" in text
        await window.clear_vetoes()
        text = await window.press("enter")
        assert "was not saved: bob has it" in text
        assert "1 not saved" in text
        mark = Mark(0, {}, dict.fromkeys(VETOES, False))
        room.book.scores.give(taken.id, "bob", mark, holder="bob/1")
        await window.press("u")
        assert window.number == number
        assert "1 [x]" in window.text
        await window.press("=", "enter")
        assert room.book.scores.history(number)[-1].points == 2


async def test_a_conflict_is_told_and_settled_from_the_list(room: Room) -> None:
    async with room.open(question="q1") as window:
        number = window.number
        await window.press("=")
        await window.clear_vetoes()
        # The lease ran out behind the screen's back, and Bob was quicker.
        room.book.queue.release(number, window.app.holder)
        room.book.scores.give(number, "bob", Mark(0, {}, dict.fromkeys(VETOES, False)))
        text = await window.press("enter")
        assert "bob gave 0, you gave 2" in text
        await window.press("escape")
        await window.app.open_item("q1", number)
        text = await window.settle()
        assert window.number == number
        assert "ann: 2; bob: 0" in text
        await window.press("=", "-")
        await window.clear_vetoes()
        await window.press("enter")
        standing = room.book.scores.standing(number).popitem()[1]["q1"]
        assert (standing.state, standing.points) == ("done", 1)


async def test_a_rule_that_was_changed_brings_the_item_back(room: Room) -> None:
    async with room.open(question="q1") as window:
        number = window.number
        await window.press("1")
        await window.clear_vetoes()
        slots = list(class_criteria(room.book, room.lesson)["q1"].slots)
        way = {"points": 2, "every": [slots[0]], "some": [], "least": 0}
        change(room.book, read_rule(room.lesson, "q1", {"added": {}, "ways": [way]}), "bob")
        text = await window.press("enter")
        assert "what earns points on Q1 has changed" in text
        assert room.book.scores.history(number) == []
        text = await window.press("u")
        assert window.number == number
        assert "Points 2 of 2, from your ticks" in text
        await window.press("enter")
        assert room.book.scores.history(number)[-1].points == 2


async def test_leaving_gives_everything_back(room: Room, capsys: pytest.CaptureFixture[str]) -> None:
    async with room.open(question="q1") as window:
        await window.press("1", "escape")
        await window.settle()
        assert {each["q1"].holder for each in room.book.scores.standing().values()} == {None}
        await window.press("ctrl+q")
        await window.until(lambda: not window.app.is_running)
    assert "Begun and not saved: 1. It is kept" in capsys.readouterr().err


@pytest.mark.parametrize(("lang", "size"), [("en", (80, 24)), ("zh", (120, 40))])
async def test_every_question_of_everybody_is_drawn_whole(room: Room, lang: str, size: tuple[int, int]) -> None:
    for question in questions_of(room.lesson):
        async with room.open(lang=lang, size=size, question=question) as window:
            await window.press("f2", "o", "escape", "f2")
            seen = set()
            for _ in range(LEARNERS // 2):
                assert len(window.text.split("\n")) == size[1]
                assert window.item.panel.lines[-2].text.startswith(("Vetoes", "否决项", "  "))
                assert window.item.panel.size.height == len(window.item.panel.lines)
                seen.add(window.number)
                await window.press("s")
            assert len(seen) == LEARNERS // 2


async def test_what_a_learner_wrote_is_never_markup_or_control(
    tmp_path: Path, lesson: Lesson, files: list[bytes]
) -> None:
    body = json.loads(files[0])["body"]
    words = "[bold]a[/bold] \x1b[31mred\u202e {2 mine} "
    body["answers"]["q1"]["text"] = words
    body["answers"]["q1"]["sha256"] = submission.text_hash(words)
    body["evidence"]["E1"] = {"record": {"claims": 3, "environment": ["\x1b]0;x\x07"], "observed": {"a": [{}]}}}
    body["predictions"] = {"\x1b[2J": {"x": [1, None]}}
    room = Room(tmp_path, lesson, [submission.seal(body)])
    async with room.open(question="q1") as window:
        text = window.text
        assert "[bold]a[/bold] \\x1b[31mred\\u202e {2 mine}" in text
        assert "\x1b" not in text
        assert "\x1b" not in await window.press("o")
    room.book.close()


def test_what_is_no_class_or_no_terminal_is_refused_in_one_sentence(
    room: Room, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for argv, words in (
        (["review"], "Name its folder"),
        (["review", str(tmp_path)], "class"),
        (["review", str(room.folder.path)], "terminal"),
    ):
        assert main.run([*argv, "--lang", "en", "--state", str(tmp_path / "state")]) == 2
        said = capsys.readouterr()
        assert words in said.err
        assert (said.out, said.err.count("\n")) == ("", 1)


async def test_the_next_item_comes_behind_the_one_that_was_shown(room: Room) -> None:
    async with room.open(question="q1") as window:
        places = [window.item.now.place if window.item.now else ""]
        for _ in range(LEARNERS - 1):
            await window.clear_vetoes()
            await window.press("enter")
            assert window.item.now is not None
            places.append(window.item.now.place)
        assert places == sorted(places)
        await window.clear_vetoes()
        assert "Q1: nothing is left for you here." in await window.press("enter")
        assert room.book.queue.count("q1") == (LEARNERS, LEARNERS)
        assert window.app.sitting.pace.typical is not None


async def test_the_code_is_run_again_only_behind_walls(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tutor.classroom.regrade.sandbox_lacks", lambda: ("seccomp",))
    async with room.open(question="q1") as window:
        await window.press("r")
        await window.until(lambda: "sandbox lacks seccomp" in window.text)


async def test_phrases_go_in_on_an_empty_line_only(room: Room) -> None:
    room.book.scores.give(1, "bob", Mark(0, {}, dict.fromkeys(VETOES, False), "Say why."), why="review")
    question = next(q for q, each in room.book.scores.standing(1).popitem()[1].items() if each.item == 1)
    async with room.open(question=question) as window:
        await window.press("c", "1")
        await window.press(*" 1")
        await window.press("enter", "9", "1", "escape")
        assert window.item.draft is not None
        assert window.item.draft.given.comment == "Say why. 1\n91"


async def test_a_dropped_line_loses_no_save_and_holds_nothing(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[tuple[int, int]] = []
    monkeypatch.setattr("tutor.ui.review.app.kill", lambda pid, number: ended.append((pid, number)))
    async with room.open(question="q1") as window:
        first = window.number
        await window.clear_vetoes()
        window.item.do_save()
        window.app._hang_up(signal.SIGHUP)  # the loop has no turn in between
        assert ended == [(os.getpid(), signal.SIGHUP)]
        assert len(room.book.scores.history(first)) == 1
        assert {each["q1"].holder for each in room.book.scores.standing().values()} == {None}


async def test_learner_by_learner_every_item_comes_once(room: Room) -> None:
    questions, few = list(questions_of(room.lesson)), 2
    for login in room.logins[few:]:
        for question in questions:
            room.give(login, question, 1)
    async with room.open(question=questions[0]) as window:
        assert "all questions of a learner" in await window.press("l")
        seen = []
        for _ in range(few * len(questions)):
            assert window.item.now is not None
            seen.append((window.item.now.blind, window.item.question))
            await window.clear_vetoes()
            await window.press("enter")
        assert "Nothing is left for you here." in window.text
    assert [question for _, question in seen] == questions * few
    assert len(set(seen)) == len(seen)
    assert all(len({blind for blind, _ in seen[at : at + 4]}) == 1 for at in range(0, len(seen), 4))


async def test_learner_by_learner_a_skip_goes_on_and_the_mode_can_be_left(room: Room) -> None:
    questions = list(questions_of(room.lesson))
    async with room.open(question=questions[0]) as window:
        await window.press("l")
        assert window.item.now is not None
        blind = window.item.now.blind
        await window.press("s")
        assert (window.item.now.blind, window.item.question) == (blind, questions[1])
        assert "0 of 6" in window.text
        await window.press("l", "s")
        assert window.item.now.blind != blind
        assert window.item.question == questions[1]
    assert room.holders(questions[0]) == {None}
