"""Who gets which item: claims, leases, second looks, hand-overs, and graders who are killed."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import time

import pytest

from tests.unit.books import QUESTIONS, book, fill, mark
from tutor.gradebook import Gradebook
from tutor.gradebook.database import Database
from tutor.gradebook.queue import LEASE_S, LeaseLost

__all__ = ["book"]


def test_each_item_is_given_once_in_an_order_that_stays(book: Gradebook) -> None:
    fill(book, 20)
    given = []
    while (item := book.queue.claim("ada", "a", ["q1"])) is not None:
        given.append(item.submission)
    assert sorted(given) == sorted(row.submission for row in book.rows() if row.submission)
    assert given != sorted(given), "shuffled: nobody is always graded last"
    for questions in book.scores.standing().values():
        book.queue.release(questions["q1"].item, "a")
    again = [item.submission for _ in given if (item := book.queue.claim("bob", "b", ["q1"]))]
    assert again == given


def test_what_a_grader_left_is_free_when_the_lease_ran_out(book: Gradebook) -> None:
    fill(book, 1)
    first = book.queue.claim("ada", "a", ["q1"], now=1000.0)
    assert first is not None
    assert book.queue.claim("bob", "b", ["q1"], now=1001.0) is None
    second = book.queue.claim("bob", "b", ["q1"], now=10_000.0)
    assert second is not None
    assert second.id == first.id
    assert not book.queue.keep(first.id, "a")
    assert not book.queue.release(first.id, "a")
    with pytest.raises(LeaseLost):
        book.scores.give(first.id, "ada", mark(2), holder="a")
    assert book.scores.history(first.id) == []


def test_a_clock_that_jumped_ahead_keeps_an_item_from_nobody(book: Gradebook) -> None:
    fill(book, 1)
    now = time.time()
    for ahead, is_free in ((1.5 * LEASE_S, False), (365 * 86400.0, True)):
        held = book.queue.claim("ada", "a", ["q1"], now=now + ahead - LEASE_S)
        assert held is not None
        assert (book.queue.claim("ben", "b", ["q1"], now=now) is not None) == is_free
        book.queue.release_all("a")
        book.queue.release_all("b")
    held = book.queue.claim("ada", "a", ["q1"], now=now + 365 * 86400.0)
    assert held is not None
    assert book.scores.give(held.id, "ben", mark(1))[0].points == 1


def test_nobody_writes_while_another_sitting_holds_the_item(book: Gradebook) -> None:
    fill(book, 1)
    item = book.queue.claim("ada", "a", ["q1"])
    assert item is not None
    with pytest.raises(LeaseLost) as caught:
        book.scores.give(item.id, "ada", mark(2), holder="another window")
    assert caught.value.grader == "ada"
    book.scores.give(item.id, "ada", mark(2), holder="a")
    assert [score.points for score in book.scores.history(item.id)] == [2]


def claim_all(url: str, who: str, queue: multiprocessing.Queue[list[int]]) -> None:
    book = Gradebook(Database(url), "class-1")
    got = []
    while (item := book.queue.claim(who, who, QUESTIONS)) is not None:
        book.scores.give(item.id, who, mark(1), holder=who)
        got.append(item.id)
    book.close()
    queue.put(got)


def test_two_graders_at_once_never_get_the_same(book: Gradebook, url: str) -> None:
    fill(book, 15)
    context = multiprocessing.get_context("fork")
    queue: multiprocessing.Queue[list[int]] = context.Queue()
    graders = [context.Process(target=claim_all, args=(url, who, queue)) for who in ("ada", "bob")]
    for grader in graders:
        grader.start()
    got = [queue.get(timeout=60) for _ in graders]
    for grader in graders:
        grader.join(60)
    everything = sorted(number for each in got for number in each)
    assert len(everything) == 30
    assert everything == sorted(set(everything))
    history = [book.scores.history(number) for number in everything]
    assert all(len(scores) == 1 for scores in history)


def test_a_grader_who_is_killed_gives_the_item_to_another(book: Gradebook, url: str) -> None:
    fill(book, 1)
    code = (
        "import sys, time; from tutor.gradebook import Gradebook; from tutor.gradebook.database import Database\n"
        "b = Gradebook(Database(sys.argv[1]), 'class-1'); print(b.queue.claim('dead', 'd', ['q1']).id, flush=True)\n"
        "time.sleep(600)"
    )
    grader = subprocess.Popen([sys.executable, "-c", code, url], stdout=subprocess.PIPE, text=True)
    assert grader.stdout is not None
    with grader.stdout:
        number = int(grader.stdout.readline())
    grader.send_signal(signal.SIGKILL)
    grader.wait(10)
    assert book.queue.claim("ada", "a", ["q1"]) is None
    later = book.queue.claim("ada", "a", ["q1"], now=4e9)
    assert later is not None
    assert later.id == number


def test_a_second_look_comes_after_everything_that_is_open(book: Gradebook) -> None:
    fill(book, 2)
    first, second = (book.queue.claim("ada", "a", ["q1"]) for _ in range(2))
    assert first is not None
    assert second is not None
    assert book.queue.second(first.id, "a")
    assert book.queue.release(second.id, "a")
    order = [book.queue.claim("ada", "a", ["q1"]) for _ in range(3)]
    assert [item.id if item else None for item in order] == [second.id, first.id, None]
    book.scores.give(first.id, "ada", mark(1), holder="a", second=True)
    assert sorted(each["q1"].state for each in book.scores.standing().values()) == ["open", "second"]
    again = book.queue.claim("ada", "a", ["q1"])
    assert again is not None
    assert again.id == first.id


def test_what_is_skipped_comes_again_after_the_others(book: Gradebook) -> None:
    fill(book, 4)
    order, after = [], ""
    for _ in range(6):
        item = book.queue.claim("ada", "a", ["q1"], after)
        assert item is not None
        order.append(item.id)
        after = book.queue.place(item.id)
        assert book.queue.release(item.id, "a")
    assert len(set(order[:4])) == 4
    assert order[4:] == order[:2]


def test_what_is_handed_over_goes_to_that_grader_alone_and_first(book: Gradebook) -> None:
    fill(book, 3)
    items = [item for _ in range(3) if (item := book.queue.claim("ada", "a", ["q1"]))]
    for item in items[:2]:
        book.queue.release(item.id, "a")
    assert book.queue.hand_over(items[2].id, "a", "bob")
    mine = [item.id for _ in range(3) if (item := book.queue.claim("ada", "a", ["q1"]))]
    assert sorted(mine) == sorted(item.id for item in items[:2])
    theirs = book.queue.claim("bob", "b", ["q1"])
    assert theirs is not None
    assert theirs.id == items[2].id


def test_what_is_let_go_is_again_what_it_was(book: Gradebook) -> None:
    fill(book, 1)
    item = book.queue.claim("ada", "a", ["q1"])
    assert item is not None
    book.scores.give(item.id, "ada", mark(2), holder="a")
    assert book.queue.claim("bob", "b", ["q1"]) is None
    assert book.queue.claim_this(item.id, "bob", "b").state == "claimed"
    with pytest.raises(LeaseLost):
        book.queue.claim_this(item.id, "ada", "a")
    (questions,) = book.scores.standing().values()
    assert (questions["q1"].state, questions["q1"].holder, questions["q1"].points) == ("done", "bob", 2)
    assert book.queue.release(item.id, "b")
    assert book.queue.count("q1") == (1, 1)
