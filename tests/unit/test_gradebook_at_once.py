"""Several processes at one gradebook at the same moment: nothing twice, nothing lost."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from tests.unit.books import arrival, book, mark
from tutor.gradebook import Gradebook
from tutor.gradebook import tables as schema
from tutor.gradebook.database import Database
from tutor.gradebook.results import Result
from tutor.gradebook.roster import Enrolled
from tutor.gradebook.scores import RuleChanged

__all__ = ["book"]

FORK = multiprocessing.get_context("fork")


def fill(book: Gradebook, learners: int) -> None:
    book.take([arrival(f"u{number}") for number in range(learners)], ("q1",))


def at_once(count: int, act: Callable[[int], Any]) -> list[Any]:
    """What `act` comes to in as many processes, which wait for each other before they act."""
    barrier, queue = FORK.Barrier(count), FORK.Queue()

    def run(number: int) -> None:
        barrier.wait(30)
        try:
            queue.put(act(number))
        except Exception as error:
            queue.put(error)

    processes = [FORK.Process(target=run, args=(number,)) for number in range(count)]
    for process in processes:
        process.start()
    results = [queue.get(timeout=60) for _ in processes]
    for process in processes:
        process.join(30)
    return results


def test_eight_graders_at_once_never_get_the_same(book: Gradebook, url: str) -> None:
    fill(book, 40)
    book.close()

    def grade(number: int) -> list[int]:
        mine, who, got = Gradebook(Database(url), "class-1"), f"g{number}", []
        while (item := mine.queue.claim(who, who, ("q1",))) is not None:
            mine.scores.give(item.id, who, mark(1), holder=who)
            got.append(item.id)
        mine.close()
        return got

    given = sorted(number for got in at_once(8, grade) for number in got)
    assert len(given) == 40
    assert given == sorted(set(given))
    assert all(len(book.scores.history(number)) == 1 for number in given)


def test_two_who_press_at_the_same_moment_are_both_kept(book: Gradebook, url: str) -> None:
    fill(book, 1)
    item = book.queue.find("u0", "q1")
    assert item is not None
    book.close()

    def press(number: int) -> int:
        mine = Gradebook(Database(url), "class-1")
        score, _ = mine.scores.give(item.id, f"g{number}", mark(number))
        mine.close()
        return score.points

    assert sorted(at_once(2, press)) == [0, 1]
    assert sorted(score.points for score in book.scores.history(item.id)) == [0, 1]
    again = book.queue.find("u0", "q1")
    assert again is not None
    assert again.state == "conflict"


def test_two_who_take_in_or_enroll_at_once_take_each_hand_in_once(book: Gradebook, url: str) -> None:
    book.close()

    def take(number: int) -> int:
        mine = Gradebook(Database(url), "class-1")
        if number == 3:
            mine.enroll([Enrolled(f"u{each}", "") for each in range(30)])
            new = 0
        else:
            new = mine.take([arrival(f"u{each}") for each in range(20)], ("q1",))
        mine.close()
        return new

    assert sorted(at_once(4, take)) == [0, 0, 0, 20]
    assert sorted(row.learner.login for row in book.rows()) == sorted(f"u{each}" for each in range(30))
    assert book.queue.count("q1") == (0, 20)


def test_two_who_judge_the_same_run_keep_the_first_result(book: Gradebook) -> None:
    fill(book, 1)
    one = book.results.begin("checks", "ada", weak_sandbox=False)
    again = book.results.begin("checks", "bob", weak_sandbox=False)
    assert again.id == one.id
    (todo,) = book.results.todo(one.id, 0, 10)
    book.results.add(one.id, [(Result(todo.submission, "passed", 2, 1, {}), True)])
    book.results.add(again.id, [(Result(todo.submission, "broke", 0, 0, {}), False)])
    assert book.results.standing()[todo.submission].counts == ("passed", 2, 1)
    assert book.results.proposed() == []


def test_a_score_that_is_given_while_the_rule_changes_follows_it_or_is_refused(book: Gradebook, url: str) -> None:
    fill(book, 20)
    numbers = [each["q1"].item for each in book.scores.standing().values()]
    book.close()

    def act(who: int) -> None:
        mine = Gradebook(Database(url), "class-1")
        if who == 0:
            mine.rules.change("q1", {}, lambda _: 2, "ada")
        for number in numbers if who else ():
            try:
                mine.scores.give(number, f"g{who}", mark(1)._replace(by_hand=False))
            except RuleChanged:
                pass
        mine.close()

    assert at_once(2, act) == [None, None]
    assert {each.points for each in book.scores.latest().values()} <= {2}


def test_many_who_open_a_new_gradebook_at_once_make_it_once(url: str) -> None:
    def open_it(_: int) -> str:
        mine = Gradebook(Database(url), "class-1")
        with mine.database.read() as connection:
            version = connection.execute(sa.select(schema.about.c.value).where(schema.about.c.name == "version"))
            found = str(version.scalar_one())
        mine.close()
        return found

    assert at_once(4, open_it) == [str(len(schema.STEPS) + 1)] * 4
