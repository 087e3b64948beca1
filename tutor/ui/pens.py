"""How a cell is drawn on a terminal (colours, attributes, link), and the shortest sequence from one way to another."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from weakref import WeakValueDictionary

_OFF = {
    "1": "22", "2": "22", "3": "23", "4": "24", "5": "25", "6": "25", "7": "27", "8": "28", "9": "29",
    "21": "24", "51": "54", "52": "54", "53": "55",
}  # fmt: skip
"""SGR attributes, and the code that switches each off."""

_UNSEEN_ON_BLANK = frozenset({"1", "2", "3"})
"""Bold, dim and italic: a blank cell looks the same with or without them."""


class Pen:
    """How a cell is drawn. Equal pens are one object: make them with `Pen.of`."""

    __slots__ = ("__weakref__", "attributes", "background", "blank", "foreground", "link")

    _known: WeakValueDictionary[tuple[frozenset[str], str, str, str], Pen] = WeakValueDictionary()

    attributes: frozenset[str]
    """SGR codes that are on, e.g. {"1", "4"}."""
    foreground: str
    """SGR code, e.g. "38;2;1;2;3"; empty for the terminal's own."""
    background: str
    """SGR code, e.g. "44"; empty for the terminal's own."""
    link: str
    """Target of a hyperlink (OSC 8), or empty."""
    blank: Pen | None
    """The simplest pen under which a blank cell looks as under this one; None when blanks show more than background."""

    @classmethod
    def of(cls, attributes: Iterable[str] = (), foreground: str = "", background: str = "", link: str = "") -> Pen:
        """The one pen with these values."""
        key = (frozenset(attributes), foreground, background, link)
        pen = cls._known.get(key)
        if pen is None:
            pen = cls._known[key] = cls()
            pen.attributes, pen.foreground, pen.background, pen.link = key
            if link or not pen.attributes <= _UNSEEN_ON_BLANK:
                pen.blank = None
            elif foreground or pen.attributes:
                pen.blank = cls.of(background=background)
            else:
                pen.blank = pen
        return pen


PLAIN = Pen.of()


@lru_cache(4096)
def pen_of_codes(rendered: str) -> Pen:
    """The pen that Textual sets for a style, given its rendering of an empty text, e.g. `ESC[1;38;5;4mESC[0m`."""
    link = ""
    if rendered.startswith("\x1b]8;"):
        head, _, rendered = rendered.partition("\x1b\\")
        link = head.split(";", 2)[2]
    codes = iter(rendered.removeprefix("\x1b[").partition("m")[0].split(";"))
    attributes, foreground, background = set(), "", ""
    for code in codes:
        if code in ("38", "48"):
            kind = next(codes)
            colour = ";".join([code, kind, *(next(codes) for _ in range(3 if kind == "2" else 1))])
            if code == "38":
                foreground = colour
            else:
                background = colour
        elif code in _OFF:
            attributes.add(code)
        elif code[:-1] in ("3", "9"):
            foreground = "" if code == "39" else code
        elif code[:-1] in ("4", "10"):
            background = "" if code == "49" else code
    return Pen.of(attributes, foreground, background, link)


@lru_cache(4096)
def sgr_change(old: Pen | None, new: Pen) -> str:
    """The shortest sequence that makes a terminal drawing with `old` (None: unknown) draw with `new`.

    An unknown pen is taken to draw no link.
    """
    if old is new:
        return ""
    afresh = [*sorted(new.attributes), *(colour for colour in (new.foreground, new.background) if colour)]
    sgr = f"\x1b[{';'.join(['0', *afresh]) if afresh else ''}m"
    link = f"\x1b]8;;{new.link}\x1b\\" if new.link != (old.link if old else "") else ""
    if old is None:
        return sgr + link
    off = {_OFF[code] for code in old.attributes - new.attributes}
    # One code may switch off more than what has to go (22: bold and dim).
    on = {code for code in new.attributes if code not in old.attributes or _OFF[code] in off}
    step = [*sorted(off), *sorted(on)]
    if old.foreground != new.foreground:
        step.append(new.foreground or "39")
    if old.background != new.background:
        step.append(new.background or "49")
    stepwise = f"\x1b[{';'.join(step)}m" if step else ""
    return min(stepwise, sgr, key=len) + link


def same_blank(one: Pen | None, other: Pen | None) -> bool:
    """Whether a blank cell looks the same under both; False when that is not known."""
    return one is not None and other is not None and one.blank is not None and one.blank is other.blank
