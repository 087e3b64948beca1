"""One free text's story, folded from events: nothing is lost, and unlocking hides what it has to hide."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tutor.learner.answers import VERSIONS, fingerprint
from tutor.learner.progress import Event, Progress, apply


def after(*events: tuple[str, dict[str, Any]]) -> Progress:
    progress = Progress()
    for number, (kind, data) in enumerate(events, 1):
        apply(progress, Event(f"a-{number}", f"2026-11-30T10:{number % 60:02}:00Z", kind, {"name": "q1", **data}))
    return progress


COMMIT = ("committed", {"text": "first", "rubric": "1"})
SCORED = (
    "self_scored",
    {"ticks": {"gb_cause": "line"}, "points": 1, "chain": False, "boundary": True, "tradeoff": False, "rubric": "1"},
)
EVERYTHING: list[tuple[str, dict[str, Any]]] = [
    ("version", {"text": "draft", "why": "checked"}),
    ("slot_confirmed", {"slot": "gb_cause", "quote": "line", "yes": True}),
    ("slot_confirmed", {"slot": "gb_effect", "quote": "other", "yes": False}),
    ("considered", {"doubt": "tail", "yes": True}),
    ("prompted", {"slot": "gb_effect", "hash": "1234"}),
    COMMIT,
    ("veto_answered", {"veto": "guess", "yes": False}),
    SCORED,
    ("doubted", {"claim": "zero-one"}),
    ("change_drawn", {"change": "batch-one"}),
    ("rederived", {"change": "batch-one", "text": "then"}),
    ("final", {"points": 2, "who": "Lin", "when": "2026-12-01", "chain": True, "boundary": True, "tradeoff": True,
               "vetoes": ["tail"]}),
]  # fmt: skip


def test_a_story_survives_a_snapshot() -> None:
    progress = after(*EVERYTHING)
    again = Progress.from_data(json.loads(json.dumps(progress.to_data())))
    assert again.answers == progress.answers
    answer = again.answer("q1")
    assert answer.commit is not None
    assert (answer.commit.text, answer.commit.hash) == ("first", fingerprint("first"))
    assert answer.final is not None
    assert answer.final.vetoes == ("tail",)


def test_a_snapshot_from_before_there_were_answers_is_read() -> None:
    data = after().to_data()
    del data["answers"]
    assert Progress.from_data(data).answer("q1").versions == []


def test_unlocking_takes_the_score_and_keeps_the_record() -> None:
    answer = after(COMMIT, SCORED, ("unlocked", {})).answer("q1")
    assert (answer.commit, answer.score, len(answer.unlocked)) == (None, None, 1)
    assert answer.seen
    assert [version.text for version in answer.versions] == ["first"]
    assert not after(("unlocked", {})).answer("q1").unlocked


def test_what_was_changed_after_the_reference_was_seen_is_known() -> None:
    same = after(COMMIT, ("unlocked", {}), COMMIT)
    other = after(COMMIT, ("unlocked", {}), ("committed", {"text": "second", "rubric": "1"}))
    assert (same.answer("q1").changed_after, other.answer("q1").changed_after) == (False, True)


def test_a_score_without_a_commit_is_none() -> None:
    assert after(SCORED).answer("q1").score is None


def test_prompts_are_at_most_two_and_the_next_only_after_an_edit() -> None:
    answer = after(("prompted", {"slot": "gb_cause", "hash": fingerprint("text")})).answer("q1")
    assert not answer.may_prompt("gb_cause", "text", 2)
    assert answer.may_prompt("gb_cause", "text, more", 2)
    assert answer.may_prompt("gb_effect", "text", 2)
    twice = after(*[("prompted", {"slot": "gb_cause", "hash": "0"})] * 2).answer("q1")
    assert not twice.may_prompt("gb_cause", "text", 2)


def test_versions_are_bounded_and_the_same_text_stands_once() -> None:
    many = [("version", {"text": str(n), "why": "checked"}) for n in range(VERSIONS + 5)]
    answer = after(*many, many[-1]).answer("q1")
    assert [version.text for version in answer.versions] == [str(n) for n in range(5, VERSIONS + 5)]


@pytest.mark.parametrize("kind", sorted({kind for kind, _ in EVERYTHING} - {"unlocked"}))
def test_an_event_that_is_not_of_its_kind_changes_nothing(kind: str) -> None:
    progress = after(*EVERYTHING)
    before = json.dumps(progress.to_data())
    for data in ({}, {"name": "q1"}, {"name": "nobody", **dict(EVERYTHING)[kind]}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            apply(progress, Event("a-99", "2026-11-30T11:00:00Z", kind, data))
    assert json.dumps(progress.to_data()) == before
