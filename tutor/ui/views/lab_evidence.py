"""One run's timings with their tails, and two runs side by side, as lines."""

from __future__ import annotations

from rich.cells import cell_len

from tutor.lab import findings
from tutor.lab.findings import Timing
from tutor.language import Lang
from tutor.learner.progress import Evidence
from tutor.lines import BLANK, Line, Part, Role, fit, line, wrap
from tutor.literals import safe_text
from tutor.model import Source
from tutor.strings import text

#: The longest bar.
_BAR = 32
#: Rows of differences that are shown.
DIFFERENCES = 40


def evidence_label(one: Evidence, lang: Lang) -> Part:
    """`[E7 here]`, or the same for a recorded run."""
    here = one.record["source"] == Source.MEASURED
    key = "ui.evidence_here" if here else "ui.evidence_recorded"
    return text(lang, key, id=one.id), "measured" if here else "recorded"


def timing_lines(one: Evidence, lang: Lang, width: int) -> list[Line]:
    """The chosen run's timings, each with its tail, and how much faster compiled was."""
    found = findings.timings(one.record)
    if not found:
        return []
    key = "lab_views.timings-bins" if any(timing.counts for timing in found) else "lab_views.timings"
    out = [BLANK, *wrap([evidence_label(one, lang), ("  " + text(lang, key), "title")], width)]
    longest = max(timing.max for timing in found)
    for timing in found:
        out += _timing(timing, longest, lang, width, role=evidence_label(one, lang)[1])
    speedups = findings.speedups(one.record)
    if speedups:
        out += [BLANK, line((text(lang, "lab_views.speedups"), "title"))]
        slower = "  " + text(lang, "lab_views.slower")
        ratios = [f"  {each.p50:.2f}x  p99 {each.p99:.2f}x{'' if each.p50 >= 1 else slower}" for each in speedups]
        # 1x is at a quarter of the bar; one scale for all of them, that of the longest words beside it.
        unit = max(2, min(_BAR, width - 4 - max(map(cell_len, ratios))) // 4)
        for each, ratio in zip(speedups, ratios, strict=True):
            role: Role = "good" if each.p50 >= 1 else "bad"
            bar = fit("#" * min(4 * unit, max(1, round(each.p50 * unit))), 4 * unit)
            bar = bar[: unit - 1] + "|" + bar[unit:]
            out += wrap(
                [(safe_text(f"{each.call or each.series}  {each.name}"), "plain")], width, first="  ", rest="    "
            )
            out.append(line("    ", (bar, role), (fit(ratio, max(1, width - 4 * unit - 4)).rstrip(), role)))
    return out


def _timing(timing: Timing, longest: float, lang: Lang, width: int, *, role: Role) -> list[Line]:
    name = safe_text(f"{timing.call or timing.series}  {timing.name}")
    numbers = text(
        lang,
        "lab_views.spread",
        n=timing.n,
        p50=f"{timing.p50:.4g}",
        p95=f"{timing.p95:.4g}",
        p99=f"{timing.p99:.4g}",
        max=f"{timing.max:.4g}",
        unit=timing.unit,
    )
    head = [
        *wrap([(name, "plain")], width, first="  ", rest="    "),
        line((fit("    " + numbers, width).rstrip(), role)),
    ]
    return [*head, *(_histogram(timing, width, role) if timing.counts else [_scale(timing, longest, width)])]


def _histogram(timing: Timing, width: int, role: Role) -> list[Line]:
    """A row per bin: where it begins and ends, a bar, how many. One value in a bin is a bar of one `#` at least."""
    least = [f"{edge:.4g}" for edge in timing.edges]
    size, most = max(map(len, least)), max(timing.counts)
    room = max(1, min(_BAR, width - 2 * size - len(str(most)) - 10))
    out = []
    for n, count in enumerate(timing.counts):
        span = f"    {least[n]:>{size}} .. {least[n + 1]:>{size}}  "
        bar = "#" * (max(1, round(room * count / most)) if count else 0)
        out.append(line((span, "muted"), (bar, role), (f" {count}" if count else ".", "muted")))
    return out


def _scale(timing: Timing, longest: float, width: int) -> Line:
    """A record without a histogram still shows where its tail begins: to p50, p95, p99 and the maximum."""
    size = max(10, min(60, width - 6))
    at = [
        round(size * value / longest) if longest > 0 else 0
        for value in (timing.p50, timing.p95, timing.p99, timing.max)
    ]
    bar, before = "", 0
    for mark, end in zip("#+-.", at, strict=True):
        bar, before = bar + mark * max(0, end - before), max(before, end)
    return line("    ", (bar or "#", "muted"))


def compared_lines(one: Evidence, other: Evidence, lang: Lang, width: int) -> list[Line]:
    """What differs between two runs, the marked one first."""
    out = [BLANK, line((text(lang, "lab_views.compared", one=one.id, other=other.id), "title"))]
    changes = findings.differences(one.record, other.record)
    if not changes:
        return [*out, line((text(lang, "lab_views.compared-same"), "plain"))]
    for change in changes[:DIFFERENCES]:
        out += wrap([(safe_text(change.where), "strong")], width, first="  ", rest="    ")
        for evidence, value in ((one, change.one), (other, change.other)):
            shown = "-" if value is None else safe_text(value, 400)
            head = f"    {evidence.id}  "
            out += wrap([(shown, "plain")], width, first=head, rest=" " * len(head))
    if len(changes) > DIFFERENCES:
        out.append(line((text(lang, "lab_views.compared-more", more=len(changes) - DIFFERENCES), "muted")))
    return out
