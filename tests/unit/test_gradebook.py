"""The gradebook on both databases: hand-ins, the history of scores, conflicts, rules, runs."""

from __future__ import annotations

import pytest

from tests.unit.books import QUESTIONS, arrival, book, fill, mark
from tutor.gradebook import Gradebook, GradebookError
from tutor.gradebook.database import Database
from tutor.gradebook.results import Result
from tutor.gradebook.roster import Enrolled
from tutor.gradebook.scores import RuleChanged
from tutor.model import Message

__all__ = ["book"]


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
