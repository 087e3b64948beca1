"""The figures of the class: spreads and counts, who stands behind a line, and the table as a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from textual import on
from textual.widget import Widget

from tutor.classroom import figures as class_figures
from tutor.classroom.class_criteria import class_criteria
from tutor.classroom.criteria import Criteria
from tutor.classroom.grades import Grade, grades
from tutor.gradebook.results import Result
from tutor.gradebook.scores import Score
from tutor.language import Lang
from tutor.learner.line_file import write_whole
from tutor.lines import Line, Part, line, wrap
from tutor.literals import safe_text
from tutor.model import Message
from tutor.paths import why
from tutor.strings import text
from tutor.table import csv_bytes
from tutor.ui.review.base import ReviewKey
from tutor.ui.review.list_rows import question_label
from tutor.ui.review.reading_screen import ReadingScreen
from tutor.ui.theme import ThemeName
from tutor.ui.widgets.lines_view import LinesView

#: Who is behind a line: a word, and the blind names.
Who = list[tuple[str, list[str]]]


def spread_words(table: Mapping[str, Any]) -> str:
    """p25 / p50 / p75, min-max, n; "-" for nothing."""
    if not table["n"]:
        return "-"
    low, middle, high = (f"{table[name]:.3g}" for name in ("p25", "p50", "p75"))
    return f"{low} / {middle} / {high}, {table['min']:.3g}-{table['max']:.3g}, n {table['n']}"


def figure_lines(data: Mapping[str, Any], criteria: Mapping[str, Criteria], lang: Lang, width: int) -> list[Line]:
    """The figures as lines; the item of a line says whose it is (`who`)."""

    def row(name: str, words: str, item: str = "") -> list[Line]:
        lead = f"  {name}  "
        return wrap([(words, "plain")], width, first=lead, rest="    ", item=item)

    out = [line((text(lang, "class_screens.figures-points"), "strong"))]
    for name in ("total", "normal", "edge"):
        out += row(text(lang, f"class_screens.figures-{name}"), spread_words(data[name]))
    for name, table in data["questions"].items():
        slots = criteria[name].slots
        seen = [f"{slots[slot].get(lang) if slot in slots else slot} {n}" for slot, n in table["slots"].items()]
        words = spread_words(table) + (" | " + " ; ".join(seen) if seen else "")
        out += row(question_label(name, lang), words, f"question {name}")
    out += [line((text(lang, "class_screens.figures-seconds"), "strong"))]
    for name, table in data["seconds"].items():
        out += row(question_label(name, lang), spread_words(table))
    out += [line((text(lang, "class_screens.figures-right"), "strong"))]
    told = [f"{name} {table['right']}/{table['of']}" for name, table in data["predictions"].items()]
    out += row("", "  ".join(told) or "-")
    out += [line((text(lang, "class_screens.figures-caught"), "strong"))]
    seldom = sorted(data["caught"].items(), key=lambda each: (each[1]["caught"] / max(each[1]["of"], 1), each[0]))
    for name, table in seldom:
        out += row(name, f"{table['caught']}/{table['of']}", f"caught {name}")
    out += [line((text(lang, "class_screens.figures-vetoes"), "strong"))]
    for name, count in data["vetoes"].items():
        out += row(name, str(count), f"veto {name}")
    return out if data["vetoes"] else [*out, line("    -")]


def who(
    item: str, everybody: Sequence[Grade], latest: Mapping[int, Score], reports: Mapping[int, Result], lang: Lang
) -> Who:
    """The learners behind a line, by blind name; for a mistake those whose inputs did not catch it."""
    kind, _, name = item.partition(" ")
    groups: dict[str, list[str]] = {}
    for grade in everybody:
        blind, number = grade.row.learner.blind, grade.row.submission
        if kind == "question" and name in grade.items:
            points = grade.points(name)
            label = "-" if points is None else text(lang, "class_screens.who-points", points=points)
            groups.setdefault(label, []).append(blind)
            score = latest.get(grade.items[name].item)
            for slot in (slot for slot, given in score.slots.items() if given) if score is not None else ():
                groups.setdefault(slot, []).append(blind)
        elif kind == "veto" and name in grade.vetoes:
            groups.setdefault(name, []).append(blind)
        elif kind == "caught" and number is not None and number in reports:
            edges = reports[number].report.get("edges", ())
            if not any(name in edge["caught"] for edge in edges):
                groups.setdefault(text(lang, "class_screens.who-missed"), []).append(blind)
    return [(label, sorted(names, key=lambda each: (len(each), each))) for label, names in sorted(groups.items())]


class FiguresScreen(ReadingScreen):
    """All figures, one below the other."""

    SECTION = "class_screens"
    KEYS = (ReviewKey("save", ("s",), "s"), ReviewKey("who", ("enter", "i"), "Enter"))

    def __init__(self, theme: ThemeName) -> None:
        super().__init__(theme)
        self.view = LinesView(theme, id="figures")
        self.data: dict[str, Any] | None = None
        self._criteria: dict[str, Criteria] = {}

    def body(self) -> Iterator[Widget]:
        yield self.view

    def on_mount(self) -> None:
        self.view.focus()
        self.say(self.tr("looking"))
        book, lesson = self.review.book, self.review.lesson
        self.review.call(lambda: (class_figures.figures(book, lesson), class_criteria(book, lesson)), self._loaded)

    def _loaded(self, found: tuple[dict[str, Any], dict[str, Criteria]]) -> None:
        self.data, self._criteria = found
        self.say("")
        self.refill()
        self.draw_bars()

    def head(self) -> Sequence[Part]:
        parts: list[Part] = [("> ", "strong"), (self.tr("figures-title"), "title")]
        if self.data is not None:
            counts = self.tr("figures-final", final=self.data["final"], of=self.data["handed_in"])
            parts.append((f"  {counts}   p25 / p50 / p75, min-max, n", "plain"))
        return parts

    def refill(self) -> None:
        if self.data is not None:
            width = max(20, (self.view.size.width or self.app.size.width) - 1)
            lines = figure_lines(self.data, self._criteria, self.lang, width)
            self.view.show(lines, first=True)

    def can(self, name: str) -> bool:
        return self.data is not None if name in ("save", "who") else True

    def do_back(self) -> None:
        self.dismiss()

    # --- who ----------------------------------------------------------------------------------------------------------

    def do_who(self) -> None:
        """The learners behind the line, where they are known."""
        item, book = self.view.item, self.review.book
        if not item:
            self.say(self.tr("who-unknown"))
            return

        def work() -> Who:
            everybody = [grade for grade in grades(book) if grade.row.submission is not None]
            reports = book.results.standing(with_reports=item.startswith("caught"))
            return who(item, everybody, book.scores.latest(), reports, self.lang)

        self.review.call(work, lambda found: self._show(item.partition(" ")[2], found))

    def _show(self, name: str, found: Who) -> None:
        if not found:
            self.say(self.tr("who-nobody"))
            return
        slots = self._criteria[name].slots if name in self._criteria else {}

        def lines(lang: Lang, width: int) -> list[Line]:
            out: list[Line] = []
            for label, names in found:
                words = slots[label].get(lang) if label in slots else label
                out += wrap([(f"{words}  {len(names)}", "strong")], width)
                out += wrap([("  ".join(names), "plain")], width, first="  ", rest="  ")
            return out

        shown = question_label(name, self.lang) if name in self._criteria else name
        self.review.show_lines(lambda lang: text(lang, "class_screens.who-title", name=shown), lines)

    @on(LinesView.Picked)
    def _picked(self) -> None:
        self.do_who()

    # --- the file -----------------------------------------------------------------------------------------------------

    def do_save(self) -> None:
        path = self.review.folder.private / "figures.csv"
        self.review.ask_line(self.tr("save-ask"), self._save, str(path), most=1000)

    def _save(self, path: str) -> None:
        data = self.data
        assert data is not None
        if not path.strip():
            return

        def done(words: Message) -> None:
            self.say(words, "plain" if words.key == "class.csv-written" else "caution")

        self.review.call(lambda: save(data, path.strip()), done)


def save(data: dict[str, Any], path: str) -> Message:
    """Write the table; what to say of it."""
    rows = [(*names, "" if value is None else str(value)) for *names, value in class_figures.rows(data)]
    try:
        write_whole(Path(path), csv_bytes(("group", "name", "figure", "value"), rows))
    except OSError as error:
        return Message("class.csv-failed", {"path": safe_text(path), "why": why(error)})
    return Message("class.csv-written", {"path": safe_text(path), "count": len(rows)})
