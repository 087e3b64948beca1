"""The lesson: one step at a time, its claims with their state, its figure that can be stepped."""

from __future__ import annotations

from typing import ClassVar

from textual.message import Message as TextualMessage

from tutor.learner.progress import Place
from tutor.lines import Part
from tutor.strings import text
from tutor.ui.commands import Context
from tutor.ui.panes.base import ListPane
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName
from tutor.ui.views.lesson import LessonState, Seen, step_lines


class LessonPane(ListPane):
    """Shows `step`; remembers the row, so that a start comes back to the same line."""

    context: ClassVar[Context] = "lesson"

    class ClaimOpened(TextualMessage):
        """Enter on a claim's mark."""

        def __init__(self, claim: str) -> None:
            super().__init__()
            self.claim = claim

    class Moved(TextualMessage):
        """Another step or row is shown."""

    def __init__(self, store: Store, theme: ThemeName) -> None:
        super().__init__(store, theme, id="lesson")
        self.can_run = True
        self._figure_step = -1
        self._looked_for = ""
        place = store.progress.place
        names = [step.id for step in store.lesson.steps]
        self.index = names.index(place.step) if place and place.step in names else 0
        self._row = place.line if place and place.step in names else 0

    # --- what is shown -----------------------------------------------------------------------------------------------

    @property
    def step_id(self) -> str:
        return self.store.lesson.steps[self.index].id

    def state(self) -> LessonState:
        seen = {
            name: Seen(claim.verdict, claim.evidence, claim.source)
            for name, claim in self.store.progress.claims.items()
        }
        return LessonState(seen, self.can_run, self._figure_step)

    def title(self) -> list[Part]:
        step = self.store.lesson.steps[self.index]
        count = f"{self.index + 1}/{len(self.store.lesson.steps)}"
        return [(self.tr("step", count=count), "muted"), (" " + step.title.get(self.store.lang), "title")]

    def refill(self) -> None:
        width = max(20, self.body.size.width - 1)
        step = self.store.lesson.steps[self.index]
        # The title stands in the pane's own first row already.
        lines = step_lines(self.store.lesson, step, self.store.lang, width, self.state())[2:]
        old = len(self.body.lines)
        self.body.show(lines)
        if self._row:
            self.body.go(self._row)
            self._row = 0
        elif old and old != len(lines) and self.body.at < 0:
            self.body.go(round(self.body.top * len(lines) / old))
        self.draw_title()

    def place(self, tab: str) -> Place:
        return Place(self.step_id, self.body.top, tab)

    def _show_step(self, index: int, *, at_end: bool = False) -> None:
        self.index, self._figure_step = index, -1
        self.body.lines, self.body.at = (), -1
        self.refill()
        self.body.go(len(self.body.lines) if at_end else 0)
        self.post_message(self.Moved())

    # --- commands ----------------------------------------------------------------------------------------------------

    def can(self, command: str) -> bool:
        if command == "act":
            return self.body.item.startswith("claim:")
        if command == "mark":
            return any(row.item.startswith("claim:") for row in self.body.lines)
        if command == "figure":
            return any(row.item.startswith("figure:") for row in self.body.lines)
        if command == "next":
            return self.index + 1 < len(self.store.lesson.steps)
        if command == "previous":
            return self.index > 0
        return super().can(command)

    def do_next(self) -> None:
        if self.index + 1 < len(self.store.lesson.steps):
            self._show_step(self.index + 1)
        else:
            self.say(self.tr("last_step"))

    def do_previous(self) -> None:
        if self.index:
            self._show_step(self.index - 1)
        else:
            self.say(self.tr("first_step"))

    def do_down(self) -> None:
        self._scrolled(self.body.scroll_rows(1))

    def do_up(self) -> None:
        self._scrolled(self.body.scroll_rows(-1))

    def do_page_down(self) -> None:
        if not self._scrolled(self.body.scroll_page(1)):
            self.do_next()

    def do_page_up(self) -> None:
        if not self._scrolled(self.body.scroll_page(-1)) and self.index:
            self._show_step(self.index - 1, at_end=True)

    def do_home(self) -> None:
        super().do_home()
        self.post_message(self.Moved())

    def do_end(self) -> None:
        super().do_end()
        self.post_message(self.Moved())

    def _scrolled(self, moved: bool) -> bool:
        if moved:
            self.post_message(self.Moved())
        return moved

    def do_mark(self) -> None:
        """The next claim mark; past the last one, the first of a later step."""
        at = max(self.body.at, -1)
        for n in range(at + 1, len(self.body.lines)):
            if self.body.lines[n].item.startswith("claim:"):
                self.body.select(self.body.lines[n].item)
                self.post_message(self.Moved())
                return
        for later in range(self.index + 1, len(self.store.lesson.steps)):
            if "\n@claim " in self.store.lesson.steps[later].text.get(self.store.lang):
                self._show_step(later)
                self.do_mark()
                return
        self.say(self.tr("last_mark"))

    def do_act(self) -> bool:
        item = self.body.item
        if item.startswith("claim:"):
            self.post_message(self.ClaimOpened(item.removeprefix("claim:")))
            return True
        self.say(self.tr("no_mark"))
        return True

    def do_figure(self) -> bool:
        figure = next((row.item for row in self.body.lines if row.item.startswith("figure:")), "")
        if not figure:
            return False
        steps = len(self.store.lesson.figures[figure.removeprefix("figure:")].steps)
        self._figure_step = self._figure_step + 1 if self._figure_step + 1 < steps else -1
        self.refill()
        self._show_figure(figure)
        return True

    def _show_figure(self, item: str) -> None:
        """The drawing and the sentence under it, as far as both fit."""
        rows = self.body.lines
        first = next(n for n, row in enumerate(rows) if row.item == item)
        last = next((n for n in range(first, len(rows)) if not rows[n].parts), len(rows))
        if last - self.body.top > self.body.size.height:
            self.body.go(min(first, last - self.body.size.height))

    def search(self, wanted: str) -> None:
        """Go to the next line with these words, through all steps and round; empty repeats the last search."""
        wanted = wanted or self._looked_for
        if not wanted:
            return
        self._looked_for = wanted
        steps = self.store.lesson.steps
        width = max(20, self.body.size.width - 1)
        for turn in range(len(steps) + 1):
            index = (self.index + turn) % len(steps)
            lines = step_lines(self.store.lesson, steps[index], self.store.lang, width, self.state())[2:]
            for n, row in enumerate(lines):
                if wanted.casefold() in row.text.casefold() and (turn or n > self.body.at):
                    if turn:
                        self._show_step(index)
                    self.body.point(n)
                    self.post_message(self.Moved())
                    return
        self.say(text(self.store.lang, "ui.not_found", words=wanted))
