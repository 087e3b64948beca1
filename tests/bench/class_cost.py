"""What a large class costs: taking in, listing, the next item, judging again, memory.

    python tests/bench/class_cost.py [--db URL] [--learners 10000] [--regrade 1000]

Everything is measured in this run on this machine, in an empty database: a file of SQLite's, or the one that URL names.
"""

from __future__ import annotations

import argparse
import os
import resource
import runpy
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.spread import spread
from tutor import catalog, exchange, intake, submission
from tutor.grades import grades
from tutor.regrade import Regrade, sandbox_lacks

MAKE = runpy.run_path(str(Path(__file__).with_name("make_class.py")))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--db", metavar="URL")
    parser.add_argument("--learners", type=int, default=10_000)
    parser.add_argument("--regrade", type=int, default=1_000)
    args = parser.parse_args()
    from tutor.gradebook import Gradebook
    from tutor.gradebook.database import Database

    lesson = catalog.load()
    with tempfile.TemporaryDirectory() as name:
        folder, _ = exchange.create(Path(name) / "class", lesson.id)
        book = Gradebook(Database(args.db or f"sqlite:///{name}/book.sqlite"), folder.id)
        print(f"{book.database.shown.partition('://')[0]}, {len(os.sched_getaffinity(0))} cores")

        def owner(each: exchange.Dropped) -> str:
            return f"uid-{int(each.name.partition(b'.')[0], 16)}"

        MAKE["fill"](folder, lesson, args.regrade, 1)
        size = sum(path.stat().st_size for path in folder.inbox.iterdir()) // args.regrade
        began = time.perf_counter()
        taken = intake.take_in(folder, book, lesson, owner=owner)
        print(f"intake of {taken.new} files of {size} bytes: {time.perf_counter() - began:.2f} s")

        missing = sandbox_lacks()
        began = time.perf_counter()
        cores = len(os.sched_getaffinity(0))
        endings = [
            graded.report.ending for graded in Regrade(book, lesson, "me", jobs=cores, weak_sandbox=bool(missing))
        ]
        told = {ending.value: endings.count(ending) for ending in set(endings)}
        print(f"re-grade of {len(endings)} by {cores} processes: {time.perf_counter() - began:.2f} s, {told}")

        for path in folder.inbox.iterdir():
            path.unlink()
        MAKE["fill"](folder, lesson, args.learners, 2)
        intake.take_in(folder, book, lesson, owner=owner)
        times = []
        for _ in range(10):
            began = time.perf_counter()
            intake.take_in(folder, book, lesson, owner=owner)
            count = sum(1 for _ in grades(book))
            times.append(time.perf_counter() - began)
        _show(f"list of {count}, with a look at the inbox", times)

        times = []
        for _ in range(500):
            began = time.perf_counter()
            item = book.scores.claim("me", "sitting", "q1")
            assert item is not None
            submission.read(book.raw(item.submission))
            times.append(time.perf_counter() - began)
            book.scores.give(item.id, "me", 1, holder="sitting")
        _show(f"next of {4 * count} items, with its answer", times)
        book.close()
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


def _show(what: str, seconds: list[float]) -> None:
    told = {key: value if key == "n" else f"{1000 * value:.1f}" for key, value in spread(seconds).items()}
    print(f"{what}, ms: " + ", ".join(f"{key} {value}" for key, value in told.items()))


if __name__ == "__main__":
    main()
