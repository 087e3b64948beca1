"""What stands under an answer that is being written: the self-check. It quotes and asks, and counts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tutor.language import Lang
from tutor.learner.answers import Answer
from tutor.learner.progress import Progress
from tutor.lines import Line, Part, line, wrap
from tutor.literals import safe_text
from tutor.rubric.examine import citations
from tutor.rubric.model import Findings, Quote, Rubric, RubricQuestion, Slot
from tutor.strings import text

#: The longest quote that is shown, in characters.
SHOWN = 60
#: At most so many prompts a slot.
PROMPTS = 2


class Checked(NamedTuple):
    """A self-check: the text that was read, and what was recognised in it."""

    text: str
    findings: Findings


def quoted(lang: Lang, words: str) -> str:
    """A quote as it is shown: its middle is left out when it is long."""
    one = " ".join(words.split())
    if len(one) > SHOWN:
        one = f"{one[: SHOWN // 2]} .. {one[-SHOWN // 2 :]}"
    return text(lang, "answer.quote", words=safe_text(one, 4 * SHOWN))


def confirmed(answer: Answer, slot: str, words: str) -> str | None:
    """The quote that the learner confirmed for a slot, while it still stands in the text."""
    quote = answer.confirmed.get(slot)
    return quote if quote is not None and quote in words else None


def asked(answer: Answer, slot: Slot, findings: Findings) -> Quote | None:
    """The quote of which the learner is asked whether it is their point."""
    for quote in findings.slots.get(slot.id, ()):
        if f"{slot.id}: {quote.text}" not in answer.denied:
            return quote
    return None


def elsewhere(progress: Progress, name: str, slot: Slot) -> str | None:
    """Which other answer has a shared slot already."""
    others = (other for other in ("q1", "q2", "q3") if other != name)
    return next((other for other in others if slot.shared and slot.id in progress.answer(other).confirmed), None)


def doubts(rubric: Rubric, question: RubricQuestion, findings: Findings) -> Mapping[str, tuple[str, str, Quote]]:
    """Every question of a doubt by id, as (zh, en, quote): vetoes first, then misconceptions."""
    out = {}
    for group, found in ((rubric.vetoes, findings.vetoes), (question.misconceptions, findings.misconceptions)):
        for doubt in group:
            if doubt.id in found:
                out[doubt.id] = (doubt.question.zh, doubt.question.en, found[doubt.id][0])
    return out


def check_lines(
    rubric: Rubric, question: RubricQuestion, checked: Checked, progress: Progress, now: str, lang: Lang, width: int
) -> list[Line]:
    """Slots are items `slot:ID`, doubts `doubt:ID`, citations `cite:ID`. `now` is the text as it stands."""
    answer, findings = progress.answer(question.id), checked.findings
    head = "answer.check-stale" if checked.text != now else "answer.check-head"
    out = wrap([(text(lang, head), "muted")], width)
    out += wrap([(" > ".join(step.get(lang) for step in rubric.ladder), "plain")], width)
    for slot in question.slots:
        other = elsewhere(progress, question.id, slot)
        if other is None:
            out += _slot(answer, slot, checked, lang, width)
    for name, (zh, en, quote) in doubts(rubric, question, findings).items():
        out += _doubt(answer, name, zh if lang == "zh" else en, quote, lang, width)
    for quote in findings.uncited[:1]:
        words = text(lang, "rubric.note-uncited", number=quoted(lang, quote.text))
        out += wrap([("[?] ", "caution"), (words, "plain")], width, rest="    ")
    for note in findings.notes:
        out += wrap([(text(lang, f"rubric.note-{note}"), "caution")], width)
    return out + cited(progress, now, lang, width)


def _slot(answer: Answer, slot: Slot, checked: Checked, lang: Lang, width: int) -> list[Line]:
    item, label = f"slot:{slot.id}", slot.label.get(lang)
    yes, quote = confirmed(answer, slot.id, checked.text), asked(answer, slot, checked.findings)
    mark: Part = ("[y] ", "good") if yes is not None else ("[ ] ", "plain")
    parts: list[Part] = [mark, (label + "  ", "strong")]
    if yes is not None:
        parts.append((quoted(lang, yes), "plain"))
    elif quote is not None:
        parts += [(quoted(lang, quote.text), "plain"), ("  " + text(lang, "answer.your-point"), "caution")]
    else:
        parts.append((text(lang, "answer.not-recognised"), "muted"))
    out = wrap(parts, width, rest="    ", item=item)
    out = [out[0], *(row._replace(item="") for row in out[1:])]
    count = answer.prompts.get(slot.id, 0)
    for prompt in slot.prompts[:count]:
        out += wrap([(prompt.get(lang), "plain")], width, first="    - ", rest="      ")
    return out


def _doubt(answer: Answer, name: str, words: str, quote: Quote, lang: Lang, width: int) -> list[Line]:
    thought = answer.considered.get(name)
    parts: list[Part] = [("[?] ", "caution"), (words + " ", "strong"), (quoted(lang, quote.text), "plain")]
    parts.append(
        ("  " + text(lang, "answer.thought" if thought else "answer.think"), "muted" if thought else "caution")
    )
    out = wrap(parts, width, rest="    ", item=f"doubt:{name}")
    return [out[0], *(row._replace(item="") for row in out[1:])]


def cited(progress: Progress, words: str, lang: Lang, width: int) -> list[Line]:
    """What each citation of an answer stands for, an item `cite:ID`; one that stands for nothing says so."""
    out: list[Line] = []
    for name in citations(words):
        evidence = progress.evidence.get(name)
        if evidence is None:
            out += wrap([(text(lang, "answer.cite-nothing", id=name), "caution")], width, rest="    ")
            continue
        record = evidence.record
        source = text(lang, "ui.evidence_here" if record["source"] == "measured" else "ui.evidence_recorded", id=name)
        verdicts = ", ".join(f"{claim} {text(lang, f'ui.verdict_{v}')}" for claim, v in dict(record["claims"]).items())
        demo = str(record.get("demo", ""))
        shown = safe_text(f"{demo}: {verdicts}" if verdicts else demo, 200)
        out.append(line((source, "measured" if record["source"] == "measured" else "recorded"), " " + shown,
                        item=f"cite:{name}"))  # fmt: skip
    return out
