"""One of the three questions: written, checked with the learner, locked, compared, self-scored, argued again."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from textual import on
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import TextArea

from tutor.answers import Answer, fingerprint
from tutor.model import Question
from tutor.rubric import examine
from tutor.rubric_model import RubricQuestion
from tutor.rubric_text import READ_MAX
from tutor.strings import text
from tutor.ui.commands import Context
from tutor.ui.lines import Part, wrap
from tutor.ui.panes.base import Pane
from tutor.ui.self_score import record_score
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName
from tutor.ui.views import answer as check_view
from tutor.ui.views import committed as committed_view
from tutor.ui.widgets.fields import Prose
from tutor.ui.widgets.lines_view import LinesView

if TYPE_CHECKING:
    from tutor.ui.app import TutorApp

ANSWER_MAX = READ_MAX
#: An answer may be longer while it is written; a paste that would make it longer than this is refused.
KEPT_MAX = 4 * ANSWER_MAX
#: The self-check leaves at least so many rows to the answer.
ROWS_LEFT = 7

Mode = Literal["draft", "committed", "arguing"]


class AnswerPane(Pane):
    """The question; then the page to write on with its self-check, or what is locked with the reference."""

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

    def at(self, key: str, /, **args: str | int | float) -> str:
        return text(self.store.lang, f"answer.{key}", **args)

    # --- for the screen ----------------------------------------------------------------------------------------------

    def title(self) -> list[Part]:
        name: Part = (self.question.id.upper() + "  ", "title")
        if self.mode == "committed":
            times = len(self.answer.unlocked)
            more = " | " + self.at("unlocked-times", count=times) if times else ""
            return [name, (committed_view.stamp(self.answer, self.store.lang) + more, "muted")]
        words = self._editor().text
        over = len(words) > ANSWER_MAX
        if self.mode == "arguing":
            count = self.at("again-title", chars=len(words), limit=ANSWER_MAX)
        elif number := len(self.answer.versions):
            count = self.at("draft", number=number + 1, chars=len(words), limit=ANSWER_MAX)
        else:
            count = self.at("draft-none", chars=len(words), limit=ANSWER_MAX)
        return [name, (count, "caution" if over else "muted")]

    def _editor(self) -> Prose:
        return self.again if self.mode == "arguing" else self.area

    def editor(self) -> Widget | None:
        return None if self.mode == "committed" else self._editor()

    def home(self) -> Widget:
        return self.asked if self.mode == "arguing" or (self.mode == "draft" and self.checked is None) else self.view

    def _arrange(self) -> None:
        mode = self.mode
        self.area.display, self.again.display = mode == "draft", mode == "arguing"
        self.check.display, self.page.display = mode != "committed", mode == "committed"

    def refill(self) -> None:
        self._arrange()
        self.draw_title()
        lang, width = self.store.lang, max(20, self.size.width - 1)
        asked = wrap([(self.question.text.get(lang), "strong")], width)
        change = (
            next((one for one in self.store.lesson.rubric.changes if one.id == self.answer.change), None)
            if (self.mode == "arguing")
            else None
        )
        if change is not None:
            asked += wrap([(change.text.get(lang), "caution")], width)
        self.asked.show(asked)
        if self.mode == "committed":
            reference = self.store.lesson.reference(self.question.id, lang)
            progress = self.store.progress
            lines = committed_view.committed_lines(self.store.lesson, self.rubric, progress, reference, lang, width)
            first = next((row.item for row in lines if row.item), "")
            self.page.show(lines, item=self.page.item or first)
            return
        words = self._editor().text
        if len(words) > ANSWER_MAX:
            lines = wrap([(self.at("too-long", chars=len(words), limit=ANSWER_MAX), "caution")], width)
        elif self.mode == "arguing":
            lines = wrap([(self.at("again-hint"), "muted")], width)
        elif self.checked is None:
            lines = wrap([(self.at("hint"), "muted")], width)
            lines += check_view.cited(self.store.progress, words, lang, width)
        else:
            lines = check_view.check_lines(
                self.store.lesson.rubric, self.rubric, self.checked, self.store.progress, words, lang, width
            )
        first = next((row.item for row in lines if row.item), "")
        self.check.styles.height = max(1, min(len(lines), self.size.height - len(asked) - ROWS_LEFT))
        self.check.show(lines, item=self.check.item or first)

    def keep(self) -> None:
        if self.answer.commit is None:
            self.store.keep_draft(self.question.id, self.area.text, self.area.cursor_location)
        if self.again.text or self.again_name in self.store.progress.drafts:
            self.store.keep_draft(self.again_name, self.again.text, self.again.cursor_location)

    def choose(self, item: str) -> None:
        self.view.select(item)

    def insert(self, words: str) -> None:
        """Put a citation at the cursor."""
        self._editor().insert(words)

    def replace_all(self, words: str) -> None:
        """Another text from an editor; undo brings the old one back."""
        area = self._editor()
        area.history.checkpoint()
        area.replace(words, (0, 0), area.document.end)
        area.history.checkpoint()

    def act_words(self) -> str:
        item = self.view.item
        return self.tr("do_act_line" if item.startswith("slot:") else "do_act_lab")

    @on(Prose.TooLong)
    def _too_long(self, event: Prose.TooLong) -> None:
        self.say(self.tr("too_long", chars=event.chars, limit=event.limit), "caution")

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.keep()
        self.refill()
        self.changed()

    # --- moving ------------------------------------------------------------------------------------------------------

    def do_open(self) -> bool:
        if self.mode == "committed":
            return self.do_act()
        self.screen.set_focus(self._editor())
        return True

    def do_undo(self) -> None:
        self._editor().undo()

    def do_down(self) -> None:
        _ = self.view.move(1) or self.view.scroll_rows(1)

    def do_up(self) -> None:
        _ = self.view.move(-1) or self.view.scroll_rows(-1)

    def do_page_down(self) -> None:
        self.view.scroll_page(1) if self.mode == "committed" else self._editor().action_cursor_page_down()

    def do_page_up(self) -> None:
        self.view.scroll_page(-1) if self.mode == "committed" else self._editor().action_cursor_page_up()

    def do_home(self) -> None:
        self.view.go(0)

    def do_end(self) -> None:
        self.view.go(len(self.view.lines))

    def can(self, command: str) -> bool:
        kind = self.view.item.partition(":")[0]
        mode, draft = self.mode, self.mode == "draft"
        fresh = self.checked is not None and self.checked.text == self.area.text
        allowed = {
            "act": mode == "committed",
            "tick": mode == "committed" and kind == "slot",
            "yes": self._asks(kind, fresh),
            "no": self._asks(kind, fresh),
            "prompt": draft and self.checked is not None and kind == "slot",
            "cite": mode != "committed",
            "editor": mode != "committed",
            "undo": mode != "committed",
            "commit": mode != "committed",
            "doubt": mode == "committed" and kind == "slot",
            "unlock": mode == "committed",
            "versions": bool(self.answer.versions),
            "back": mode == "arguing",
            "run": draft,
        }
        return allowed.get(command, True)

    def _asks(self, kind: str, fresh: bool) -> bool:
        if self.mode == "committed":
            return kind == "veto"
        return self.mode == "draft" and fresh and (kind == "doubt" or (kind == "slot" and self._question() is not None))

    # --- before the commit -------------------------------------------------------------------------------------------

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

    def do_yes(self) -> bool:
        return self._answered(True)

    def do_no(self) -> bool:
        return self._answered(False)

    def _answered(self, yes: bool) -> bool:
        item = self.view.item
        if self.mode == "committed":
            if not item.startswith("veto:"):
                return False
            self.store.record("veto_answered", name=self.question.id, veto=item.removeprefix("veto:"), yes=yes)
            self.refill()
            self.page.move(1)
        elif not self.can("yes"):
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
        self.changed()
        return True

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

    def do_cite(self) -> bool:
        if self.mode == "committed":
            return False
        self.tutor.cite(self)
        return True

    def do_editor(self) -> bool:
        if self.mode == "committed":
            return False
        self.tutor.open_editor(self)
        return True

    def do_versions(self) -> None:
        if not self.answer.versions:
            self.say(self.at("versions-none"))
            return
        self.tutor.show_lines(
            lambda lang: text(lang, "answer.versions-title", question=self.question.id.upper()),
            lambda lang, width: committed_view.version_lines(self.answer, lang, width),
        )

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

    def _show(self, words: str) -> None:
        """Draw another mode, with the focus where it belongs."""
        self._arrange()
        self.screen.set_focus(self.home())
        for view in (self.page, self.check, self.asked):
            view.forget()
        self.refill()
        self.say(words)
        self.changed()

    # --- after it ----------------------------------------------------------------------------------------------------

    def do_act(self) -> bool:
        if self.mode != "committed":
            return False
        kind, _, name = self.page.item.partition(":")
        if kind == "slot":
            self._pick(name)
        elif kind == "cite":
            self.tutor.show_evidence(self.store.progress.evidence[name])
        elif kind == "demo":
            self.post_message(self.OpenDemo(name))
        elif kind == "again":
            self.arguing = True
            self._show(self.at("again-hint"))
            self.screen.set_focus(self.again)
        return True

    def _pick(self, slot: str) -> None:
        commit = self.answer.commit
        assert commit is not None

        def picked(item: str | None) -> None:
            if item:
                lines = committed_view.sentences(commit.text)
                self._tick(slot, lines[int(item.removeprefix("line:"))])

        self.tutor.show_lines(
            lambda lang: text(lang, "answer.pick-title"),
            lambda lang, width: committed_view.line_picks(commit.text, lang, width),
            picked,
            keys="answer.pick-foot",
        )

    def do_tick(self) -> bool:
        """Tick a slot, with the quote that was confirmed before where there is one; else a line has to be chosen."""
        if self.mode != "committed" or not self.page.item.startswith("slot:"):
            return False
        slot = self.page.item.removeprefix("slot:")
        answer = self.answer
        assert answer.commit is not None
        ticks = answer.score.ticks if answer.score is not None else {}
        quote = check_view.confirmed(answer, slot, answer.commit.text)
        if slot in ticks:
            self._tick(slot, None)
        elif quote is not None:
            self._tick(slot, quote)
        else:
            self._pick(slot)
        return True

    def _tick(self, slot: str, words: str | None) -> None:
        own = self.answer.score
        ticks = dict(own.ticks) if own is not None else {}
        if words is None:
            ticks.pop(slot, None)
        else:
            ticks[slot] = words
        record_score(self.store, self.question.id, ticks)
        self.refill()
        self.changed()

    def do_doubt(self) -> None:
        name = committed_view.doubt_row(self.rubric, self.page.item)
        if not self.page.item.startswith("slot:"):
            self.say(self.at("doubt-slot"))
        elif name is None:
            self.say(self.at("doubt-none"))
        else:
            self.store.record("doubted", name=self.question.id, claim=name)
            self.say(self.at("doubted", claim=name))
            self.post_message(self.OpenClaim(name))

    def do_unlock(self) -> bool:
        if self.mode != "committed":
            return False
        self.tutor.ask(self.at("unlock-ask"), self._unlock)
        return True

    def _unlock(self) -> None:
        self.store.record("unlocked", name=self.question.id)
        self._show(self.at("unlocked"))

    def do_back(self) -> bool:
        if self.mode != "arguing":
            return False
        self.keep()
        self.store.flush()
        self.arguing = False
        self._show("")
        return True

    def _keep_again(self, words: str) -> None:
        self.keep()
        self.store.flush()
        change = self.answer.change
        assert change is not None
        self.store.record("rederived", name=self.question.id, change=change, text=words)
        self.arguing = False
        self._show(self.at("again-kept"))
