"""The command line's grammar. The help is written by hand, so that it fits a screen and speaks both languages."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import NoReturn

from tutor.cli.exits import Stop

_CHOICE = r"invalid choice: (?P<got>.*?) \(choose from (?P<allowed>.*)\)"
#: What argparse says, and our sentence for it.
_SENTENCES = (
    (r"unrecognized arguments: (?P<what>.*)", "cli.usage-unknown"),
    (r"argument (?P<what>\S+): expected one argument", "cli.usage-value"),
    (rf"argument COMMAND: {_CHOICE}", "cli.usage-command"),
    (rf"argument (?P<what>\S+): {_CHOICE}", "cli.usage-choice"),
    (r"argument (?P<what>\S+): ignored explicit argument (?P<got>.*)", "cli.usage-no-value"),
)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        for pattern, key in _SENTENCES:
            match = re.fullmatch(pattern, message, re.DOTALL)
            if match:
                raise Stop(key, **{name: value.replace("'", "") for name, value in match.groupdict().items()})
        raise Stop("cli.usage", what=message)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments as given. Raises Stop for a wrong option. `command` is None for the screen."""
    common = _Parser(add_help=False, argument_default=argparse.SUPPRESS, allow_abbrev=False)
    common.add_argument("-h", "--help", action="store_true")
    common.add_argument("--state", metavar="DIR")
    common.add_argument("--lang", choices=("zh", "en"))
    common.add_argument("--lesson", metavar="ID", dest="lesson_id")
    common.add_argument("--python", metavar="EXE")

    parser = _Parser(prog="tutor", parents=[common], add_help=False, allow_abbrev=False)
    parser.add_argument("--version", action="store_true")
    parser.add_argument("--theme")
    parser.add_argument("--no-mouse", action="store_true")
    parser.add_argument("--plain-keys", action="store_true")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    def command(name: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, parents=[common], add_help=False, allow_abbrev=False)

    check = command("check")
    check.add_argument("file", nargs="?")
    check.add_argument("--expr")
    check.add_argument("--edge", action="append", default=[])
    demo = command("demo")
    demo.add_argument("name", nargs="?")
    demo.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    demo.add_argument("--predict")
    watch = command("watch")
    watch.add_argument("file", nargs="?")
    status, doctor = command("status"), command("doctor")
    lesson = command("lesson")
    lesson.add_argument("action", nargs="?")
    lesson.add_argument("dir", nargs="?")
    for each in (check, demo, watch, status, doctor, lesson):
        each.add_argument("--json", action="store_true", dest="as_json")
    return parser.parse_args(argv, argparse.Namespace(help=False, state=None, lang=None, lesson_id=None, python=None))
