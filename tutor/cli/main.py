"""Runs one command: reads the arguments, imports the command's module, turns its end into an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tutor import __version__
from tutor.cli.exits import Exit, Stop
from tutor.cli.parser import parse
from tutor.language import choose

if TYPE_CHECKING:
    import argparse

    from tutor.language import Lang


def run(argv: Sequence[str]) -> int:
    """The exit code of `tutor ARGV`. Whatever goes wrong is one sentence on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run(argv)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Nothing more is written, and the interpreter's last flush stays quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.BROKEN_PIPE
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except Exception as error:
        return _broke(error, _early_lang(argv))


def _run(argv: Sequence[str]) -> int:
    lang = _early_lang(argv)
    try:
        args = parse(argv)
    except Stop as stop:
        return _stopped(stop, lang)
    if args.version:
        print(f"torch-compile-tutor {__version__}")
        return Exit.GOOD
    if args.help or (args.command == "class" and args.action is None):
        from tutor.strings import text

        print(text(lang, f"cli.help-{args.command or 'tutor'}"), end="")
        return Exit.GOOD
    return _screen(args, lang) if args.command is None else _command(args, lang)


def _command(args: argparse.Namespace, lang: Lang) -> int:
    from importlib import import_module

    from tutor.cli.context import context_of
    from tutor.cli.output import Output
    from tutor.learner.journal import StateError
    from tutor.lesson.catalog import CatalogError

    try:
        context = context_of(args)
        lang = context.lang
        out = Output(lang, args.as_json)
        for notice in context.notices():
            out.hint(out.say(notice))
        told = len(context.notices())
        name = f"class_{args.action}".replace("-", "_") if args.command == "class" else args.command.replace("-", "_")
        command = import_module(f"tutor.cli.{name}")
        gc.enable()
        code: int = command.run(context, args, out)
        for notice in context.notices()[told:]:
            out.hint(out.say(notice))
        context.close()
    except Stop as stop:
        return _stopped(stop, lang)
    except StateError as error:
        return _stopped(Stop.saying(error.message), lang)
    except CatalogError as error:
        return _stopped(Stop("cli.lesson-broken", Exit.BROKE, why=str(error)), lang)
    return code


def _screen(args: argparse.Namespace, lang: Lang) -> int:
    from tutor import terminal

    trouble = terminal.preflight(sys.stdin, sys.stdout, sys.stderr, os.environ)
    if trouble is not None:
        return _stopped(Stop.saying(trouble), lang)
    terminal.apply_textual_defaults(os.environ, plain_keys=args.plain_keys)
    from tutor.cli.context import context_of
    from tutor.learner.journal import StateError
    from tutor.lesson.catalog import CatalogError

    try:
        context = context_of(args)
        lang = context.lang
        context.journal  # noqa: B018  A state folder that cannot be used is said before the screen comes up.
        from tutor.ui.app import run as run_screen

        return run_screen(context)
    except Stop as stop:
        return _stopped(stop, lang)
    except StateError as error:
        return _stopped(Stop.saying(error.message), lang)
    except CatalogError as error:
        return _stopped(Stop("cli.lesson-broken", Exit.BROKE, why=str(error)), lang)


def _stopped(stop: Stop, lang: Lang) -> int:
    from tutor.cli.output import Output
    from tutor.terminal import is_utf8

    # On a terminal that is not UTF-8 Chinese would be a row of escapes.
    out = Output(lang if is_utf8(sys.stderr) else "en", as_json=False)
    out.hint(out.text(stop.key, **stop.fields))
    return stop.code


def _broke(error: Exception, lang: Lang) -> int:
    """The tool's own fault: one sentence, and the whole story in a file."""
    import traceback

    from tutor.paths import cache_folder

    log = cache_folder() / "last-fault.txt"
    story = "".join(traceback.format_exception(error))
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(story, encoding="utf-8", errors="backslashreplace")
    except OSError:
        sys.stderr.write(story)  # With nowhere to keep it, here is the only place left.
    what = f"{type(error).__name__}: {error}"
    return _stopped(Stop("cli.tool-broke", Exit.BROKE, what=what, log=str(log)), lang)


def _early_lang(argv: Sequence[str]) -> Lang:
    """The language before the arguments are understood, for the help and for what is wrong with them."""
    flag: str | None = None
    for before, value in zip(("", *argv), argv, strict=False):
        if before == "--lang":
            flag = value
        elif value.startswith("--lang="):
            flag = value.removeprefix("--lang=")
    return choose(flag)
