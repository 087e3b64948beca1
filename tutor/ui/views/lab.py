"""The lab: the list of demos and evidence, and one demo with the learner's predictions beside what was observed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.cells import cell_len

from tutor.lab import protocol
from tutor.language import Lang
from tutor.learner.progress import Evidence
from tutor.lines import BLANK, Line, Part, Role, fit, line, wrap
from tutor.literals import safe_text
from tutor.model import Ask, Demo, Message, Source, Verdict
from tutor.strings import say, text
from tutor.ui.views.lab_measured import measured_lines
from tutor.ui.views.lesson import MARKS, verdict_word

#: How many of a demo's own output lines are kept, the latest.
KEPT = 2000
#: Cells of the column that compares, and of those beside it at least.
COMPARED, LEAST = 8, 10
#: The item of the row above what was printed.
PRINTED = "printed"
#: Characters of one printed line.
PRINTED_MAX = 400


@dataclass(slots=True)
class RunView:
    """What is known of a run so far, folded from its events. `ended` is the outcome, empty while it runs."""

    predicted: dict[str, int] = field(default_factory=dict)
    rows: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    seen: list[Mapping[str, Any]] = field(default_factory=list)
    """Every observation in the order they came; `rows` has those that answer a question, by its id."""
    output: list[str] = field(default_factory=list)
    dropped: int = 0
    """Lines of output that came before those that are kept."""
    cut: Message | None = None
    """What is said where the rest of the output was thrown away."""
    elapsed: float = 0.0
    phase: Message | None = None
    result: Mapping[str, Any] | None = None
    evidence: str | None = None
    ended: str = ""
    message: Message | None = None
    source: Source = Source.MEASURED
    where: str = ""

    def take(self, event: Mapping[str, Any]) -> None:
        """Fold one of the lab's events in."""
        self.elapsed = max(self.elapsed, float(event["at"]))
        match event["event"]:
            case "progress":
                self.phase = protocol.message(event["message"])
            case "observation":
                self.seen.append(event)
                if event["ask"] is not None:
                    self.rows[event["ask"]] = event
            case "output":
                self.output += str(event["text"]).splitlines()
                self.dropped += len(self.output[:-KEPT])
                del self.output[:-KEPT]
                if "message" in event:
                    self.cut = protocol.message(event["message"])
            case "result":
                self.result = event
            case "ended":
                self.ended = event["outcome"]
                self.message = protocol.message(event["message"])


def list_lines(
    demos: Sequence[Demo], claims: Mapping[str, Verdict], evidence: Sequence[Evidence], lang: Lang, width: int
) -> list[Line]:
    """Every demo and, below, the evidence so far, newest first. Items are `demo:NAME` and `evidence:ID`."""
    out: list[Line] = wrap([(text(lang, "ui.lab_intro"), "plain")], width)
    out.append(BLANK)
    for demo in demos:
        # A demo may measure without there being a claim that it backs.
        mark, role = MARKS[claims.get(demo.claims[0])] if demo.claims else ("   ", "plain")
        usual = text(lang, "ui.lab_usual", low=_number(demo.usual_s[0]), high=_number(demo.usual_s[1]))
        out.append(line((mark, role), f" {demo.name}  ", (usual, "muted"), item=f"demo:{demo.name}"))
        out += wrap([(demo.title.get(lang), "plain")], width, first="    ", rest="    ")
    out += [BLANK, line((text(lang, "ui.evidence_title"), "title"))]
    if not evidence:
        return [*out, *wrap([(text(lang, "ui.evidence_empty"), "plain")], width)]
    return out + evidence_lines(evidence, lang, width)


def evidence_lines(evidence: Sequence[Evidence], lang: Lang, width: int, *, marked: str | None = None) -> list[Line]:
    """A line each, newest first; items are `evidence:ID`. With `marked`, an id or empty, that one begins with `=`."""
    out = []
    for one in reversed(evidence):
        here = one.record["source"] == Source.MEASURED
        label: Part = (
            (text(lang, "ui.evidence_here", id=one.id), "measured")
            if here
            else (text(lang, "ui.evidence_recorded", id=one.id), "recorded")
        )
        verdicts = ", ".join(f"{c}: {verdict_word(Verdict(v), lang)}" for c, v in one.record["claims"].items())
        words = f" {one.at[:16].replace('T', ' ')}Z  {verdicts or one.record['demo']}"
        if one.record["environment"].get("contended") is True:
            words += "  " + text(lang, "lab_views.contended")
        lead = "" if marked is None else "= " if one.id == marked else "  "
        room = width - len(lead) - cell_len(label[0])
        out.append(line((lead, "strong"), label, fit(safe_text(words, 400), room).rstrip(), item=f"evidence:{one.id}"))
    return out


def demo_lines(
    demo: Demo, run: RunView, draft: Mapping[str, int], lang: Lang, width: int, *, running: bool, chosen: str = ""
) -> list[Line]:
    """One demo: the question, a row per call as item `ask:ID` and the choices of the chosen one, how it ended, the
    plain sentence for the chosen row (else the latest), what was measured, all that was printed below PRINTED."""
    out = wrap([(demo.question.get(lang), "strong")], width)
    started = running or bool(run.ended)
    if not started:
        out += wrap([(text(lang, "ui.lab_open"), "muted")], width)
    columns = _columns(demo, lang, width)
    here = run.source is Source.MEASURED
    heads = ("lab_call", "lab_predicted", "lab_observed" if here else "lab_observed_rec", "lab_compare")
    cells = "".join(fit(text(lang, f"ui.{head}"), size) for head, size in zip(heads, columns, strict=True))
    reason = text(lang, "ui.lab_reason")
    out.append(line(("  " + cells + (reason if cell_len(reason) <= width - 2 - sum(columns) else ""), "muted")))
    told: Mapping[str, Any] | None = None
    for n, ask in enumerate(demo.asks):
        seen = run.rows.get(ask.id)
        told = seen if seen is not None and (told is None or chosen != told["ask"]) else told
        predicted = (run.predicted if started else draft).get(ask.id)
        out += _row(demo, n, predicted, seen, columns, lang, width, waiting=running, here=here)
        if ask.id == chosen and ask.choices:
            out += _choices(ask, predicted, seen["answer"] if seen is not None else None, lang, width)
    out += _ending(demo, run, lang, width, running=running)
    sentence = told["plain"][lang] if told is not None and told["plain"] else ""
    if told is not None and sentence:
        head = text(lang, "ui.lab_plain", call=safe_text(str(told["call"])), words=sentence)
        out += wrap([(head, "plain")], width, rest="  ")
    out += measured_lines(demo, run.seen, lang, width, told=sentence)
    if run.output:
        head = text(lang, "ui.lab_printed", lines=len(run.output) + run.dropped)
        out.append(line((fit(head, width).rstrip(), "muted"), item=PRINTED))
        out += printed_lines(run, lang, width, lead="  ")
    return out


def printed_lines(run: RunView, lang: Lang, width: int, *, lead: str = "") -> list[Line]:
    """What the demo printed, a line for each of its own, cut at `width`: a drawing that is wrapped is none."""
    out = [line((fit(lead + safe_text(row, PRINTED_MAX), width).rstrip(), "plain")) for row in run.output]
    if run.dropped:
        words = text(lang, "ui.lab_printed_dropped", lines=run.dropped)
        out[:0] = wrap([(words, "muted")], width, first=lead, rest=lead)
    if run.cut is not None:
        out += wrap([(say(lang, run.cut), "caution")], width, first=lead, rest=lead)
    return out


def _columns(demo: Demo, lang: Lang, width: int) -> tuple[int, int, int, int]:
    """Cells of the columns call, predicted, observed and compared; the first gives way where there is little room."""
    answers = [cell_len(choice.get(lang)) for ask in demo.asks for choice in ask.choices]
    label = max([cell_len(ask.label) for ask in demo.asks] + [4]) + 4
    left = width - 2 - COMPARED
    answer = max(LEAST, min(max(answers, default=0) + 1, (left - label) // 2))
    return min(label, left - 2 * answer), answer, answer, COMPARED


def _row(
    demo: Demo,
    n: int,
    predicted: int | None,
    seen: Mapping[str, Any] | None,
    columns: tuple[int, int, int, int],
    lang: Lang,
    width: int,
    *,
    waiting: bool,
    here: bool,
) -> list[Line]:
    ask = demo.asks[n]
    answer = seen["answer"] if seen is not None else None
    shown = text(lang, "ui.lab_waiting") if seen is None and waiting else _answer(demo, n, answer, lang)
    agrees: Part = ("", "plain")
    if seen is not None and predicted is not None and answer is not None:
        same = predicted == answer
        agrees = (text(lang, "ui.lab_same" if same else "ui.lab_other"), "good" if same else "caution")
    elif seen is None and not waiting:
        shown = "-"
    parts: list[Part] = [
        (fit(f"{n + 1} {ask.label}", columns[0] - 1) + " ", "plain"),
        (
            fit(_answer(demo, n, predicted, lang), columns[1] - 1) + " ",
            "blank" if seen is None and not waiting else "plain",
        ),
        (fit(shown, columns[2] - 1) + " ", "muted" if seen is None else "measured" if here else "recorded"),
        (fit(agrees[0], columns[3]), agrees[1]),
    ]
    # torch names a guard for each entry it tried; the first is of the entry that was used last.
    said = safe_text(" ".join(str(seen["said"][0]).split())) if seen is not None and seen["said"] else ""
    used = 2 + sum(columns)
    if not said or cell_len(said) <= width - used:
        return [line("  ", *parts, said, item=f"ask:{ask.id}")]
    below = wrap([(said, "plain")], width, first="      ", rest="      ")
    return [line("  ", *parts, item=f"ask:{ask.id}"), *below[:2]]


def _choices(ask: Ask, predicted: int | None, answer: int | None, lang: Lang, width: int) -> list[Line]:
    """All that can be answered, a line each, since a column is too narrow for it: `>` is predicted, `=` came out."""
    out = []
    for place, choice in enumerate(ask.choices):
        mark = (">" if place == predicted else " ") + ("=" if place == answer else " ")
        role: Role = "measured" if place == answer else "plain" if place == predicted else "muted"
        out += wrap([(choice.get(lang), role)], width, first=f"    {mark} ", rest="       ")
    return out


def _answer(demo: Demo, n: int, value: int | None, lang: Lang) -> str:
    if value is None:
        return "?"
    choices = demo.asks[n].choices
    if choices:
        return choices[value].get(lang) if 0 <= value < len(choices) else str(value)
    return f"+{value}"


def _ending(demo: Demo, run: RunView, lang: Lang, width: int, *, running: bool) -> list[Line]:
    low, high = _number(demo.usual_s[0]), _number(demo.usual_s[1])
    if running:
        words = text(lang, "ui.lab_running", seconds=f"{run.elapsed:.0f}", low=low, high=high)
        words = say(lang, run.phase) if run.phase else words
        return [BLANK, *wrap([(f"{words}  {text(lang, 'ui.lab_stops')}", "plain")], width)]
    if not run.ended:
        return []
    out: list[Line] = [BLANK]
    role: Role = "good" if run.ended == "ok" else "caution"
    if run.source is Source.RECORDED:
        where = safe_text(run.where.removeprefix("one "))  # As the lesson's labels name it.
        out += wrap([(text(lang, "ui.lab_replayed", where=where), "recorded")], width)
    if run.result is not None:
        for claim, verdict in run.result["claims"].items():
            mark, colour = MARKS[Verdict(verdict)]
            because = say(lang, protocol.message(run.result["because"][claim]))
            head = f" {claim}: {verdict_word(Verdict(verdict), lang)} "
            parts: list[Part] = [(mark, colour), (head, "plain"), _label(run, lang), ("  " + because, "plain")]
            out += wrap(parts, width, rest="    ")
        if run.result["environment"].get("contended") is True:
            out += wrap([(text(lang, "ui.lab_contended"), "caution")], width)
        if run.result["agreed"] is not None:
            of = len(run.result["predicted"])
            out += wrap([(text(lang, "ui.lab_agreed", right=run.result["agreed"], of=of), "plain")], width)
    if run.message is not None and (run.ended != "ok" or run.result is None):
        word = text(lang, f"ui.lab_{run.ended}")
        out += wrap([(word, role), ("  " + say(lang, run.message), "plain")], width, rest="  ")
    return out


def _label(run: RunView, lang: Lang) -> Part:
    if run.evidence is None:
        return "", "plain"
    if run.source is Source.MEASURED:
        return text(lang, "ui.evidence_here", id=run.evidence), "measured"
    return text(lang, "ui.evidence_recorded", id=run.evidence), "recorded"


def _number(value: float) -> str:
    return f"{value:g}"
