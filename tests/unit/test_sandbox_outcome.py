"""From foreign bytes to an outcome: nothing after `ready` may look like the tool's own fault."""

from __future__ import annotations

import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.language import LANGS, Lang
from tutor.model import Raised
from tutor.sandbox.outcome import End, Returned, judge_end
from tutor.strings import say, text

FINE = End("", 0, 0.01, 12000, 0)
TWO = b'ready\n["value", {"tuple": [1]}]\n["raised", "ValueError", "no"]\n'


def test_results_in_their_order() -> None:
    outcome = judge_end(FINE, TWO, 2, "text")
    assert outcome.ending == "ok"
    assert outcome.results == (Returned((1,)), Raised("ValueError", "no"))


@pytest.mark.parametrize(
    ("written", "end", "ending", "key"),
    [
        (b"", FINE, "broke", "broke_walls"),
        (b"OSError 12", FINE, "broke", "broke_walls"),
        (b"ready", FINE, "broke", "broke_walls"),
        (b"readyX\n" + TWO[6:], FINE, "broke", "broke_walls"),
        (b"ready\n", FINE, "failed", "ended_early"),
        (b"ready\nready\n", FINE, "failed", "unusable"),
        (TWO[:-1], FINE, "failed", "ended_early"),
        (TWO + b'["value", 1]\n', FINE, "failed", "unusable"),
        (TWO, FINE._replace(why="wall"), "limit", "limit_wall"),
        (TWO, FINE._replace(why="result"), "failed", "flood_result"),
        (TWO, FINE._replace(why="output"), "failed", "flood_output"),
        (b"ready\n", FINE._replace(signal=signal.SIGKILL, cpu=1.0), "limit", "limit_time"),
        (b"ready\n", FINE._replace(signal=signal.SIGXCPU), "limit", "limit_time"),
        (b"ready\n", FINE._replace(signal=signal.SIGKILL), "failed", "died_signal"),
        (b"ready\n", FINE._replace(signal=signal.SIGSEGV), "failed", "died_signal"),
        (b"ready\n", FINE._replace(signal=signal.SIGSYS), "failed", "died_call"),
        (b"ready\n", FINE._replace(signal=64), "failed", "died_signal"),
        (b'ready\n["memory"]\n', FINE, "limit", "limit_memory"),
        (b'ready\n["value", 1]\n["memory"]\n', FINE, "limit", "limit_memory"),
        (b'ready\n["memory"]\n["value", 1]\n', FINE, "failed", "unusable"),
        (b'ready\n["refused", "deep", "", 0, 0]\n', FINE, "refused", "refused_deep"),
        (b'ready\n["refused", "syntax", "bad", 1, 2]\n', FINE, "refused", "refused_syntax"),
        (b'ready\n["refused", "syntax", "bad", 9, 2]\n', FINE, "refused", "refused_syntax_somewhere"),
        (b'ready\n["refused", "more", "", 9, 9]\n', FINE, "failed", "unusable"),
        (b'ready\n["refused", "passed", "", 1, 1]\n', FINE, "failed", "unusable"),
        (b'ready\n["raised", "Value\\u001b[2J", ""]\n', FINE, "failed", "unusable"),
        (b'ready\n["raised", "print", ""]\n', FINE, "failed", "unusable"),
        (b'ready\n["value", NaN]\n', FINE, "failed", "unusable"),
        (b'ready\n["value"]\n', FINE, "failed", "unusable"),
        (b"ready\n{}\n", FINE, "failed", "unusable"),
        (b"ready\n[]\n", FINE, "failed", "unusable"),
        (b"ready\n" + b"[" * 60000 + b"\n", FINE, "failed", "unusable"),
        (b"ready\n\xff\xfe\n", FINE, "failed", "unusable"),
        (b'ready\n["value", ' + b"9" * 9000 + b"]\n", FINE, "failed", "unusable"),
    ],
    ids=lambda value: repr(value)[:50],
)
def test_every_end_has_its_sentence(written: bytes, end: End, ending: str, key: str) -> None:
    outcome = judge_end(end, written, 2, "text")
    assert outcome.ending == ending
    assert outcome.message is not None
    assert outcome.message.key == f"check.{key}"
    assert all(say(lang, outcome.message).isprintable() for lang in LANGS)


ENDS = ("limit_time", "limit_wall", "limit_memory", "flood_output", "flood_result", "died_call", "died_signal")
ENDS += ("ended_early", "unusable", "broke_walls", "broke_sandbox", "broke_judge", "cancelled")


@pytest.mark.parametrize("lang", LANGS)
def test_no_two_ends_say_the_same(lang: Lang) -> None:
    said = {text(lang, f"check.{key}", seconds=1, mb=1, kb=1, signal="SIGSEGV") for key in ENDS}
    assert len(said) == len(ENDS)


def test_a_place_outside_the_text_is_none() -> None:
    assert judge_end(FINE, b'ready\n["refused", "syntax", "bad", 1, 5]\n', 1, "text").place == (1, 5)
    assert judge_end(FINE, b'ready\n["refused", "syntax", "bad", 1, 6]\n', 1, "text").place is None


def test_a_refusals_detail_is_made_safe() -> None:
    outcome = judge_end(FINE, b'ready\n["refused", "syntax", "\\u001b[2J\\u202e", 1, 1]\n', 1, "text")
    assert outcome.message is not None
    assert outcome.message.args["detail"] == "\\x1b[2J\\u202e"


@given(st.binary(max_size=200), st.sampled_from(["", "wall", "output", "result"]), st.integers(0, 64))
def test_whatever_is_written_after_ready_is_never_the_tools_fault(written: bytes, why: str, number: int) -> None:
    outcome = judge_end(End(why, number, 0.0, 1, 1), b"ready\n" + written, 3, "x")
    assert outcome.ending in ("failed", "limit", "refused", "ok")
    assert outcome.ending != "ok" or len(outcome.results) == 3
