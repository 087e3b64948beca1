"""What lies over the learner's screen and is closed again: pages, questions, the palette."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from textual.app import App

from tutor.learner.progress import Evidence
from tutor.learner.session_lock import Owner
from tutor.lines import Line
from tutor.model import Claim, Message
from tutor.strings import text
from tutor.ui import commands
from tutor.ui.box import Box
from tutor.ui.panes.base import Pane
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName
from tutor.ui.views.lesson import LessonState

if TYPE_CHECKING:
    from tutor.ui.learner import LearnerScreen


class Overlays(App[None]):
    """The part of the application that opens them. Each module is imported when something of it is first shown."""

    store: Store
    learner: LearnerScreen
    theme_name: ThemeName
    box: Box | None

    @abstractmethod
    def switch_language(self) -> None: ...

    def ask_owner(self, other: Owner) -> None:
        """Another window has this progress open: take it over, or only read."""
        from tutor.literals import safe_text

        def answered(take: bool | None) -> None:
            if take:
                self.store.journal.take_over()
            else:
                self.store.journal.only_read()
                self.learner.say(self.store.journal.notices[-1], "caution")
            self.learner.draw_bars()

        since = datetime.fromisoformat(other.since).astimezone() if other.since else None
        question = text(
            self.store.lang,
            "ui.session_asks",
            who=safe_text(f"{other.tty or ''} {other.host} pid {other.pid}".strip()),
            since=f"{since:%H:%M}" if since else "?",
        )
        self.push_screen(_pages().Ask(self.theme_name, self.store.lang, question), answered)

    def welcome(self) -> None:
        from tutor.ui.views.pages import welcome

        def lines(lang: Any, width: int) -> list[Line]:
            box = self.box.words(lang) if self.box is not None else text(lang, "ui.box_looking")
            return welcome(self.store.lesson, lang, width, box)

        def done(answer: str | None) -> None:
            self.store.record("setting", name="welcomed", value=True)
            if answer == "help":
                self.show_help("lesson")

        page = _pages().Welcome(
            self.theme_name, self.store.lang, lambda lang: text(lang, "ui.welcome_title"), lines, keys="welcome_foot"
        )
        self.push_screen(page, done)

    def on_page_switched(self) -> None:
        self.switch_language()

    def refill_overlay(self) -> None:
        """Something that a page shows has changed."""
        if isinstance(self.screen, _pages().Page):
            self.screen.refill()

    def show_help(self, context: commands.Context) -> None:
        from tutor.ui.views.pages import help_lines

        self._page(
            lambda lang: text(lang, "ui.help_title", where=text(lang, f"ui.context_{context}")),
            lambda lang, width: help_lines(lang, width, context, self.theme_name),
        )

    def show_claim(self, claim: Claim, state: LessonState, done: Callable[[str | None], None] | None = None) -> None:
        from tutor.ui.views.pages import claim_page

        self._page(
            lambda lang: text(lang, "ui.claim_title"), lambda lang, width: claim_page(claim, lang, width, state), done
        )

    def show_evidence(self, evidence: Evidence) -> None:
        from tutor.ui.views.pages import evidence_page

        self._page(
            lambda lang: text(lang, "ui.evidence_one", id=evidence.id),
            lambda lang, width: evidence_page(evidence, lang, width),
        )

    def show_lines(
        self,
        title: Callable[[Any], str],
        lines: Callable[[Any, int], list[Line]],
        done: Callable[[str | None], None] | None = None,
        keys: str = "page_keys",
        item: str = "",
    ) -> None:
        """A page of a pane's own lines, the cursor on `item`; `done` is given what was chosen, None when closed."""
        page = _pages().Page(self.theme_name, self.store.lang, title, lines, keys=keys)
        page.first = item
        self.push_screen(page, done)

    def _page(
        self,
        title: Callable[[Any], str],
        lines: Callable[[Any, int], list[Line]],
        done: Callable[[str | None], None] | None = None,
        keys: str = "page_keys",
    ) -> None:
        self.push_screen(_pages().Page(self.theme_name, self.store.lang, title, lines, keys=keys), done)

    def ask(self, question: str, yes: Callable[[], None]) -> None:
        """A question; `yes` is called only when it is answered with y."""
        self.push_screen(_pages().Ask(self.theme_name, self.store.lang, question), lambda said: yes() if said else None)

    def ask_line(self, label: str, done: Callable[[str], None], value: str = "", most: int = 100) -> None:
        self.push_screen(
            _pages().SearchLine(self.theme_name, label, value, most),
            lambda words: done(words) if words is not None else None,
        )

    def choose_device(self) -> None:
        from tutor.ui.gpu_choice import open_choice

        open_choice(self)

    def show_palette(self) -> None:
        from tutor.ui.palette import Commands, Palette

        self.push_screen(Palette(providers=[Commands], placeholder=text(self.store.lang, "ui.palette")))

    def cite(self, pane: Pane) -> None:
        """Pick evidence and put its id into the answer."""
        from tutor.ui.panes.answer import AnswerPane
        from tutor.ui.views.lab import evidence_lines

        if not isinstance(pane, AnswerPane):
            return
        evidence = list(self.store.progress.evidence.values())
        if not evidence:
            self.learner.say(text(self.store.lang, "ui.evidence_empty"))
            return

        def done(item: str | None) -> None:
            if item:
                pane.insert(f"[{item.removeprefix('evidence:')}]")
                self.learner.set_focus(pane.editor())

        self._page(
            lambda lang: text(lang, "ui.cite_title"),
            lambda lang, width: evidence_lines(evidence, lang, width),
            done,
            keys="cite_foot",
        )

    async def cite_there(self, evidence: str) -> None:
        """Put one piece of evidence into the answer that was written last, the first question's if there is none."""
        from tutor.ui.panes.answer import AnswerPane

        ids = [question.id for question in self.store.lesson.questions]
        last = self.store.progress.last_draft
        await self.learner.show_tab(last if last in ids else ids[0])
        pane = self.learner.active
        editor = pane.editor()
        if not isinstance(pane, AnswerPane) or editor is None:
            self.learner.say(text(self.store.lang, "lab_views.cite-locked", id=evidence))
            return
        pane.insert(f"[{evidence}]")
        self.learner.set_focus(editor)


def dropped_message(store: Store) -> Message:
    """What the last session left behind when its line dropped or its process died."""
    dropped = store.progress.dropped
    assert dropped is not None
    at = datetime.fromisoformat(dropped.seen).astimezone()
    key = "ui.dropped" if dropped.how == "hangup" else "ui.crashed"
    if dropped.demo is not None:
        return Message(f"{key}_demo", {"at": f"{at:%H:%M}", "call": dropped.call or 0})
    return Message(key, {"at": f"{at:%H:%M}"})


def _pages() -> Any:
    # Imported when something lies over the screen; the first frame shows none of them.
    from tutor.ui import pages

    return pages
