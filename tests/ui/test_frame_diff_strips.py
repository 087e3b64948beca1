"""The frame diff against a strict terminal: random frames, and whatever terminals disagree about counts as damage."""

from __future__ import annotations

import re
from itertools import pairwise
from math import prod
from typing import Any, Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len, get_character_cell_size
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tutor.ui.pens import PLAIN, Pen, pen_of_codes, sgr_change
from tutor.ui.terminal_memory import TerminalMemory

Look = tuple[str, frozenset[str], str, str, str]
"""Text, attributes, foreground, background, link of a cell."""

UNKNOWN: Look = ("?", frozenset(), "", "", "")

OFF = {"22": "12", "23": "3", "24": "4", "25": "56", "27": "7", "28": "8", "29": "9", "54": "", "55": ""}
TOKEN = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])|\x1b\]8;[^;]*;([^\x1b]*)\x1b\\|([\r\b])|([^\x1b\r\b]+)|(.)", re.DOTALL)


class StrictTerminal:
    """Shows what a terminal is certain to show, and raises AssertionError where terminals differ.

    Past the last column and after an ambiguous character nobody knows the column: only an absolute movement is allowed.
    Half of an overwritten wide character is unknown. Erased cells take the background with `bce` and lose it without.
    """

    def __init__(self, width: int, height: int, *, bce: bool, ambiguous: str = "") -> None:
        self.width, self.height, self.bce, self.ambiguous = width, height, bce, ambiguous
        self.cells: list[list[Look]] = [[UNKNOWN] * width for _ in range(height)]
        self.x: int | None = None
        self.y: int | None = None
        self.drawn = (0, 0)
        self.attributes: set[str] | None = None
        self.foreground = self.background = "?"
        self.link = ""

    def feed(self, data: str) -> None:
        for numbers, final, link, control, text, rest in TOKEN.findall(data):
            assert not rest, f"unexpected {rest!r}"
            if final == "m":
                self.sgr(numbers.split(";"))
            elif final:
                self.csi(final, *(int(n or 1) for n in numbers.split(";")))
            elif control == "\r":
                self.x = 0
            elif control == "\b":
                assert self.x
                self.x -= 1
            elif text:
                for character in text:
                    self.draw(character)
            else:
                self.link = link

    def sgr(self, numbers: list[str]) -> None:
        codes = iter(numbers)
        for code in codes:
            if code in ("", "0"):
                self.attributes, self.foreground, self.background = set(), "", ""
            elif code in ("38", "48"):
                kind = next(codes)
                colour = ";".join([code, kind, *(next(codes) for _ in range({"2": 3, "5": 1}[kind]))])
                if code == "38":
                    self.foreground = colour
                else:
                    self.background = colour
            elif code in OFF:
                assert self.attributes is not None
                self.attributes -= set(OFF[code]) | ({"21"} if code == "24" else set())
            elif code in ("39", "49"):
                self.foreground, self.background = ("", self.background) if code == "39" else (self.foreground, "")
            elif len(code) == 1 or code == "21":
                assert self.attributes is not None
                self.attributes.add(code)
            elif code[:-1] in ("3", "9"):
                self.foreground = code
            else:
                assert code[:-1] in ("4", "10")
                self.background = code

    def csi(self, final: str, first: int, second: int = 1) -> None:
        if final == "H":
            self.y, self.x = first - 1, second - 1
        elif final == "G":
            self.x = first - 1
        elif final in "KX":
            assert self.x is not None
            end = self.width if final == "K" else self.x + first
            self.put(self.x, [(" ", frozenset(), "", self.background if self.bce else "", "")] * (end - self.x))
        elif final in "AB":
            assert self.y is not None
            self.y += first if final == "B" else -first
        else:
            assert self.x is not None
            assert final in "CD"
            self.x += first if final == "C" else -first
        assert self.y is None or 0 <= self.y < self.height
        assert self.x is None or 0 <= self.x < self.width

    def put(self, x: int, looks: list[Look]) -> None:
        assert self.y is not None
        row, end = self.cells[self.y], x + len(looks)
        assert end <= self.width
        before = x
        while row[before][0] == "" and before:
            before -= 1
            row[before] = UNKNOWN
        after = end
        while after < self.width and row[after][0] == "":
            row[after] = UNKNOWN
            after += 1
        row[x:end] = looks

    def draw(self, character: str) -> None:
        assert character >= " "
        assert character != "\x7f"
        width = get_character_cell_size(character)
        if not width:
            y, x = self.drawn
            text, attributes, foreground, background, link = self.cells[y][x]
            self.cells[y][x] = (text + character, attributes, foreground, background, link)
            return
        assert self.x is not None
        assert self.y is not None
        assert self.attributes is not None
        look = (frozenset(self.attributes), self.foreground, self.background, self.link)
        if character == " " and not self.link and self.attributes <= {"1", "2", "3"}:
            look = (frozenset(), "", self.background, "")
        self.put(self.x, [(character if i == 0 else "", *look) for i in range(width)])
        self.drawn = self.y, self.x
        self.x += width
        if self.x == self.width or character in self.ambiguous:
            self.x = None


COLOURS = ["default", "red", "bright_blue", "#102030", "#ff8800", "color(123)"]
CHOICES: dict[str, list[Any]] = {
    "color": [None, *COLOURS],
    "bgcolor": [None, *COLOURS],
    **{name: [None, False, True] for name in ("bold", "dim", "italic", "underline", "reverse", "strike")},
    "underline2": [None, True],
    "link": [None, "https://a.example/", "https://b.example/;x"],
    "meta": [None, {"offset": (0, 0)}, {"offset": (7, 0)}],
}


def style_of(number: int) -> Style:
    """Every choice of a style out of one number: drawing each by itself takes longer than all that is tested."""
    chosen = {}
    for name, choices in CHOICES.items():
        number, at = divmod(number, len(choices))
        chosen[name] = choices[at]
    return Style(**chosen)


styles = st.integers(0, prod(map(len, CHOICES.values())) - 1).map(style_of)
# Few styles and long runs of blanks, as on a real screen, so that frames have something in common.
FEW = [
    None,
    Style(color="#e0e0e0", bgcolor="#1e1e1e"),
    Style(color="#e0e0e0", bgcolor="#1e1e1e", bold=True),
    Style(color="#1e1e1e", bgcolor="#e0e0e0"),
    Style(color="#e0e0e0", bgcolor="#1e1e1e", underline=True),
    Style(reverse=True),
    Style(bold=True),
]
words = st.text("ab 你。…─é", min_size=1, max_size=5) | st.integers(1, 20).map(lambda n: " " * n)
segments = st.builds(
    lambda text, mark, style: Segment(text + mark, style),
    words,
    st.sampled_from(["", "", "", "\u0301", "\u200b"]),
    st.sampled_from(FEW) | styles,
)
RGB = ColorSystem.TRUECOLOR
NAMES: dict[ColorSystem, Literal["truecolor", "256", "standard"]] = {
    ColorSystem.TRUECOLOR: "truecolor",
    ColorSystem.EIGHT_BIT: "256",
    ColorSystem.STANDARD: "standard",
}
SIZE = WIDTH, HEIGHT = 24, 4


@st.composite
def frames(draw: st.DrawFn) -> list[tuple[int, int, Strip]]:
    """A frame: some strips side by side in each of some rows, never over the edge."""
    out = []
    for y in draw(st.sets(st.integers(0, HEIGHT - 1))):
        cuts = sorted(draw(st.sets(st.integers(0, WIDTH), min_size=2, max_size=4) | st.just({0, WIDTH})))
        for x, end in pairwise(cuts):
            strip = Strip(draw(st.lists(segments, min_size=1, max_size=6)))
            out.append((y, x, strip.adjust_cell_length(end - x, draw(st.sampled_from(FEW)))))
    return out


def whole(text: str, style: Style | None = None) -> list[tuple[int, int, Strip]]:
    """A frame of one full row."""
    return [(0, 0, Strip([Segment(text, style)]).adjust_cell_length(WIDTH, style))]


def at(x: int, text: str) -> list[tuple[int, int, Strip]]:
    """A frame of a piece of the first row."""
    return [(0, x, Strip([Segment(text)]))]


def in_turn(*frames: list[tuple[int, int, Strip]]) -> list[tuple[list[tuple[int, int, Strip]], int, int, bool]]:
    """The frames one after the other, the cursor in the corner, nothing forgotten."""
    return [(frame, 0, 0, False) for frame in frames]


def plain(frame: list[tuple[int, int, Strip]], console: Console) -> str:
    """What Textual sends for it."""
    return "".join(f"\x1b[0m\x1b]8;;\x1b\\\x1b[{y + 1};{x + 1}H" + strip.render(console) for y, x, strip in frame)


@settings(max_examples=400, derandomize=True)
@given(
    st.lists(st.tuples(frames(), st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1), st.booleans()), max_size=5),
    st.booleans(),
    st.sampled_from([ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT, ColorSystem.STANDARD]),
)
@example(in_turn(whole("你好"), whole("a好"), whole("你b"), whole(" 你")), True, RGB)
@example(in_turn(whole("你好"), at(1, "x"), whole("你好")), True, RGB)
@example(in_turn(whole("你好"), at(0, "a"), at(0, "b") + at(2, "zz")), True, RGB)
@example(in_turn(whole("a" * WIDTH), whole("a" * (WIDTH - 1) + "b")), True, RGB)
@example(in_turn(whole("a" * WIDTH), whole("", Style(bgcolor="red"))), False, RGB)
def test_any_frames_end_in_the_screen_that_textual_makes(
    sequence: list[tuple[list[tuple[int, int, Strip]], int, int, bool]], bce: bool, colours: ColorSystem
) -> None:
    console = Console(color_system=NAMES[colours], force_terminal=True, _environ={})
    expected = StrictTerminal(WIDTH, HEIGHT, bce=True)
    shown = StrictTerminal(WIDTH, HEIGHT, bce=bce, ambiguous="…")
    memory = TerminalMemory(bce=bce)
    for frame, x, y, forgotten in sequence:
        expected.feed(plain(frame, console))
        if forgotten:
            shown.x = shown.y = shown.attributes = None  # another program wrote
            memory.forget()
        sent = memory.paint(frame, SIZE, (x, y), colours)
        shown.feed(sent)
        for row, (want, have) in enumerate(zip(expected.cells, shown.cells, strict=True)):
            wrong = [(row, i, a, b) for i, (a, b) in enumerate(zip(want, have, strict=True)) if a != b and a != UNKNOWN]
            assert not wrong, sent
        assert (shown.x, shown.y) == (x, y)
        assert memory.paint(frame, SIZE, (x, y), colours) == ""


pens = st.builds(
    Pen.of,
    st.sets(st.sampled_from(["1", "2", "3", "4", "5", "7", "8", "9", "21"])),
    st.sampled_from(["", "31", "38;2;1;2;3", "38;5;4"]),
    st.sampled_from(["", "41", "48;2;1;2;3", "48;5;4"]),
    st.sampled_from(["", "https://a.example/"]),
)


@settings(max_examples=500, derandomize=True)
@given(st.none() | pens, pens)
def test_a_change_of_pen_leads_to_that_pen(old: Pen | None, new: Pen) -> None:
    terminal = StrictTerminal(1, 1, bce=True)
    if old is not None:
        terminal.attributes = set(old.attributes)
        terminal.foreground, terminal.background, terminal.link = old.foreground, old.background, old.link
    change = sgr_change(old, new)
    terminal.feed(change)
    assert terminal.attributes == set(new.attributes)
    assert (terminal.foreground, terminal.background, terminal.link) == (new.foreground, new.background, new.link)
    assert (change == "") == (old is new)


@given(styles, st.sampled_from(list(ColorSystem)))
@settings(max_examples=300, derandomize=True)
def test_a_pen_is_what_textual_renders(style: Style, colours: ColorSystem) -> None:
    terminal = StrictTerminal(8, 1, bce=True)
    terminal.feed("\x1b[0m\x1b]8;;\x1b\\\x1b[H" + Strip.render_style(style, "x", colours))
    pen = pen_of_codes(Strip.render_style(style, "", colours))
    assert terminal.cells[0][0] == ("x", pen.attributes, pen.foreground, pen.background, pen.link)


def test_equal_pens_are_one_object_whatever_made_them() -> None:
    one = pen_of_codes("\x1b[1;31m\x1b[0m")
    assert one is Pen.of(["1"], "31") is pen_of_codes("\x1b[31;1m\x1b[0m")
    assert pen_of_codes("\x1b[39;49m\x1b[0m") is pen_of_codes("") is PLAIN


ANY_TEXT = st.text(max_size=30)


@settings(max_examples=500, derandomize=True)
@given(ANY_TEXT)
@example("a\x1b[2Jb\x07\x9b31mc\ud800d\x7f\u2028")
def test_no_text_steers_the_terminal(text: str) -> None:
    strip = Strip([Segment(text)])
    memory = TerminalMemory(bce=True)
    sent = memory.paint([(0, 0, strip)], SIZE, (0, 0), RGB)
    sent.encode()
    for part in re.sub(r"\x1b\[[0-9;]*[A-Z]|\x1b\[m|\x1b\]8;;\x1b\\|\r|\x08", "", sent):
        assert part.isprintable() or part not in "\x1b\x07\x9b\x7f\u2028"
        assert not 0xD800 <= ord(part) <= 0xDFFF
        assert ord(part) >= 0x20
        assert not 0x7F <= ord(part) < 0xA0


@pytest.mark.parametrize(
    "cluster", ["❤\ufe0f", "👩\u200d🚀", "e\u0301", "🚀", "…", "→", "“", "\u00ad", "\ue000", "〰\ufe0f"]
)
def test_after_an_unsure_width_the_next_cell_is_reached_by_an_absolute_column(cluster: str) -> None:
    width = cell_len(cluster)
    memory = TerminalMemory(bce=True)
    sent = memory.paint([(0, 0, Strip([Segment(cluster + "z")]))], SIZE, (0, 0), RGB)
    assert f"{cluster}\x1b[{width + 1}Gz" in sent


@pytest.mark.parametrize("text", ["a", "é", "─", "█", "你", "，", "「", "ア", "한", "Ａ", "𠀀", "Ж"])
def test_ordinary_text_needs_no_movements_inside(text: str) -> None:
    memory = TerminalMemory(bce=True)
    sent = memory.paint([(0, 0, Strip([Segment(text * 4)]))], SIZE, (0, 0), RGB)
    assert text * 4 in sent


def test_a_strip_beyond_the_edge_is_cut_and_half_a_character_with_it() -> None:
    memory, terminal = TerminalMemory(bce=True), StrictTerminal(5, 1, bce=True)
    pieces = [(0, 0, Strip([Segment("ab你好")])), (1, 0, Strip([Segment("below")]))]
    terminal.feed(memory.paint(pieces, (5, 1), (0, 0), RGB))
    assert [text for text, *_ in terminal.cells[0]] == ["a", "b", "你", "", " "]


def test_another_size_is_painted_whole() -> None:
    memory = TerminalMemory(bce=True)
    for width in (5, 4, 5):
        terminal = StrictTerminal(width, 1, bce=True)
        terminal.feed(memory.paint([(0, 0, Strip([Segment("abcde")]))], (width, 1), (0, 0), RGB))
        assert "".join(text for text, *_ in terminal.cells[0]) == "abcde"[:width]


def test_a_mark_drawn_otherwise_than_its_letter_stays_with_it() -> None:
    memory = TerminalMemory(bce=True)
    strip = Strip([Segment("e", Style(bold=True)), Segment("\u0301x", Style(reverse=True))])
    assert "e\u0301" in memory.paint([(0, 0, strip)], SIZE, (0, 0), RGB)


def test_blanks_are_erased_in_a_colour_only_where_the_terminal_fills_with_it() -> None:
    strip = Strip([Segment("a" + " " * (WIDTH - 1), Style(bgcolor="red"))])
    with_bce, without = (TerminalMemory(bce=bce).paint([(0, 0, strip)], SIZE, (0, 0), RGB) for bce in (True, False))
    assert "\x1b[K" in with_bce
    assert " " * (WIDTH - 1) in without
    strip = Strip([Segment("a" + " " * (WIDTH - 1))])
    assert "\x1b[K" in TerminalMemory(bce=False).paint([(0, 0, strip)], SIZE, (0, 0), RGB)
