"""The exercise as lines: the learner's file in colours, its verdict with what to try next, its times on a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tutor.fused.run import Judgement, next_step
from tutor.lab.protocol import Outcome
from tutor.language import Lang
from tutor.lines import BLANK, Line, Part, crop, fit, line, wrap
from tutor.literals import safe_text
from tutor.model import Ending, Message
from tutor.strings import say, text
from tutor.ui.views.lab_inside import coloured, cut
from tutor.ui.views.verdict import word

#: Columns of a figure, and of the name of a side.
FIGURE, SIDE = 10, 12
FIGURES = ("p50", "p95", "p99", "max")
#: In the table: the learner's, then what it is set beside.
SIDES = ("own", "lesson", "inductor", "floor")
#: Sentences whose line number is one of the learner's file.
_AT_LINE = "line"
#: Rows of what a compiler said that are shown under the verdict.
SAID_ROWS = 6


def code_lines(source: str, shift: int, width: int, marked: int = 0) -> list[Line]:
    """The file, a line each with its number, from column `shift` on; line `marked` is marked."""
    rows = source.removesuffix("\n").split("\n")
    room = len(str(len(rows)))
    out = []
    for number, parts in enumerate(coloured("source", rows), 1):
        here = number == marked
        lead: Part = (f"{'>' if here else ' '}{number:>{room}} ", "caution" if here else "muted")
        out.append(Line((lead, *cut(parts, shift, max(1, width - room - 2)))))
    return out


def line_of(found: Judgement | None) -> int:
    """The line of the file that a verdict is about, 0 when it names none."""
    return int(found.message.args.get(_AT_LINE, 0)) if found is not None else 0


def verdict_lines(
    found: Judgement, evidence: str | None, said: Sequence[str], lang: Lang, width: int, *, draft: bool
) -> list[Line]:
    """The verdict: its word and sentence, the call, what to try next, the times. `said` is what the run printed last,
    shown when it is the tool that broke; `draft` says whether it is of the draft as it was shipped."""
    first, rest = _sentence(found.message, lang)
    head: list[Part] = [word(found.ending, lang), ("  ", "plain")] if isinstance(found.ending, Ending) else []
    head.append((first, "plain"))
    if evidence is not None:
        head.append((" " + text(lang, "lab_views.evidence-here", id=evidence), "measured"))
    out = wrap(head, width, rest="  ")
    for row in rest[:SAID_ROWS]:
        out.append(Line(crop([("    ", "plain"), (row, "code")], width)))
    if found.case is not None:
        out += wrap([(text(lang, "kernel.case", case=say(lang, found.case)), "plain")], width, first="  ", rest="  ")
    if found.ending is Ending.BROKE:
        out += wrap([(text(lang, "ui.broke_costs_nothing"), "plain")], width, first="  ", rest="  ")
        out += [Line(crop([("  " + safe_text(row), "muted")], width)) for row in said]
    step = next_step(found, draft=draft)
    if step is not None:
        lead = text(lang, "exercise.try")
        out += wrap([(lead, "strong"), (say(lang, step), "plain")], width, first="  ", rest="  ")
    return out + time_lines(found, lang, width)


def _sentence(message: Message, lang: Lang) -> tuple[str, list[str]]:
    """A sentence safe for the screen; what a compiler said in several lines keeps them, its last line first."""
    args: dict[str, str | int | float] = dict(message.args)
    rows: list[str] = []
    if isinstance(words := args.get("text"), str) and "\n" in words:
        rows = [safe for row in words.split("\n") if (safe := _safe(row)).strip()]
        args["text"] = rows.pop() if rows else ""
    safe_args = {name: safe_text(value) if isinstance(value, str) else value for name, value in args.items()}
    return say(lang, Message(message.key, safe_args)), rows


def _safe(row: str) -> str:
    indent = len(row) - len(row.lstrip(" "))
    return " " * indent + safe_text(row.strip())


def time_lines(found: Judgement, lang: Lang, width: int) -> list[Line]:
    """A table for each size and way: microseconds of each side, and its p50 in times of the floor's."""
    tables: dict[tuple[str, str], dict[str, Mapping[str, object]]] = {}
    for row in found.timed:
        tables.setdefault((str(row["call"]), str(row["way"])), {})[str(row["side"])] = row
    out: list[Line] = []
    for (call, way), sides in tables.items():
        n = next(iter(sides.values()))["us"]
        count = n["n"] if isinstance(n, Mapping) else 0
        title = text(lang, "exercise.times", call=call, way=text(lang, f"exercise.way-{way}"), n=count)
        out += [BLANK, *wrap([(title, "title")], width)]
        heads = "".join(f"{name:>{FIGURE}}" for name in FIGURES)
        out.append(Line(crop([("  " + " " * SIDE + heads + "  " + text(lang, "exercise.of-floor"), "muted")], width)))
        for side in SIDES:
            if side not in sides:
                continue
            us = sides[side]["us"]
            assert isinstance(us, Mapping)
            figures = "".join(f"{us[name]:>{FIGURE}.1f}" for name in FIGURES)
            share = f"  {sides[side]['of_floor']:>6.2f}x"
            name = "  " + fit(text(lang, f"exercise.side-{side}"), SIDE)
            out.append(
                Line(crop([(name, "strong" if side == "own" else "plain"), (figures + share, "measured")], width))
            )
    return out


def empty_lines(where: str, lang: Lang, width: int, *, draft: bool) -> list[Line]:
    """No verdict of this text yet: what a judgement is, and where it would run."""
    out = wrap([(text(lang, "exercise.task" if draft else "exercise.unjudged"), "plain")], width)
    return out + wrap([(text(lang, "exercise.press"), "plain"), (" " + where, "muted")], width)


def running_lines(said: str, where: str, width: int) -> list[Line]:
    """A judgement that goes on."""
    return wrap([(said, "caution"), ("  " + where, "muted")], width)


def where_words(device: str, gpu: bool | None, lang: Lang) -> str:
    """Where a judgement runs that is asked for on `device`; `gpu` says whether one is known here, None: not yet."""
    if device == "cpu" or (device == "auto" and gpu is False):
        return text(lang, "exercise.on-cpu")
    if device == "auto":
        return text(lang, "exercise.on-auto")
    return text(lang, "exercise.on-gpu", device=device)


def head_line(path: str, lines: int, lang: Lang, width: int) -> Line:
    """The row above the code: where the file is."""
    count = text(lang, "exercise.count", lines=lines)
    return line((count + "  ", "muted"), (_tail(safe_text(path, 4000), width - len(count) * 2), "muted"))


def _tail(path: str, room: int) -> str:
    """The end of a path that is too long: its name matters most."""
    return path if len(path) <= room else ".." + path[-max(1, room - 2) :]


def is_verdict(found: Judgement | None) -> bool:
    """Whether there is a verdict at all, and not only a reason why there is none."""
    return found is not None and found.ending not in (Outcome.UNAVAILABLE, Outcome.CANCELLED)
