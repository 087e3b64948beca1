"""Numbers of the evidence: spreads, speedups that may be slowdowns, what two runs do not share, predictions."""

from __future__ import annotations

from typing import Any

from tutor.lab import findings


def spread(p50: float, p99: float | None = None) -> dict[str, Any]:
    return {"n": 10, "p50": p50, "p95": p50, "p99": p99 or p50, "max": p99 or p50}


def record(**more: Any) -> dict[str, Any]:
    return {
        "demo": "d",
        "claims": {"c": "holds"},
        "environment": {"torch": "2.13"},
        "observed": {},
        "units": {},
        **more,
    }


TIMED = record(
    units={"eager_us": "us"},
    observed={
        "default": {
            "call": ["(8, 8)", "(512, 512)"],
            "eager_us": [spread(10), spread(100, 300)],
            "compiled_us": [spread(20), spread(50, 100)],
            "graphs": [1, 1],
        }
    },
)


def test_every_spread_is_found_with_its_call_and_unit() -> None:
    found = findings.timings(TIMED)
    assert [(each.call, each.name, each.p50) for each in found] == [
        ("(8, 8)", "eager_us", 10),
        ("(512, 512)", "eager_us", 100),
        ("(8, 8)", "compiled_us", 20),
        ("(512, 512)", "compiled_us", 50),
    ]
    assert {each.unit for each in found} == {"us"}
    assert findings.timings(record(observed={"s": {"x": [{"p50": 1}, 3, None]}})) == []


def test_a_spread_has_its_histogram_if_it_was_kept() -> None:
    kept = {**spread(10, 20), "edges": [10, 14, 20], "counts": [9, 1]}
    new, old = findings.timings(record(observed={"s": {"x": [kept, spread(10)]}}))
    assert (new.edges, new.counts) == ((10, 14, 20), (9, 1))
    assert (old.edges, old.counts) == ((), ())
    assert findings.without_bins(kept) == spread(10, 20)
    assert [findings.without_bins(each) for each in (3, [1, 2], None)] == [3, [1, 2], None]


def test_a_speedup_is_of_the_same_call_and_may_be_a_slowdown() -> None:
    assert [(each.call, each.p50, each.p99) for each in findings.speedups(TIMED)] == [
        ("(8, 8)", 0.5, 0.5),
        ("(512, 512)", 2.0, 3.0),
    ]


def test_a_time_of_nothing_gives_no_ratio() -> None:
    observed = {"s": {"call": ["x"], "eager_us": [spread(10)], "compiled_us": [spread(0)]}}
    assert findings.speedups(record(observed=observed)) == []


def test_two_runs_differ_where_a_value_a_verdict_or_the_machine_does() -> None:
    other = record(
        claims={"c": "differs"},
        environment={"torch": "2.11", "gpu": "H200"},
        observed={"s": {"graphs": [2], "us": [spread(5)]}},
    )
    one = record(observed={"s": {"graphs": [1], "us": [spread(5, 9)]}, "t": {"x": ["a"]}})
    assert findings.differences(one, other) == [
        ("environment.torch", "2.13", "2.11"),
        ("c", "holds", "differs"),
        ("s.graphs", "[1]", "[2]"),
        ("t.x", '["a"]', None),
        ("environment.gpu", None, "H200"),
    ]
    assert findings.differences(one, one) == []


def predicted(demo: str, predicted: dict[str, int], **answers: int) -> dict[str, Any]:
    return record(demo=demo, predicted=predicted, answers=answers)


def test_the_newest_predicted_run_of_each_demo_counts() -> None:
    runs = [
        predicted("guards", {"a": 1, "b": 0}, a=0, b=0),
        predicted("breaks", {"a": 2}, a=3),
        predicted("guards", {"a": 1, "b": 0}, a=1, b=0),
        predicted("guards", {}, a=1, b=0),
        predicted("breaks", {"a": 2}),
    ]
    assert findings.hits(runs) == [("guards", 2, 2, 2), ("breaks", 0, 1, 1)]
    assert findings.hits([]) == []


def test_a_prediction_whose_call_was_not_seen_did_not_come_out() -> None:
    assert findings.hits([predicted("guards", {"a": 1, "b": 0}, a=1)]) == [("guards", 1, 2, 0)]
