"""Whether a rubric keeps its promises: the reference fills it, and prompts, labels and bare keywords do not (pure)."""

from __future__ import annotations

from collections.abc import Iterator

from tutor.language import LANGS, Lang
from tutor.lesson.check import Problem
from tutor.model import Lesson, Message
from tutor.rubric.examine import examine, stands
from tutor.rubric.model import Rubric, RubricQuestion, Slot

#: How many conditions there must be to draw from for arguing again.
CHANGES = 10


def problems(lesson: Lesson) -> Iterator[Problem]:
    """Everything that is wrong with the lesson's rubric. Raises `catalog.CatalogError` when it cannot be read."""
    rubric = lesson.rubric
    for question in lesson.questions:
        if question.id not in rubric.questions:
            yield _problem("question-missing", question=question.id)
    for about in rubric.questions.values():
        yield from _points(lesson, about)
        for slot in about.slots:
            if slot.claim is not None and slot.claim not in lesson.claims:
                yield _problem("slot-claim", question=about.id, slot=slot.id, claim=slot.claim)
        yield from _texts(rubric, about)
        yield from _keywords(rubric, about)
        for lang in LANGS:
            yield from _reference(lesson, about, lang)
    if len(rubric.changes) < CHANGES:
        yield _problem("few-changes", count=len(rubric.changes), least=CHANGES)
    for change in rubric.changes:
        if change.demo is not None and change.demo not in lesson.demos:
            yield _problem("change-demo", change=change.id, demo=change.demo)


def _problem(key: str, **args: str | int) -> Problem:
    return Problem("rubric.toml", Message(f"rubric.proof-{key}", args))


def _core(question: RubricQuestion) -> list[Slot]:
    return [slot for slot in question.slots if slot.core]


def _points(lesson: Lesson, about: RubricQuestion) -> Iterator[Problem]:
    """Every core slot together earns the question's points, and none earns none."""
    of = next((question.points for question in lesson.questions if question.id == about.id), 1)
    full, none = about.earned(frozenset(slot.id for slot in _core(about))), about.earned(frozenset())
    if (full, none) != (of, 0):
        yield _problem("points", question=about.id, full=full, none=none, of=of)


def _reference(lesson: Lesson, about: RubricQuestion, lang: Lang) -> Iterator[Problem]:
    answer = lesson.reference(about.id, lang)
    if answer is None:
        return  # An instructor may keep it.
    findings = examine(lesson.rubric, about.id, answer)
    for slot in _core(about):
        if slot.id not in findings.slots:
            yield _problem("reference-slot", question=about.id, lang=lang, slot=slot.id)
    for name in (*findings.misconceptions, *findings.vetoes):
        yield _problem("reference-doubt", question=about.id, lang=lang, doubt=name)


def _texts(rubric: Rubric, about: RubricQuestion) -> Iterator[Problem]:
    """A prompt holds nothing of its own slot, and all prompts or labels, said as sentences, fill no core slot."""
    for lang in LANGS:
        for slot in about.slots:
            for prompt in slot.prompts:
                for name in _own(rubric, slot):
                    if stands(rubric, name, prompt.get(lang)):
                        yield _problem("prompt-tells", question=about.id, slot=slot.id, lang=lang, concept=name)
        prompts = "\n".join(prompt.get(lang) for slot in about.slots for prompt in slot.prompts)
        labels = "\n".join(slot.label.get(lang) for slot in about.slots)
        for what, text in (("prompts", prompts), ("labels", labels)):
            found = examine(rubric, about.id, text.replace("？", "。").replace("?", ".")).slots
            for slot in _core(about):
                if slot.id in found:
                    yield _problem("pasted", question=about.id, slot=slot.id, lang=lang, what=what)


def _own(rubric: Rubric, slot: Slot) -> set[str]:
    """The concepts of a slot that are of its matter, not verbs that any text has."""
    return {name for one in slot.evidence for name in one.concepts} - rubric.common


def _keywords(rubric: Rubric, about: RubricQuestion) -> Iterator[Problem]:
    """The subjects and every wording of the concepts, one after the other and joined by nothing, fill no core slot."""
    names = dict.fromkeys(name for slot in about.slots for one in slot.evidence for name in one.concepts)
    patterns = [*rubric.subjects.values(), *(rubric.concepts[name] for name in names)]
    words = [wording for group in patterns for pattern in group if (wording := pattern.wording) and " " not in wording]
    for joint in ("、", ", ", " / "):
        found = examine(rubric, about.id, joint.join(words)).slots
        for slot in _core(about):
            if slot.id in found:
                yield _problem("keywords", question=about.id, slot=slot.id, quote=found[slot.id][0].text)
