"""What is shown of an answer that is locked: the learner's text and score beside the reference."""

from __future__ import annotations

import re
from datetime import datetime

from rich.cells import cell_len

from tutor.language import Lang
from tutor.learner.answers import Answer
from tutor.learner.progress import Progress
from tutor.learner.scoring import when_words, who_words
from tutor.lines import BLANK, Line, Part, fit, line, wrap
from tutor.literals import safe_text
from tutor.model import Lesson
from tutor.rubric.model import Rubric, RubricQuestion
from tutor.strings import text
from tutor.ui.views.answer import cited, quoted
from tutor.ui.views.lesson import prose

#: From this width on, the reference stands beside the answer.
BESIDE = 100
_END = re.compile(r"(?<=[。！？!?；;])|(?<=\.)\s|\n")


def sentences(words: str) -> list[str]:
    """The learner's sentences, for attaching one to a slot; each is a piece of the text."""
    return [one.strip() for one in _END.split(words) if one is not None and one.strip()]


def stamp(answer: Answer, lang: Lang) -> str:
    """When it was committed, its hash, the rubric's version."""
    assert answer.commit is not None
    at = datetime.fromisoformat(answer.commit.at).astimezone()
    return text(lang, "answer.stamp", at=f"{at:%m-%d %H:%M}", hash=answer.commit.hash[:6], rubric=answer.commit.rubric)


def committed_lines(
    lesson: Lesson, question: RubricQuestion, progress: Progress, reference: str | None, lang: Lang, width: int
) -> list[Line]:
    """The answer, the self-score, the vetoes and what comes next; the reference beside them, or below when narrow."""
    answer = progress.answer(question.id)
    beside = width >= BESIDE
    left = width // 2 - 1 if beside else width
    right = width - left - 3 if beside else width
    # What has to be done comes first: on a small screen the reference is read by scrolling, the ticks are not.
    own = _score(lesson.rubric, question, answer, lang, left) + _vetoes(lesson.rubric, answer, lang, left)
    own += _next(lesson, answer, lang, left)
    mine = [line((text(lang, "answer.yours"), "title")), *_prose(answer.commit.text if answer.commit else "", left)]
    mine += cited(progress, answer.commit.text if answer.commit else "", lang, left)
    theirs = [line((text(lang, "answer.reference"), "title"))]
    words = text(lang, "answer.reference-absent") if reference is None else reference
    for row in words.strip().split("\n"):
        theirs += wrap(prose(safe_text(row, 16_000)), right) if row.strip() else [BLANK]
    if not beside:
        return [*own, BLANK, *mine, BLANK, *theirs]
    return _columns([*own, BLANK, *mine], theirs, left)


def _columns(left: list[Line], right: list[Line], width: int) -> list[Line]:
    out = []
    for n in range(max(len(left), len(right))):
        one = left[n] if n < len(left) else BLANK
        other = right[n] if n < len(right) else BLANK
        room = " " * max(0, width - cell_len(one.text))
        out.append(Line((*one.parts, (room + " | ", "plain"), *other.parts), one.item))
    return out


def _prose(words: str, width: int) -> list[Line]:
    out: list[Line] = []
    for row in words.strip().split("\n"):
        # A long line is shown whole: it is cut to what was read before, not here.
        out += wrap([(safe_text(row, 16_000), "plain")], width) if row.strip() else [BLANK]
    return out


def _score(rubric: Rubric, question: RubricQuestion, answer: Answer, lang: Lang, width: int) -> list[Line]:
    own, most = answer.score, max(question.points, default=0)
    if own is None:
        head = text(lang, "answer.score-none", of=most)
    else:
        head = text(lang, "answer.score-self", points=own.points, of=most)
    out = wrap([(head, "title")], width)
    ticks = own.ticks if own is not None else {}
    for slot in question.slots:
        ticked = slot.id in ticks
        mark: Part = ("[x] ", "good") if ticked else ("[ ] ", "plain")
        words = quoted(lang, ticks[slot.id]) if ticked else text(lang, "answer.no-line")
        head = slot.label.get(lang)
        out.append(_row(mark, head, words, f"slot:{slot.id}", width))
    if answer.final is not None:
        final = answer.final
        who = who_words(final.who, lang)
        words = text(lang, "answer.score-final", points=final.points, of=most, who=who, when=when_words(final.when))
        out += wrap([(safe_text(words, 400), "strong")], width)
    if own is not None and own.rubric != rubric.version:
        out += wrap([(text(lang, "answer.rubric-changed", old=own.rubric, new=rubric.version), "caution")], width)
    return out


def _row(mark: Part, head: str, words: str, item: str, width: int) -> Line:
    room = width - 4 - cell_len(head) - 2
    return line(mark, (head + "  ", "plain"), (fit(words, room).rstrip() if room > 8 else "", "muted"), item=item)


def _vetoes(rubric: Rubric, answer: Answer, lang: Lang, width: int) -> list[Line]:
    out = [line((text(lang, "answer.vetoes"), "title"))]
    for veto in rubric.vetoes:
        said = answer.vetoes.get(veto.id)
        word = text(lang, "answer.veto-open" if said is None else "answer.veto-yes" if said else "answer.veto-no")
        mark: Part = ("[?] ", "caution") if said is None else ("[!] ", "bad") if said else ("[=] ", "good")
        out.append(_row(mark, text(lang, f"answer.veto-{veto.id}"), word, f"veto:{veto.id}", width))
    return out


def _next(lesson: Lesson, answer: Answer, lang: Lang, width: int) -> list[Line]:
    change = next((one for one in lesson.rubric.changes if one.id == answer.change), None)
    if change is None:
        return []
    out = [line((text(lang, "answer.again-done" if answer.again else "answer.again"), "title"))]
    rows = wrap([(change.text.get(lang), "strong")], width, first="  ", rest="  ", item="again")
    out += [rows[0], *(row._replace(item="") for row in rows[1:])]
    if answer.again is not None:
        out += wrap([(safe_text(answer.again.text, 4000), "plain")], width, first="  ", rest="  ")
    if change.demo is not None:
        out.append(
            line(("  " + text(lang, "answer.again-demo", demo=change.demo), "measured"), item=f"demo:{change.demo}")
        )
    return out


def explanation_lines(rubric: Rubric, answer: Answer, lang: Lang, width: int) -> list[Line]:
    """The explanation of an edge input and its slots to tick."""
    words = answer.commit.text if answer.commit else ""
    return [*_score(rubric, rubric.questions["edge"], answer, lang, width), BLANK, *_prose(words, width)]


def line_picks(words: str, lang: Lang, width: int) -> list[Line]:
    """The learner's sentences to choose from; each is an item `line:N`."""
    out: list[Line] = []
    for n, one in enumerate(sentences(words)):
        rows = wrap([(quoted(lang, one), "plain")], width, rest="  ", item=f"line:{n}")
        out += [rows[0], *(row._replace(item="") for row in rows[1:])]
    return out


def version_lines(answer: Answer, lang: Lang, width: int) -> list[Line]:
    """Every version that was kept, the newest first."""
    out = wrap([(text(lang, "answer.versions-note"), "muted")], width)
    for number, version in reversed(list(enumerate(answer.versions, 1))):
        at = f"{datetime.fromisoformat(version.at).astimezone():%m-%d %H:%M:%S}"
        why = text(lang, f"answer.version-{version.why}")
        head = text(lang, "answer.version", number=number, at=at, why=why, chars=len(version.text))
        out += [BLANK, line((head, "title")), *_prose(version.text, width)]
    return out


def doubt_row(question: RubricQuestion, item: str) -> str | None:
    """The claim that the reference rests on at a row of the score."""
    name = item.removeprefix("slot:")
    return next((slot.claim for slot in question.slots if slot.id == name and item.startswith("slot:")), None)
