"""A class to try things out on: hand-ins as a real class makes them, right and wrong, whole and half done.

    python tests/bench/make_class.py CLASS_DIR [--learners 40] [--seed 1] [--all-distinct]

CLASS_DIR is one that `class init` made. Files are put into its inbox as the tutor writes them. As root they get owners
of their own, user numbers from 20001; otherwise all are yours, and one learner's.

The answers are the labelled ones of the tests, in Chinese and English, from excellent to gaming; the evidence is the
lesson's own recorded runs, on a machine that calls itself `generated`. Many learners of a class write the same blank:
with --all-distinct no two do.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.unit import labelled
from tutor import __version__
from tutor.classroom import submission
from tutor.classroom.exchange import FILE_MODE, ClassFolder
from tutor.classroom.submission import Author
from tutor.exercise.comparison import alike, behaviour
from tutor.exercise.edge_lines import parse_edge
from tutor.lab import transcripts
from tutor.learner.progress import Event, Progress, apply
from tutor.learner.scoring import VETOES
from tutor.lesson import catalog
from tutor.model import Exercise, Lesson, Message, Raised
from tutor.sandbox import Returned

FIRST_UID = 20001
OPENED = datetime(2026, 9, 1, 9, tzinfo=UTC)

#: What is written into the blank, and the points of the given assertions that it earns. `{n}` is the learner's own.
RIGHT = (
    "guarded_shape, dtype, device",
    "(guarded_shape, dtype, device)",
    "(guarded_shape,\n            dtype,\n            device)",
    "tuple([guarded_shape, dtype, device])",
    'tuple("*" if dim in dynamic_dims else size for dim, size in enumerate(shape)), dtype, device',
)
WRONG = (
    ("guarded_shape", 0),
    ("shape, dtype, device", 0),
    ("[guarded_shape, dtype, device]", 0),
    ("guarded_shape + (dtype, device)", 0),
    ("(guarded_shape, device, dtype)", 0),
    ('(guarded_shape, "bf16", "cuda")', 0),
    ('tuple("*" if n in dynamic_dims else n for n in shape), dtype, device', 0),
    ('(tuple("*" for n in shape), dtype, device)', 0),
    ('(("*", "*", 4096), dtype, device)', 1),
    ("str((guarded_shape, dtype, device))", 0),
    ("hash((guarded_shape, dtype, device))", 0),
    ("gaurded_shape, dtype, device", 0),
    ("guarded_shape, dtype, device.type", 0),
    ("return guarded_shape, dtype, device", 0),
    ("(guarded_shape, dtype, device", 0),
    ("1 / 0", 0),
    ("[0] * 10**10", 0),
    ("______", 0),
)
#: Blanks that differ in a name or a number that is the learner's own, and are otherwise as right as those above.
OWN_RIGHT = (
    'tuple("*" if d{n} in dynamic_dims else s{n} for d{n}, s{n} in enumerate(shape)), dtype, device',
    "(lambda key{n}: key{n})((guarded_shape, dtype, device))",
    "tuple([part{n} for part{n} in (guarded_shape, dtype, device)])",
)
OWN_WRONG = (
    ('tuple("*" if s{n} in dynamic_dims else s{n} for s{n} in shape), dtype, device', 0),
    ("guarded_shape, dtype, device, {n}", 0),
    ("(key{n}, dtype, device)", 0),
    ("[part{n} for part{n} in (guarded_shape, dtype, device)]", 0),
    ("[0] * 10**10  # {n}", 0),
    ("(guarded_shape, dtype, device  # {n}", 0),
)

#: Edge inputs; `{a}` and `{b}` are sizes of the learner's own. Not all predictions are right, nor all lines whole.
EDGES = (
    'guard_key(({a}, {b}), {{-1}}, "bf16", "cuda") raises ValueError',
    'guard_key(({a}, {b}), {{2}}, "bf16", "cuda") raises ValueError',
    'guard_key(({a},), {{0, 1}}, "fp16", "cpu") raises ValueError',
    'guard_key((), set(), "bf16", "cuda") == ((), "bf16", "cuda")',
    'guard_key((), {{{a}}}, "bf16", "cuda") raises ValueError',
    'guard_key(({a}, {a}, {b}), [0, 0], "bf16", "cuda") == (("*", {a}, {b}), "bf16", "cuda")',
    'guard_key((1, {b}), {{0}}, "bf16", "cuda") == (("*", {b}), "bf16", "cuda")',
    'guard_key(({a}, {b}), {{0}}, "bf16", "cuda") == (({a}, {b}), "bf16", "cuda")',
    'guard_key(({a}, {b}), {{-1}}, "bf16", "cuda") raises IndexError',
    "guard_key({a}, {b})",
)
WHYS = {
    "zh": (
        "rank 是 2，合法下标只有 0 和 1；检查先拒绝，所以抛 ValueError。只查上界的版本会放过 -1。",
        "下标等于 rank，已经越界。上界写成 > 的人会差一。",
        "空 shape 没有维度，循环一次也不进，key 里只剩 dtype 和 device。",
        "感觉这里容易出错。",
        "",
    ),
    "en": (
        "Rank 2 has dims 0 and 1 only; the check runs first and raises. A version that only checks above lets -1 pass.",
        "The dim equals the rank, one past the end. Whoever writes > in place of >= lets it through.",
        "An empty shape has no dims, so the loop never runs and only dtype and device are left in the key.",
        "Looked like a corner case.",
        "",
    ),
}


class Level(NamedTuple):
    """How well a learner does: how often, how likely the blank is right and a prediction comes out, which kinds of
    answers, and how many edge inputs at most."""

    share: float
    right: float
    hit: float
    kinds: Mapping[str, int]
    edges: int


LEVELS = (
    Level(0.3, 0.97, 0.8, {"excellent": 8, "partial": 2}, 4),
    Level(0.45, 0.8, 0.6, {"excellent": 2, "partial": 6, "negated": 1, "contradictory": 1, "veto": 1}, 3),
    Level(0.25, 0.35, 0.4, {"partial": 2, "wrong": 5, "gaming": 2, "offtopic": 1, "copied": 1, "veto": 2, "": 3}, 2),
)


class _Learner:
    """One learner at work: everything that they do is an event of their journal."""

    def __init__(
        self, draw: random.Random, lesson: Lesson, records: Mapping[str, dict[str, Any]], own: int | None
    ) -> None:
        self.draw, self.lesson, self.records, self.own = draw, lesson, records, own
        self.level = draw.choices(LEVELS, [level.share for level in LEVELS])[0]
        self.lang = draw.choices(("zh", "mixed", "en"), (6, 2, 3))[0]
        self.progress = Progress()
        self.now = OPENED + timedelta(minutes=draw.randrange(14 * 24 * 60))
        self._count = 0

    def work(self) -> None:
        """All of it, with what a learner of this level leaves out."""
        self._did("opened")
        for demo in self.draw.sample(sorted(self.records), self.draw.randint(0, 6)):
            self._run_demo(demo)
        self._fill_blank()
        self._find_edges()
        for question in self.lesson.questions:
            self._answer(question.id)
        self._did("closed")

    @property
    def clock(self) -> str:
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _did(self, kind: str, **data: object) -> None:
        self._count += 1
        self.now += timedelta(seconds=self.draw.uniform(5, 240))
        apply(self.progress, Event(f"s-{self._count}", self.clock, kind, data))

    def _run_demo(self, name: str) -> None:
        demo = self.lesson.demos[name]
        record = self.records[name]
        answers: Mapping[str, int] = record["answers"]
        predicted = {
            ask.id: answers[ask.id]
            if self.draw.random() < self.level.hit
            else self.draw.randint(0, len(ask.choices) - 1 if ask.choices else 3)
            for ask in demo.asks
            if ask.id in answers and self.draw.random() < 0.9
        }
        if predicted:
            self._did("prediction", demo=name, answers=predicted)
        agreed = sum(predicted[ask] == answers[ask] for ask in predicted) if predicted else None
        mine: dict[str, Any] = {**record, "predicted": predicted, "agreed": agreed}
        if record["environment"]["device"] == "cpu" and self.draw.random() < 0.8:
            mine |= {"source": "measured", "when": self.clock, "where": None}
            mine["environment"] = {**record["environment"], "host": "generated"}
        self._did("evidence", id=self.progress.next_evidence_id(), record=mine)

    def _fill_blank(self) -> None:
        right = self.draw.random() < self.level.right
        for is_last in (False, True) if self.draw.random() < 0.5 else (True,):
            if self.own is not None:
                forms = [(text, 2) for text in OWN_RIGHT] if right and is_last else list(OWN_WRONG)
            else:
                forms = [(text, 2) for text in RIGHT] if right and is_last else list(WRONG)
            text, points = self.draw.choice(forms)
            text = text.replace("{n}", str(self.own))
            self._did("draft", name="code", text=text, cursor=[0, len(text)])
            report = {"ending": "passed" if points == 2 else "failed", "normal": points}
            self._did("checked", expr=text, report=report)

    def _find_edges(self) -> None:
        whys = WHYS["en" if self.lang == "en" else "zh"]
        for number, form in enumerate(self.draw.sample(EDGES, self.draw.randint(0, self.level.edges)), 1):
            line = form.format(a=self.draw.randint(2, 64), b=self.draw.choice((128, 1024, 4096)))
            self._did("edge", id=str(number), line=line, why=self.draw.choice(whys))
            caught = _caught(self.lesson.exercise, line)
            result = {"ending": "passed" if caught else "failed", "caught": caught, "point": bool(caught)}
            self._did("edge_checked", id=str(number), line=line, result=result)

    def _answer(self, question: str) -> None:
        kinds = self.level.kinds
        kind = self.draw.choices(list(kinds), list(kinds.values()))[0]
        choice = _answers(question, kind, self.lang)
        if not choice:
            if self.draw.random() < 0.5:
                self._did("draft", name=question, text="", cursor=[0, 0])
            return
        one = self.draw.choice(choice)
        text = self._cited(one.answer)
        self._did("draft", name=question, text=text[: len(text) // 2], cursor=[0, 0])
        self._did("draft", name=question, text=text, cursor=[0, 0])
        if self.draw.random() < 0.2:  # never committed: handed in as it stands
            return
        self._commit(question, text)
        self._self_score(question, one, text)
        if self.draw.random() < 0.2:  # something is better said once the reference was seen
            later = text + (" What else I should have named: the dtype." if self.lang == "en" else "我漏说了 dtype。")
            self._did("unlocked", name=question)
            self._did("draft", name=question, text=later, cursor=[0, 0])
            self._did("version", name=question, text=later, why="checked")
            if self.draw.random() < 0.7:
                self._commit(question, later)
                self._self_score(question, one, later)

    def _cited(self, text: str) -> str:
        if not self.progress.evidence or self.draw.random() < 0.4:
            return text
        return f"{text} [{self.draw.choice(list(self.progress.evidence))}]"

    def _commit(self, question: str, text: str) -> None:
        self._did("committed", name=question, text=text, rubric=self.lesson.rubric.version)

    def _self_score(self, question: str, one: labelled.Labelled, text: str) -> None:
        """Most are fair to themselves; some find in their text what is not there."""
        about = self.lesson.rubric.questions[question]
        slots = set(one.slots)
        if self.draw.random() < 0.25:
            slots |= {slot.id for slot in self.draw.sample(about.slots, 2)}
        ticks = {slot.id: text[:80] for slot in about.slots if slot.id in slots}
        self._did(
            "self_scored",
            name=question,
            ticks=ticks,
            points=about.earned(frozenset(ticks)),
            chain=about.chain(frozenset(ticks)),
            boundary="boundary" in ticks,
            tradeoff="tradeoff" in ticks,
            rubric=self.lesson.rubric.version,
        )
        for veto in VETOES:
            self._did("veto_answered", name=question, veto=veto, yes=veto in one.vetoes and self.draw.random() < 0.3)


def _answers(question: str, kind: str, lang: str) -> list[labelled.Labelled]:
    """The labelled answers of a kind, in this language where there are some."""
    ours = [one for one in labelled.answers() if one.question == question and one.kind == kind]
    return [one for one in ours if one.lang == lang] or ours


def _records(lesson: Lesson) -> dict[str, dict[str, Any]]:
    """The record that a run of each demo leaves, where one was recorded."""
    records = {}
    for name, demo in lesson.demos.items():
        for path in demo.recorded[:1]:
            records[name] = next(each for each in transcripts.replay(demo, path) if each["event"] == "result")
    return records


def _caught(exercise: Exercise, line: str) -> list[str]:
    """The wrong versions that an edge input catches, none when its prediction is wrong."""
    edge = parse_edge(line, exercise.function)
    if isinstance(edge, Message) or exercise.malformed(edge.args) is not None:
        return []
    right = behaviour(exercise.reference, edge.args)
    if not alike(Returned(edge.value) if edge.raises is None else Raised(edge.raises), right):
        return []
    return [wrong.id for wrong in exercise.wrong if not alike(behaviour(wrong.run, edge.args), right)]


def hand_ins(
    lesson: Lesson, learners: int, seed: int, first_uid: int = FIRST_UID, *, all_distinct: bool = False
) -> Iterator[tuple[int, bytes]]:
    """The owner and the file of each hand-in; the same for the same seed."""
    records = _records(lesson)
    for uid in range(first_uid, first_uid + learners):
        draw = random.Random(f"{seed}/{uid - first_uid}")
        learner = _Learner(draw, lesson, records, uid - first_uid if all_distinct else None)
        learner.work()
        reply = f"{draw.getrandbits(128):032x}"
        author = Author(uid, f"uid-{uid}")
        body = submission.body_of(
            learner.progress, lesson, author, made=learner.clock, number=1, reply=reply, tutor=__version__
        )
        yield uid, submission.seal(body)


def fill(folder: ClassFolder, lesson: Lesson, learners: int, seed: int, *, all_distinct: bool = False) -> None:
    """Put a generated class into the inbox."""
    for uid, raw in hand_ins(lesson, learners, seed, all_distinct=all_distinct):
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
    parser.add_argument("--all-distinct", action="store_true")
    args = parser.parse_args()
    folder = ClassFolder.open(args.dir)
    fill(folder, catalog.load(folder.lesson), args.learners, args.seed, all_distinct=args.all_distinct)
    print(f"{args.learners} hand-ins in {folder.inbox}")


if __name__ == "__main__":
    main()
