"""What a terminal shows, cell by cell, and the shortest text known that makes it show something else.

Pure: it turns strips into escape sequences and knows no app, driver or file. `frame_diff` connects it to Textual.

What is sent is safe on every terminal: only the cursor movements that all know (mosh lacks CNL and CPL), SGR, EL, ECH,
and OSC 8 where there is a link; an erase in a colour only where the terminal fills with it; no movement relative to a
column on which terminals may disagree (past the last one, after an emoji); never half a wide character alone; never a
control character of the text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

from rich.cells import cell_len, get_character_cell_size
from rich.color import ColorSystem
from textual.strip import Strip

from tutor.ui.pens import PLAIN, Pen, pen_of_codes, same_blank, sgr_change


@lru_cache(8192)
def _clusters(text: str) -> tuple[str, tuple[str, ...]]:
    """What of `text` belongs to the cell before it, and its cells; a cell that a wide character covers is ""."""
    leading = ""
    clusters: list[str] = []
    joined = False
    for character in text:
        category = unicodedata.category(character)
        if category in ("Cc", "Zl", "Zp"):
            continue  # what a learner or a program wrote never steers the terminal
        if category == "Cs":
            character = "\ufffd"  # half a surrogate pair cannot be encoded
        if clusters and (joined or not get_character_cell_size(character)):
            clusters[-1] += character
        elif get_character_cell_size(character):
            clusters.append(character)
        else:
            leading += character
        joined = character == "\u200d"
    cells: list[str] = []
    for cluster in clusters:
        cells += [cluster, *[""] * (cell_len(cluster) - 1)]
    return leading, tuple(cells)


@lru_cache(4096)
def _width_is_sure(cell: str) -> bool:
    """Whether every terminal moves its cursor by the same number of cells for this one."""
    if len(cell) != 1:
        return False
    # Letters, lines and blocks may be "ambiguous" to Unicode; where those are drawn wide, every layout breaks anyway.
    if cell.isascii() or "\u2500" <= cell <= "\u259f":
        return True
    width, category = unicodedata.east_asian_width(cell), unicodedata.category(cell)
    if category in ("Cf", "Co", "Cn") or (width == "A" and category[0] != "L"):
        return False
    # Outside the ideographs and their companions, wide means emoji, on whose width terminals differ.
    return width not in ("W", "F") or "\u2e80" <= cell <= "\uffe6" or cell >= "\U00020000"


def _rendered_cells(strip: Strip, colours: ColorSystem) -> tuple[list[str], list[Pen]]:
    """The cells of a strip, drawn as `Strip.render` would draw them."""
    texts: list[str] = []
    pens: list[Pen] = []
    for text, style, control in strip:
        if control:
            continue
        pen = PLAIN if style is None else pen_of_codes(Strip.render_style(style, "", colours))
        if text.isascii() and text.isprintable():
            texts.extend(text)
        else:
            leading, cells = _clusters(text)
            if leading and texts:
                texts[_head(texts, len(texts) - 1)] += leading
            texts.extend(cells)
        pens.extend([pen] * (len(texts) - len(pens)))
    return texts, pens


def _head(texts: list[str] | list[str | None], x: int) -> int:
    """The column where the character that covers column `x` begins."""
    while x and texts[x] == "":
        x -= 1
    return x


class _Hand:
    """The terminal's pen and cursor, None where unknown, and the text that brings them where they are."""

    def __init__(self) -> None:
        self.pen: Pen | None = None
        self.x: int | None = None
        self.y: int | None = None
        self._sent: list[str] = []

    def take(self) -> str:
        """All that was sent since the last time."""
        text = "".join(self._sent)
        self._sent.clear()
        return text

    def forget(self) -> None:
        if self.pen is not None and self.pen.link:
            self._sent.append("\x1b]8;;\x1b\\")
        self.pen = self.x = self.y = None

    def use(self, pen: Pen) -> None:
        if pen is not self.pen:
            self._sent.append(sgr_change(self.pen, pen))
            self.pen = pen

    def use_for_blank(self, pen: Pen) -> None:
        if not same_blank(pen, self.pen):
            self.use(pen)

    def write(self, text: str, end: int | None) -> None:
        """Send `text`, after which the cursor is in column `end`; None if terminals may differ about that."""
        self._sent.append(text)
        self.x = end

    def erase(self, sequence: str) -> None:
        """Send a sequence that leaves the cursor where it is."""
        self._sent.append(sequence)

    def move(self, x: int, y: int) -> None:
        self._sent.append(self.way(x, y))
        self.x, self.y = x, y

    def way(self, x: int, y: int) -> str:
        """The shortest movement to column `x` of row `y`."""
        if (x, y) == (self.x, self.y):
            return ""
        if y == self.y:
            return _along(self.x, x)
        ways = [f"\x1b[{y + 1};{x + 1}H" if x else f"\x1b[{y + 1 if y else ''}H"]
        if self.y is not None:
            ways.append(f"\x1b[{_count(abs(y - self.y))}{'A' if y < self.y else 'B'}{_along(self.x, x)}")
        return min(ways, key=len)


_FOUR_BLANKS: list[str | None] = [" "] * 4
"""No sequence that erases is shorter than these."""


def _count(n: int) -> str:
    return "" if n == 1 else str(n)


@cache
def _along(start: int | None, x: int) -> str:
    """The shortest movement within a row, from column `start` to `x`."""
    if start == x:
        return ""
    if x == 0:
        return "\r"
    ways = [f"\x1b[{x + 1}G"]
    if start is not None and start < x:
        ways.append(f"\x1b[{_count(x - start)}C")
    elif start is not None:
        ways += ["\b" * (start - x), f"\x1b[{_count(start - x)}D"]
    return min(ways, key=len)


class TerminalMemory:
    """What a terminal shows, as far as it is known; at first nothing is.

    `bce` says that erased cells take the pen's background (terminfo's "bce"), not the terminal's own.
    """

    def __init__(self, *, bce: bool) -> None:
        self._bce = bce
        self._size = (0, 0)
        self._texts: list[list[str | None]] = []
        self._pens: list[list[Pen | None]] = []
        self._hand = _Hand()

    def forget(self) -> None:
        """Nothing is known any more: what is painted next is sent whole."""
        self._size = (0, 0)
        self._hand.forget()

    def rest(self) -> str:
        """The sequence that gives the terminal its own pen back, before somebody else writes."""
        self._hand.use(PLAIN)
        return self._hand.take()

    def paint(
        self,
        pieces: Iterable[tuple[int, int, Strip]],
        size: tuple[int, int],
        cursor: tuple[int, int],
        colours: ColorSystem,
    ) -> str:
        """A short text that makes a screen of `size` (width, height) show `pieces` (y, x, strip), cursor at (x, y).

        Pieces, or parts of them, outside the screen are left out.
        """
        if size != self._size:
            self.forget()
            self._size = width, height = size
            self._texts = [[None] * width for _ in range(height)]
            self._pens = [[None] * width for _ in range(height)]
        rows: dict[int, tuple[list[str | None], list[Pen | None]]] = {}
        for y, x, strip in pieces:
            if not (0 <= y < size[1] and 0 <= x < size[0]):
                continue
            texts, pens = _rendered_cells(strip, colours)
            self._cut(texts, pens, size[0] - x)
            end = x + len(texts)
            if y not in rows:
                if self._texts[y][x:end] == texts and self._pens[y][x:end] == pens:
                    continue
                rows[y] = self._texts[y].copy(), self._pens[y].copy()
            row, row_pens = rows[y]
            row[x:end] = texts
            row_pens[x:end] = pens
            # The second half of a wide character whose first was written over: blank, but who knows in what colour.
            while end < size[0] and row[end] == "":
                row[end] = None
                end += 1
        for y in sorted(rows):
            self._paint_row(y, *rows[y])
        self._hand.move(*cursor)
        return self._hand.take()

    @staticmethod
    def _cut(texts: list[str], pens: list[Pen], room: int) -> None:
        """Cut to `room` cells; a wide character that does not fit leaves blanks."""
        if len(texts) > room:
            if texts[room] == "":
                head = _head(texts, room)
                texts[head:room] = " " * (room - head)
            del texts[room:], pens[room:]

    def _paint_row(self, y: int, texts: list[str | None], pens: list[Pen | None]) -> None:
        """Send what makes row `y` show this. A cell whose text is None is not known and not sent."""
        differs = [
            text is not None
            and (text != old_text or (pen is not old_pen and not (text == " " and same_blank(pen, old_pen))))
            for text, old_text, pen, old_pen in zip(texts, self._texts[y], pens, self._pens[y], strict=True)
        ]
        self._texts[y], self._pens[y] = texts, pens
        x = 0
        while True in differs[x:]:
            x = _head(texts, differs.index(True, x))
            differs[x] = True  # never only the second half of a wide character
            if not self._reach_by_writing(x, y, texts, pens):
                self._hand.move(x, y)
            x = self._paint_run(x, texts, pens, differs)

    def _paint_run(self, x: int, texts: list[str | None], pens: list[Pen | None], differs: list[bool]) -> int:
        """Send the cells that differ from `x` on, up to where the cursor has to be moved; return that column."""
        hand, width = self._hand, len(texts)
        while x < width and differs[x]:
            text, pen = texts[x], pens[x]
            assert text is not None
            assert pen is not None
            if text == " " and pen.blank is not None:
                if erased := self._erase(x, pen.blank, texts, pens, differs):
                    return erased
                end = x
                while end < width and differs[end] and texts[end] == " " and same_blank(pens[end], pen):
                    end += 1
                hand.use_for_blank(pen)
                hand.write(" " * (end - x), end)
            else:
                end = x + 1
                while end < width and texts[end] == "":
                    end += 1
                hand.use(pen)
                hand.write(text, end if _width_is_sure(text) else None)
            x = end
            if x == width:
                hand.x = None  # past the last column terminals differ about where the cursor is
            if hand.x is None:
                break
        return x

    def _erase(
        self, x: int, blank: Pen, texts: list[str | None], pens: list[Pen | None], differs: list[bool]
    ) -> int | None:
        """Erase the blank cells from `x` on, if shorter than to send them: the column after the last, else None."""
        if texts[x : x + 4] != _FOUR_BLANKS or (blank.background and not self._bce):
            return None
        end = last = x
        while end < len(texts) and texts[end] == " " and same_blank(pens[end], blank):
            end += 1
            if differs[end - 1]:
                last = end
        sequence, skip = ("\x1b[K", 0) if end == len(texts) else (f"\x1b[{last - x}X", 5)
        if last - x <= len(sequence) + skip:  # `skip`: the movement over what was erased
            return None
        self._hand.use_for_blank(blank)
        self._hand.erase(sequence)
        return last

    def _reach_by_writing(self, x: int, y: int, texts: list[str | None], pens: list[Pen | None]) -> bool:
        """Come to column `x` by sending the cells before it again, if these need no other pen and are no longer."""
        hand = self._hand
        if y != hand.y or hand.x is None or not 0 < x - hand.x <= len(hand.way(x, y)):
            return False
        gap = texts[hand.x : x]
        for text, pen in zip(gap, pens[hand.x : x], strict=True):
            if not text or not text.isascii():
                return False
            if pen is not hand.pen and not (text == " " and same_blank(pen, hand.pen)):
                return False
        hand.write("".join(text for text in gap if text), x)
        return True
