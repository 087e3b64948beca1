"""Everything a learner wrote, saw and cited, as plain data to take away (pure). No number stands without its giver."""

from __future__ import annotations

from typing import Any

from tutor.language import Lang
from tutor.learner.answers import NAMES, Answer
from tutor.learner.progress import Progress
from tutor.learner.scoring import as_data, score
from tutor.model import Lesson
from tutor.rubric.examine import citations


def report(progress: Progress, lesson: Lesson, lang: Lang, at: str) -> dict[str, Any]:
    """The report as JSON has it; `at` is when it was made. Texts are exactly the learner's."""
    now = score(progress, lesson)
    judged = progress.judged
    return {
        "schema": 1,
        "command": "report",
        "lesson": lesson.id,
        "title": lesson.title.get(lang),
        "made": at,
        "state": now.state,
        **as_data(now, lang),
        "code": {
            "text": progress.text("code"),
            "judged": None
            if judged is None
            else {
                "text": judged.expr,
                "at": judged.at,
                "ending": judged.report["ending"],
                "normal": judged.report["normal"],
            },
        },
        "edges": [
            {"line": edge.line, "why": edge.why, "result": dict(edge.current) if edge.current is not None else None}
            for edge in progress.edges.values()
        ],
        "answers": [_answer(name, progress, lesson, lang) for name in NAMES],
        "predictions": progress.predictions,
        "evidence": [
            {"id": one.id, "at": one.at, "source": one.record["source"], "record": dict(one.record)}
            for one in progress.evidence.values()
        ],
        "claims": {name: state._asdict() for name, state in progress.claims.items()},
    }


def _answer(name: str, progress: Progress, lesson: Lesson, lang: Lang) -> dict[str, Any]:
    answer = progress.answer(name)
    words = answer.commit.text if answer.commit is not None else progress.text(name)
    question = next((question.text.get(lang) for question in lesson.questions if question.id == name), None)
    return {
        "id": name,
        "question": question,
        "text": words,
        "committed": answer.commit._asdict() if answer.commit is not None else None,
        "first_committed": answer.commits[0]._asdict() if answer.commits else None,
        "unlocked": answer.unlocked,
        "changed_after_reference": answer.changed_after,
        "cites": [{"id": one, "known": one in progress.evidence} for one in citations(words)],
        "self_score": _own(answer),
        "final": answer.final._asdict() if answer.final is not None else None,
        "vetoes": answer.vetoes,
        "doubts": answer.doubts,
        "prompts": answer.prompts,
        "again": answer.again._asdict() if answer.again is not None else None,
        "versions": [version._asdict() for version in answer.versions],
    }


def _own(answer: Answer) -> dict[str, Any] | None:
    return {**answer.score._asdict(), "giver": "self"} if answer.score is not None else None
