"""Handing in from the screen: ask where to, look at the folder, say what goes, send it."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING

from tutor.classroom import handed_in
from tutor.classroom.exchange import ClassFolder, Receipt
from tutor.literals import safe_text
from tutor.model import Message
from tutor.strings import say, text
from tutor.ui.panes.errand import Errand

if TYPE_CHECKING:
    from collections.abc import Callable

    from tutor.classroom.handed_in import Parcel
    from tutor.learner.progress import Progress
    from tutor.ui.overlays import Overlays
    from tutor.ui.panes.errand import ErrandPane

PATH_MAX = 1000


class HandIn(Errand):
    """One hand-in after the other; `done` is called after each that got there."""

    def __init__(self, pane: ErrandPane, app: Callable[[], Overlays], done: Callable[[], None]) -> None:
        super().__init__(pane)
        self._app = app
        self._done = done
        self._path = ""

    def start(self) -> None:
        """Ask where to; the folder of the last time stands there already."""
        before = self._path or self.store.progress.settings.get("class")
        self._ask_where(before if isinstance(before, str) else "")

    def _ask_where(self, before: str) -> None:
        def named(path: str) -> None:
            if path.strip():
                self._look(path.strip())

        self._app().ask_line(text(self.store.lang, "handin.where"), named, before, PATH_MAX)

    def _look(self, path: str) -> None:
        if self.under_way:
            self.refused(Message("handin.waiting"))
            return
        self._path = path
        self.pane.say(Message("handin.looking"))
        self.store.flush()
        # What is shown is what goes, whatever other windows write meanwhile.
        progress, lesson = deepcopy(self.store.progress), self.store.lesson

        def look() -> tuple[ClassFolder, Parcel]:
            folder = ClassFolder.open(handed_in.class_path(path))
            handed_in.is_for(folder, lesson)
            return folder, handed_in.parcel(progress, lesson)

        def refused(message: Message) -> None:
            self.refused(message)
            self._ask_where(path)

        self.send(look, lambda found: self._ask(*found, progress), refused)

    def _ask(self, folder: ClassFolder, goes: Parcel, progress: Progress) -> None:
        self.pane.say("")
        question = text(
            self.store.lang,
            "handin.sure",
            path=safe_text(str(folder.path)),
            answers=goes.answers,
            evidence=goes.evidence,
            size=max(1, goes.size // 1024),
        )
        self._app().ask(question, lambda: self._submit(folder, progress))

    def _submit(self, folder: ClassFolder, progress: Progress) -> None:
        lesson, state = self.store.lesson, self.store.journal.folder
        self.send(
            lambda: handed_in.submit(progress, lesson, state, folder), lambda back: self._sent(*back), must_end=True
        )

    def _sent(self, receipt: Receipt, notices: list[Message]) -> None:
        self.store.record("setting", name="class", value=receipt.folder)
        self.store.record("handed_in", number=receipt.number, sha256=receipt.sha256)
        self._done()
        kept = str(Path(self.store.journal.folder) / "handed-in")
        done = Message("handin.done", {"number": receipt.number, "path": safe_text(kept)})
        words = " ".join(say(self.store.lang, message) for message in (done, *notices))
        self.pane.say(words, "caution" if notices else "good")
