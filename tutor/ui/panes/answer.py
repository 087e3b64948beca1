"""One of the three questions: a page to write on, saved as it is typed. Scoring comes with the rubric."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import TextArea

from tutor.model import Question
from tutor.ui.commands import Context
from tutor.ui.lines import Part, wrap
from tutor.ui.panes.base import Pane
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName
from tutor.ui.widgets.fields import Prose
from tutor.ui.widgets.lines_view import LinesView

ANSWER_MAX = 4000
#: An answer may be longer while it is written; a paste that would make it longer than this is refused.
KEPT_MAX = 4 * ANSWER_MAX


class AnswerPane(Pane):
    """The question, the answer's editor, and a line on what will come."""

    context: ClassVar[Context] = "answer"

    def __init__(self, store: Store, theme: ThemeName, question: Question) -> None:
        super().__init__(store, theme, id=question.id)
        self.question = question
        self.asked = LinesView(theme)
        self.asked.styles.height = "auto"
        self.area = Prose(store.draft(question.id), soft_wrap=True, limit=KEPT_MAX)
        self.note = LinesView(theme)
        self.note.styles.height = "auto"
        self.note.before_paint = self.refill

    def content(self) -> ComposeResult:
        yield self.asked
        yield self.area
        yield self.note

    def on_mount(self) -> None:
        self.area.move_cursor(self.store.cursor(self.question.id))

    def title(self) -> list[Part]:
        count = self.tr("answer_count", chars=len(self.area.text), limit=ANSWER_MAX)
        over = len(self.area.text) > ANSWER_MAX
        return [(self.question.id.upper(), "title"), ("  " + count, "caution" if over else "muted")]

    def editor(self) -> Widget:
        return self.area

    def home(self) -> Widget:
        return self.asked

    def refill(self) -> None:
        self.draw_title()
        width = max(20, self.size.width - 1)
        self.asked.show(wrap([(self.question.text.get(self.store.lang), "strong")], width))
        over = len(self.area.text) > ANSWER_MAX
        note = self.tr("answer_too_long", limit=ANSWER_MAX) if over else self.tr("answer_later")
        self.note.show(wrap([(note, "caution" if over else "muted")], width))

    def keep(self) -> None:
        self.store.keep_draft(self.question.id, self.area.text, self.area.cursor_location)

    @on(Prose.TooLong)
    def _too_long(self, event: Prose.TooLong) -> None:
        self.say(self.tr("too_long", chars=event.chars, limit=event.limit), "caution")

    @on(TextArea.Changed)
    def _typed(self) -> None:
        self.keep()
        self.refill()
        self.changed()

    def do_open(self) -> None:
        self.screen.set_focus(self.area)

    def do_undo(self) -> None:
        self.area.undo()

    def do_down(self) -> None:
        self.area.action_cursor_down()

    def do_up(self) -> None:
        self.area.action_cursor_up()

    def do_page_down(self) -> None:
        self.area.action_cursor_page_down()

    def do_page_up(self) -> None:
        self.area.action_cursor_page_up()

    def insert(self, words: str) -> None:
        """Put a citation at the cursor."""
        self.area.insert(words)

    def replace_all(self, words: str) -> None:
        """Another text from an editor; undo brings the old one back."""
        self.area.history.checkpoint()
        self.area.replace(words, (0, 0), self.area.document.end)
        self.area.history.checkpoint()
