"""The command line's grammar. The help is written by hand, so that it fits a screen and speaks both languages."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import NoReturn

from tutor.cli.exits import Stop
from tutor.settings import is_device

_CHOICE = r"invalid choice: (?P<got>.*?) \(choose from (?P<allowed>.*)\)"
#: What argparse says, and our sentence for it.
_SENTENCES = (
    (r"unrecognized arguments: (?P<what>.*)", "cli.usage-unknown"),
    (r"argument (?P<what>\S+): expected one argument", "cli.usage-value"),
    (rf"argument (?:COMMAND|ACTION): {_CHOICE}", "cli.usage-command"),
    (r"argument (?P<what>\S+): invalid int value: (?P<got>.*)", "cli.usage-number"),
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


def _device(text: str) -> str:
    if not is_device(text):
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r} (choose from auto, cpu, cuda, cuda:0)")
    return text


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
    check.add_argument("--kernel", metavar="FILE", nargs="?", const="")
    check.add_argument("--device", type=_device)
    demo = command("demo")
    demo.add_argument("name", nargs="?")
    demo.add_argument("--device", type=_device)
    demo.add_argument("--predict")
    lab = command("lab")
    lab.add_argument("file", nargs="?")
    lab.add_argument("--fn", default="fn")
    lab.add_argument("--calls", default="calls")
    lab.add_argument("--device", type=_device)
    lab.add_argument("--dynamic", choices=("true", "false", "auto"), default="auto")
    lab.add_argument("--fullgraph", action="store_true")
    lab.add_argument("--mode")
    lab.add_argument("--backend")
    lab.add_argument("--trace", metavar="DIR")
    lab.add_argument("--script", nargs=argparse.REMAINDER)
    lab.add_argument("--kernel", metavar="NAME")
    lab.add_argument("--target", metavar="SM")
    lab.add_argument("--warps", type=int, metavar="N")
    lab.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    lab.add_argument("--stage", choices=("source", "ttir", "ttgir", "ptx", "sass"))
    verify = command("verify")
    verify.add_argument("claims", nargs="*")
    verify.add_argument("--device", type=_device)
    verify.add_argument("--resume", action="store_true")
    rubric = command("rubric")
    rubric.add_argument("question", nargs="?")
    rubric.add_argument("file", nargs="?")
    report = command("report")
    report.set_defaults(as_json=False)
    report.add_argument("--html", metavar="F")
    report.add_argument("--md", metavar="F")
    report.add_argument("--json", metavar="F", dest="json_file")
    watch = command("watch")
    watch.add_argument("file", nargs="?")
    status, doctor = command("status"), command("doctor")
    lesson = command("lesson")
    lesson.add_argument("action", nargs="?")
    lesson.add_argument("dir", nargs="?")
    submit = command("submit")
    submit.add_argument("--to", metavar="CLASS_DIR")
    feedback, look_again = command("feedback"), command("look-again")
    look_again.add_argument("--question", metavar="Q")
    look_again.add_argument("--why", metavar="TEXT")
    review = command("review")
    review.add_argument("dir", nargs="?")
    review.set_defaults(as_json=False)
    told = (check, demo, lab, verify, rubric, watch, status, doctor, lesson, submit, feedback, look_again)
    for each in (*told, *_class(command("class"), common)):
        each.add_argument("--json", action="store_true", dest="as_json")
    return parser.parse_args(argv, argparse.Namespace(help=False, state=None, lang=None, lesson_id=None, python=None))


def _class(group: argparse.ArgumentParser, common: _Parser) -> list[argparse.ArgumentParser]:
    """The instructor's commands: `class ACTION DIR`, each in a module `class_<action>`."""
    actions = group.add_subparsers(dest="action", metavar="ACTION", parser_class=_Parser)
    made: dict[str, argparse.ArgumentParser] = {}
    for name in ("init", "list", "regrade", "score", "criteria", "memo", "hand-over", "grades", "feedback", "figures"):
        made[name] = actions.add_parser(name, parents=[common], add_help=False, allow_abbrev=False)
        made[name].add_argument("dir", nargs="?")
    made["init"].add_argument("--roster", metavar="CSV")
    made["init"].add_argument("--db", metavar="URL")
    made["init"].add_argument("--graders", metavar="GROUP")
    made["regrade"].add_argument("--jobs", type=int, metavar="N")
    made["regrade"].add_argument("--take", action="store_true")
    made["regrade"].add_argument("--allow-weak-sandbox", action="store_true")
    for name in ("score", "memo", "hand-over"):
        made[name].add_argument("--learner", metavar="L")
    for name in ("score", "criteria", "memo", "hand-over"):
        made[name].add_argument("--question", metavar="Q")
    made["score"].add_argument("--points", type=int, metavar="N")
    made["score"].add_argument("--veto", metavar="ID", default="none")
    made["score"].add_argument("--comment", metavar="T", default="")
    made["score"].add_argument("--slot", metavar="ID", action="append", default=[])
    made["score"].add_argument("--second", action="store_true")
    made["criteria"].add_argument("--rule", metavar="FILE")
    made["criteria"].add_argument("--preview", action="store_true")
    made["memo"].add_argument("--text", metavar="T")
    made["hand-over"].add_argument("--to", metavar="GRADER")
    made["grades"].add_argument("--csv", metavar="F")
    made["figures"].add_argument("--csv", metavar="F")
    return list(made.values())
