"""The list of the class and what is opened from it: re-grade, criteria, publishing, figures."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.ui.review_room import LEARNERS, Room, files, lesson, room
from tutor.classroom import regrade
from tutor.classroom.class_criteria import class_criteria
from tutor.classroom.grades import grades
from tutor.classroom.intake import questions_of
from tutor.exercise.judging import broken_report
from tutor.gradebook.book import GradebookError, Refused
from tutor.gradebook.database import Database
from tutor.gradebook.results import Result
from tutor.gradebook.scores import Mark
from tutor.language import Bilingual
from tutor.model import CheckReport, Ending, Lesson, Message
from tutor.ui.review.app import ReviewApp
from tutor.ui.review.class_list import ClassList
from tutor.ui.review.criteria_edit import CriteriaScreen
from tutor.ui.review.figures import FiguresScreen
from tutor.ui.review.list_rows import ListLines, class_rows, counted
from tutor.ui.widgets.lines_view import LinesView

__all__ = ["files", "lesson", "room"]


def test_one_owner_buries_nobody_under_refused_files(room: Room) -> None:
    many = Message("class.refuse-many", {"most": 100})
    refused = [Refused(f"{n}.json", "eve", 1.0, many) for n in range(900)]
    refused.insert(450, Refused("x.json", "eve", 1.0, Message("class.refuse-link")))
    refused.append(Refused("y.json", "mallory", 1.0, many))
    rows = class_rows(grades(room.book), refused)[LEARNERS:]
    assert [(row.blind, row.file, row.files) for row in rows] == [
        ("eve", "0.json +899", 900),
        ("eve", "x.json", 1),
        ("mallory", "y.json", 1),
    ]
    assert counted(rows, []).refused == 902


def test_a_reason_that_names_the_owner_stays_blind(room: Room) -> None:
    login = room.logins[0]
    said = Message("class.refuse-author", {"owner": login, "said": "another"})
    refused = [Refused("a.json", login, 1.0, said), Refused("b.json", "stranger", 1.0, Message("class.refuse-link"))]
    *_, author, link = class_rows(grades(room.book), refused)
    assert author.refused == Message("class.refuse-author", {"owner": room.blind(login), "said": "another"})
    assert author.blind == room.blind(login)
    assert (link.blind, link.refused) == ("stranger", Message("class.refuse-link", {}))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_where_everybody_stands_and_nobody_is_named(room: Room, lang: str, size: tuple[int, int]) -> None:
    one, two, three, *_ = room.logins
    room.give(one, "q1", 2)
    room.give(two, "q1", 1, grader="ben")
    room.give(two, "q1", 2)
    room.give(three, "q2", 1, second=True)
    score = room.give(three, "q3", 1)
    room.book.scores.publish([score], 1.0)
    room.book.refuse([("bad%20name.json", "1", one, Message("class.refuse-link"))])
    async with room.open(lang=lang, size=size) as window:
        head = window.text.split("\n")[0]
        assert f"Q1 1/{LEARNERS}" in head
        assert "1 | 2" in window.line(room.blind(two))
        assert "1 ?" in window.line(room.blind(three))
        assert {"en": "1 final", "zh": "1 已公布"}[lang] in window.line(room.blind(three))
        assert {"en": "a link", "zh": "链接"}[lang] in window.line({"en": "refused: ", "zh": "拒收："}[lang])
        assert not any(login in window.text for login in room.logins)
        everybody = window.text
        await window.press("v")
        assert room.blind(two) in window.text
        assert not any(room.blind(login) + " " in window.text for login in room.logins[3:])
        await window.press("v")
        assert window.text.split("\n")[1:-2] == everybody.split("\n")[1:-2]


async def test_enter_opens_the_chosen_question_or_the_first_open_one(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int | None]] = []

    async def open_item(_: ReviewApp, question: str, item: int | None) -> None:
        opened.append((question, item))

    monkeypatch.setattr(ReviewApp, "open_item", open_item)
    last = max(room.logins, key=lambda login: (len(room.blind(login)), room.blind(login)))
    room.give(last, "explanation", 1)
    async with room.open() as window:
        await window.press("G", "enter")
        await window.press("l", "l", "l", "enter")
        assert "[Q2]" in window.text
    items = [room.book.queue.find(last, question) for question in ("q1", "q2")]
    assert opened == [(item.question, item.id) for item in items if item is not None]


async def test_find_goes_to_a_row_and_a_hand_over_is_kept(room: Room) -> None:
    wanted = room.blind(room.logins[2])
    async with room.open() as window:
        await window.press("/", *wanted, "enter")
        assert window.list.row is not None
        assert window.list.row.blind == wanted
        await window.press("/", *"nobody at all", "enter")
        assert "nobody at all" in window.text.split("\n")[-2]
        await window.press("l", "l", "w", *"ben", "enter")
        await window.until(lambda: "handed to ben" in window.line(wanted))
    assert room.book.queue.claim("cy", "c", ["q1"]) is not None
    item = room.book.queue.find(room.logins[2], "q1")
    assert item is not None
    found = room.book.scores.standing()
    assert [each["q1"].for_whom for each in found.values() if each["q1"].item == item.id] == ["ben"]


async def test_publishing_asks_and_says_what_is_new(room: Room) -> None:
    room.give(room.logins[0], "q1", 2)
    async with room.open() as window:
        await window.press("P")
        assert "Learners to tell: 1, with scores not told before: 1" in window.text
        await window.press("n")
        assert not list(room.folder.feedback.iterdir())
        await window.press("P", "y")
        await window.until(lambda: "2 final" in window.line(room.blind(room.logins[0])))
        await window.press("P")
        assert "not told before: 0" in window.text
        await window.press("escape")
    assert len(list(room.folder.feedback.iterdir())) == 1


def proposing(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """A re-grade without a sandbox: everybody fails, and one had passed before."""
    first = room.book.results.begin("older", "ann", weak_sandbox=False)
    numbers = [row.submission for row in room.book.rows() if row.submission is not None]
    room.book.results.add(first.id, [(Result(number, "passed", 2, 1, {}), True) for number in numbers])
    room.book.results.end(first.id)
    report = replace(broken_report(ValueError()), ending=Ending.FAILED)

    class Workers:
        def __init__(self, *_: object) -> None:
            pass

        def reports(self, todos: Iterator[Any]) -> Iterator[tuple[Any, CheckReport]]:
            return ((todo, report) for todo in todos)

        def close(self) -> None:
            pass

    monkeypatch.setattr(regrade, "_Workers", Workers)
    monkeypatch.setattr(regrade, "sandbox_lacks", lambda: ("namespaces",))


async def test_a_regrade_shows_what_changes_before_it_counts(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    proposing(room, monkeypatch)
    async with room.open() as window:
        await window.press("R", "y")
        await window.until(lambda: "lacks namespaces" in window.text)
        await window.press("y")
        await window.until(lambda: f"{LEARNERS} results change" in window.text)
        assert "2/2 1/1 -> 0/2 0/1" in window.line(room.blind(room.logins[0]))
        await window.press("escape")
        assert {grade.result.normal for grade in grades(room.book) if grade.result} == {2}
        await window.press("R", "y")
        await window.until(lambda: "lacks namespaces" in window.text)
        await window.press("y")
        await window.until(lambda: "results change" in window.text)
        await window.press("y")
        await window.until(lambda: f"{LEARNERS} changed results are taken" in window.text)
        assert "0/2" in window.line(room.blind(room.logins[0]))
    assert {grade.result.normal for grade in grades(room.book) if grade.result} == {0}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_rule_is_changed_after_its_effect_was_shown(room: Room, lang: str, size: tuple[int, int]) -> None:
    ticks = {"slots": {"rule": True, "mechanism": False, "outcome": False, "foil": False}, "by_hand": False}
    room.give(room.logins[0], "explanation", 0, mark=ticks)
    room.give(room.logins[1], "explanation", 1)
    async with room.open(lang=lang, size=size) as window:
        await window.press("E")
        await window.until(lambda: isinstance(window.app.screen, CriteriaScreen) and window.app.screen.draft)
        screen = window.app.screen
        assert isinstance(screen, CriteriaScreen)
        assert "[1 a]" in window.text
        await window.press("j", "j", "space", "space")  # the outcome need not be there any more
        assert screen.draft is not None
        assert screen.draft.mark("outcome", 0) == "not"
        assert class_criteria(room.book, room.lesson)["explanation"].version is None
        await window.press("P")
        assert {"en": "1 rise, 0 fall", "zh": "1 份升，0 份降"}[lang] in window.text
        await window.press("n", "P", "y")
        await window.until(lambda: isinstance(window.app.screen, ClassList) and not window.app.busy)
        assert {"en": "1 rise", "zh": "1 份升"}[lang] in window.text
    rule = class_criteria(room.book, room.lesson)["explanation"]
    assert rule.version is not None
    assert rule.ways[0][1].every == ("rule",)
    assert room.book.scores.latest()[room.book.queue.find(room.logins[0], "explanation").id].points == 1  # type: ignore[union-attr]


async def test_a_rule_that_cannot_be_is_said_and_leaving_asks(room: Room) -> None:
    async with room.open() as window:
        await window.press("E")
        await window.until(lambda: isinstance(window.app.screen, CriteriaScreen) and window.app.screen.draft)
        screen = window.app.screen
        assert isinstance(screen, CriteriaScreen)
        assert screen.draft is not None
        await window.press("P")
        assert "nothing to accept" in window.text
        await window.press("g", "9", "P")
        assert "no more than the question has" in window.text
        await window.press("1", "a", *"names the log", "enter", *"dian", "enter")
        assert screen.draft.slots["own1"] == Bilingual("dian", "names the log")
        await window.press("a", *"only here", "enter", "enter")
        assert screen.draft.slots["own2"] == Bilingual("only here", "only here")
        await window.press("d", "k")
        assert screen.draft.added == ["own1"]
        await window.press("space", "space")
        assert screen.draft.mark("own1", 0) == "some"
        await window.press("G", "2")
        assert "no more than the choice has" in window.text
        await window.press("1", "w")
        assert screen.draft.labels() == ["1 a", "1 b", "1 c"]
        assert "neither saved nor kept: 1." in await window.press("ctrl+q")
        await window.press("n", "escape", "n")
        assert window.app.screen is screen
        await window.press("escape", "y")
        assert isinstance(window.app.screen, ClassList)
    assert class_criteria(room.book, room.lesson)["explanation"].version is None


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_figures_say_who_and_go_into_a_file(room: Room, lang: str) -> None:
    for login in room.logins:
        room.give(login, "explanation", 1, mark={"slots": {"rule": True}})
    async with room.open(lang=lang) as window:
        await window.press("f")
        await window.until(lambda: isinstance(window.app.screen, FiguresScreen) and window.app.screen.data)
        assert f"1 / 1 / 1, 1-1, n {LEARNERS}" in window.text
        await window.press("enter")
        assert all(room.blind(login) in window.text for login in room.logins)
        await window.press("escape", "s")
        await window.press("enter")
        await window.until((room.folder.private / "figures.csv").exists)
        assert "161" in window.text
        await window.press("escape")
        assert isinstance(window.app.screen, ClassList)
    with (room.folder.private / "figures.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["group", "name", "figure", "value"]
    assert ["slots", "explanation", "rule", str(LEARNERS)] in rows


async def test_what_others_give_is_seen_and_nothing_is_drawn_for_nothing(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[int] = []
    real = ClassList.refill

    def refill(screen: ClassList) -> None:
        drawn.append(1)
        real(screen)

    monkeypatch.setattr("tutor.ui.review.class_list.QUIET", 0)
    async with room.open() as window:
        await window.settle()
        monkeypatch.setattr(ClassList, "refill", refill)

        async def look() -> int:
            drawn.clear()
            window.list.look()
            await window.settle()
            return len(drawn)

        assert await look() == 0
        item = room.book.queue.find(room.logins[0], "q1")
        assert item is not None
        room.book.queue.claim_this(item.id, "bob", "bob/1")
        assert await look() == 1
        assert "held by bob" in window.line(room.blind(room.logins[0]))
        room.book.queue.keep(item.id, "bob/1")  # another lease, the same rows
        assert await look() == 0
        mark = Mark(2, {}, {})
        room.book.scores.give(item.id, "bob", mark, holder="bob/1")
        await window.press("f")
        window.list.look()
        await window.settle()
        await window.press("escape")
        assert "Q1 1/6" in window.text
        with monkeypatch.context() as patch:

            def lost(_: Database) -> int:
                raise GradebookError("class.db-unusable", db="book", why="gone")

            patch.setattr(Database, "changes", lost)
            window.list.look()
            assert "The gradebook book cannot be used: gone." in await window.settle()
        await window.press("v", "v")
        room.give(room.logins[1], "q1", 1)
        assert await look() == 1
        assert "Q1 2/6" in window.text


def test_a_long_list_makes_only_the_lines_that_are_drawn(lesson: Lesson, room: Room) -> None:
    (row, *_) = class_rows(grades(room.book), [])
    many = ListLines([row] * 10_000, list(questions_of(lesson)), "ann", "en", 80)
    made: list[int] = []
    real = ListLines.__getitem__

    class Counting(ListLines):
        def __getitem__(self, index: Any) -> Any:
            made.append(index)
            return real(self, index)

    lines = Counting(many.rows, list(questions_of(lesson)), "ann", "en", 80)
    view = LinesView("dark")
    view.lines = lines
    view.point(9_999)
    assert view.item == row.id
    assert len(made) == 1
