"""What comes back from a class: read as if it meant harm, refused in one sentence."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.class_of_one import BODY, Class, lesson, nothing_there, room, sealed
from tutor.classroom import exchange, feedback_text, returned, submission
from tutor.classroom.exchange import ExchangeError
from tutor.language import LANGS
from tutor.learner.progress import Event, Progress, apply
from tutor.lesson import catalog
from tutor.model import Lesson
from tutor.strings import say
from tutor.ui.views.feedback import feedback_lines

__all__ = ["lesson", "nothing_there", "room"]


def refused(room: Class) -> str:
    """The key of the one sentence that says why it cannot be shown."""
    with pytest.raises(ExchangeError) as caught:
        returned.look(room.state)
    for lang in LANGS:
        words = say(lang, caught.value.message)
        assert words
        assert "\n" not in words
        assert str(room.place) in words
    return caught.value.message.key.partition(".")[2]


# --- files that are none ----------------------------------------------------------------------------------------------


def link(room: Class) -> None:
    real = room.state / "real.json"
    real.write_bytes(submission.canonical(sealed(room.body())))
    room.place.symlink_to(real)


def second_name(room: Class) -> None:
    room.write(room.body())
    other = room.state / "other.json"
    other.unlink(missing_ok=True)
    os.link(room.place, other)


def raw(content: bytes) -> Callable[[Class], None]:
    return lambda room: room.place.write_bytes(content) and None


FILES: dict[str, Callable[[Class], None]] = {
    "a link": link,
    "a second name": second_name,
    "a pipe": lambda room: os.mkfifo(room.place),
    "a folder": lambda room: room.place.mkdir(),
    "empty": raw(b""),
    "no JSON": raw(b"{"),
    "not UTF-8": raw(b'{"body":"\xff"}'),
    "binary": raw(bytes(range(256)) * 64),
    "deep": raw(b'{"body":' + b"[" * 100_000 + b"]" * 100_000 + b',"sha256":""}'),
    "huge": raw(b" " * (submission.SIZE_MAX + 1)),
    "no object": raw(b"[]"),
    "a wrong hash": lambda room: room.place.write_bytes(
        submission.canonical({"body": room.body(), "sha256": "0" * 64})
    ) and None,
    "not canonical": lambda room: room.place.write_text(json.dumps(sealed(room.body()), indent=1)) and None,
    "cut short": lambda room: room.place.write_bytes(submission.canonical(sealed(room.body()))[:-9]) and None,
}  # fmt: skip


@pytest.mark.parametrize("make", FILES.values(), ids=FILES)
def test_a_file_that_is_no_feedback(room: Class, make: Callable[[Class], None]) -> None:
    make(room)
    assert refused(room) == "feedback-damaged"


def at(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        *way, last = path.split("/")
        for step in way:
            body = body[step]
        body[last] = value

    return change


BODIES: dict[str, Callable[[dict[str, Any]], None]] = {
    "another learner's": at("submission", "0" * 64),
    "another class's": at("class", "0" * 16),
    "a hand-in": at("kind", submission.KIND),
    "a question that is a path": lambda body: body["questions"].update({"../../x": {"points": None, "of": 2}}),
    "a question with a line break": lambda body: body["questions"].update({"q1\n": {"points": None, "of": 2}}),
    "very many questions": lambda body: body.update(questions={f"q{n}": {"points": None, "of": 2} for n in range(99)}),
    "very many slots": at("questions/q1/slots", {str(n): True for n in range(999)}),
    "more points than there are": at("questions/q1/points", 3),
    "points below zero": at("questions/q1/points", -1),
    "points that are a truth": at("questions/q1/points", True),
    "points that are a text": at("questions/q1/points", "1"),
    "machine points that are none": at("machine/normal", 3),
    "a total out of reach": at("total", 10**9),
    "a comment without an end": at("questions/q1/comment", "x" * 20_001),
    "a comment that is a list": at("questions/q1/comment", ["x"]),
    "a slot that is ticked by a number": at("questions/q1/slots", {"phase": 1}),
    "a label in one language": at("questions/q1/labels", {"own1": {"en": "x"}}),
    "a question that is a text": at("questions/q1", "final"),
    "questions that are pairs": at("questions", [["q1", {"points": None, "of": 2}]]),
    "no questions": lambda body: body.pop("questions"),
}  # fmt: skip


@pytest.mark.parametrize("change", BODIES.values(), ids=BODIES)
def test_feedback_that_says_what_no_tutor_writes(room: Class, change: Callable[[dict[str, Any]], None]) -> None:
    body = room.body()
    change(body)
    room.write(body)
    assert refused(room) == "feedback-damaged"


def test_a_newer_tutor_s_feedback_says_so_and_new_fields_do_no_harm(room: Class) -> None:
    room.write({**room.body(), "schema": 2})
    assert refused(room) == "feedback-newer"
    room.write({**room.body(), "mood": "good"})
    assert returned.look(room.state).found is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: only root can give a file to somebody else")
def test_feedback_that_somebody_else_put_there(room: Class) -> None:
    room.write(room.body())
    os.chown(room.place, 20_007, -1)
    assert refused(room) == "feedback-damaged"


@pytest.mark.parametrize(("number", "key"), [(5, "unreachable"), (13, "unreachable"), (116, "unreachable")])
def test_a_file_system_that_does_not_give_it(
    room: Class, monkeypatch: pytest.MonkeyPatch, number: int, key: str
) -> None:
    room.write(room.body())

    def failing(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(returned, "read_stranger", lambda *_: exchange.read_regular(b"/nowhere/at/all", 1))
        assert refused(room) == key
    with monkeypatch.context() as patched:
        patched.setattr(Path, "lstat", failing)
        assert refused(room) == key
    assert returned.look(room.state).found is not None


def test_a_feedback_folder_that_is_gone_is_not_no_feedback(room: Class) -> None:
    assert returned.look(room.state).found is None
    room.folder.feedback.rename(room.folder.path / "away")
    try:
        with pytest.raises(ExchangeError) as caught:
            returned.look(room.state)
        assert caught.value.message.key == "handin.no-feedback-folder"
    finally:
        (room.folder.path / "away").rename(room.folder.feedback)


# --- anything at all --------------------------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 300)
    | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


def places(node: Any, way: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in node.items():
        yield (*way, key)
        if isinstance(value, dict):
            yield from places(value, (*way, key))


@settings(max_examples=120)
@given(way=st.sampled_from(list(places(BODY))), value=VALUES)
def test_whatever_stands_in_a_field_it_is_read_or_refused_and_nothing_raw_is_shown(
    room: Class, way: tuple[str, ...], value: Any
) -> None:
    body = room.body()
    at("/".join(way), value)(body)
    room.write(body)
    keys = []
    try:
        found = returned.look(room.state).found
    except ExchangeError as error:
        keys.append(error.message.key)
        found = None
    assert set(keys) <= {"class.feedback-damaged", "handin.feedback-newer"}
    assert (found is None) == bool(keys)
    if found is None:
        return
    shown(catalog.load(), found)
    progress = Progress()
    for number, (kind, fields) in enumerate(returned.look(room.state).events(progress), 1):
        apply(progress, Event(f"s-{number}", "2026-12-01T00:00:00Z", kind, fields))
    assert list(returned.look(room.state).events(progress)) == [], "told once"


@settings(max_examples=60)
@given(st.dictionaries(st.floats(0, 1, exclude_max=True), st.integers(1, 255), min_size=1, max_size=4))
def test_whatever_byte_is_changed(room: Class, changes: dict[float, int]) -> None:
    whole = bytearray(raw_whole := submission.canonical(sealed(room.body())))
    for place, change in changes.items():
        whole[int(place * len(whole))] ^= change
    if whole == raw_whole:
        return  # two changes of one byte took each other back
    room.place.write_bytes(whole)
    with pytest.raises(ExchangeError):
        returned.look(room.state)


def shown(lesson: Lesson, found: returned.Feedback) -> list[str]:
    """Every line of the screen, in both languages; none has anything that a terminal acts on."""
    lines = []
    for lang in LANGS:
        for row in feedback_lines(lesson, found, lang, 60):
            words = "".join(part[0] for part in row.parts)
            assert words.isprintable(), words
            lines.append(words)
    return lines


def test_markup_and_control_characters_in_a_comment_are_seen_and_not_obeyed(room: Class, lesson: Lesson) -> None:
    body = room.body()
    hostile = "\x1b[2J\x1b]52;c;eA==\x07 [bold red]x[/] [@click=app.quit]y[/] \u202ereversed\u200b \ud800 \r\nnext"
    body["questions"]["q1"]["comment"] = hostile
    body["questions"]["q1"]["veto"] = "guess \x1b[31mx"
    body["questions"]["q1"]["at"] = "\x1b[1m"
    room.write(body)
    found = returned.look(room.state).found
    assert found is not None
    text = "".join(shown(lesson, found)).replace(" ", "")
    for seen in ("[boldred]x[/]", "[@click=app.quit]y[/]", "\\x1b[2J", "\\u202e", "\\ud800", "next"):
        assert seen in text


def test_feedback_of_an_earlier_lesson_keeps_its_own_names(room: Class, lesson: Lesson) -> None:
    body = room.body()
    body["questions"]["q1"]["slots"] = {"a-slot-of-last-year": True, "own1": True}
    body["questions"]["q9"] = {**body["questions"]["q1"], "labels": {}}
    room.write(body)
    found = returned.look(room.state).found
    assert found is not None
    words = [row.words for row in feedback_text.rows(lesson, found, "en")]
    assert words.count("a-slot-of-last-year") == 2
    assert {"the log", "own1"} < set(words)
    assert any(row.startswith("q9: 1/2") for row in words)
