"""The re-grade when something dies under it: a judging process, the sandbox's warm process, the disk."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench import make_class
from tutor.classroom.regrade import Regrade, RegradeStopped, sandbox_lacks
from tutor.gradebook import Gradebook, GradebookError
from tutor.gradebook.book import Arrival
from tutor.gradebook.database import Database
from tutor.lesson import catalog
from tutor.model import Lesson

COUNT = 24


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return catalog.load()


@pytest.fixture(scope="module")
def is_weak() -> bool:
    return bool(sandbox_lacks())


@pytest.fixture
def book(tmp_path: Path, lesson: Lesson) -> Iterator[Gradebook]:
    made = Gradebook(Database(f"sqlite:///{tmp_path}/book"), "class-1")
    arrivals = [
        Arrival(str(uid), "1", f"u{uid}", 1.0, "2026-09-01T10:00:00Z", str(uid), {}, [], raw)
        for uid, raw in make_class.hand_ins(lesson, COUNT, 1)
    ]
    made.take(arrivals, ("q1",))
    yield made
    made.close()


def children(pid: int) -> list[int]:
    return [
        int(each) for path in Path(f"/proc/{pid}/task").iterdir() for each in (path / "children").read_text().split()
    ]


def test_a_judging_process_that_is_killed_costs_no_hand_in(
    book: Gradebook, lesson: Lesson, is_weak: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tutor.classroom.regrade.BATCH", 4)
    regrade = Regrade(book, lesson, "ada", jobs=2, weak_sandbox=is_weak)
    graded = []
    for one in regrade:
        if not graded:
            # The first batch is written; some of the rest is being judged.
            multiprocessing.active_children()[0].kill()
        graded.append(one)
    assert sorted(one.submission for one in graded) == sorted(book.results.standing())
    assert len(graded) == regrade.done == COUNT
    assert "broke" not in {one.report.ending for one in graded}


def test_a_warm_process_that_is_killed_costs_no_hand_in(
    book: Gradebook, lesson: Lesson, is_weak: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tutor.classroom.regrade.BATCH", 1)
    monkeypatch.setattr("tutor.classroom.regrade.AHEAD_MAX", 0)
    endings = []
    for one in Regrade(book, lesson, "ada", jobs=1, weak_sandbox=is_weak):
        if len(endings) == 2:
            (worker,) = multiprocessing.active_children()
            assert worker.pid is not None
            warm = [each for each in children(worker.pid) if b"boot.py" in Path(f"/proc/{each}/cmdline").read_bytes()]
            assert len(warm) == 1
            os.kill(warm[0], signal.SIGKILL)
        endings.append(one.report.ending)
    assert len(endings) == COUNT
    assert "broke" not in endings


def test_a_disk_that_fills_stops_the_run_and_the_next_goes_on(
    book: Gradebook, lesson: Lesson, is_weak: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tutor.classroom.regrade.BATCH", 4)
    regrade = Regrade(book, lesson, "ada", jobs=1, weak_sandbox=is_weak)
    seen = []

    def go_on() -> None:
        for one in regrade:
            if not seen:  # SQLite's own limit of pages stands for the disk
                with book.database.write() as connection:
                    pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
                    connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 1}")
            seen.append(one.submission)

    with pytest.raises(GradebookError) as caught:
        go_on()
    assert caught.value.message.key == "class.db-full"
    assert set(seen) <= set(book.results.standing()), "what was given was on the disk"
    with book.database.write() as connection:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {2**30}")
    again = Regrade(book, lesson, "ada", jobs=1, weak_sandbox=is_weak)
    assert len(seen) <= again.continued < COUNT
    assert len(list(again)) == COUNT - again.continued
    assert len(book.results.standing()) == COUNT


def test_processes_that_never_judge_stop_the_run(book: Gradebook, lesson: Lesson, is_weak: bool) -> None:
    regrade = Regrade(book, replace(lesson, id="none"), "ada", jobs=1, weak_sandbox=is_weak)
    with pytest.raises(RegradeStopped) as caught:
        list(regrade)
    assert caught.value.message.key == "class.regrade-stopped"
    assert "passed" not in {result.ending for result in book.results.standing().values()}
    assert Regrade(book, lesson, "ada", jobs=1, weak_sandbox=is_weak).total == COUNT
