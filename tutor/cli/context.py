"""The context that a command line asks for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tutor import paths, settings
from tutor.cli.exits import Stop
from tutor.context import Context
from tutor.lesson import catalog

if TYPE_CHECKING:
    import argparse


def context_of(args: argparse.Namespace, env: Mapping[str, str] = os.environ) -> Context:
    """Raises Stop: a lesson or a theme that does not exist, a settings file that cannot be used."""
    try:
        chosen = settings.load(paths.config_file())
    except settings.SettingsError as error:
        raise Stop.saying(error.message) from error
    theme = getattr(args, "theme", None)
    if theme is not None and theme not in settings.THEMES:
        raise Stop("cli.usage-choice", what="--theme", got=theme, allowed=", ".join(settings.THEMES))
    if args.lesson_id is not None and args.lesson_id not in (known := catalog.lesson_ids()):
        raise Stop("cli.no-lesson", lesson=args.lesson_id, known=", ".join(known))
    if args.python is not None:
        chosen = replace(chosen, python=args.python)
    return Context(
        lesson_id=args.lesson_id or catalog.DEFAULT_LESSON,
        state=paths.state_folder(args.state, env),
        settings=chosen,
        lang_flag=args.lang,
        theme_flag=theme,
        mouse=chosen.mouse and not getattr(args, "no_mouse", False),
        env=env,
    )
