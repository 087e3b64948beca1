"""What a check costs, measured here: `python tests/bench/sandbox_cost.py [--quick]`.

Everything is taken in one run, so that the ratios hold whatever else the machine does; run it on an idle machine to
quote the figures. Nothing here is a test: there is no threshold.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ATTACKS = ROOT / "tests/attacks/attacks.jsonl"
sys.path.insert(0, str(ROOT))

from tutor.exercise.judging import PROBES, Judge  # noqa: E402
from tutor.lesson import catalog  # noqa: E402
from tutor.sandbox import Sandbox, Template, client  # noqa: E402

RIGHT = "guarded_shape, dtype, device"
EDGE = 'guard_key((2, 128, 4096), {3}, "bf16", "cuda") raises ValueError'

#: The warm process as it is, with a watch on each wall; a child prints what it read on it.
BOOT = """
import importlib, json, os, sys, time, types
for name, path in (("tutor", []), ("tutor.sandbox", [{folder!r}])):
    shell = types.ModuleType(name)
    shell.__path__ = path
    sys.modules[name] = shell
from tutor.sandbox import child, kernel, layers
{patch}
took = {{}}
def watch(layer):
    enter = layer.enter
    def timed(parent):
        began = time.perf_counter()
        enter(parent)
        took[layer.name] = (time.perf_counter() - began) * 1e3
    layer.enter = timed
for layer in layers.LAYERS:
    watch(layer)
run = child.run
def timed_run(job):
    began = time.perf_counter()
    run(job)
    took["read the blank, make the calls, answer"] = (time.perf_counter() - began) * 1e3
    os.write(1, json.dumps(took).encode())
child.run = timed_run
importlib.import_module("tutor.sandbox.zygote").serve(int(sys.argv[1]))
"""

FORK = """
import ast, ctypes, gc, json, os, resource, select, sys, time
gc.collect(); gc.freeze()
times = []
for _ in range(int(sys.argv[1])):
    began = time.perf_counter()
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
    times.append(time.perf_counter() - began)
print(json.dumps(times))
"""

#: What a check is without a sandbox: a fresh interpreter that runs the exercise with the text pasted in.
PLAIN = """
import json, sys
scope = {}
exec(sys.stdin.readline().encode().decode("unicode_escape"), scope)
print(json.dumps([repr(scope["guard_key"](*eval(call))) for call in json.loads(sys.stdin.readline())]))
"""


def timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1e3


def row(name: str, times: Sequence[float], base: float | None = None) -> float:
    """One line of the table, in milliseconds; returns the median."""
    ordered = sorted(times)
    p50, p95, p99 = (ordered[min(int(len(ordered) * q), len(ordered) - 1)] for q in (0.5, 0.95, 0.99))
    ratio = f"  {p50 / base:6.1f}x" if base else ""
    print(
        f"{name:44} n {len(ordered):5}  p50 {p50:7.2f}  p95 {p95:7.2f}  p99 {p99:7.2f}  max {ordered[-1]:7.2f}{ratio}"
    )
    return p50


@contextmanager
def watched(patch: str = "") -> Iterator[Sandbox]:
    with tempfile.TemporaryDirectory() as folder:
        boot = Path(folder) / "boot.py"
        boot.write_text(BOOT.format(folder=str(ROOT / "tutor/sandbox"), patch=patch))
        kept, client._BOOT = client._BOOT, boot
        try:
            with Sandbox() as sandbox:
                sandbox.start()
                yield sandbox
        finally:
            client._BOOT = kept


def warm_and_cold(judge: Judge, runs: int, fork: float) -> None:
    judge.check(RIGHT)
    row(
        f"a check: 2 given, {PROBES} drawn anew, judged", [timed(lambda: judge.check(RIGHT)) for _ in range(runs)], fork
    )
    row("the same with one edge input", [timed(lambda: judge.check(RIGHT, [EDGE])) for _ in range(runs)], fork)

    def first() -> None:
        with Sandbox() as sandbox:
            Judge(judge.exercise, sandbox).check(RIGHT)

    row("cold: start, walls and trial, first verdict, end", [timed(first) for _ in range(max(runs // 20, 5))], fork)


def without_namespaces(template: Template, calls: Sequence[tuple[object, ...]], runs: int) -> None:
    """The one wall that costs a check nothing by its own clock, but may slow its fork and its end."""
    print("\nwith and without namespaces, in turn")
    with watched() as within, watched("layers.Namespaces.prepare = lambda self: layers._must(False)") as without:
        boxes = {"within": within, "without": without}
        times: dict[str, list[float]] = {name: [] for name in boxes}
        for _ in range(runs):
            for name, box in boxes.items():
                times[name].append(timed(lambda box=box: box.run(template, RIGHT, calls)))  # type: ignore[misc]
        for name, taken in times.items():
            row(f"  a run {name}", taken)


def each_layer(template: Template, calls: Sequence[tuple[object, ...]], runs: int) -> None:
    print("\ninside the child, by its own clock")
    times: dict[str, list[float]] = {}
    with watched() as sandbox:
        for _ in range(runs):
            for name, took in json.loads(sandbox.run(template, RIGHT, calls).output).items():
                times.setdefault(name, []).append(took)
    for name, taken in times.items():
        row(f"  {name}", taken)


def many(exercise: object, runs: int) -> None:
    print(f"\n{runs} checks of a class, 2 given and {PROBES} drawn anew each")
    for count in (1, 2):
        boxes = [Sandbox() for _ in range(count)]
        judges = [Judge(exercise, box) for box in boxes]  # type: ignore[arg-type]
        left = iter(range(runs))
        lock = threading.Lock()

        def work(judge: Judge, left: Iterator[int] = left, lock: threading.Lock = lock) -> None:
            while True:
                with lock:
                    if next(left, None) is None:
                        return
                report = judge.check(RIGHT)
                assert report.normal == 2, report

        threads = [threading.Thread(target=work, args=(judge,)) for judge in judges]
        print(f"  {count} warm process{'es' * (count > 1)}: {timed_all(threads):6.2f} s")
        for box in boxes:
            box.close()


def attacked(exercise: object) -> None:
    """What the attacks came to, and what a check costs before and after all of them, in the same warm process."""
    told = subprocess.run(
        [sys.executable, "-B", str(ROOT / "tests/attacks/runner.py"), str(ROOT)],
        input=ATTACKS.read_text(),
        check=True,
        capture_output=True,
        text=True,
    )
    *answers, batch = map(json.loads, told.stdout.splitlines())
    kinds = {attack["id"]: attack["kind"] for attack in map(json.loads, ATTACKS.read_text().splitlines())}
    ends = Counter((kinds[answer["id"]], answer["ending"]) for answer in answers)
    columns = ("passed", "failed", "limit", "refused", "broke")
    print(f"\n{len(answers)} attacks and their harmless twins, uid {batch['uid']}, by kind and ending")
    print(f"  {'':18}" + "".join(f"{name:>9}" for name in columns))
    for kind in sorted(set(kinds.values())):
        print(f"  {kind:18}" + "".join(f"{ends[kind, name] or '':>9}" for name in columns))
    print(f"  {'all':18}" + "".join(f"{sum(ends[kind, name] for kind in set(kinds.values())):>9}" for name in columns))
    print(f"  canaries touched: {sum(bool(answer['bites']) for answer in answers)}")
    left = {name: batch[name] for name in ("descriptors", "processes", "alive", "shared")}
    print(f"  left behind: {', '.join(name for name, value in left.items() if value) or 'nothing'}")

    texts = [attack["expr"] for attack in map(json.loads, ATTACKS.read_text().splitlines())]
    quick = [text for text in texts if "sleep" not in text and "range(10**12)" not in text and "iter(int" not in text]
    with Sandbox() as sandbox:
        judge = Judge(exercise, sandbox)  # type: ignore[arg-type]
        judge.check(RIGHT)
        print("\na hundred attacks in a row, in one warm process")
        row("  a check before them", [timed(lambda: judge.check(RIGHT)) for _ in range(100)])
        before = memory(sandbox)
        for text in quick[:: max(len(quick) // 100, 1)][:100]:
            judge.check(text)
        row("  the first check after them", [timed(lambda: judge.check(RIGHT))])
        row("  a check after them", [timed(lambda: judge.check(RIGHT)) for _ in range(100)])
        print(f"  resident memory of the warm process: {before} kB before, {memory(sandbox)} kB after")


def plain_subprocesses(template: Template, calls: Sequence[tuple[object, ...]], runs: int) -> None:
    source = template.source.replace(template.blank, RIGHT).encode("unicode_escape").decode()
    asked = source + "\n" + json.dumps([repr(call) for call in calls]) + "\n"

    def one() -> None:
        subprocess.run([sys.executable, "-c", PLAIN], input=asked, text=True, check=True, capture_output=True)

    for count in (1, 2):
        left = iter(range(runs))
        lock = threading.Lock()

        def work(left: Iterator[int] = left, lock: threading.Lock = lock) -> None:
            while True:
                with lock:
                    if next(left, None) is None:
                        return
                one()

        threads = [threading.Thread(target=work) for _ in range(count)]
        print(f"  plain subprocesses, no walls at all, {count} at a time: {timed_all(threads):6.2f} s")


def timed_all(threads: Sequence[threading.Thread]) -> float:
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began


def memory(sandbox: Sandbox) -> int:
    """Resident memory of the warm process, kB; of the one in the namespaces where there are any."""
    sandbox.start()
    assert sandbox._process is not None
    pid = sandbox._process.pid
    inside = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    status = Path(f"/proc/{inside[0] if inside else pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: few repetitions, figures not to be quoted")
    quick = parser.parse_args().quick
    runs = 50 if quick else 500
    print(f"{platform.machine()}, {os.cpu_count()} processors, Linux {platform.release()}, ", end="")
    print(f"Python {platform.python_version()}")
    print(f"uid {os.getuid()}, load {os.getloadavg()[0]:.1f}; milliseconds\n")
    exercise = catalog.load().exercise
    template = Template.of(exercise.template, exercise.blank, exercise.function)
    calls = [one.args for one in exercise.given] + [one.args for one in exercise.probes(random.Random(1), PROBES)]
    bare = subprocess.run(
        [sys.executable, "-I", "-S", "-c", FORK, str(runs)], check=True, capture_output=True, text=True
    )
    fork = row("bare fork, exit, wait of a warm process", [s * 1e3 for s in json.loads(bare.stdout)])
    with Sandbox() as sandbox:
        missing = [layer.name for layer in sandbox.layers() if not layer.active]
        print("walls missing here:", ", ".join(missing) or "none")
        row(
            f"a run of the sandbox alone, {len(calls)} calls",
            [timed(lambda: sandbox.run(template, RIGHT, calls)) for _ in range(runs)],
            fork,
        )
        warm_and_cold(Judge(exercise, sandbox), runs, fork)
        print(f"resident memory of the warm process: {memory(sandbox)} kB")
    without_namespaces(template, calls, runs)
    each_layer(template, calls, runs)
    many(exercise, 20 if quick else 1000)
    plain_subprocesses(template, calls, 20 if quick else 1000)
    if not quick:
        attacked(exercise)


if __name__ == "__main__":
    main()
