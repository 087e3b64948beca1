"""Before the commit: the answer is read with the learner, and locked."""

from __future__ import annotations

import random
from functools import partial

from tutor.learner.answers import fingerprint
from tutor.rubric.examine import examine
from tutor.ui.panes.answer_page import ANSWER_MAX, KEPT_MAX, AnswerPage
from tutor.ui.views import answer as check_view


class AnswerDraft(AnswerPage):
    """The self-check with its questions and prompts, and the commit; also of the argument that is made again."""

    def do_run(self) -> None:
        """Read what is written and show what was recognised; a version is kept."""
        if self.mode != "draft":
            return
        words = self.area.text
        if not words.strip():
            self.say(self.at("empty"))
            return
        lesson = self.store.lesson
        reference = "\n".join(lesson.reference(self.question.id, lang) or "" for lang in ("zh", "en"))
        seen = reference if self.answer.seen else ""
        self.checked = check_view.Checked(words, examine(lesson.rubric, self.question.id, words, seen))
        self._keep_version(words)
        self.refill()
        self.screen.set_focus(self.check)
        self._to_next()
        # The view gets its height with the next layout; what was scrolled for the old one is put back.
        self.call_after_refresh(self.check.go, 0)
        self.changed()

    def _keep_version(self, words: str) -> None:
        versions = self.answer.versions
        if len(words) <= KEPT_MAX and not (versions and versions[-1].text == words):
            self.store.record("version", name=self.question.id, text=words, why="checked")

    def _question(self) -> tuple[str, str] | None:
        """The slot under the cursor and the quote that is asked about."""
        name = self.check.item.removeprefix("slot:")
        if self.checked is None or not self.check.item.startswith("slot:"):
            return None
        if check_view.confirmed(self.answer, name, self.checked.text) is not None:
            return None
        quote = check_view.asked(self.answer, self.rubric.slot(name), self.checked.findings)
        return (name, quote.text) if quote is not None else None

    def _to_next(self) -> None:
        """The cursor to the next question that is open, if there is one."""
        items = [row.item for row in self.check.lines if row.item]
        start = items.index(self.check.item) if self.check.item in items else 0
        before = self.check.item
        for item in (*items[start:], *items[:start]):
            self.check.select(item)
            name = item.removeprefix("doubt:")
            if self._question() or (item.startswith("doubt:") and name not in self.answer.considered):
                return
        self.check.select(before)

    def do_prompt(self) -> None:
        if self.checked is None:
            self.say(self.at("check-first"))
            return
        if not self.check.item.startswith("slot:"):
            self.say(self.at("prompt-slot"))
            return
        slot, words = self.rubric.slot(self.check.item.removeprefix("slot:")), self.area.text
        if self.answer.prompts.get(slot.id, 0) >= len(slot.prompts):
            self.say(self.at("prompt-all"))
        elif not self.answer.may_prompt(slot.id, words, len(slot.prompts)):
            self.say(self.at("prompt-edit"))
        else:
            self.store.record("prompted", name=self.question.id, slot=slot.id, hash=fingerprint(words))
            self.refill()
            self.changed()

    def asks(self, kind: str) -> bool:
        """Whether the row under the cursor, of this kind, asks something about the text as it stands."""
        fresh = self.checked is not None and self.checked.text == self.area.text
        return fresh and (kind == "doubt" or (kind == "slot" and self._question() is not None))

    def answer_check(self, yes: bool) -> None:
        """Record what the learner says to the question under the cursor, and go to the next one."""
        item = self.check.item
        if not self.can("yes"):
            self.say(self.at("check-first"))
        elif item.startswith("doubt:"):
            self.store.record("considered", name=self.question.id, doubt=item.removeprefix("doubt:"), yes=yes)
            self.refill()
            if yes:
                self._to_next()
            else:
                self.screen.set_focus(self.area)
        elif (question := self._question()) is not None:
            slot, quote = question
            self.store.record("slot_confirmed", name=self.question.id, slot=slot, quote=quote, yes=yes)
            self.say(self.at("said-yes" if yes else "said-no"))
            self.refill()
            self._to_next()

    def do_commit(self) -> bool:
        if self.mode == "committed":
            return False
        words = self._editor().text
        if len(words) > ANSWER_MAX:
            self.say(self.at("too-long", chars=len(words), limit=ANSWER_MAX), "caution")
        elif not any(char.isalpha() for char in words):
            self.say(self.at("no-words"), "caution")
        elif self.mode == "arguing":
            self.tutor.ask(self.at("again-ask"), partial(self._keep_again, words))
        else:
            self.tutor.ask(self.at("commit-ask", chars=len(words)), partial(self._commit, words))
        return True

    def _commit(self, words: str) -> None:
        self.keep()
        self.store.flush()
        rubric = self.store.lesson.rubric
        self.store.record("committed", name=self.question.id, text=words, rubric=rubric.version)
        if self.answer.change is None:
            drawn = {other.change for other in self.store.progress.answers.values()}
            left = [change.id for change in rubric.changes if change.id not in drawn]
            self.store.record("change_drawn", name=self.question.id, change=random.choice(left))
        self.checked = None
        self._show(self.at("committed"))

    def _keep_again(self, words: str) -> None:
        self.keep()
        self.store.flush()
        change = self.answer.change
        assert change is not None
        self.store.record("rederived", name=self.question.id, change=change, text=words)
        self.arguing = False
        self._show(self.at("again-kept"))
