"""Generated answers and edge lines, each with a truth of its own: `python tests/attacks/fuzz.py --cases 100000`.

The generator uses a harmless alphabet, so that the truth can be had by running the text as it is, in this process, by
another way than the judge's: pasted into the template. A wrong verdict, a tool that broke or a sentence that is not fit
for a terminal ends the run with the case that did it.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tutor.exercise.edge_lines import EdgeLine, parse_edge
from tutor.exercise.judging import Judge
from tutor.language import LANGS
from tutor.lesson import catalog
from tutor.literals import same
from tutor.model import Exercise, Message
from tutor.sandbox import Sandbox
from tutor.strings import say

RIGHT = "guarded_shape, dtype, device"
NAMES = ("guarded_shape", "dtype", "device", "shape", "dynamic_dims", "gaurded_shape")
TOKENS = (
    *NAMES,
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "'x'",
    "0",
    "1",
    "None",
    "True",
    "not",
    "or",
    "and",
    "if",
    "else",
)
TOKENS += (
    "==",
    "in",
    "is",
    "lambda",
    "for",
    "x",
    ".",
    "*",
    ":=",
    "#",
    "\\",
    "'",
    "=",
    "yield",
    "await",
    "return",
    "\t",
)
SHELLS = (
    "({})",
    "tuple([{}])",
    "(lambda *k: k)({})",
    "(k := ({}))",
    "*({}),",
    "\n  ({}\n)",
    "({})  # a, b",
    "[({})][0]",
)
LINE = 'guard_key((2, 128, 4096), {3}, "bf16", "cuda") raises ValueError'
LINE_PARTS = (
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ",",
    " ",
    '"',
    "'",
    "==",
    "raises ",
    "set()",
    "-1",
    "0",
    "1.5",
    "None",
    "x",
    "\\",
)
LINE_PARTS += (
    "{0}",
    "()",
    "(1,)",
    "frozenset()",
    "ValueError",
    "guard_key",
    "（",
    "\x1b",
    "\u202e",
    "\xa0",
    "\u3000",
    "\ud800",
    "\u0661",
    "9" * 30,
    "*",
    "#",
    "e",
)


#: Warnings are switched off for the whole process while a text is compiled.
_one_at_a_time = threading.Lock()


class Wrong(Exception):
    """A verdict that is not the truth, or a sentence that may not be shown."""


def answers(rng: random.Random) -> Iterator[str]:
    """Right answers in many dresses, near misses, and token soup."""
    while True:
        text = RIGHT
        for _ in range(rng.randint(0, 3)):
            text = rng.choice(SHELLS).format(text)
        tokens = text.replace(",", " , ").split(" ")
        for _ in range(rng.choice((0, 0, 1, 1, 1, 2, 5))):
            place = rng.randrange(len(tokens) + 1)
            match rng.randrange(3):
                case 0:
                    tokens.insert(place, rng.choice(TOKENS))
                case 1:
                    tokens[place : place + 1] = [rng.choice(TOKENS)]
                case _:
                    del tokens[place : place + 1]
        yield " ".join(tokens)


def truth(exercise: Exercise, text: str, calls: list[tuple[Any, ...]]) -> float | None:
    """The share of `calls` that the text answers rightly when it is pasted in; None when that is no program.

    Pasting is honest here: no token can end the line and begin another statement, but for a return in front.
    """
    source = exercise.template.split("\n\n\n")[0].replace(exercise.blank, text.strip())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            code = compile(tree, "pasted", "exec")
    except (SyntaxError, ValueError):
        return None
    last = tree.body[0].body[-1]  # type: ignore[attr-defined]
    if len(tree.body) != 1 or not isinstance(last, ast.Return) or last.value is None:
        return None
    inner: list[ast.AST] = [last.value]
    while inner:
        node = inner.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
            return None
        inner += [] if isinstance(node, ast.Lambda) else ast.iter_child_nodes(node)
    scope: dict[str, Any] = {}
    exec(code, scope)
    right = 0
    for call in calls:
        try:
            right += same(scope[exercise.function](*call), exercise.reference(*call))
        except (Exception, GeneratorExit):  # whatever it raises, it is not the right answer
            right += 0
    return right / len(calls)


def fit(message: Message) -> None:
    for lang in LANGS:
        if not say(lang, message).isprintable():
            raise Wrong(f"not fit for a terminal: {message}")


def try_answer(judge: Judge, text: str, calls: list[tuple[Any, ...]]) -> str:
    with _one_at_a_time:
        share = truth(judge.exercise, text, calls)
    report = judge.check(text)
    fit(report.message)
    for case in report.cases:
        fit(case.message)
    wanted = {None: ("refused",), 1.0: ("passed",)}.get(share, ("failed",))
    if report.ending.value not in wanted and not (share is not None and 0.9 < share < 1 and report.normal == 2):
        raise Wrong(f"{text!r}: right in {share}, judged {report.ending}: {report.message}")
    return report.ending.value


def lines(rng: random.Random) -> Iterator[str]:
    while True:
        text = LINE
        for _ in range(rng.choice((1, 1, 2, 3, 8))):
            place, cut = rng.randrange(len(text) + 1), rng.choice((0, 0, 1, 3))
            text = text[:place] + rng.choice(LINE_PARTS) + text[place + cut :]
        yield text


def try_line(line: str) -> str:
    read = parse_edge(line, "guard_key")
    if isinstance(read, Message):
        fit(read)
        return read.key
    assert isinstance(read, EdgeLine)
    call = ast.parse((line.rpartition("raises")[0] if read.raises else line).strip(), mode="eval").body
    value = None
    if isinstance(call, ast.Compare):
        (value,) = call.comparators
        call = call.left
    assert isinstance(call, ast.Call)
    empty = {"set": set, "frozenset": frozenset}
    plain = [eval(ast.unparse(node), {"__builtins__": empty}) for node in [*call.args, *([value] if value else [])]]
    if not same(list(read.args) + ([] if read.raises else [read.value]), plain):
        raise Wrong(f"{line!r} was read as {read}")
    return "read"


def run(cases: int, seed: int, sandboxes: int, tell: Callable[[str], None]) -> Counter[str]:
    """`cases` answers and as many edge lines. Raises Wrong."""
    exercise = catalog.load().exercise
    calls = [one.args for one in exercise.given] + [one.args for one in exercise.probes(random.Random(seed), 120)]
    rng = random.Random(seed)
    made, edges = answers(rng), lines(random.Random(seed))
    seen: Counter[str] = Counter()
    faults: list[Exception] = []
    lock = threading.Lock()
    left = iter(range(cases))
    began = time.monotonic()

    def work() -> None:
        with Sandbox() as sandbox:
            judge = Judge(exercise, sandbox)
            while not faults:
                with lock:
                    number, text = next(left, None), next(made)
                if number is None:
                    return
                if number % 10_000 == 9_999:
                    tell(f"{number + 1} answers, {time.monotonic() - began:.0f} s: {dict(seen)}")
                try:
                    ending = try_answer(judge, text, calls)
                except Exception as error:  # the first fault ends the run, in the thread that waits for all
                    faults.append(error)
                    return
                with lock:
                    seen[ending] += 1

    threads = [threading.Thread(target=work) for _ in range(sandboxes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    for _ in range(cases):
        seen[try_line(next(edges))] += 1
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=2)
    asked = parser.parse_args()
    seen = run(asked.cases, asked.seed, 2, lambda line: print(line, flush=True))
    for name, count in seen.most_common():
        print(f"{count:8} {name}")


if __name__ == "__main__":
    main()
