"""Every bench runs and says what it has to say; its figures are for reading, not for passing."""

from __future__ import annotations

from tests.bench import verdict_latency


def test_the_verdict_s_way_to_the_screen() -> None:
    told = verdict_latency.measure(2, 80, 24)
    assert set(told["verdict_ms"]) == {"n", "p50", "p95", "p99", "max"}  # type: ignore[call-overload]
    assert told["verdict_ms"]["n"] == 2  # type: ignore[index]
    assert told["torch_loaded"] is False
    assert 0 < told["rss_mib"] <= 80  # type: ignore[operator]
