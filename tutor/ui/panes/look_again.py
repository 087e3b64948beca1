"""Asking the instructor to look again: why not, or for what reason, then whether it is to be sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tutor.classroom import asking, feedback_text, look_again
from tutor.classroom.exchange import ExchangeError
from tutor.literals import safe_text
from tutor.model import Message
from tutor.strings import say, text
from tutor.ui.panes.errand import Errand

if TYPE_CHECKING:
    from collections.abc import Callable

    from tutor.classroom.returned import CameBack, Feedback
    from tutor.ui.overlays import Overlays
    from tutor.ui.panes.errand import ErrandPane


class LookAgain(Errand):
    """One request after the other; `done` is called after each that got there."""

    def __init__(self, pane: ErrandPane, app: Callable[[], Overlays], done: Callable[[], None]) -> None:
        super().__init__(pane)
        self._app = app
        self._done = done

    def start(self, came: CameBack, question: str) -> None:
        """Ask for the reason, where one may ask at all."""
        try:
            found = came.to_ask(question)
        except ExchangeError as error:
            self.refused(error.message)
            return
        label = text(self.store.lang, "handin.ask-why", question=self._words(question))
        self._app().ask_line(label, lambda why: self._sure(found, question, why), "", look_again.TEXT_MAX)

    def refused(self, message: Message) -> None:
        super().refused(feedback_text.of_question(message, self.store.lesson, self.store.lang))

    def _words(self, question: str) -> str:
        return safe_text(feedback_text.question_words(self.store.lesson, question, self.store.lang))

    def _sure(self, found: Feedback, question: str, reason: str) -> None:
        if not reason.strip():
            self.refused(Message("handin.ask-empty"))
            return
        words = {"question": self._words(question), "why": safe_text(reason, 200)}
        self._app().ask(text(self.store.lang, "handin.ask-sure", **words), lambda: self._ask(found, question, reason))

    def _ask(self, found: Feedback, question: str, reason: str) -> None:
        state, lesson = self.store.journal.folder, self.store.lesson
        self.send(
            lambda: asking.ask(state, found, lesson, question, reason),
            lambda notices: self._asked(question, notices),
            must_end=True,
        )

    def _asked(self, question: str, notices: list[Message]) -> None:
        self._done()
        done = Message("handin.asked-now", {"question": self._words(question)})
        words = " ".join(say(self.store.lang, message) for message in (done, *notices))
        self.pane.say(words, "caution" if notices else "good")
