"""What every front end starts from: which lesson, whose state, which language and settings."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tutor import language, paths, settings
from tutor.language import Lang
from tutor.learner.journal import Journal, StateError
from tutor.lesson import catalog
from tutor.model import Lesson, Message
from tutor.settings import Settings, Theme


@dataclass
class Context:
    """One run of the tutor. `lang_flag` is what `--lang` asked for, None without it."""

    lesson_id: str
    state: Path
    settings: Settings = field(default_factory=Settings)
    lang_flag: Lang | None = None
    theme_flag: Theme | None = None
    mouse: bool = True
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @property
    def folder(self) -> Path:
        """Where this lesson's journal is."""
        return paths.lesson_folder(self.state, self.lesson_id)

    @cached_property
    def lesson(self) -> Lesson:
        """The lesson with its checks. Raises `catalog.CatalogError`."""
        return catalog.load(self.lesson_id)

    @cached_property
    def journal(self) -> Journal:
        """The learner's journal of this lesson, made when there is none. Raises StateError."""
        return Journal.open(self.folder)

    @property
    def lang(self) -> Lang:
        """The language to speak: `--lang`, what the learner chose on the screen, then environment, file and locale."""
        chosen: str | None = None
        if self.lang_flag is None and (self.folder / "journal.jsonl").is_file():
            try:
                chosen = self.journal.progress.settings.get("lang")
            except StateError:
                pass  # Whoever needs the journal says why it cannot be had; a command that does not runs without.
        return language.choose(self.lang_flag, chosen, self.settings.lang, self.env)

    @property
    def theme(self) -> Theme:
        """The theme: `--theme`, else what the learner chose on the screen, else the settings file."""
        if self.theme_flag is not None:
            return self.theme_flag
        chosen = self.journal.progress.settings.get("theme")
        return chosen if chosen in settings.THEMES else self.settings.theme

    @property
    def device(self) -> str:
        """Where demos run: what the learner chose on the screen of this machine, else the settings file."""
        if "journal" in self.__dict__ or (self.folder / "journal.jsonl").is_file():
            try:
                chosen = self.journal.progress.settings.get("devices")
            except StateError:
                return self.settings.device  # As with the language, whoever needs the journal says why.
            here = chosen.get(socket.gethostname()) if isinstance(chosen, dict) else None
            if isinstance(here, str) and settings.is_device(here):
                return here
        return self.settings.device

    def notices(self) -> list[Message]:
        """What the journal has to tell, if it was opened."""
        return list(self.journal.notices) if "journal" in self.__dict__ else []

    def close(self) -> None:
        """Let go of the journal, if it was opened. Raises StateError when something could not be written."""
        if "journal" in self.__dict__:
            self.journal.close()
