"""A hand-in as bytes: written one way, and read without believing anything."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tutor.classroom import submission
from tutor.classroom.submission import DEPTH_MAX, SIZE_MAX, Author, Unacceptable, canonical, read, seal
from tutor.learner import answers
from tutor.learner.progress import Event, Progress, apply
from tutor.lesson import catalog


def body(*more: tuple[str, dict[str, Any]], **changes: Any) -> dict[str, Any]:
    progress = Progress()
    told: list[tuple[str, dict[str, Any]]] = [
        ("draft", {"name": "code", "text": "shape, dtype", "cursor": [0, 0]}),
        ("draft", {"name": "q1", "text": "见 [E2] \ud800 \x00", "cursor": [0, 0]}),
        ("edge", {"id": "1", "line": "guard_key()", "why": "because"}),
        *(
            ("evidence", {"id": f"E{n}", "record": {"demo": "hits", "source": "measured", "claims": {}}})
            for n in (1, 2, 3)
        ),
        *more,
    ]
    for number, (kind, data) in enumerate(told, 1):
        apply(progress, Event(f"s-{number}", f"2026-01-01T00:00:{number:02}.000Z", kind, data))
    made = submission.body_of(
        progress,
        catalog.load(),
        Author(1000, "ada"),
        made="2026-01-01T00:00:00.000Z",
        number=1,
        reply="0" * 32,
        tutor="1",
    )
    return {**made, **changes}


def reason(raw: bytes) -> str:
    with pytest.raises(Unacceptable) as caught:
        read(raw)
    return caught.value.message.key.removeprefix("class.refuse-")


def test_what_is_sealed_is_read_again_whole() -> None:
    found = read(seal(body()))
    assert found.author == Author(1000, "ada")
    assert found.blank == "shape, dtype"
    assert found.edges == ("guard_key()",)
    assert found.answer("q1") == "见 [E2] \ud800 \x00"
    assert found.answer("explanation") == "because"
    assert found.answer("q2") == ""


def scored(name: str, **ticks: str) -> tuple[str, dict[str, Any]]:
    marks = {"points": len(ticks), "chain": True, "boundary": False, "tradeoff": False, "rubric": "7"}
    return ("self_scored", {"name": name, "ticks": ticks, **marks})


def committed(name: str, text: str) -> tuple[str, dict[str, Any]]:
    return ("committed", {"name": name, "text": text, "rubric": "7"})


def test_what_was_committed_scored_and_changed_after_the_reference_is_handed_in() -> None:
    made = body(
        committed("q2", "one"),
        ("unlocked", {"name": "q2"}),
        ("version", {"name": "q2", "text": "one half", "why": "checked"}),
        committed("q2", "two"),
        scored("q2", effect="two"),
        committed("edge", "because"),
        scored("edge"),
    )
    answer = made["answers"]["q2"]
    hashes = {text: answers.fingerprint(text) for text in ("one", "one half", "two")}
    assert (answer["text"], answer["at"], answer["committed"]) == ("two", "2026-01-01T00:00:10.000Z", True)
    assert answer["commits"] == [
        {"hash": hashes["one"], "at": "2026-01-01T00:00:07.000Z", "rubric": "7"},
        {"hash": hashes["two"], "at": "2026-01-01T00:00:10.000Z", "rubric": "7"},
    ]
    assert answer["first_committed"] == "one"
    assert [(each["hash"], each["why"]) for each in answer["after_reference"]] == [
        (hashes["one half"], "checked"),
        (hashes["two"], "committed"),
    ]
    assert made["answers"]["edge"]["text"] == "because"
    assert made["self_scores"]["q2"]["ticks"] == {"effect": "two"}
    assert (made["self_scores"]["q2"]["points"], made["self_scores"]["edge"]["points"]) == (1, 0)
    assert made["lesson"]["rubric_version"] == catalog.load().rubric.version
    assert json.loads(json.dumps(read(seal(made)).body)) == made


def test_an_answer_that_is_only_a_draft_has_no_commit_and_nothing_after_the_reference() -> None:
    answer = body(("version", {"name": "q1", "text": "x", "why": "checked"}))["answers"]["q1"]
    assert (answer["committed"], answer["commits"], answer["after_reference"]) == (False, [], [])
    assert answer["first_committed"] is None
    assert body()["self_scores"] == {}


def test_evidence_that_is_cited_or_the_last_of_its_demo_is_carried() -> None:
    made = body()
    assert list(made["evidence"]) == ["E2", "E3"]
    assert made["evidence_left_out"] == 1


def test_the_same_body_is_the_same_bytes_in_any_order_of_keys() -> None:
    made = body()
    assert seal(made) == seal(dict(reversed(made.items())))
    assert seal(made).decode("ascii", "ignore") != ""
    assert b"\n" not in seal(made)


def test_bytes_that_are_no_hand_in() -> None:
    raw = seal(body())
    assert reason(b"") == "json"
    assert reason(raw[: len(raw) * 2 // 3]) == "json"
    assert reason(raw.decode().encode("utf-16")) == "json"
    assert reason(b"\xef\xbb\xbf" + raw) == "json"
    assert reason(raw + b"\n") == "canonical"
    assert reason(raw[:-1] + b',"sha256":"x"}') == "canonical"
    assert reason(b'{"body":NaN}') == "json"
    assert reason(b'{"body":1e999}') == "json"
    assert reason(b'{"body":' + b"1" * 5000 + b"}") == "json"
    assert reason(b"[]") == "shape"
    assert reason(raw.replace(b"because", b"becausf")) == "hash"
    assert reason(b" " * (SIZE_MAX + 1)) == "large"


@pytest.mark.parametrize(
    "raw", [b"[" * SIZE_MAX, b"[]" * (SIZE_MAX // 2), b'"' * SIZE_MAX, b'"\\' * (SIZE_MAX // 2), b'{"a":' * 200_000]
)
def test_nothing_makes_the_reader_recurse_or_go_back(raw: bytes) -> None:
    assert reason(raw) in ("deep", "json")


def test_brackets_in_a_text_are_no_depth() -> None:
    deep: Any = "x"
    for _ in range(DEPTH_MAX):
        deep = [deep]
    assert read(seal(body(predictions={"a": {"b": '\\"' + "[" * 100}})))
    assert reason(seal(body(predictions={"a": {"b": deep}}))) == "deep"


@pytest.mark.parametrize(
    ("where", "change"),
    [
        ("kind", {"kind": "other"}),
        ("schema", {"schema": 2}),
        ("schema", {"schema": True}),
        ("uid", {"author": {"uid": "0", "login": "a"}}),
        ("uid", {"author": None}),
        ("made", {"made": "yesterday"}),
        ("reply", {"reply": "../../../../etc/passwd"}),
        ("reply", {"reply": "0" * 32 + "\n"}),
        ("answers", {"answers": {"q9": {}}}),
        ("answers", {"answers": []}),
        ("edges", {"edges": {}}),
        ("line", {"edges": [{"id": "1", "why": ""}]}),
        ("normal", {"points": {"normal": 3, "edge": 0}}),
        ("points", {"points": None}),
        ("evidence", {"evidence": {"E1": 1}}),
        ("number", {"number": 0}),
        ("self_scores", {"self_scores": "2"}),
    ],
)
def test_a_part_of_the_wrong_kind_is_named(where: str, change: dict[str, Any]) -> None:
    made = body(**change)
    with pytest.raises(Unacceptable) as caught:
        read(seal(made))
    said = caught.value.message
    assert said.key == "class.refuse-shape"
    assert said.args["where"] == where or where == "points"


@pytest.mark.parametrize(
    ("where", "change"),
    [
        ("committed", {"committed": 1}),
        ("first_committed", {"first_committed": 2}),
        ("commits", {"commits": {}}),
        ("hash", {"commits": ["x"]}),
        ("why", {"after_reference": [{"hash": "", "at": ""}]}),
        ("first_committed", {"after_reference": [{"hash": "", "at": "", "why": ""}]}),
    ],
)
def test_a_part_of_an_answer_of_the_wrong_kind_is_named(where: str, change: dict[str, Any]) -> None:
    made = body()
    made["answers"]["q1"] |= change
    with pytest.raises(Unacceptable) as caught:
        read(seal(made))
    assert caught.value.message.args["where"] == where


@pytest.mark.parametrize(
    ("where", "change"),
    [("points", {"points": 3}), ("ticks", {"ticks": []}), ("effect", {"ticks": {"effect": 1}}), ("at", {"at": None})],
)
def test_a_part_of_a_self_score_of_the_wrong_kind_is_named(where: str, change: dict[str, Any]) -> None:
    made = body(committed("q2", "x"), scored("q2", effect="x"))
    made["self_scores"]["q2"] |= change
    with pytest.raises(Unacceptable) as caught:
        read(seal(made))
    assert caught.value.message.args["where"] == where


def test_an_answer_has_to_say_what_was_committed_first() -> None:
    made = body()
    del made["answers"]["q1"]["first_committed"]
    assert reason(seal(made)) == "shape"


def test_an_answer_whose_own_hash_is_wrong() -> None:
    made = body()
    made["answers"]["q1"]["text"] = "another"
    assert reason(seal(made)) == "shape"


def test_every_missing_part_is_refused() -> None:
    made = body()
    for key in made:
        assert reason(seal({name: value for name, value in made.items() if name != key})) == "shape", key


def test_a_hand_in_that_is_too_large_is_not_made() -> None:
    with pytest.raises(Unacceptable):
        seal(body(evidence={"E1": {"record": {"x": "y" * SIZE_MAX}}}))


def test_canonical_is_json() -> None:
    assert json.loads(canonical({"b": "é\ud800", "a": [1.5, None]})) == {"a": [1.5, None], "b": "é\ud800"}
    with pytest.raises(ValueError, match="Out of range"):
        canonical(float("nan"))
