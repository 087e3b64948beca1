"""What a demo measured, as lines: by series and call, a timing as p50 and p99, torch's own words below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.cells import cell_len

from tutor.language import Lang
from tutor.lines import Line, Part, wrap
from tutor.literals import safe_text
from tutor.model import Demo
from tutor.strings import text

#: What the name of a multiple of the floor ends with.
OF_FLOOR = "_of_floor"
#: Lines of torch's own words below one call, characters of such a line, and of a value that is a text.
SAID_MAX, SAID_CELLS, TEXT_MAX = 8, 160, 24


def measured_lines(
    demo: Demo, seen: Sequence[Mapping[str, Any]], lang: Lang, width: int, *, told: str = ""
) -> list[Line]:
    """The observations in the order they came; of those that answer a question only what the answer does not say.

    A sentence is said once: `told` has been said already.
    """
    rows = [each for each in seen if each["ask"] is None or _has_more(each)]
    if not rows:
        return []
    timed = any(_is_spread(value) for each in rows for value in each["values"].values())
    out = wrap([(text(lang, "ui.lab_timed" if timed else "ui.lab_seen"), "muted")], width)
    said = {told}
    for series, group in groupby(rows, key=lambda each: str(each["series"])):
        calls = list(group)
        sentences = [each["plain"][lang] if each["plain"] else "" for each in calls]
        common = sentences[0] if len(set(sentences)) == 1 and sentences[0] not in said else ""
        said.add(common)
        head: list[Part] = [(safe_text(series), "strong"), (f"  {common}", "muted")]
        out += wrap(head[: 2 if common else 1], width, rest="  ")
        for each, sentence in zip(calls, sentences, strict=True):
            out += _call_lines(demo, each, width)
            if sentence not in said:
                said.add(sentence)
                out += wrap([(sentence, "muted")], width, first="    ", rest="    ")
    return out


def _call_lines(demo: Demo, seen: Mapping[str, Any], width: int) -> list[Line]:
    values = seen["values"]
    groups: list[list[Part]] = [[(safe_text(str(seen["call"] or "")), "code")]]
    for name, value in values.items():
        shown = "" if _beside(name, values) or value in seen["said"] else _shown(value)
        if shown:
            groups.append(_group(name, shown, demo.units.get(name, ""), values))
    counts = {str(value["n"]) for value in values.values() if _is_spread(value)}
    groups += [[("n ", "muted"), (count, "muted")] for count in sorted(counts)]
    out = _packed(groups, width)
    words = [row for said in seen["said"] for row in str(said).splitlines() if row.strip()]
    if seen["ask"] is None:
        out += [row for said in words[:SAID_MAX] for row in _said(said, width)]
    return out


def _group(name: str, shown: str, unit: str, values: Mapping[str, Any]) -> list[Part]:
    """A name with its figure, the unit, and in brackets how many times the floor it is."""
    stem = name.removesuffix(f"_{unit}") if unit else name
    times = values.get(stem + OF_FLOOR)
    unit_says_all = unit.lower().replace("/", "_") == name
    shown += f" {unit}" if unit and (unit_says_all or unit not in stem.split("_")) else ""
    shown += f" ({_number(times)}x)" if times is not None else ""
    figure: Part = (shown, "plain")
    return [figure] if unit_says_all else [(f"{safe_text(stem)} ", "muted"), figure]


def _packed(groups: Sequence[list[Part]], width: int) -> list[Line]:
    """As many groups a line as there is room for, and none of them torn apart that fits a line of its own."""
    out: list[Line] = []
    row: list[Part] = [("  ", "plain")]
    for group in groups:
        parts: list[Part] = group if len(row) == 1 else [("  ", "plain"), *group]
        if _cells(row) + _cells(parts) > width and len(row) > 1:
            out += wrap(row, width, rest="    ")
            row, parts = [("    ", "plain")], group
        row += parts
    return out + wrap(row, width, rest="    ")


def _cells(parts: Sequence[Part]) -> int:
    return sum(cell_len(words) for words, _ in parts)


def _beside(name: str, values: Mapping[str, Any]) -> bool:
    """Whether a value is shown in brackets beside the time that it is a multiple of."""
    return name.endswith(OF_FLOOR) and f"{name.removesuffix(OF_FLOOR)}_us" in values


def _said(words: str, width: int) -> list[Line]:
    return wrap([(safe_text(words.strip(), SAID_CELLS), "code")], width, first="    ", rest="      ")


def _shown(value: Any) -> str:
    """`16.4/17.3` for a timing, a number to four figures, a short text; empty for what is no figure."""
    if _is_spread(value):
        return f"{_number(value['p50'])}/{_number(value['p99'])}"
    if isinstance(value, bool):
        return ""
    if isinstance(value, int | float):
        return _number(value)
    return safe_text(value) if isinstance(value, str) and len(value) <= TEXT_MAX else ""


def _number(value: float) -> str:
    """Four figures, and all of a whole number."""
    return str(round(value)) if isinstance(value, int) or abs(value) >= 1000 else f"{value:.4g}"


def _has_more(seen: Mapping[str, Any]) -> bool:
    """Whether an observation says more than the answer to its question."""
    return any(_is_spread(value) or isinstance(value, float) for value in seen["values"].values())


def _is_spread(value: Any) -> bool:
    return isinstance(value, Mapping) and {"n", "p50", "p99"} <= value.keys()
