"""`rubric`: what a free text gives evidence of. It quotes and asks; there is no score in it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tutor.cli.exits import Exit, Stop
from tutor.cli.files import read_bounded
from tutor.cli.output import Output
from tutor.context import Context
from tutor.rubric.examine import examine
from tutor.rubric.model import Doubt, Findings, Quote, Rubric, RubricQuestion

#: The longest text that is taken, in bytes; how much of it is read is the finder's.
MOST = 64 * 1024


def run(context: Context, args: argparse.Namespace, out: Output) -> int:
    """Read one text. Raises Stop, StateError, CatalogError."""
    rubric = context.lesson.rubric
    if args.question not in rubric.questions:
        raise Stop("rubric.no-question", got=args.question or "", known=", ".join(rubric.questions))
    words = _words(context, args)
    findings = examine(rubric, args.question, words)
    about = rubric.questions[args.question]
    if out.as_json:
        out.emit(_json(context.lesson_id, rubric, about, findings, out))
    else:
        for line in _lines(rubric, about, findings, out):
            out.result(line)
    return Exit.GOOD


def _words(context: Context, args: argparse.Namespace) -> str:
    if args.file is None:
        progress = context.journal.progress
        if args.question == "edge":
            words = "\n".join(edge.why for edge in progress.edges.values() if edge.why.strip())
        else:
            words = progress.text(args.question)
        if not words.strip():
            raise Stop("rubric.no-draft", question=args.question)
        return words
    if args.file == "-":
        raw = sys.stdin.buffer.read(MOST + 1) if sys.stdin is not None else b""
    else:
        raw = read_bounded(Path(args.file), MOST)
    if len(raw) > MOST:
        raise Stop("rubric.too-large", most=MOST // 1024)
    try:
        return raw.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise Stop("rubric.not-utf8", path=args.file) from error


def _quotes(quotes: Iterable[Quote]) -> list[list[int | str]]:
    return [list(quote) for quote in quotes]


def _json(lesson: str, rubric: Rubric, about: RubricQuestion, findings: Findings, out: Output) -> dict[str, Any]:
    def doubts(known: Iterable[Doubt], found: Mapping[str, tuple[Quote, ...]]) -> list[dict[str, Any]]:
        return [
            {"id": doubt.id, "question": doubt.question.get(out.lang), "quotes": _quotes(found[doubt.id])}
            for doubt in known
            if doubt.id in found
        ]

    return {
        "schema": 1,
        "command": "rubric",
        "lesson": lesson,
        "question": about.id,
        "rubric": rubric.version,
        "slots": [
            {
                "id": slot.id,
                "kind": slot.kind,
                "label": slot.label.get(out.lang),
                "found": slot.id in findings.slots,
                "quotes": _quotes(findings.slots.get(slot.id, ())),
                "prompts": [prompt.get(out.lang) for prompt in slot.prompts],
            }
            for slot in about.slots
        ],
        "vetoes": doubts(rubric.vetoes, findings.vetoes),
        "misconceptions": doubts(about.misconceptions, findings.misconceptions),
        "uncited": _quotes(findings.uncited),
        "notes": [out.text(f"rubric.note-{note}") for note in findings.notes],
    }


def _lines(rubric: Rubric, about: RubricQuestion, findings: Findings, out: Output) -> list[str]:
    lines = [out.text("rubric.head")]
    for slot in about.slots:
        quotes = findings.slots.get(slot.id, ())
        words = "  ".join(out.text("answer.quote", words=quote.text) for quote in quotes)
        lines.append(f"  {slot.label.get(out.lang)}  {words or out.text('rubric.not-recognised')}")
    for group, found in ((rubric.vetoes, findings.vetoes), (about.misconceptions, findings.misconceptions)):
        for doubt in group:
            if doubt.id in found:
                words = out.text("answer.quote", words=found[doubt.id][0].text)
                lines.append(f"  ? {doubt.question.get(out.lang)}  {words}")
    for quote in findings.uncited[:1]:
        lines.append("  ? " + out.text("rubric.note-uncited", number=out.text("answer.quote", words=quote.text)))
    return [*lines, *(out.text(f"rubric.note-{note}") for note in findings.notes)]
