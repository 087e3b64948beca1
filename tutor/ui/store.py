"""The learner's state as the screens use it: drafts are saved soon after typing, everything else at once."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Any

from tutor.language import Lang
from tutor.learner.journal import Journal, StateError
from tutor.learner.progress import Place, Progress
from tutor.learner.scoring import Score, score
from tutor.model import Lesson, Message

#: What was typed is on the disk this long after the first key that is not, in seconds.
SAVE_AFTER = 0.8
#: When it waits longer than this, the screen says so.
LATE = 1.5
#: How often a refused write is tried again, in seconds.
RETRY = 3.0


class Store:
    """One lesson's journal behind the screens. `problem` is why the last write failed, None when all is on the disk."""

    def __init__(self, lesson: Lesson, journal: Journal, lang: Lang) -> None:
        self.lesson = lesson
        self.journal = journal
        self.lang = lang
        self.problem: Message | None = None
        self._waiting: dict[str, tuple[str, tuple[int, int]]] = {}
        self._edges: dict[str, tuple[str, str]] = {}
        self._place: Place | None = None
        self._clean = monotonic()
        self.saved_at = ""
        """Local time of the last write, as HH:MM:SS."""

    @property
    def progress(self) -> Progress:
        return self.journal.progress

    @property
    def score(self) -> Score:
        return score(self.progress, self.lesson)

    @property
    def saved(self) -> bool:
        """Whether everything is on the disk."""
        waits = self._waiting or self._edges or self._place is not None
        return not waits and not self.journal.pending and self.problem is None

    @property
    def late(self) -> bool:
        """Whether something has waited longer than it should: a change that every key makes is not worth its bytes."""
        if self.saved:
            self._clean = monotonic()
        return monotonic() - self._clean > LATE

    def draft(self, name: str, default: str = "") -> str:
        """The text of a draft as it stands now, saved or not."""
        if name in self._waiting:
            return self._waiting[name][0]
        return self.progress.text(name) if name in self.progress.drafts else default

    def cursor(self, name: str) -> tuple[int, int]:
        return self.progress.drafts[name].cursor if name in self.progress.drafts else (0, 0)

    def keep_draft(self, name: str, text: str, cursor: tuple[int, int]) -> None:
        """Remember what was typed; `flush` writes it."""
        if name not in self.progress.drafts or text != self.progress.text(name) or name in self._waiting:
            self._waiting[name] = (text, cursor)

    def keep_edge(self, name: str, line: str, reason: str) -> None:
        """Remember an edge input as it is typed; `flush` writes it."""
        self._edges[name] = (line, reason)

    def keep_place(self, place: Place) -> None:
        """Remember where the learner is; `flush` writes it when it is another place than the saved one."""
        self._place = place if place != self.progress.place else None

    def look(self) -> bool:
        """See what other processes wrote; True when there was something."""
        try:
            return self.journal.refresh()
        except StateError as error:
            self.problem = error.message
            return False

    def flush(self) -> bool:
        """Write what waits: drafts, edge inputs, the place; True when nothing is left unsaved."""
        for name, (line, reason) in list(self._edges.items()):
            if self.record("edge", id=name, line=line, why=reason) or self._is_pending():
                self._edges.pop(name, None)
        for name, (text, cursor) in list(self._waiting.items()):
            if self.record("draft", name=name, text=text, cursor=list(cursor)) or self._is_pending():
                self._waiting.pop(name, None)
        place = self._place
        if place is not None and (
            self.record("place", step=place.step, line=place.line, tab=place.tab) or self._is_pending()
        ):
            self._place = None
        return self.saved

    def record(self, kind: str, **data: Any) -> bool:
        """Write one event at once; False when it could not be (it stays pending, and `problem` says why)."""
        try:
            self.journal.append(kind, **data)
        except StateError as error:
            self.problem = error.message
            return False
        self.problem = None
        self.saved_at = f"{datetime.now().astimezone():%H:%M:%S}"
        return True

    def add_evidence(self, record: dict[str, Any]) -> str | None:
        """Keep what a demo left behind; its id, None when nothing could be kept."""
        try:
            name = self.journal.add_evidence(record)
        except StateError as error:
            self.problem = error.message
            return next(reversed(self.progress.evidence), None)
        self.problem = None
        return name

    def set_aside(self) -> list[Path]:
        """What was typed and may not be written any more, each in a file of its own beside the journal."""
        files = []
        waiting = {name: words for name, (words, _) in self._waiting.items()}
        waiting |= {f"edge-{name}": f"{line}\n{reason}" for name, (line, reason) in self._edges.items()}
        for name, words in waiting.items():
            path = self.journal.folder / f"unsaved-{name}-{self.journal.session}.txt"
            try:
                path.write_text(words, encoding="utf-8")
            except OSError as error:
                self.problem = Message("state.unusable", {"path": str(path), "why": error.strerror or ""})
                continue
            files.append(path)
        self._waiting.clear()
        self._edges.clear()
        return files

    def retry(self) -> bool:
        """Try again to write what is pending; True when all is saved."""
        try:
            self.journal.retry()
        except StateError as error:
            self.problem = error.message
            return False
        if self.journal.read_only is None:
            self.problem = None
        return self.flush()

    def _is_pending(self) -> bool:
        return bool(self.journal.pending)
