"""A class to try things out on: hand-ins as a real class makes them, right and wrong, whole and half done.

    python tests/bench/make_class.py CLASS_DIR [--learners N] [--seed S]

CLASS_DIR is one that `class init` made. Files are put into its inbox as the tutor writes them. As root they get owners
of their own, user numbers from 20001; otherwise all are yours, and one learner's.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tutor import __version__, catalog, submission
from tutor.exchange import FILE_MODE, ClassFolder
from tutor.model import Lesson
from tutor.progress import Event, Progress, apply
from tutor.submission import Author

FIRST_UID = 20001

BLANKS = (
    'tuple("*" if i in dynamic_dims else n for i, n in enumerate(shape)), dtype, device',
    'tuple("*" if n in dynamic_dims else n for n in shape), dtype, device',
    "shape, dtype, device",
    '(tuple("*" for n in shape), dtype, device)',
    "tuple(",
    "1 / 0",
    "[0] * 10**10",
    "______",
)
EDGES = (
    'guard_key((2, 128), {-1}, "bf16", "cuda") raises ValueError',
    'guard_key((2, 128), {2}, "bf16", "cuda") raises ValueError',
    'guard_key((), set(), "bf16", "cuda") == ((), "bf16", "cuda")',
    'guard_key((2, 128), {0}, "bf16", "cuda") == ((2, 128), "bf16", "cuda")',
    "guard_key(2, 128)",
)
ANSWERS = (
    "A break splits the graph while tracing; a guard fails on a later call and the frame is compiled again.",
    "guard 失败发生在之后的调用里，要重编译；graph break 在捕获时就把图切开。日志里能看到原因 [E1]。",
    "They differ in many ways.",
    "",
)


def progress_of(draw: random.Random, reference: str) -> Progress:
    """What one learner has done, by chance."""
    progress = Progress()

    def did(kind: str, **data: object) -> None:
        number = did.number = getattr(did, "number", 0) + 1  # type: ignore[attr-defined]
        apply(progress, Event(f"s-{number}", f"2026-09-01T09:{number:02}:00.000Z", kind, data))

    blank = reference if draw.random() < 0.6 else draw.choice(BLANKS)
    did("draft", name="code", text=blank, cursor=[0, 0])
    for number, line in enumerate(draw.sample(EDGES, draw.randint(0, 3)), 1):
        why = draw.choice(("Dimension out of range.", "空 shape 没有维度可标记。", ""))
        did("edge", id=str(number), line=line, why=why)
    for question in ("q1", "q2", "q3"):
        did("draft", name=question, text=draw.choice(ANSWERS), cursor=[0, 0])
    did("prediction", demo="automatic-dynamic", answers={"call-1": draw.randint(0, 1)})
    record = {"demo": "automatic-dynamic", "source": "measured", "claims": {"zero-one": "holds"}}
    predicted = {"call-1": draw.randint(0, 1)}
    did("evidence", id="E1", record={**record, "predicted": predicted, "answers": {"call-1": 1}})
    return progress


def hand_ins(lesson: Lesson, learners: int, seed: int, first_uid: int = FIRST_UID) -> Iterator[tuple[int, bytes]]:
    """The owner and the file of each hand-in; the same for the same seed."""
    draw = random.Random(seed)
    reference = reference_blank(lesson)
    for uid in range(first_uid, first_uid + learners):
        progress = progress_of(draw, reference)
        reply = f"{draw.getrandbits(128):032x}"
        body = submission.body_of(
            progress,
            lesson,
            Author(uid, f"uid-{uid}"),
            made="2026-09-01T10:00:00.000Z",
            number=1,
            reply=reply,
            tutor=__version__,
        )
        yield uid, submission.seal(body)


def reference_blank(lesson: Lesson) -> str:
    """The right text for the blank, out of the lesson's reference file."""
    from tutor.blanks import Blank

    path = lesson.folder / "reference" / "guard_key.py"
    found = Blank.of(lesson.exercise.template, lesson.exercise.blank).read_file(path.read_bytes())
    if not isinstance(found, str):
        raise SystemExit(f"{path}: {found.key}")
    return found


def fill(folder: ClassFolder, lesson: Lesson, learners: int, seed: int) -> None:
    """Put a generated class into the inbox."""
    for uid, raw in hand_ins(lesson, learners, seed):
        path = folder.inbox / f"{uid:032x}.json"
        path.write_bytes(raw)
        path.chmod(FILE_MODE)
        if os.geteuid() == 0:
            os.chown(path, uid, uid)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("dir", type=Path)
    parser.add_argument("--learners", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    folder = ClassFolder.open(args.dir)
    fill(folder, catalog.load(folder.lesson), args.learners, args.seed)
    print(f"{args.learners} hand-ins in {folder.inbox}")


if __name__ == "__main__":
    main()
