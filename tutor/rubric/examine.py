"""What a learner's free text gives evidence of: exact quotes for the slots of a rubric, never a score (pure).

Nothing here says that a slot is missing or an answer complete. A quote is shown only when a phrase of the slot stands
in an argument of its own, of the right subject, not negated, and not taken back elsewhere; when in doubt there is none.
"""

from __future__ import annotations

import re

from tutor.rubric.model import Findings, Quote, Rubric
from tutor.rubric.pattern import Index
from tutor.rubric.reading import QUOTES, Reading
from tutor.rubric.text import READ_MAX, Text, folded

_STATED = re.compile(r"[^。！？!?\n;；]{1,4000}")
_CITED = re.compile(r"\[(E\d{1,6})\b[^\]]{0,20}\]")
_SOURCE = re.compile(r"\[(?:E\d|rec|quoted|录|引用)")
_QUANTITY = re.compile(
    r"(?<![\w.])\d{1,9}(?:\.\d{1,9})? ?(?:ms|us|µs|ns|s|x|倍|%|％|毫秒|微秒|秒|times)(?![A-Za-z0-9])"
)


def examine(rubric: Rubric, question: str, answer: str, reference: str = "") -> Findings:
    """Look for evidence in the first READ_MAX characters of `answer`. Raises KeyError for an unknown question.

    `reference` is the question's reference answer where there is one: words taken from it are no evidence.
    """
    about = rubric.questions[question]
    reading = Reading(rubric.index(question), Text(answer), folded(reference))
    notes = reading.notes()
    if "to-grader" in notes:
        return Findings({}, notes=notes)
    misconceptions = {d.id: quotes for d in about.misconceptions if (quotes := reading.quotes(d.evidence, d.about))}
    silenced = {name for d in about.misconceptions if d.id in misconceptions for name in d.silences}
    slots = {}
    for slot in about.slots:
        if slot.id not in silenced and (found := reading.quotes(slot.evidence, slot.about)):
            slots[slot.id] = found
    vetoes = {d.id: quotes for d in rubric.vetoes if (quotes := reading.quotes(d.evidence, None))}
    return Findings(slots, misconceptions, vetoes, notes, uncited(answer))


def uncited(answer: str) -> tuple[Quote, ...]:
    """Times, factors and percentages in sentences without a citation or a source."""
    found = []
    for sentence in _STATED.finditer(answer[:READ_MAX]):
        if not _SOURCE.search(sentence.group()):
            for number in _QUANTITY.finditer(sentence.group()):
                start = sentence.start() + number.start()
                found.append(Quote(start, start + len(number.group()), number.group()))
    return tuple(found[:QUOTES])


def citations(answer: str) -> tuple[str, ...]:
    """The ids of the evidence that an answer cites, each once."""
    return tuple(dict.fromkeys(_CITED.findall(answer)))


def stands(rubric: Rubric, concept: str, text: str) -> bool:
    """Whether a concept stands anywhere in a text, whatever is said of it."""
    return bool(Reading(Index({concept: rubric.concepts[concept]}), Text(text), "").hits(concept))
