"""Who gave a final score, in the reader's language."""

from __future__ import annotations

from tutor.scoring import INSTRUCTOR, who_words


def test_the_journals_word_for_an_instructor_is_never_shown() -> None:
    assert (who_words(INSTRUCTOR, "en"), who_words(INSTRUCTOR, "zh")) == ("an instructor", "老师")
    assert who_words("Ada", "zh") == "Ada"
