"""The Result tab's lines: what fits where, predictions by topic."""

from __future__ import annotations

from typing import Any

import pytest
from rich.cells import cell_len

from tutor import strings
from tutor.language import LANGS, Lang
from tutor.learner.progress import Event, Evidence, Progress, apply
from tutor.learner.scoring import INSTRUCTOR, score
from tutor.lesson import catalog
from tutor.lines import Line
from tutor.ui.views.result import result_lines

LESSON = catalog.load()
DEMO = next(iter(LESSON.demos.values()))


def shown(lang: Lang, width: int, *records: dict[str, Any]) -> list[Line]:
    evidence = {f"E{n}": Evidence(f"E{n}", "", record) for n, record in enumerate(records, 1)}
    return result_lines(LESSON, Progress(evidence=evidence), lang, width)


def run(demo: str, predicted: int | None, source: str = "measured") -> dict[str, Any]:
    asked = {} if predicted is None else {"one": predicted, "two": 7}
    return {"demo": demo, "predicted": asked, "answers": {"one": 1, "two": 2}, "source": source}


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("width", [30, 78, 120])
def test_each_topic_has_its_own_rate_with_the_run_it_is_from(lang: Lang, width: int) -> None:
    first, newest, unasked = (run(DEMO.name, predicted) for predicted in (0, 1, None))
    every = shown(lang, width, first, run("gone [b]", 0, "recorded"), newest, unasked)
    lines = every[len(shown(lang, width)) :]
    assert all(cell_len(row.text) <= width for row in lines)
    text = "\n".join(row.text for row in lines)
    assert strings.text(lang, "ui.result_predictions", right=1, of=4) in " ".join(text.split())
    own, gone = text[text.index("  1/2  ") :].split("  0/2  ")
    assert "".join(DEMO.title.get(lang).split()) in "".join(own.split())
    assert "E3" in own
    assert "gone [b]" in gone
    assert "E2" in gone


@pytest.mark.parametrize("lang", LANGS)
def test_nothing_is_said_of_predictions_when_there_were_none(lang: Lang) -> None:
    assert shown(lang, 78, run(DEMO.name, None)) == shown(lang, 78)


@pytest.mark.parametrize("lang", LANGS)
def test_titles_and_givers_fit_beside_the_lesson(lang: Lang) -> None:
    """At 120 columns the page has 62 of them, the title's mark among them."""
    for state in ("open", "partly", "self", "passed", "not_passed"):
        assert cell_len(strings.text(lang, f"ui.result_title_{state}", got=10, of=10)) <= 60
    progress = Progress()
    final = {"points": 1, "who": INSTRUCTOR, "when": "2026-12-01T00:00:00Z"}
    given = dict.fromkeys(("chain", "boundary", "tradeoff"), True)
    for name in ("edge", "q1", "q2", "q3"):
        event = {"name": name, **final, **given, "vetoes": []}
        apply(progress, Event("s-1", "2026-12-01T00:00:00Z", "final", event))
    rows = result_lines(LESSON, progress, lang, 62)
    assert max(cell_len(row.text) for row in rows) <= 62
    assert [row.item for row in rows if row.item] == [f"part:{part.id}" for part in score(progress, LESSON).parts]
