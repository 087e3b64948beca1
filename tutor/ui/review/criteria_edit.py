"""What earns points on a question, as a table: slots by ways to points. Accepted only after its effect was shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rich.cells import cell_len
from textual import events, on
from textual.widget import Widget

from tutor.classroom.class_criteria import change, class_criteria, preview
from tutor.classroom.criteria import LABEL_MAX, Criteria, CriteriaError
from tutor.classroom.criteria_draft import Draft
from tutor.classroom.intake import questions_of
from tutor.gradebook.rules import Effect
from tutor.language import Bilingual
from tutor.lines import Line, Part, fit
from tutor.strings import text
from tutor.ui.review.base import ReviewKey
from tutor.ui.review.class_screen import ClassScreen
from tutor.ui.review.list_rows import question_label
from tutor.ui.theme import ThemeName
from tutor.ui.widgets.bars import Bar
from tutor.ui.widgets.lines_view import LinesView

#: Rows of the table that are no slot.
POINTS, LEAST = "points", "at least"
_MARKS = {"must": "must", "some": "one-of", "not": "not"}


class CriteriaScreen(ClassScreen):
    """The rule of one question. `way` is the column of the cursor, the row is the one of the view. Closed with whether
    another rule counts now."""

    KEYS = (
        ReviewKey("cycle", ("space", "enter"), "Space"),
        ReviewKey("accept", ("P",), "P"),
        ReviewKey("add_slot", ("a",), "a"),
        ReviewKey("add_way", ("w",), "w"),
        ReviewKey("remove", ("d",), "d"),
        ReviewKey("left", ("h", "left"), "h", line=False),
        ReviewKey("right", ("l", "right"), "l", line=False),
        ReviewKey("next_question", ("n",), "n"),
    )

    def __init__(self, theme: ThemeName, question: str) -> None:
        super().__init__(theme)
        self.question = question
        self.columns = Bar(theme)
        self.view = LinesView(theme, id="table")
        self.draft: Draft | None = None
        self.version: int | None = None
        self.way = 0

    def body(self) -> Iterator[Widget]:
        yield self.columns
        yield self.view

    def on_mount(self) -> None:
        self.view.focus()
        self._load()

    def _load(self) -> None:
        book, lesson, question = self.review.book, self.review.lesson, self.question
        self.draft = None

        def done(found: dict[str, Criteria]) -> None:
            counts = found[question]
            self.draft = Draft(counts, questions_of(lesson)[question])
            self.version, self.way = counts.version, 0
            self.view.at = -1
            self.refill()
            self.draw_bars()

        self.review.call(lambda: class_criteria(book, lesson), done)

    # --- what is shown ------------------------------------------------------------------------------------------------

    def head(self) -> Sequence[Part]:
        label = question_label(self.question, self.lang)
        parts: list[Part] = [("> ", "strong"), (self.tr("criteria-title", question=label), "title")]
        if self.draft is not None:
            whose = "criteria-lesson" if self.version is None else "criteria-version"
            parts.append((f"  {text(self.lang, f'class.{whose}', version=self.version or 0)}", "plain"))
            if self.draft.is_changed:
                parts.append((" | " + self.tr("criteria-changed"), "caution"))
        return parts

    def refill(self) -> None:
        draft = self.draft
        if draft is None:
            return
        width = max(20, self.view.size.width or self.app.size.width)
        marks = {mark: self.tr(key) for mark, key in _MARKS.items()}
        column = max(*(cell_len(word) for word in marks.values()), 5) + 1
        room = width - 2 - column * len(draft.ways)
        rows = [self._row(POINTS, self.tr("points-row"), [str(way.points) for way in draft.ways], room, column)]
        for number, (slot, label) in enumerate(draft.slots.items(), 1):
            words = [marks[draft.mark(slot, way)] for way in range(len(draft.ways))]
            rows.append(self._row(f"slot {slot}", f"{number:>2} {label.get(self.lang)}", words, room, column))
        least = [f"{way.least}/{way.some()}" if way.some() else "-" for way in draft.ways]
        rows.append(self._row(LEAST, self.tr("least-row"), least, room, column))
        head = (
            "  "
            + " " * room
            + "".join(
                fit(f"[{name}]" if number == self.way else f" {name}", column)
                for number, name in enumerate(draft.labels())
            )
        )
        self.columns.set_parts([(head, "strong")])
        at = self.view.at
        self.view.lines = rows
        self.view.point(min(max(at, 1), len(rows) - 1) if at != 0 else 0)

    def _row(self, item: str, label: str, words: Sequence[str], room: int, column: int) -> Line:
        parts: list[Part] = [("  " + fit(label, room - 1) + " ", "plain")]
        for number, word in enumerate(words):
            parts.append((fit(f"[{word}]" if number == self.way else f" {word}", column), "plain"))
        return Line(tuple(parts), item)

    @property
    def unkept(self) -> bool:
        """Whether leaving would lose something."""
        return self.draft is not None and self.draft.is_changed

    @property
    def slot(self) -> str | None:
        """The slot under the cursor; None on another row."""
        kind, _, name = self.view.item.partition(" ")
        return name if kind == "slot" else None

    def can(self, name: str) -> bool:
        if name in ("language", "help", "leave", "repaint", "hint_quit", "back"):
            return True
        if self.draft is None:
            return False
        return self.slot is not None if name == "cycle" else True

    # --- moving and changing ------------------------------------------------------------------------------------------

    def do_left(self) -> None:
        self._move_to(self.way - 1)

    def do_right(self) -> None:
        self._move_to(self.way + 1)

    def _move_to(self, way: int) -> None:
        assert self.draft is not None
        self.way = max(0, min(way, len(self.draft.ways) - 1))
        self.refill()

    def do_cycle(self) -> None:
        slot, draft = self.slot, self.draft
        if slot is not None and draft is not None:
            draft.cycle(slot, self.way)
            self._changed()

    def on_key(self, event: events.Key) -> None:  # type: ignore[override]  # before the table of keys
        """A digit sets the number on the points row and on the last one; elsewhere it says where."""
        draft = self.draft
        if draft is None or event.character is None or event.character not in "0123456789":
            return
        event.stop()
        event.prevent_default()
        number = int(event.character)
        if self.view.item == POINTS:
            draft.set_points(self.way, number)
        elif self.view.item == LEAST:
            draft.set_least(self.way, number)
        else:
            self.say(self.tr("digits-where"))
            return
        self._changed()
        self.draw_bars()

    def _changed(self) -> None:
        """Draw it; what cannot be is said at once, and cannot be accepted."""
        assert self.draft is not None
        self.refill()
        try:
            self.draft.checked()
        except CriteriaError as error:
            self.say(text(self.lang, str(error)), "caution")
        else:
            self.say("")

    def do_add_slot(self) -> None:
        """Ask for its label here and in the other language; an empty one there is the same label."""

        def here(words: str) -> None:
            label = _printable(words)
            if label:
                self.review.ask_line(self.tr("slot-label-other"), lambda other: add(label, other), most=LABEL_MAX)

        def add(label: str, other: str) -> None:
            assert self.draft is not None
            both = (label, _printable(other) or label)
            name = self.draft.add_slot(Bilingual(*(both if self.lang == "zh" else reversed(both))))
            if name is None:
                self.say(text(self.lang, "class.criteria-many"), "caution")
                return
            self._changed()
            self.view.select(f"slot {name}")
            self.say(self.tr("slot-added"))
            self.draw_bars()

        self.review.ask_line(self.tr("slot-label"), here, most=LABEL_MAX)

    def do_add_way(self) -> None:
        assert self.draft is not None
        if self.draft.add_way(self.way):
            self.way += 1
            self._changed()
        else:
            self.say(text(self.lang, "class.criteria-many"), "caution")

    def do_remove(self) -> None:
        """An own slot with the cursor on it; else, on the points row, the way."""
        draft = self.draft
        assert draft is not None
        removed = draft.remove_slot(self.slot) if self.slot else self.view.item == POINTS and draft.remove_way(self.way)
        if not removed:
            self.say(self.tr("remove-what"), "caution")
            return
        self.way = min(self.way, len(draft.ways) - 1)
        self._changed()

    # --- to the end ---------------------------------------------------------------------------------------------------

    def do_accept(self) -> None:
        """Show what it would do; only y lets it count."""
        draft, book, grader = self.draft, self.review.book, self.review.grader
        assert draft is not None
        if not draft.is_changed:
            self.say(self.tr("criteria-same"))
            return
        try:
            wanted = draft.checked()
        except CriteriaError as error:
            self.say(text(self.lang, str(error)), "caution")
            return

        def shown(effect: Effect) -> None:
            question = text(self.lang, "class.criteria-effect", **effect._asdict()) + " " + self.tr("criteria-ask")
            self.review.ask(question, lambda: self.review.call(lambda: change(book, wanted, grader), counted))

        def counted(effect: Effect) -> None:
            said = text(self.lang, "class.criteria-effect", **effect._asdict())
            self.dismiss(True)
            self.app.call_later(self.review.say, said, "good")

        self.review.call(lambda: preview(book, wanted), shown)

    def do_next_question(self) -> None:
        names = list(questions_of(self.review.lesson))

        def go() -> None:
            self.question = names[(names.index(self.question) + 1) % len(names)]
            self.say("")
            self._load()

        self._unless_changed(go)

    def do_back(self) -> None:
        self._unless_changed(lambda: self.dismiss(False))

    def _unless_changed(self, go: Callable[[], object]) -> None:
        if self.draft is not None and self.draft.is_changed:
            self.review.ask(self.tr("criteria-leave"), go)
        else:
            go()

    @on(LinesView.Picked)
    def _picked(self) -> None:
        self.draw_bars()


def _printable(words: str) -> str:
    return "".join(c for c in words.strip() if c.isprintable())
