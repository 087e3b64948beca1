"""The list of the class: where everybody stands, and from it a review, a re-grade, other criteria, publishing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual import on
from textual.widget import Widget

from tutor.classroom import feedback, intake
from tutor.classroom.exchange import ExchangeError
from tutor.classroom.grades import grades
from tutor.classroom.intake import questions_of
from tutor.gradebook import GradebookError
from tutor.gradebook.queue import LeaseLost
from tutor.lines import Part
from tutor.literals import safe_text
from tutor.model import Message
from tutor.strings import say, text
from tutor.ui.review.base import ReviewKey
from tutor.ui.review.class_screen import ClassScreen
from tutor.ui.review.list_rows import (
    ClassRow,
    Counts,
    ListLines,
    class_rows,
    column_head,
    counted,
    notes_of,
    question_label,
)
from tutor.ui.theme import ThemeName
from tutor.ui.widgets.bars import Bar
from tutor.ui.widgets.lines_view import LinesView

if TYPE_CHECKING:
    from tutor.ui.review.regrading import Regrading


#: Seconds between two looks at what others did; a list that takes long to read is read less often, in one part of so
#: many of the time.
LOOK_S = 3.0
QUIET = 10


class Read(NamedTuple):
    """The class as it was read: the gradebook's count of changes just before, and how long it took, seconds."""

    changes: int
    rows: list[ClassRow]
    seconds: float


class ClassList(ClassScreen):
    """One row a learner. `chosen` is the question that Enter opens, None for the row's first open one."""

    KEYS = (
        ReviewKey("open", ("enter", "i"), "Enter"),
        ReviewKey("stop", ("x",), "x"),
        ReviewKey("find", ("/",), "/"),
        ReviewKey("view", ("v",), "v"),
        ReviewKey("left", ("h", "left"), "h", line=False),
        ReviewKey("right", ("l", "right"), "l", line=False),
        ReviewKey("regrade", ("R",), "R"),
        ReviewKey("criteria", ("E",), "E"),
        ReviewKey("publish", ("P",), "P"),
        ReviewKey("hand_over", ("w",), "w", line=False),
        ReviewKey("figures", ("f",), "f"),
        ReviewKey("take_in", ("u",), "u", line=False),
    )

    def __init__(self, theme: ThemeName) -> None:
        super().__init__(theme)
        self.columns = Bar(theme)
        self.view = LinesView(theme, id="rows")
        self.everybody: list[ClassRow] = []
        self.only_needing = False
        self.chosen: str | None = None
        self.loaded = False
        self.regrading: Regrading | None = None
        self._counts: Counts | None = None
        self._found = ""
        self._changes = -1
        self._quiet_until = 0.0
        self._lost = False

    def body(self) -> Iterator[Widget]:
        yield self.columns
        yield self.view

    def on_mount(self) -> None:
        self.view.focus()
        self.set_interval(LOOK_S, self.look)

    def on_screen_resume(self) -> None:
        self.load()

    def on_unmount(self) -> None:
        if self.regrading is not None:
            self.regrading.abandon()

    @property
    def questions(self) -> list[str]:
        return list(questions_of(self.review.lesson))

    @property
    def row(self) -> ClassRow | None:
        """The row under the cursor."""
        lines = self.view.lines
        return lines.rows[self.view.at] if isinstance(lines, ListLines) and 0 <= self.view.at < len(lines) else None

    # --- what is shown ------------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read the gradebook again; the cursor stays on its learner."""
        self.review.call(self._read, self._loaded)

    def _read(self) -> Read:
        """In the gradebook's thread. The count comes first: what is written meanwhile makes it differ."""
        began, app = time.monotonic(), self.review
        changes = app.book.database.changes()
        rows = class_rows(grades(app.book), app.book.refused(), app.drafts.items())
        return Read(changes, rows, time.monotonic() - began)

    def _loaded(self, read: Read) -> None:
        if not self.loaded:
            self.say("")  # that it was being read
        is_new = not self.loaded or read.rows != self.everybody
        self._changes, self._quiet_until = read.changes, time.monotonic() + QUIET * read.seconds
        if not is_new:
            return
        self.everybody, self.loaded = read.rows, True
        self._counts = counted(read.rows, self.questions)
        self.refill()
        self.draw_bars()

    def look(self) -> None:
        """Others may have given points meanwhile: ask a number, and read on only when it has changed. Nothing is drawn,
        nothing goes over the line, when no row has."""
        app = self.review
        if app.screen is not self or app.busy or not self.loaded or time.monotonic() < self._quiet_until:
            return

        def differs(changes: int) -> None:
            if self._lost:
                self._lost = False
                self.say("")
            if changes != self._changes:
                self.load()

        app.call(app.book.database.changes, differs, self._not_seen)

    def _not_seen(self, error: GradebookError | LeaseLost) -> None:
        """The gradebook is lost: said once, until it is there again."""
        if not self._lost:
            self._lost = True
            self._say_refusal(error)

    def refill(self) -> None:
        if not self.loaded:
            self.say(self.tr("looking"))
            return
        before = self.row
        grader, width = self.review.grader, self.view.size.width or self.app.size.width
        shown = [row for row in self.everybody if not self.only_needing or row.needs(grader)]
        self.view.lines = ListLines(shown, self.questions, grader, self.lang, width)
        self.columns.set_parts(column_head(self.questions, self.chosen, self.lang))
        at = next((n for n, row in enumerate(shown) if before is not None and row.id == before.id), -1)
        self.view.point(at if at >= 0 else min(max(self.view.at, 0), len(shown) - 1))
        if not shown:
            self.say(self.tr("none-needing" if self.everybody else "nobody"))

    def head(self) -> Sequence[Part]:
        counts = self._counts
        parts: list[Part] = [
            ("> ", "strong"),
            (self.tr("title", name=safe_text(self.review.folder.path.name, 24)), "title"),
        ]
        if counts is None:
            return parts
        words = [self.tr("handed-in", count=counts.handed_in)]
        words.append("  ".join(f"{question_label(q, self.lang)} {n}/{of}" for q, (n, of) in counts.done.items()))
        for name in ("refused", "conflicts", "asks", "second"):
            if getattr(counts, name):
                words.append(self.tr(f"count-{name}", count=getattr(counts, name)))
        if self.only_needing:
            words.append(self.tr("only-needing"))
        return [*parts, ("  " + " | ".join(words), "plain")]

    def can(self, name: str) -> bool:
        if name == "stop":
            return self.regrading is not None
        if name in ("open", "find", "view", "left", "right", "hand_over", "publish", "regrade", "criteria"):
            return self.loaded and bool(self.everybody)
        return True

    # --- moving -------------------------------------------------------------------------------------------------------

    def do_left(self) -> None:
        self._choose(-1)

    def do_right(self) -> None:
        self._choose(1)

    def _choose(self, step: int) -> None:
        places: list[str | None] = [None, *self.questions]
        self.chosen = places[(places.index(self.chosen) + step) % len(places)]
        self.columns.set_parts(column_head(self.questions, self.chosen, self.lang))
        self.say(
            self.tr("chosen", question=question_label(self.chosen, self.lang))
            if self.chosen
            else self.tr("chosen-none")
        )

    def do_view(self) -> None:
        self.only_needing = not self.only_needing
        self.say("")
        self.refill()

    def do_find(self) -> None:
        self.review.ask_line(self.tr("find"), self._find, self._found)

    def _find(self, words: str) -> None:
        self._found, wanted = words, words.strip().casefold()
        lines = self.view.lines
        for number in (*range(self.view.at + 1, len(lines)), *range(self.view.at + 1)):
            if wanted and wanted in lines[number].text.casefold():
                self.view.point(number)
                return
        self.say(self.tr("not-found", words=safe_text(words, 40)), "caution")

    def do_back(self) -> None:
        self.do_hint_quit()

    # --- a row --------------------------------------------------------------------------------------------------------

    async def do_open(self) -> None:
        """Review the row's question; what cannot be reviewed is said whole."""
        row = self.row
        if row is None:
            return
        question = self.chosen or row.question(self.questions)
        if question is None or question not in row.items:
            self.say(" ".join(notes_of(row, self.questions, self.review.grader, self.lang)), "caution")
            return
        self.say("")
        await self.review.open_item(question, row.items[question].item)

    @on(LinesView.Picked)
    async def _picked(self) -> None:
        self.draw_bars()

    def do_hand_over(self) -> None:
        row = self.row
        question = row and (self.chosen or row.question(self.questions))
        if row is None or question is None or question not in row.items:
            self.say(self.tr("nothing-to-hand"), "caution")
            return
        label = self.tr("hand-ask", blind=row.blind, question=question_label(question, self.lang))
        number = row.items[question].item

        def give(to: str) -> None:
            queue, grader, holder = self.review.book.queue, self.review.grader, self.review.holder

            def work() -> None:
                queue.claim_this(number, grader, holder)
                queue.hand_over(number, holder, to.strip())

            def done(_: None) -> None:
                self.say(
                    text(self.lang, "class.handed-over", learner=row.blind, question=question, grader=safe_text(to, 40))
                )
                self.load()

            if to.strip():
                self.review.call(work, done, self._refused)

        self.review.ask_line(label, give)

    def _refused(self, error: GradebookError | LeaseLost) -> None:
        self._say_refusal(error)
        self.load()

    def _say_refusal(self, error: GradebookError | LeaseLost) -> None:
        from tutor.ui.review.app import refusal

        self.say(refusal(error), "caution")

    # --- the class ----------------------------------------------------------------------------------------------------

    def do_take_in(self) -> None:
        """Look into the inbox, and at the gradebook again."""
        review = self.review

        def work() -> intake.Taken | Message:
            try:
                return intake.take_in(review.folder, review.book, review.lesson)
            except ExchangeError as error:
                return error.message

        def done(taken: intake.Taken | Message) -> None:
            if isinstance(taken, Message):
                self.say(taken, "caution")
            else:
                self.say(text(self.lang, "class.took", new=taken.new, refused=taken.refused))
            self.load()

        review.call(work, done)

    def do_criteria(self) -> None:
        from tutor.ui.review.criteria_edit import CriteriaScreen

        self.app.push_screen(CriteriaScreen(self.theme_name, self.chosen or self.questions[0]))

    def do_figures(self) -> None:
        from tutor.ui.review.figures import FiguresScreen

        self.app.push_screen(FiguresScreen(self.theme_name))

    def do_publish(self) -> None:
        """Say what learners would be told that they were not told before; then, if wanted, tell them."""

        def preview(told: dict[str, feedback.Published] | Message) -> None:
            if isinstance(told, Message):
                self.say(told, "caution")
            elif not told:
                self.say(self.tr("publish-nothing"))
            else:
                changed, final = sum(each.changed for each in told.values()), sum(each.final for each in told.values())
                question = self.tr("publish-ask", count=len(told), changed=changed, final=final)
                self.review.ask(question, lambda: self.review.call(lambda: self._publish(True), published))

        def published(told: dict[str, feedback.Published] | Message) -> None:
            if isinstance(told, Message):
                self.say(told, "caution")
            else:
                final = sum(each.final for each in told.values())
                self.say(text(self.lang, "class.feedback-written", count=len(told), final=final), "good")
            self.load()

        self.review.call(lambda: self._publish(False), preview)

    def _publish(self, really: bool) -> dict[str, feedback.Published] | Message:
        try:
            return feedback.publish(self.review.folder, self.review.book, self.review.lesson, really=really)
        except ExchangeError as error:
            return error.message

    # --- the machine's points -----------------------------------------------------------------------------------------

    def do_regrade(self) -> None:
        if self.regrading is None:
            self.review.ask(self.tr("regrade-ask"), self._regrade)

    def _regrade(self) -> None:
        from tutor.ui.review.regrading import Regrading

        self.regrading = Regrading(self)
        self.regrading.start()

    def do_stop(self) -> None:
        if self.regrading is not None:
            self.regrading.stop()

    def regraded(self, words: str | Message) -> None:
        """The re-grade has ended; changed results are shown before they are taken."""
        self.regrading = None
        said = words if isinstance(words, str) else say(self.lang, words)
        self.review.say(said)
        self.draw_bars()
        self.load()
