"""What every front end starts from: which lesson, whose state, which language and settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tutor import catalog, language, paths, settings
from tutor.cli.exits import Exit, Stop
from tutor.journal import Journal, StateError
from tutor.model import Lang, Lesson, Message
from tutor.settings import Settings, Theme

if TYPE_CHECKING:
    import argparse


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

    @classmethod
    def of(cls, args: argparse.Namespace, env: Mapping[str, str] = os.environ) -> Context:
        """The context that the command line asks for. Raises Stop."""
        try:
            chosen = settings.load(paths.config_file())
        except settings.SettingsError as error:
            raise Stop.saying(error.message) from error
        theme = getattr(args, "theme", None)
        if theme is not None and theme not in settings.THEMES:
            raise Stop("cli.usage-choice", what="--theme", got=theme, allowed=", ".join(settings.THEMES))
        if args.python is not None:
            chosen = replace(chosen, python=args.python)
        return cls(
            lesson_id=args.lesson_id or catalog.DEFAULT_LESSON,
            state=paths.state_folder(args.state, env),
            settings=chosen,
            lang_flag=args.lang,
            theme_flag=theme,
            mouse=chosen.mouse and not getattr(args, "no_mouse", False),
            env=env,
        )

    @property
    def folder(self) -> Path:
        """Where this lesson's journal is."""
        return paths.lesson_folder(self.state, self.lesson_id)

    @cached_property
    def lesson(self) -> Lesson:
        """The lesson with its checks. Raises Stop."""
        known = catalog.lesson_ids()
        if self.lesson_id not in known:
            raise Stop("cli.no-lesson", lesson=self.lesson_id, known=", ".join(known))
        try:
            return catalog.load(self.lesson_id)
        except catalog.CatalogError as error:
            raise Stop("cli.lesson-broken", Exit.BROKE, why=str(error)) from error

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

    def notices(self) -> list[Message]:
        """What the journal has to tell, if it was opened."""
        return list(self.journal.notices) if "journal" in self.__dict__ else []

    def close(self) -> None:
        """Let go of the journal, if it was opened. Raises StateError when something could not be written."""
        if "journal" in self.__dict__:
            self.journal.close()
