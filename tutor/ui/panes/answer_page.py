"""What every mode of a free text's pane stands on: its widgets, what is recorded, the mode, going to another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, cast

from textual.app import ComposeResult
from textual.widget import Widget

from tutor.learner.answers import Answer
from tutor.model import Question
from tutor.rubric.model import RubricQuestion
from tutor.rubric.text import READ_MAX
from tutor.strings import text
from tutor.ui.commands import Context
from tutor.ui.panes.base import Pane
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName
from tutor.ui.views import answer as check_view
from tutor.ui.widgets.fields import Prose
from tutor.ui.widgets.lines_view import LinesView

if TYPE_CHECKING:
    from tutor.ui.app import TutorApp

ANSWER_MAX = READ_MAX
#: An answer may be longer while it is written; a paste that would make it longer than this is refused.
KEPT_MAX = 4 * ANSWER_MAX

Mode = Literal["draft", "committed", "arguing"]


class AnswerPage(Pane):
    """The question, the page to write on, its self-check, the page of what is locked; `mode` says which are shown."""

    context: ClassVar[Context] = "answer"

    def __init__(self, store: Store, theme: ThemeName, question: Question) -> None:
        super().__init__(store, theme, id=question.id)
        self.question = question
        self.asked = LinesView(theme)
        self.asked.styles.height = "auto"
        self.asked.before_paint = self.refill
        self.area = Prose(store.draft(question.id), soft_wrap=True, limit=KEPT_MAX)
        self.again = Prose(store.draft(self.again_name), soft_wrap=True, limit=KEPT_MAX)
        self.check = LinesView(theme)
        self.page = LinesView(theme)
        self.page.after_move = self.draw_title
        self.checked: check_view.Checked | None = None
        self.arguing = False

    def content(self) -> ComposeResult:
        yield self.asked
        yield self.area
        yield self.again
        yield self.check
        yield self.page

    def on_mount(self) -> None:
        self.area.move_cursor(self.store.cursor(self.question.id))
        self._arrange()

    # --- what there is -----------------------------------------------------------------------------------------------

    @property
    def again_name(self) -> str:
        """The draft of the argument under a changed condition."""
        return f"{self.question.id}-again"

    @property
    def answer(self) -> Answer:
        return self.store.progress.answer(self.question.id)

    @property
    def rubric(self) -> RubricQuestion:
        return self.store.lesson.rubric.questions[self.question.id]

    @property
    def mode(self) -> Mode:
        if self.answer.commit is None:
            return "draft"
        return "arguing" if self.arguing else "committed"

    @property
    def tutor(self) -> TutorApp:
        return cast("TutorApp", self.app)

    @property
    def view(self) -> LinesView:
        """What the cursor of lines is in."""
        return self.page if self.mode == "committed" else self.check

    def scrolled(self) -> LinesView | None:
        return self.page if self.mode == "committed" else None

    def at(self, key: str, /, **args: str | int | float) -> str:
        return text(self.store.lang, f"answer.{key}", **args)

    # --- the mode ----------------------------------------------------------------------------------------------------

    def _editor(self) -> Prose:
        return self.again if self.mode == "arguing" else self.area

    def home(self) -> Widget:
        return self.asked if self.mode == "arguing" or (self.mode == "draft" and self.checked is None) else self.view

    def _arrange(self) -> None:
        mode = self.mode
        self.area.display, self.again.display = mode == "draft", mode == "arguing"
        self.check.display, self.page.display = mode != "committed", mode == "committed"

    def _show(self, words: str) -> None:
        """Draw another mode, with the focus where it belongs."""
        self._arrange()
        self.screen.set_focus(self.home())
        for view in (self.page, self.check, self.asked):
            view.forget()
        self.refill()
        self.say(words)
        self.changed()

    def keep(self) -> None:
        if self.answer.commit is None:
            self.store.keep_draft(self.question.id, self.area.text, self.area.cursor_location)
        if self.again.text or self.again_name in self.store.progress.drafts:
            self.store.keep_draft(self.again_name, self.again.text, self.again.cursor_location)
