"""The gradebook on both databases: claims, leases, history, conflicts, runs, and what its errors say."""

from __future__ import annotations

import multiprocessing
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tutor.gradebook import Gradebook, GradebookError
from tutor.gradebook import tables as schema
from tutor.gradebook.book import Arrival
from tutor.gradebook.database import Database
from tutor.gradebook.queue import LeaseLost
from tutor.gradebook.results import Result
from tutor.gradebook.scores import Mark, RuleChanged
from tutor.model import Message
from tutor.roster import Enrolled

QUESTIONS = ("explanation", "q1")


@pytest.fixture
def book(url: str) -> Iterator[Gradebook]:
    made = Gradebook(Database(url), "class-1")
    yield made
    made.close()


def arrival(owner: str, number: int = 1, **changes: object) -> Arrival:
    name = f"{owner}-{number}.json"
    raw = b'{"x":"\\u0000"}\x00\xff'
    made = Arrival(name, "1.2.3", owner, float(number), "2026-01-01T00:00:00Z", f"{owner}{number}", {}, [], raw)
    return made._replace(**changes)  # type: ignore[arg-type]


def mark(points: int, **fields: object) -> Mark:
    return Mark(points, **{"slots": {}, "vetoes": {}, **fields})  # type: ignore[arg-type]


def fill(book: Gradebook, learners: int) -> None:
    book.take([arrival(f"u{number}") for number in range(learners)], QUESTIONS)


# --- hand-ins ---------------------------------------------------------------------------------------------------------


def test_bytes_and_messages_come_back_as_they_were(book: Gradebook) -> None:
    note = Message("class.note-clock", {"made": "\x00\ud800 é"})
    book.take([arrival("ada", notes=[note])], QUESTIONS)
    book.refuse([("%FF", "9", "eve", Message("class.refuse-author", {"owner": "eve", "said": "\ud800"}))] * 2)
    (row,) = book.rows()
    assert row.submission is not None
    assert book.raw(row.submission) == b'{"x":"\\u0000"}\x00\xff'
    assert row.notes == [note]
    (refused,) = book.refused()
    assert refused.reason.args["said"] == "\ud800"
    assert book.seen() == {("ada-1.json", "1.2.3"), ("%FF", "9")}


def test_what_arrives_late_does_not_supersede_what_is_newer(book: Gradebook) -> None:
    assert book.take([arrival("ada", 5), arrival("ada", 3)], QUESTIONS) == 2
    assert book.take([arrival("ada", 5, name="copy")], QUESTIONS) == 0
    (row,) = book.rows()
    assert (row.arrived, row.handed_in) == (5.0, 2)


def test_blind_names_differ_and_tell_no_order(book: Gradebook) -> None:
    book.enroll([Enrolled(f"u{number:03}", "") for number in range(150)])
    names = [row.learner.blind for row in book.rows()]
    assert len(set(names)) == 150
    assert names != sorted(names)


def test_a_database_of_another_class_is_refused(url: str) -> None:
    other = Database(url)
    Gradebook(other, "class-1")
    with pytest.raises(GradebookError) as caught:
        Gradebook(other, "class-2")
    other.close()
    assert caught.value.message.key == "class.db-other"


# --- claims -----------------------------------------------------------------------------------------------------------


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


# --- scores -----------------------------------------------------------------------------------------------------------


def test_history_says_who_from_what_to_what_and_why(book: Gradebook) -> None:
    fill(book, 1)
    item = book.queue.find("u0", "q1")
    assert item is not None
    blind = book.rows()[0].learner.blind
    assert book.queue.find(blind, "q1") == item
    book.scores.give(item.id, "ada", mark(2, slots={"phase": True}, comment="好 \x00"))
    book.scores.give(item.id, "ada", mark(1, vetoes={"guess": True, "tail": False}), why="rubric")
    told = [(s.grader, s.before, s.points, s.veto, s.why) for s in book.scores.history(item.id)]
    assert told == [("ada", None, 2, "none", "review"), ("ada", 2, 1, "guess", "rubric")]
    assert book.scores.history(item.id)[0].slots == {"phase": True}


def test_two_who_differ_are_shown_both_until_one_who_saw_it_decides(book: Gradebook) -> None:
    fill(book, 1)
    item = book.queue.find("u0", "q1")
    assert item is not None
    first, _ = book.scores.give(item.id, "ada", mark(1))
    second, other = book.scores.give(item.id, "bob", mark(2))
    assert other == first
    (questions,) = book.scores.standing().values()
    standing = questions["q1"]
    assert (standing.state, standing.points, standing.by, standing.other) == ("conflict", 2, "bob", ("ada", 1))
    _, other = book.scores.give(item.id, "ada", mark(2), seen=second.id)
    assert other is None
    (questions,) = book.scores.standing().values()
    assert (questions["q1"].state, questions["q1"].points, questions["q1"].other) == ("done", 2, None)


def test_two_who_agree_are_no_conflict(book: Gradebook) -> None:
    fill(book, 1)
    item = book.queue.find("u0", "q1")
    assert item is not None
    book.scores.give(item.id, "ada", mark(1))
    assert book.scores.give(item.id, "bob", mark(1))[1] is None


def test_handing_in_again_puts_the_questions_back_and_keeps_the_history(book: Gradebook) -> None:
    fill(book, 1)
    item = book.queue.find("u0", "q1")
    assert item is not None
    book.scores.give(item.id, "ada", mark(2))
    book.take([arrival("u0", 2)], QUESTIONS)
    new = book.queue.find("u0", "q1")
    assert new is not None
    assert (new.id != item.id, new.state) == (True, "open")
    assert [score.points for score in book.scores.history(item.id)] == [2]


def test_a_conflict_is_settled_only_by_one_who_saw_both(book: Gradebook) -> None:
    fill(book, 1)
    item = book.queue.find("u0", "q1")
    assert item is not None
    book.scores.give(item.id, "ada", mark(1))
    second, _ = book.scores.give(item.id, "bob", mark(2))
    third, other = book.scores.give(item.id, "cyd", mark(1))
    assert other == second, "who saw neither adds to it"
    _, other = book.scores.give(item.id, "cyd", mark(1))
    assert other == second, "and their own earlier score does not count as having seen the other's"
    assert book.scores.give(item.id, "cyd", mark(1), seen=book.scores.history(item.id)[-1].id)[1] is None
    assert third.before == 2


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


def test_a_learner_asks_once_and_only_of_what_was_published(book: Gradebook) -> None:
    fill(book, 1)
    item = book.queue.find("u0", "q1")
    assert item is not None
    asking = ("u0", "q1", "bitte \x00", 5.0, "u01")
    assert book.queue.ask(*asking) == "class.ask-nothing"
    given, _ = book.scores.give(item.id, "ada", mark(1))
    assert book.queue.ask(*asking) == "class.ask-nothing"
    book.scores.publish([given.id], 3.0)
    assert book.queue.ask("u0", "q1", "", 5.0, "other") == "class.ask-unknown"
    assert book.queue.ask(*asking) is None
    assert book.queue.ask(*asking) == "class.ask-twice"
    (questions,) = book.scores.standing().values()
    standing = questions["q1"]
    assert (standing.state, standing.asks, standing.is_published) == ("open", True, True)
    assert book.queue.asked(item.id) == (5.0, "bitte \x00", given.id)
    book.scores.give(item.id, "ada", mark(2), seen=given.id)
    (questions,) = book.scores.standing().values()
    assert (questions["q1"].state, questions["q1"].asks, questions["q1"].is_published) == ("done", False, False)
    book.take([arrival("u0", 2)], QUESTIONS)
    assert book.queue.ask(*asking) == "class.ask-superseded"


def test_memos_and_phrases(book: Gradebook) -> None:
    fill(book, 3)
    for name, comment in (("u0", "one\ntwo"), ("u1", "two \n"), ("u2", "")):
        item = book.queue.find(name, "q1")
        assert item is not None
        book.scores.give(item.id, "ada", mark(1, comment=comment))
    assert book.scores.phrases("q1", 9) == ["two", "one"]
    assert book.scores.phrases("explanation", 9) == []
    assert item is not None
    book.scores.note(item.id, "ada", "see \x00 L-4")
    assert [(memo.grader, memo.text) for memo in book.scores.notes(item.id)] == [("ada", "see \x00 L-4")]
    assert book.scores.graders() == ["ada"]


# --- what earns points ------------------------------------------------------------------------------------------------


def test_a_changed_rule_scores_everybody_again_but_those_set_by_hand(book: Gradebook) -> None:
    fill(book, 4)
    ticks = ({"a": True, "b": False}, {"a": True, "b": True}, {"a": True}, {"a": True})
    items = []
    for number, slots in enumerate(ticks):
        item = book.queue.find(f"u{number}", "q1")
        assert item is not None
        items.append(item)
        given, _ = book.scores.give(item.id, "ada", mark(1, slots=slots, by_hand=number == 2))
        book.scores.publish([given.id] if number == 0 else [], 9.0)
    book.scores.give(items[3].id, "bob", mark(0))
    effect = book.rules.preview("q1", len)
    assert effect == (1, 0, 1, 1, 1, 0)
    assert book.rules.preview("q1", lambda _: 0) == (0, 2, 0, 1, 1, 1)
    version, done = book.rules.change("q1", {"ways": []}, len, "ada")
    assert done == effect
    history = book.scores.history(items[1].id)
    assert [(s.points, s.why, s.criteria, s.grader) for s in history] == [
        (1, "review", None, "ada"),
        (2, "criteria", version, "ada"),
    ]
    assert history[-1].slots == ticks[1]
    assert len(book.scores.history(items[2].id)) == 1
    assert book.rules.newest()["q1"].rule == {"ways": []}
    with pytest.raises(RuleChanged):
        book.scores.give(items[0].id, "ada", mark(2))
    assert book.scores.give(items[0].id, "ada", mark(2, criteria=version))[0].criteria == version


# --- runs -------------------------------------------------------------------------------------------------------------


def test_a_run_that_was_cut_short_goes_on(book: Gradebook) -> None:
    fill(book, 3)
    run = book.results.begin("v1", "ada", weak_sandbox=False)
    todo = book.results.todo(run.id, 0, 10)
    assert [one.login for one in todo] == ["u0", "u1", "u2"]
    book.results.add(run.id, [(Result(todo[0].submission, "passed", 2, 1, {"x": "\x00\ud800"}), True)])
    again = book.results.begin("v1", "bob", weak_sandbox=False)
    assert (again.id, again.done) == (run.id, 1)
    assert [one.login for one in book.results.todo(run.id, 0, 10)] == ["u1", "u2"]
    assert book.results.begin("v2", "ada", weak_sandbox=False).done == 0
    assert book.results.begin("v1", "ada", weak_sandbox=True).id != run.id
    book.results.end(run.id)
    assert book.results.begin("v1", "ada", weak_sandbox=False).id != run.id


def test_what_changed_stands_only_after_it_was_taken(book: Gradebook) -> None:
    fill(book, 1)
    number = book.rows()[0].submission
    assert number is not None
    for points, taken in ((2, True), (1, False)):
        run = book.results.begin("v1", "ada", weak_sandbox=False)
        book.results.add(run.id, [(Result(number, "failed", points, 0, {"n": points}), taken)])
        book.results.end(run.id)
    assert book.results.standing()[number].normal == 2
    assert [one.normal for one in book.results.proposed()] == [1]
    assert book.results.take_proposed() == 1
    assert book.results.standing(with_reports=True)[number] == Result(number, "failed", 1, 0, {"n": 1})
    assert book.results.proposed() == []


# --- the database -----------------------------------------------------------------------------------------------------


def test_steps_bring_old_tables_up_to_date_once(book: Gradebook) -> None:
    done: list[int] = []

    def step(number: int) -> object:
        return lambda _: done.append(number)

    steps = (step(1), step(2))
    with book.database.write() as connection:
        connection.execute(sa.update(schema.about).where(schema.about.c.name == "version").values(value="1"))
        assert schema.migrate(connection, steps) == 1  # type: ignore[arg-type]
        assert schema.migrate(connection, steps) == 3  # type: ignore[arg-type]
        assert done == [1, 2]
        with pytest.raises(schema.FromTheFuture):
            schema.migrate(connection, steps[:1])  # type: ignore[arg-type]


def test_a_gradebook_of_version_1_keeps_its_scores_and_conflicts(book: Gradebook) -> None:
    fill(book, 2)
    for name, others in (("u0", ()), ("u1", (2,))):
        item = book.queue.find(name, "q1")
        assert item is not None
        book.scores.give(item.id, "ada", mark(1, vetoes={"tail": True}))
        for points in others:
            book.scores.give(item.id, "bob", mark(points))
    before = book.scores.standing()
    with book.database.write() as connection:
        for table in (schema.memo, schema.ask, schema.criteria):
            table.drop(connection)
        for column in ("item.rest", "item.for_whom", "item.score_id", "item.other_id", "score.vetoes", "score.by_hand"):
            drop(connection, column)
        for column in ("score.criteria_id", "score.seconds", "score.published"):
            drop(connection, column)
        connection.execute(sa.update(schema.about).where(schema.about.c.name == "version").values(value="1"))
        assert schema.migrate(connection) == 1
    assert book.scores.standing() == before
    assert all(score.by_hand and not score.vetoes for score in book.scores.latest().values())


def drop(connection: sa.Connection, column: str) -> None:
    table, _, name = column.partition(".")
    connection.execute(sa.text(f"ALTER TABLE {table} DROP COLUMN {name}"))


def test_a_gradebook_of_a_newer_tutor_is_left_alone(book: Gradebook, url: str) -> None:
    with book.database.write() as connection:
        connection.execute(sa.update(schema.about).where(schema.about.c.name == "version").values(value="99"))
    with pytest.raises(GradebookError) as caught:
        Database(url)
    assert caught.value.message.key == "class.db-future"


@pytest.mark.parametrize("bad", ["", "nonsense", "mysql://x/y"])
def test_a_url_that_is_none(bad: str) -> None:
    with pytest.raises(GradebookError) as caught:
        Database(bad)
    assert caught.value.message.key == "class.db-url"


def test_a_server_that_is_not_there_is_told_without_its_password() -> None:
    pytest.importorskip("psycopg")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        with pytest.raises(GradebookError) as caught:
            Database(f"postgresql://tutor:secret@127.0.0.1:{probe.getsockname()[1]}/x")
    assert caught.value.message.key == "class.db-unusable"
    assert "secret" not in str(caught.value.message.args)


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "book").write_bytes(b"not a database at all" * 100)
    with pytest.raises(GradebookError) as caught:
        Database(f"sqlite:///{tmp_path}/book")
    assert caught.value.message.key == "class.db-damaged"


def test_a_locked_database_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tutor.gradebook.database.PATIENCE_S", 0)
    url = f"sqlite:///{tmp_path}/book"
    one, other = Database(url), Database(url)
    with one.write(), pytest.raises(GradebookError) as caught, other.write():
        pass
    assert caught.value.message.key == "class.db-locked"
    with one.write(), other.read() as connection:
        assert connection.execute(sa.select(schema.about.c.value)).scalars().all(), "a reader waits for no writer"
    one.close()
    other.close()


def test_a_write_that_fails_leaves_nothing(book: Gradebook) -> None:
    bad = arrival("bob", raw=None)
    with pytest.raises(sa.exc.IntegrityError):
        book.take([arrival("ada"), bad], QUESTIONS)
    assert book.rows() == []
    assert book.seen() == set()


def test_the_file_system_decides_how_sqlite_writes(tmp_path: Path) -> None:
    for is_remote, mode in ((False, "wal"), (True, "delete")):
        database = Database(f"sqlite:///{tmp_path}/{mode}", is_remote=is_remote)
        with database.read() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == mode
        database.close()
