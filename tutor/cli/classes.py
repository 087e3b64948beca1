"""What every `class` command starts from: the folder, its lesson, its gradebook with the new hand-ins taken in."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tutor.classroom import class_book, intake
from tutor.classroom.exchange import ClassFolder, ExchangeError
from tutor.cli.exits import Stop
from tutor.cli.output import Output
from tutor.learner.line_file import write_whole
from tutor.lesson import catalog
from tutor.model import Lesson
from tutor.paths import why
from tutor.table import csv_bytes

if TYPE_CHECKING:
    from tutor.gradebook.book import Gradebook
    from tutor.gradebook.queue import Item


class Opened(NamedTuple):
    folder: ClassFolder
    book: Gradebook
    lesson: Lesson
    taken: intake.Taken


def directory(args: argparse.Namespace) -> Path:
    """The class folder that was named. Raises Stop."""
    if args.dir is None:
        raise Stop("class.no-dir", action=args.action)
    return Path(args.dir)


@contextmanager
def opened(args: argparse.Namespace, out: Output, *, is_new: bool = False) -> Iterator[Opened]:
    """The class, after an intake: what is said of it is true now. Raises Stop, CatalogError."""
    with saying_why():
        folder = ClassFolder.open(directory(args))
        lesson = catalog.load(folder.lesson)
        book, notices = class_book.open_book(folder, is_new=is_new)
        try:
            for notice in notices:
                out.hint(out.say(notice))
            taken = intake.take_in(folder, book, lesson)
            if taken.new or taken.refused:
                out.hint(out.text("class.took", new=taken.new, refused=taken.refused))
            yield Opened(folder, book, lesson, taken)
        finally:
            class_book.close_book(folder, book)


def item_of(args: argparse.Namespace, book: Gradebook, lesson: Lesson) -> Item:
    """The answer that --learner and --question name. Raises Stop."""
    for name in ("learner", "question"):
        if getattr(args, name) is None:
            raise Stop("class.command-needs", action=args.action, what=f"--{name}")
    questions = intake.questions_of(lesson)
    if args.question not in questions:
        raise Stop("cli.usage-choice", what="--question", got=args.question, allowed=", ".join(questions))
    item = book.queue.find(args.learner, args.question)
    if item is None:
        raise Stop("class.score-nobody", learner=args.learner)
    return item


@contextmanager
def saying_why() -> Iterator[None]:
    """Turns the errors of a class into Stop."""
    try:
        yield
    except ExchangeError as error:
        raise Stop.saying(error.message) from error
    except Exception as error:
        from tutor.gradebook import GradebookError

        if isinstance(error, GradebookError):
            raise Stop.saying(error.message) from error
        raise


def write_csv(path: str, head: Sequence[str], rows: Sequence[Sequence[str | int | None]], out: Output) -> None:
    """A table for a spreadsheet, put in place at once and said so; `-` is stdout. Raises Stop."""
    raw = csv_bytes(head, rows)
    if path == "-":
        out.whole(raw)
        return
    try:
        write_whole(Path(path), raw)
    except OSError as error:
        raise Stop("class.csv-failed", path=path, why=why(error)) from error
    (out.hint if out.as_json else out.result)(out.text("class.csv-written", path=path, count=len(rows)))
