"""The parts of the two rows at the top of the learner's screen."""

from __future__ import annotations

from rich.cells import cell_len

from tutor.language import Lang
from tutor.lines import Part, fit
from tutor.strings import text
from tutor.ui.commands import TABS
from tutor.ui.store import Store


def top(store: Store, box: str, width: int) -> list[Part]:
    """Lesson, points and who gave them, what this box can run, whether all is saved; the box gives way when narrow."""
    lang, score = store.lang, store.score
    name = text(lang, "ui.lesson_name", number=store.lesson.number, title=store.lesson.title.get(lang))
    giver = "final" if score.final is not None else "partly" if score.is_partly_final else "self"
    points = text(lang, f"ui.points_{giver}", got=score.points, of=score.of)
    saved = _saved(store)
    room = width - cell_len(name + points + saved[0]) - 3 * len(" | ")
    box = box if cell_len(box) <= room else fit(box, max(0, room))
    gap: Part = (" | ", "plain")
    return [(name, "title"), gap, (points, "plain"), gap, (box, "plain"), gap, saved]


def _saved(store: Store) -> Part:
    if store.journal.read_only is not None:
        return text(store.lang, "ui.reading_only"), "caution"
    if store.problem is not None:
        return text(store.lang, "ui.not_saved"), "bad"
    return text(store.lang, "ui.saving" if store.late else "ui.saved"), "plain"


def step_lead(title: list[Part], width: int, *, chosen: bool) -> list[Part]:
    """In the wide layout the lesson's step stands before the tabs, over its pane of `width` cells."""
    words = "".join(part for part, _ in title)
    return [("> " if chosen else "  ", "strong"), (fit(words, width - 2), "title"), ("| ", "plain")]


def tabs(lang: Lang, now: str, lead: list[Part]) -> tuple[list[Part], list[tuple[int, int, str]]]:
    """The tabs, `now` in brackets, and where each stands as (first cell, end, tab)."""
    parts = list(lead)
    at = sum(cell_len(part) for part, _ in lead)
    marks = []
    for n, tab in enumerate(TABS):
        words = f"{n} {text(lang, f'ui.tab_{tab}')}"
        shown = f"[{words}]" if tab == now else words
        marks.append((at, at + cell_len(shown), tab))
        parts += [(shown, "strong" if tab == now else "plain"), (" ", "plain")]
        at += cell_len(shown) + 1
    return parts[:-1], marks
