"""Who gave a final score and when, in the reader's language and time."""

from __future__ import annotations

import time

import pytest

from tutor.learner.scoring import INSTRUCTOR, when_words, who_words


def test_the_journals_word_for_an_instructor_is_never_shown() -> None:
    assert (who_words(INSTRUCTOR, "en"), who_words(INSTRUCTOR, "zh")) == ("an instructor", "老师")
    assert who_words("Ada", "zh") == "Ada"


@pytest.mark.parametrize(
    "when", ["", "2026-12-01", "yesterday", "\x1b[1m", "99999-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59"]
)
def test_a_time_that_is_none_stays_as_it_is(when: str) -> None:
    assert when_words(when) == when


def test_a_time_is_told_by_the_reader_s_own_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC-8")
    time.tzset()
    try:
        assert when_words("2026-12-01T20:30:00Z") == "2026-12-02 04:30"
    finally:
        monkeypatch.undo()
        time.tzset()
