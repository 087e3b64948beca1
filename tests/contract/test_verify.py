"""`verify` on recorded runs in place of live ones: what it says, keeps and returns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tutor.cli import main, verify
from tutor.cli.exits import Exit
from tutor.lab import protocol, transcripts
from tutor.lab.protocol import Event
from tutor.language import Bilingual
from tutor.learner.journal import Journal
from tutor.lesson import catalog
from tutor.model import Claim, Demo, Message, Record, Verdict

LESSON = catalog.load()
#: The experiments that a claim rests on; the others are for looking.
PROVING = {name for name, demo in LESSON.demos.items() if demo.claims}
BOTH = Bilingual("甲", "A")


class Replayed:
    """A lab that gives each demo's recorded run as one of this machine, with `spoil` for one demo's values."""

    started: list[str] = []
    unavailable: set[str] = set()
    cancelled_at: str | None = None
    spoil: dict[str, Any] = {}

    def __init__(self, _settings: object) -> None:
        pass

    def start(self, demo: Demo, device: str | None) -> Replayed:
        assert device is None, "the settings choose"
        self.demo = demo
        self.started.append(demo.name)
        return self

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        pass

    def __iter__(self) -> Iterator[Event]:
        if self.demo.name == self.cancelled_at or self.demo.name in self.unavailable:
            outcome = "cancelled" if self.demo.name == self.cancelled_at else "unavailable"
            said = Message("lab.cancelled") if outcome == "cancelled" else Message("lab.needs-cuda", {"need": "cuda"})
            yield protocol.event("ended", 0.1, demo=self.demo.name, outcome=outcome, message=protocol.as_json(said))
            return
        for event in transcripts.replay(self.demo, transcripts.newest(self.demo)):
            if event["event"] == "result":
                event |= {"source": "measured", "where": None}
                event["claims"] |= {claim: said for claim, said in self.spoil.items() if claim in event["claims"]}
            yield event


@pytest.fixture(autouse=True)
def lab(monkeypatch: pytest.MonkeyPatch) -> type[Replayed]:
    monkeypatch.setattr(verify, "LabHost", Replayed)
    for name, value in (("started", []), ("unavailable", set()), ("cancelled_at", None), ("spoil", {})):
        monkeypatch.setattr(Replayed, name, value)
    return Replayed


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def lines(
    capfdbinary: pytest.CaptureFixture[bytes], state: Path, *argv: str
) -> tuple[int, list[dict[str, Any]], dict[str, Any]]:
    code = main.run(["verify", *argv, "--json", "--state", str(state), "--lang", "en"])
    out = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert [line["schema"] for line in out] == [1] * len(out)
    return code, [line for line in out if line["event"] == "claim"], out[-1]


def test_every_claim_once_and_every_experiment_once(
    lab: type[Replayed], state: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    code, claims, summary = lines(capfdbinary, state)
    assert code == Exit.GOOD
    assert sorted(claim["id"] for claim in claims) == sorted(LESSON.claims)
    assert sorted(lab.started) == sorted(PROVING)
    assert {claim["agrees"] for claim in claims} == {True}
    assert summary["event"] == "summary"
    assert (summary["claims"], summary["done"], summary["as_said"], summary["otherwise"]) == (47, 47, 47, [])
    journal = Journal.open(state / LESSON.id)
    assert {claim["evidence"] for claim in claims} == set(journal.progress.evidence)
    assert set(journal.progress.claims) == set(LESSON.claims)
    journal.close()


def test_claims_of_one_experiment_share_its_run_and_its_evidence(
    lab: type[Replayed], state: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    code, claims, _ = lines(capfdbinary, state, "recompile-limit", "dynamic-false")
    assert code == Exit.GOOD
    assert lab.started == ["recompile-limit"]
    assert [(claim["id"], claim["evidence"]) for claim in claims] == [
        ("dynamic-false", "E1"),
        ("recompile-limit", "E1"),
    ]


@pytest.mark.parametrize(
    ("said", "code", "agrees"),
    [("differs", Exit.FAILS, False), ("conditional", Exit.FAILS, False), ("broke", Exit.BROKE, None)],
)
def test_a_claim_that_comes_out_otherwise(
    lab: type[Replayed],
    state: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
    said: str,
    code: int,
    agrees: bool | None,
) -> None:
    lab.spoil["zero-one"] = said
    got, claims, summary = lines(capfdbinary, state, "zero-one", "duck-shape")
    assert got == code
    assert {claim["id"]: claim["agrees"] for claim in claims} == {"zero-one": agrees, "duck-shape": True}
    assert summary["otherwise"] == (["zero-one"] if agrees is False else [])


def test_what_cannot_run_here_names_why_and_what_was_recorded(
    lab: type[Replayed], state: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    lab.unavailable.add("kernel-count")
    code, claims, _ = lines(capfdbinary, state, "eager-traffic", "zero-one")
    assert code == Exit.GOOD
    lacking = next(claim for claim in claims if claim["id"] == "eager-traffic")
    assert (lacking["verdict"], lacking["agrees"], lacking["evidence"]) == ("unavailable", None, None)
    assert lacking["recorded"]["verdict"] == "holds"
    assert "GPU" in lacking["because"]
    code, _, _ = lines(capfdbinary, state, "eager-traffic")
    assert code == Exit.UNAVAILABLE


def test_ctrl_c_keeps_what_is_done(lab: type[Replayed], state: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    lab.cancelled_at = "mark-dynamic"
    code, claims, summary = lines(capfdbinary, state, "mark-dynamic", "duck-shape")
    assert code == Exit.INTERRUPTED
    assert [claim["id"] for claim in claims] == ["duck-shape"]
    assert (summary["cancelled"], summary["done"], summary["claims"]) == (True, 1, 2)
    journal = Journal.open(state / LESSON.id)
    assert list(journal.progress.evidence) == ["E1"]
    journal.close()


def test_people_get_a_line_per_claim_and_a_table(
    lab: type[Replayed], state: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    lab.spoil["zero-one"] = "differs"
    for lang, words in (("en", "Otherwise than the lesson says: zero-one"), ("zh", "和课文不一致：zero-one")):
        assert main.run(["verify", "zero-one", "scalars", "--state", str(state), "--lang", lang]) == Exit.FAILS
        said = capfdbinary.readouterr()
        out = said.out.decode()
        assert out.count("zero-one") >= 3
        assert words in out
        assert "ok scalars" in out
        assert "1/2" in said.err.decode()


def test_a_claim_that_is_none_is_named(state: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main.run(["verify", "zero-two", "--state", str(state), "--lang", "en"]) == Exit.USAGE
    assert "zero-two" in capfdbinary.readouterr().err.decode()


def claim(says: Verdict, *recorded: Verdict) -> Claim:
    records = tuple(Record("somewhere", "2026-11", verdict, BOTH) for verdict in recorded)
    return Claim("a-claim", BOTH, says, BOTH, None, records)


def test_a_conditional_claim_agrees_with_what_its_records_saw_and_others_only_with_themselves() -> None:
    either = claim(Verdict.CONDITIONAL, Verdict.HOLDS, Verdict.DIFFERS)
    assert all(either.agrees(verdict) for verdict in (Verdict.CONDITIONAL, Verdict.HOLDS, Verdict.DIFFERS))
    assert not either.agrees(Verdict.BROKE)
    assert not claim(Verdict.CONDITIONAL, Verdict.CONDITIONAL).agrees(Verdict.HOLDS)
    assert not claim(Verdict.HOLDS, Verdict.DIFFERS).agrees(Verdict.DIFFERS)
    assert claim(Verdict.DIFFERS).agrees(Verdict.DIFFERS)


def test_what_was_measured_today_is_not_run_again_when_resumed(
    capfdbinary: pytest.CaptureFixture[bytes], state: Path, lab: type[Replayed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "FRESH", timedelta(days=36_500))
    monkeypatch.setattr(verify.socket, "gethostname", lambda: "here")
    replayed = Replayed.__iter__

    def on_this_host(self: Replayed) -> Iterator[Event]:
        for event in replayed(self):
            if event["event"] == "result":
                event |= {"environment": {**event["environment"], "host": "here"}, "when": "2026-11-30T00:00:00+00:00"}
            yield event

    monkeypatch.setattr(Replayed, "__iter__", on_this_host)
    lab.cancelled_at = "zero-one"
    code, told, summary = lines(capfdbinary, state, "--json")
    assert code == Exit.INTERRUPTED
    before = list(lab.started)
    assert 0 < len(before) < len(PROVING)
    lab.cancelled_at = None
    lab.started.clear()
    code, again, summary = lines(capfdbinary, state, "--resume", "--json")
    assert code == Exit.GOOD
    assert set(lab.started) == PROVING - set(before[:-1])
    assert [told["evidence"] for told in again][: len(told)] == [one["evidence"] for one in told]
    assert summary["done"] == len(LESSON.claims)
    monkeypatch.setattr(verify.socket, "gethostname", lambda: "another machine")
    lab.started.clear()
    lines(capfdbinary, state, "--resume", "--json")
    assert set(lab.started) == PROVING
