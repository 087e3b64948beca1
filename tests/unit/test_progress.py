"""Progress as a fold of events: the last text wins, points come from what was judged, nothing is claimed unearned."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tutor.learner.progress import ClaimState, Event, Progress, apply
from tutor.model import Source, Verdict


def fold(*events: tuple[str, dict[str, Any]], session: str = "a", progress: Progress | None = None) -> Progress:
    progress = progress or Progress()
    for number, (kind, data) in enumerate(events, 1):
        apply(progress, Event(f"{session}-{number}", f"2026-11-30T10:{number:02}:00Z", kind, data))
    return progress


def draft(text: str, cursor: tuple[int, int] = (0, 0), name: str = "code") -> tuple[str, dict[str, Any]]:
    return "draft", {"name": name, "text": text, "cursor": list(cursor)}


def checked(expr: str, normal: int, ending: str = "passed") -> tuple[str, dict[str, Any]]:
    return "checked", {"expr": expr, "report": {"ending": ending, "normal": normal}}


def edge_checked(name: str, line: str, *, point: bool, caught: list[str], ending: str = "passed") -> tuple[str, Any]:
    return "edge_checked", {"id": name, "line": line, "result": {"ending": ending, "point": point, "caught": caught}}


def evidence(name: str, verdict: str, source: str = "measured") -> tuple[str, dict[str, Any]]:
    return "evidence", {"id": name, "record": {"source": source, "claims": {"zero-one": verdict}}}


def test_the_last_text_wins_and_versions_are_counted() -> None:
    progress = fold(draft("a"), draft("a", (0, 1)), draft("ab", (0, 2)))
    kept = progress.drafts["code"]
    assert (kept.text, kept.cursor, kept.versions, kept.at) == ("ab", (0, 2), 2, "2026-11-30T10:03:00Z")
    assert progress.text("q1") == ""
    assert progress.last_draft == "code"


def test_an_emptied_draft_is_kept_as_empty() -> None:
    progress = fold(draft("a"), draft(""))
    assert progress.text("code") == ""
    assert progress.drafts["code"].versions == 2


def test_a_reset_can_be_undone_until_something_new_is_written() -> None:
    progress = fold(draft("mine"), ("reset", {"name": "code", "text": "______"}))
    assert progress.text("code") == "______"
    assert progress.resets == {"code": "mine"}
    fold(draft("______", (0, 3)), session="b", progress=progress)
    assert progress.resets == {"code": "mine"}, "a moved cursor writes nothing new"
    fold(draft("new"), session="c", progress=progress)
    assert progress.resets == {}


def test_a_verdict_belongs_to_the_text_it_judged() -> None:
    progress = fold(draft("good"), checked("good", 2), draft("worse"))
    assert progress.verdict_is_of("good")
    assert not progress.verdict_is_of("worse")
    assert not Progress().verdict_is_of("")


def test_points_are_those_of_the_latest_check_and_the_best_is_remembered() -> None:
    progress = fold(checked("good", 2), checked("worse", 1, "failed"))
    assert progress.normal_points() == 1
    assert progress.best == {"normal": 2}


def test_a_fault_of_the_tool_costs_nothing() -> None:
    progress = fold(checked("good", 2), checked("good", 0, "broke"))
    assert progress.normal_points() == 2
    assert progress.last_check is not None
    assert progress.last_check.report["ending"] == "broke"
    progress = fold(
        ("edge", {"id": "1", "line": "f() == 1"}),
        edge_checked("1", "f() == 1", point=True, caught=["x"]),
        edge_checked("1", "f() == 1", point=False, caught=[], ending="broke"),
    )
    assert progress.edge_points() == 1


def test_an_edge_point_stands_as_long_as_its_line_does() -> None:
    line = "guard_key((), set(), 'a', 'b') == ((), 'a', 'b')"
    progress = fold(
        ("edge", {"id": "1", "line": line, "why": "rank 0"}), edge_checked("1", line, point=True, caught=["x"])
    )
    assert progress.edge_points() == 1
    assert progress.edges["1"].why == "rank 0"
    fold(("edge", {"id": "1", "line": line + " "}), session="b", progress=progress)
    assert progress.edge_points() == 0
    assert progress.edges["1"].current is None
    assert progress.best["edge"] == 1


def test_what_was_caught_is_the_union_over_all_inputs_ever() -> None:
    progress = fold(
        ("edge", {"id": "1", "line": "one"}),
        ("edge", {"id": "2", "line": "two"}),
        edge_checked("1", "one", point=True, caught=["b", "a"]),
        edge_checked("2", "two", point=False, caught=["a", "c"]),
        ("edge_gone", {"id": "1"}),
        edge_checked("9", "never saved", point=False, caught=["d"]),
    )
    assert progress.caught == ["b", "a", "c", "d"]
    assert list(progress.edges) == ["2"]
    assert progress.edge_points() == 0


def test_edges_keep_their_order_and_get_new_ids() -> None:
    progress = fold(*(("edge", {"id": i, "line": i}) for i in ("1", "2", "3")), ("edge_gone", {"id": "2"}))
    fold(("edge", {"id": "1", "line": "again"}), session="b", progress=progress)
    assert list(progress.edges) == ["1", "3"]
    assert progress.next_edge_id() == "4"
    assert Progress().next_edge_id() == "1"


@pytest.mark.parametrize(
    ("events", "stands"),
    [
        ([evidence("E1", "differs"), evidence("E2", "holds")], ("holds", "E2", "measured")),
        ([evidence("E1", "holds"), evidence("E2", "conditional", "recorded")], ("holds", "E1", "measured")),
        ([evidence("E1", "holds", "recorded"), evidence("E2", "differs")], ("differs", "E2", "measured")),
        ([evidence("E1", "holds"), evidence("E2", "broke")], ("holds", "E1", "measured")),
        ([evidence("E1", "unavailable"), evidence("E2", "holds", "recorded")], ("holds", "E2", "recorded")),
        ([evidence("E1", "broke"), evidence("E2", "unavailable")], ("unavailable", "E2", "measured")),
    ],
)
def test_a_claim_shows_its_best_known_verdict(events: list[tuple[str, Any]], stands: tuple[str, str, str]) -> None:
    verdict, name, source = stands
    progress = fold(*events)
    assert progress.claims == {"zero-one": ClaimState(Verdict(verdict), name, Source(source))}
    assert progress.next_evidence_id() == "E3"


def test_place_settings_and_predictions() -> None:
    progress = fold(
        ("place", {"step": "guards", "line": 4, "tab": "edge"}),
        ("setting", {"name": "lang", "value": "en"}),
        ("setting", {"name": "welcomed", "value": True}),
        ("prediction", {"demo": "automatic-dynamic", "answers": {"call-1": 1}}),
    )
    assert progress.place is not None
    assert (progress.place.step, progress.place.line, progress.place.tab) == ("guards", 4, "edge")
    assert progress.settings == {"lang": "en", "welcomed": True}
    assert progress.predictions == {"automatic-dynamic": {"call-1": 1}}


def test_how_the_session_before_ended() -> None:
    progress = fold(("opened", {}), draft("x"), ("closed", {}))
    fold(("opened", {}), session="b", progress=progress)
    assert progress.dropped is None
    fold(("opened", {}), session="c", progress=progress)
    assert progress.dropped is not None
    assert (progress.dropped.session, progress.dropped.how) == ("b", "crash")
    apply(progress, Event("c-2", "2026-11-30T11:00:00Z", "hangup", {"demo": "d", "call": 3}))
    fold(("opened", {}), session="d", progress=progress)
    assert progress.dropped is not None
    assert (progress.dropped.how, progress.dropped.demo, progress.dropped.call) == ("hangup", "d", 3)
    assert progress.dropped.seen == "2026-11-30T11:00:00Z"


def test_a_take_over_is_no_crash() -> None:
    progress = fold(("opened", {}))
    fold(("session", {}), session="b", progress=progress)
    assert (progress.owner, progress.dropped) == ("b", None)
    apply(progress, Event("a-2", "t", "closed", {}))
    assert progress.owner == "b"
    assert progress.open_session == "b"


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("draft", {"name": "code", "text": "x"}),
        ("draft", {"name": "code", "text": "x", "cursor": [1]}),
        ("place", {"step": "a", "line": "x", "tab": "b"}),
        ("setting", {"name": "lang"}),
        ("checked", {"expr": "x", "report": {"ending": "passed"}}),
        ("edge", {"id": "1"}),
        ("edge_checked", {"id": "1", "line": "x", "result": {}}),
        ("evidence", {"id": "E1", "record": {"source": "elsewhere", "claims": {}}}),
        ("evidence", {"id": "E1", "record": {"source": "measured", "claims": {"a": "maybe"}}}),
        ("prediction", {"demo": "x", "answers": 3}),
        ("reset", {"name": "code"}),
        ("handed_in", {}),
        ("regraded", {"normal": 1}),
    ],
)
def test_data_that_does_not_fit_changes_nothing(kind: str, data: dict[str, Any]) -> None:
    progress = fold(draft("before"), ("edge", {"id": "1", "line": "x"}))
    before = Progress.from_data(json.loads(json.dumps(progress.to_data())))
    with pytest.raises((KeyError, TypeError, ValueError)):
        apply(progress, Event("z-1", "t", kind, data))
    assert progress == before


def test_a_snapshot_holds_everything() -> None:
    progress = fold(
        ("opened", {}),
        draft("x", (1, 2)),
        ("reset", {"name": "code", "text": ""}),
        ("place", {"step": "goal", "line": 1, "tab": "code"}),
        ("setting", {"name": "lang", "value": "en"}),
        ("edge", {"id": "1", "line": "l", "why": "w"}),
        checked("x", 2),
        edge_checked("1", "l", point=True, caught=["a"]),
        ("prediction", {"demo": "d", "answers": {"a": 1}}),
        evidence("E1", "holds"),
        ("hangup", {"demo": "d", "call": 1}),
        ("regraded", {"normal": 2, "edge": 0}),
    )
    fold(("opened", {}), ("hangup", {}), session="b", progress=progress)
    again = Progress.from_data(json.loads(json.dumps(progress.to_data())))
    assert again == progress
    assert again.to_data() == progress.to_data()
    other = Progress()
    other.become(again)
    assert other == progress
