"""The break lab as lines: the function with what each line ran as, then what was counted and by whom."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from rich.cells import cell_len

from tutor import literals
from tutor.lab import breaks
from tutor.lab.breaks import FUNCTION, SWITCHES, Ran, Report
from tutor.language import Lang
from tutor.lines import Line, Part, Role, fit, line, wrap
from tutor.model import Message
from tutor.strings import say, text

_RUNS, _SWITCH = 18, 9


@dataclass(slots=True)
class BreakRun:
    """One run: with which switches, and what came of it. `ended` is empty while it runs."""

    on: frozenset[str]
    fullgraph: bool
    report: Report | None = None
    phase: Message | None = None
    ended: str = ""
    message: Message | None = None
    evidence: str | None = None


def function_lines(on: Collection[str], run: BreakRun | None, lang: Lang, width: int) -> list[Line]:
    """The function and what each line ran as; a line that can be switched is the item `switch:ID`."""
    head = fit("  " + text(lang, "lab_views.head-ran"), _RUNS) + fit(text(lang, "lab_views.head-switch"), _SWITCH)
    out = [line((fit(head + text(lang, "lab_views.head-source"), width).rstrip(), "muted"))]
    report = run.report if run is not None else None
    ran = breaks.ran_as(report, run.on) if run is not None and report is not None else None
    broken = {one.line for one in report.breaks} if report is not None else set()
    for place, each in enumerate(FUNCTION):
        is_on = not each.switch or each.switch in on
        words, role = ran_words(ran[place], lang) if ran is not None else ("", "plain")
        mark = "!" if breaks.number_of(place) in broken else " "
        switch = (
            text(lang, "lab_views.switch-on" if is_on else "lab_views.switch-off", id=each.switch)
            if each.switch
            else ""
        )
        parts: list[Part] = [
            (f"{mark} ", "caution"),
            (fit(words, _RUNS - 2), role),
            (fit(switch, _SWITCH), "blank" if each.switch else "plain"),
            (fit(each.text, max(1, width - _RUNS - _SWITCH)).rstrip(), "code" if is_on else "muted"),
        ]
        out.append(line(*parts, item=f"switch:{each.switch}" if each.switch else ""))
    return out


def found_lines(run: BreakRun | None, lang: Lang, width: int, chosen: str) -> list[Line]:
    """What was counted in the run and by whom, and a sentence on the chosen switch."""
    words = text(lang, f"lab_views.break-{SWITCHES[chosen]}")
    return [*_found(run, lang, width), *wrap([(f"{chosen}  {words}", "plain")], width, rest="    ")]


def ran_words(ran: Ran, lang: Lang) -> tuple[str, Role]:
    """`graph 1`, `Python`, or both in the order in which they came; empty for what was evaluated while tracing."""
    if not ran.graphs:
        return ("Python", "caution") if ran.python else ("", "plain")
    graphs = [str(number) for number in ran.graphs]
    words = text(lang, "lab_views.ran-graph", number=graphs[0])
    if ran.python:
        words += " Py"
    rest = " ".join(f"g{number}" for number in graphs[1:])
    return f"{words} {rest}".strip(), "caution" if ran.python else "good"


def _found(run: BreakRun | None, lang: Lang, width: int) -> list[Line]:
    if run is None:
        return [line((text(lang, "lab_views.not-run"), "muted"))]
    if not run.ended:
        words = say(lang, run.phase) if run.phase is not None else text(lang, "lab_views.running-now")
        return wrap([(words, "plain")], width)
    report = run.report
    if report is None:
        message = say(lang, run.message) if run.message is not None else ""
        return wrap([(text(lang, f"ui.lab_{run.ended}"), "caution"), ("  " + message, "plain")], width, rest="  ")
    out: list[Line] = []
    if report.raised:
        raised = text(lang, "lab_views.breaks-raised", text=literals.safe_text(report.raised))
        out += wrap([(raised, "caution")], width, rest="  ")
    else:
        counts = text(lang, "lab_views.breaks-counted", graphs=len(report.graphs), breaks=len(report.breaks))
        whole = [one for one in report.breaks if one.whole_frame]
        key = "breaks-none" if not report.breaks else "breaks-whole" if whole else "breaks-around"
        out += wrap([(counts, "strong"), (" " + text(lang, f"lab_views.{key}"), "plain")], width, rest="  ")
        if report.explained is not None:
            graphs, found = report.explained
            words = text(lang, "lab_views.breaks-explain", graphs=graphs, breaks=found)
            differs = text(lang, "lab_views.breaks-explain-differs") if report.explain_differs else ""
            role: Role = "caution" if report.explain_differs else "muted"
            out += wrap([(f"{words} {differs}".strip(), role)], width, rest="  ")
    for one in report.breaks:
        words = text(lang, "lab_views.breaks-torch", line=_name(one.line), reason=literals.safe_text(one.reason))
        out += wrap([(words, "code")], width, rest=" " * cell_len("  "))
    return out


def _name(number: int) -> str:
    """The switch of a line of the file, or its text when it has none."""
    for place, each in enumerate(FUNCTION):
        if breaks.number_of(place) == number:
            return each.switch or each.text.strip()
    return "-"
