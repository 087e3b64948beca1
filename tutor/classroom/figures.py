"""Figures of a class: where points were lost, what was predicted right, which mistakes nobody caught."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tutor.classroom import submission
from tutor.classroom.grades import grades
from tutor.classroom.intake import questions_of
from tutor.model import Lesson

if TYPE_CHECKING:
    from tutor.gradebook.book import Gradebook


def spread(values: Sequence[float]) -> dict[str, float | int | None]:
    """How many, and min, p25, p50, p75, max of them; all None for none. Quartiles are inclusive."""
    if not values:
        return {"n": 0, "min": None, "p25": None, "p50": None, "p75": None, "max": None}
    many = values if len(values) > 1 else [values[0], values[0]]
    low, middle, high = statistics.quantiles(many, n=4, method="inclusive")
    return {"n": len(values), "min": min(values), "p25": low, "p50": middle, "p75": high, "max": max(values)}


def figures(book: Gradebook, lesson: Lesson) -> dict[str, Any]:
    """The figures as plain data. Every count says of how many. Raises GradebookError."""
    everybody = [grade for grade in grades(book) if grade.row.submission is not None]
    reports, latest = book.results.standing(with_reports=True), book.scores.latest()
    seconds: dict[str, list[float]] = {question: [] for question in questions_of(lesson)}
    slots: dict[str, Counter[str]] = {question: Counter() for question in questions_of(lesson)}
    caught: Counter[str] = Counter()
    right: dict[str, list[int]] = {}
    for grade in everybody:
        for question, standing in grade.items.items():
            score = latest.get(standing.item)
            if score is not None:
                slots[question].update(slot for slot, given in score.slots.items() if given)
                seconds[question] += [score.seconds] if score.seconds is not None else []
        assert grade.row.submission is not None
        result = reports.get(grade.row.submission)
        if result is not None:
            caught.update({wrong for edge in result.report.get("edges", ()) for wrong in edge["caught"]})
        body = submission.read(book.raw(grade.row.submission)).body
        for demo, hits, asked in _predicted(body["evidence"].values()):
            if demo not in lesson.demos:
                continue
            right.setdefault(demo, []).append(int(hits == asked))
    judged = [grade for grade in everybody if grade.result is not None]
    return {
        "handed_in": len(everybody),
        "final": sum(grade.is_final for grade in everybody),
        "total": spread([total for grade in everybody if (total := grade.total) is not None]),
        "normal": spread([grade.result.normal for grade in judged if grade.result]),
        "edge": spread([grade.result.edge for grade in judged if grade.result]),
        "questions": {
            question: {
                **spread([points for grade in everybody if (points := grade.points(question)) is not None]),
                "of": of,
                "slots": dict(sorted(slots[question].items())),
            }
            for question, of in questions_of(lesson).items()
        },
        "seconds": {question: spread(times) for question, times in seconds.items()},
        "vetoes": dict(sorted(Counter(veto for grade in everybody for veto in grade.vetoes).items())),
        "predictions": {demo: {"right": sum(hits), "of": len(hits)} for demo, hits in sorted(right.items())},
        "caught": {
            wrong.id: {"caught": caught[wrong.id], "of": len(judged)}
            for wrong in lesson.exercise.wrong
            if wrong.given_catches is None
        },
    }


def _predicted(evidence: Iterable[Any]) -> Iterator[tuple[str, int, int]]:
    """By demo, of the first run that had predictions: how many were right, of how many."""
    seen: set[str] = set()
    for each in evidence:
        record = each.get("record")
        predicted = record.get("predicted") if isinstance(record, dict) else None
        demo = record.get("demo") if isinstance(record, dict) else None
        if not isinstance(predicted, dict) or not isinstance(demo, str) or demo in seen:
            continue
        answers = record.get("answers")
        if predicted and isinstance(answers, dict):
            seen.add(demo)
            yield demo, sum(answers.get(ask) == answer for ask, answer in predicted.items()), len(predicted)


def rows(data: dict[str, Any]) -> Iterator[tuple[str, str, str, object]]:
    """The figures as lines of a table: group, name, figure, value."""
    for name in ("total", "normal", "edge"):
        for figure, value in data[name].items():
            yield "points", name, figure, value
    for question, table in data["questions"].items():
        for figure, value in table.items():
            if figure != "slots":
                yield "points", question, figure, value
        for slot, count in table["slots"].items():
            yield "slots", question, slot, count
    for question, table in data["seconds"].items():
        for figure, value in table.items():
            yield "seconds", question, figure, value
    for veto, count in data["vetoes"].items():
        yield "vetoes", veto, "learners", count
    for group in ("predictions", "caught"):
        for name, table in data[group].items():
            for figure, value in table.items():
                yield group, name, figure, value
