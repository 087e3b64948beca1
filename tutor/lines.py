"""Prepared lines: text cut to a width, each part with a role that a theme colours. Pure but for cell widths.

Chinese wraps between ideographs; a line never starts with a closing mark or ends with an opening one (kinsoku), and
ASCII words stay whole when they fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from rich.cells import cell_len, get_character_cell_size

Role = Literal[
    "plain",
    "title",
    "strong",
    "muted",
    "code",
    "blank",
    "good",
    "bad",
    "caution",
    "measured",
    "recorded",
    "focus",
    "lit",
    "keyword",
    "string",
    "number",
    "comment",
]
Part = tuple[str, Role]

_NO_START = set(",.;:!?)]}%，。、；：！？）】》」』〉…～")
_NO_END = set("([{（【《「『〈")


class Line(NamedTuple):
    """One screen line. `item` names what a cursor may rest on, empty when there is nothing."""

    parts: tuple[Part, ...] = ()
    item: str = ""

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.parts)

    @property
    def cells(self) -> int:
        return cell_len(self.text)


BLANK = Line()


def line(*parts: Part | str, item: str = "") -> Line:
    """A line from parts; a bare string is plain."""
    return Line(tuple((part, "plain") if isinstance(part, str) else part for part in parts), item)


def wrap(parts: Iterable[Part], width: int, *, first: str = "", rest: str = "", item: str = "") -> list[Line]:
    """`parts` as lines of at most `width` cells; `first` leads the first line, `rest` the others."""
    lines: list[Line] = []
    row: list[Part] = []
    lead, room = first, max(1, width - cell_len(first))
    for unit in _units(parts):
        size = sum(cell_len(text) for text, _ in unit)
        blank = all(text.isspace() for text, _ in unit)
        if size > room and row:
            lines.append(_line(lead, row, item))
            lead, row, room = rest, [], max(1, width - cell_len(rest))
        if blank and not row and lines:
            continue
        if size > room:
            for text, role in unit:
                for piece in _chop(text, width - cell_len(rest), room):
                    if cell_len(piece) > room:
                        lines.append(_line(lead, row, item))
                        lead, row, room = rest, [], max(1, width - cell_len(rest))
                    row.append((piece, role))
                    room -= cell_len(piece)
            continue
        row.extend(unit)
        room -= size
    if row or not lines:
        lines.append(_line(lead, row, item))
    return lines


def fit(text: str, width: int, more: str = "..") -> str:
    """`text` in exactly `width` cells: padded, or cut between characters and marked with `more`."""
    size = cell_len(text)
    if size <= width:
        return text + " " * (width - size)
    if width <= len(more):
        return more[:width]
    out, room = [], width - len(more)
    for char in text:
        size = get_character_cell_size(char)
        if size > room:
            break
        out.append(char)
        room -= size
    return "".join(out) + " " * room + more


def crop(parts: Sequence[Part], width: int) -> tuple[Part, ...]:
    """The parts that fit `width` cells, the last one cut and marked when something had to go."""
    if sum(cell_len(text) for text, _ in parts) <= width:
        return tuple(parts)
    out: list[Part] = []
    room = width
    for text, role in parts:
        size = cell_len(text)
        if size >= room:
            out.append((fit(text + "   ", room), role))
            break
        out.append((text, role))
        room -= size
    return tuple(out)


def _line(lead: str, row: list[Part], item: str) -> Line:
    while row and row[-1][0].isspace():
        row.pop()
    merged: list[Part] = [(lead, "plain")] if lead else []
    for text, role in row:
        if merged and merged[-1][1] == role:
            merged[-1] = (merged[-1][0] + text, role)
        else:
            merged.append((text, role))
    return Line(tuple(merged), item)


def _chop(text: str, width: int, room: int) -> Iterator[str]:
    """A word longer than a line, in pieces that fill what is left and then whole lines."""
    piece, size = "", 0
    for char in text:
        step = get_character_cell_size(char)
        if size + step > room and piece:
            yield piece
            piece, size, room = "", 0, max(2, width)
        piece += char
        size += step
    if piece:
        yield piece


def _units(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """What may not be broken: a run of spaces, an ASCII word, an ideograph with the marks that cling to it."""
    unit: list[Part] = []
    kind = ""
    for text, role in parts:
        for char in text:
            new = "space" if char == " " else "wide" if get_character_cell_size(char) == 2 else "word"
            clings = unit and kind != "space" and (char in _NO_START or unit[-1][0][-1] in _NO_END)
            joins = clings or (unit and new == kind and new in ("space", "word"))
            if unit and not joins:
                yield unit
                unit = []
            if unit and unit[-1][1] == role:
                unit[-1] = (unit[-1][0] + char, role)
            else:
                unit.append((char, role))
            # A word that ends in a clinging wide mark may be followed by a break.
            kind = new if not (clings and new == "wide") else "wide"
    if unit:
        yield unit
