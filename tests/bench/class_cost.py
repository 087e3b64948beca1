"""What a large class costs: taking in, judging again, listing, the next item, memory, room on the disk.

    python tests/bench/class_cost.py [--db URL] [--learners 10000] [--regrade 1000]

Everything is measured in this run on this machine: on SQLite and, where it is installed, on a PostgreSQL of its own on
this machine, without a network; or on the empty database that URL names. Hand-ins come from `make_class.py`; of its
blanks none runs into the time limit, which would cost a second of one core each. The re-grade is done twice: of a
class that shares its blanks, and of one in which no two are the same. `grades` and `next` are what the commands and the
review screen call, without the start of a process and without drawing.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import sqlalchemy as sa

from tests.bench import make_class
from tests.bench.spread import spread
from tests.unit import postgres
from tutor.classroom import exchange, intake, submission
from tutor.classroom.exchange import ClassFolder
from tutor.classroom.grades import grades
from tutor.classroom.regrade import Regrade, sandbox_lacks
from tutor.gradebook import Gradebook
from tutor.gradebook.database import Database
from tutor.gradebook.scores import Mark
from tutor.lesson import catalog

Inboxes = dict[str, ClassFolder]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--db", metavar="URL")
    parser.add_argument("--learners", type=int, default=10_000)
    parser.add_argument("--regrade", type=int, default=1_000)
    args = parser.parse_args()
    lesson = catalog.load()
    with tempfile.TemporaryDirectory() as name, _databases(args.db, Path(name)) as urls:
        inboxes: Inboxes = {}
        for what, learners in (("shared", args.regrade), ("distinct", args.regrade), ("large", args.learners)):
            inboxes[what], _ = exchange.create(Path(name) / what, lesson.id)
            make_class.fill(inboxes[what], lesson, learners, 1, all_distinct=what == "distinct")
        for kind, new in urls.items():
            print(f"{kind}, {len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}", flush=True)
            # A process of its own: the most memory is this database's alone.
            child = multiprocessing.get_context("spawn").Process(target=_measure, args=([new(), new(), new()], inboxes))
            child.start()
            child.join()
            if child.exitcode:
                raise SystemExit(child.exitcode)


@contextmanager
def _databases(url: str | None, folder: Path) -> Iterator[dict[str, Callable[[], str]]]:
    """By name, what makes the URL of an empty database."""
    if url is not None:
        yield {"the database given": lambda: url}
        return
    numbers = iter(range(100))
    found: dict[str, Callable[[], str]] = {"sqlite": lambda: f"sqlite:///{folder}/book-{next(numbers)}.sqlite"}
    programs = postgres.programs()
    if programs is None:
        print(postgres.MISSING)
        yield found
        return
    with tempfile.TemporaryDirectory() as home:
        server = postgres.Server(Path(home), programs)
        try:
            yield {**found, "postgresql": server.database}
        finally:
            server.stop()


def _measure(urls: list[str], inboxes: Inboxes) -> None:
    for url, what in zip(urls, inboxes, strict=True):
        book = Gradebook(Database(url), what if len(set(urls)) > 1 else "bench")
        if what == "large":
            _list_and_next(book, inboxes[what])
        else:
            _regrade(book, inboxes[what], what)
        print(f"  on the disk: {_size(book.database) / 2**20:.0f} MiB")
        book.close()
    own, workers = (
        resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(f"  most memory: {own} MiB, of a judging process {workers} MiB")


def _take_in(book: Gradebook, folder: ClassFolder) -> int:
    def owner(each: exchange.Dropped) -> str:
        return f"uid-{int(each.name.partition(b'.')[0], 16)}"

    return intake.take_in(folder, book, catalog.load(folder.lesson), owner=owner).new


def _regrade(book: Gradebook, folder: ClassFolder, what: str) -> None:
    lesson, cores = catalog.load(folder.lesson), len(os.sched_getaffinity(0))
    sizes = [path.stat().st_size for path in folder.inbox.iterdir()]
    began = time.perf_counter()
    count = _take_in(book, folder)
    print(f"  intake of {count} files, {sum(sizes) >> 10} KiB: {time.perf_counter() - began:.2f} s")
    weak = bool(sandbox_lacks())
    began, spent = time.perf_counter(), _processor_seconds()
    reports = [graded.report for graded in Regrade(book, lesson, "me", jobs=cores, weak_sandbox=weak)]
    seconds = time.perf_counter() - began
    endings = ", ".join(f"{count} {ending}" for ending, count in Counter(each.ending for each in reports).most_common())
    spent = _processor_seconds() - spent
    print(f"  re-grade of {len(reports)}, blanks {what}, {cores} processes: {seconds:.2f} s ({endings})")
    print(f"    of which on a processor {spent:.2f} s, load {os.getloadavg()[0]:.1f}")
    _show("one of them in the sandbox", [each.seconds for each in reports])


def _processor_seconds() -> float:
    """What this process and those that it has waited for have used so far."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _list_and_next(book: Gradebook, folder: ClassFolder) -> None:
    began = time.perf_counter()
    count = _take_in(book, folder)
    print(f"  intake of {count} files: {time.perf_counter() - began:.2f} s")
    look, listing, following, scoring, counting = [], [], [], [], []
    for _ in range(20):
        began = time.perf_counter()
        _take_in(book, folder)
        looked = time.perf_counter()
        count = sum(1 for _ in grades(book))
        look.append(looked - began)
        listing.append(time.perf_counter() - looked)
        began = time.perf_counter()
        book.database.changes()
        counting.append(time.perf_counter() - began)
    _show("a look at the inbox, nothing new", look)
    _show(f"grades of {count}", listing)
    _show("a look whether anything changed", counting)
    for _ in range(500):
        began = time.perf_counter()
        item = book.queue.claim("me", "sitting", ("q1",))
        assert item is not None
        submission.read(book.raw(item.submission))
        given = time.perf_counter()
        book.scores.give(item.id, "me", Mark(1, slots={}, vetoes={}), holder="sitting")
        following.append(given - began)
        scoring.append(time.perf_counter() - given)
    _show(f"next of {4 * count} items, with its answer", following)
    _show("a score", scoring)


def _size(database: Database) -> int:
    """Bytes of the database, with what has not been merged into it yet."""
    with database.read() as connection:
        if connection.dialect.name == "postgresql":
            return int(connection.execute(sa.text("SELECT pg_database_size(current_database())")).scalar_one())
        path = Path(str(connection.engine.url.database))
    return sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*"))


def _show(what: str, seconds: list[float]) -> None:
    told = {key: value if key == "n" else f"{1000 * value:.1f}" for key, value in spread(seconds).items()}
    print(f"  {what}, ms: " + ", ".join(f"{key} {value}" for key, value in told.items()))


if __name__ == "__main__":
    main()
