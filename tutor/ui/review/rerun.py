"""A learner's blank judged again in the sandbox, and what to say of it beside the result that stands."""

from __future__ import annotations

from tutor.classroom.item import Loaded
from tutor.language import Lang
from tutor.model import CheckReport, Lesson
from tutor.strings import text
from tutor.ui.review.item_lines import ending


def judge(lesson: Lesson, loaded: Loaded) -> CheckReport | tuple[str, ...]:
    """Judge a learner's blank, or say which walls are missing for others' code. Raises SandboxUnavailable."""
    from tutor.classroom.regrade import sandbox_lacks
    from tutor.exercise.judging import Judge
    from tutor.sandbox import MINIMUM, Sandbox

    missing = sandbox_lacks()
    if missing:
        return missing
    with Sandbox(MINIMUM) as sandbox:
        return Judge(lesson.exercise, sandbox).check(loaded.hand_in.blank, loaded.hand_in.edges)


def compared(loaded: Loaded, report: CheckReport | tuple[str, ...], lang: Lang) -> str:
    """What came out, and whether it agrees with the result that stands."""
    if isinstance(report, tuple):
        return text(lang, "review.rerun-weak", walls=", ".join(report))
    new: dict[str, str | int] = {
        "normal": report.normal,
        "edge": report.edge,
        "ending": ending(report.ending, lang),
    }
    old = loaded.result
    if old is None:
        return text(lang, "review.rerun-first", **new)
    if old.counts == (report.ending, report.normal, report.edge):
        return text(lang, "review.rerun-same", **new)
    was: dict[str, str | int] = {
        "old_normal": old.normal,
        "old_edge": old.edge,
        "old_ending": ending(old.ending, lang),
    }
    return text(lang, "review.rerun-other", **new, **was)
