"""The optional exercise on a real GPU: honest kernels pass and are timed, each cheat is refused or fails.

    python -m tests.bench.kernel_gpu [cuda|cpu]

prints a JSON object a line, `ok` last; exits 1 unless everything came out as it should. On `cpu` it is a rehearsal in
Triton's interpreter, without times.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.attacks.kernel_cheats import HONEST, RACY, REFUSED, ROOT, TIMED, TIMED_SHAPE, WRONG
from tutor.fused import run, source
from tutor.lab.host import LabHost, LabSettings
from tutor.lab.run import Device
from tutor.model import Ending, Message
from tutor.strings import say

DEMOS = ROOT / "lessons" / "lesson_02_torch_compile" / "demos"


def said(kind: str, name: str, good: bool, **more: Any) -> bool:
    print(json.dumps({"kind": kind, "name": name, "good": good, **more}), flush=True)
    return good


def judged(text: str, device: Device, timed: Sequence[tuple[int, int]]) -> run.Judgement:
    host = LabHost(LabSettings())
    try:
        return run.judge(text, host, device, demos=DEMOS, timed=timed)
    finally:
        host.close()


def _facts(one: run.Judgement) -> dict[str, Any]:
    args = {name: str(value)[:200] for name, value in one.message.args.items()}
    return {
        "ending": str(one.ending.value),
        "why": one.message.key,
        "args": args,
        "case": say("en", one.case) if one.case else None,
    }


def main() -> int:
    device: Device = "cpu" if "cpu" in sys.argv[1:] else "cuda"
    good = []
    for name, (text, key) in REFUSED.items():
        read = source.read(text)
        good.append(said("refused", name, isinstance(read, Message) and read.key == f"kernel.{key}"))
    for name, text in HONEST.items():
        one = judged(text, device, run.TIMED)
        times = [{k: v for k, v in row.items() if k != "us"} | _short(row["us"]) for row in one.timed]
        passed = one.ending is Ending.PASSED and bool(times) == (device == "cuda")
        good.append(said("honest", name, passed, **_facts(one), timed=times))
    # No time counts here, so that several may run at once.
    shapes: dict[str, Sequence[tuple[int, int]]] = dict.fromkeys(WRONG, ())
    if device == "cuda":
        shapes.update(dict.fromkeys(TIMED, (TIMED_SHAPE,)))
    with ThreadPoolExecutor(min(12, os.cpu_count() or 1) if device == "cuda" else 1) as pool:
        wrong = {name: {**WRONG, **TIMED}[name] for name in shapes}
        found = pool.map(lambda name: judged(wrong[name][0], device, shapes[name]), shapes)
        for (name, (_, keys)), one in zip(wrong.items(), found, strict=True):
            right = one.ending is Ending.FAILED and one.message.key.removeprefix("kernel.") in keys
            right = right or (device == "cuda" and name in RACY and one.ending is Ending.PASSED)
            good.append(said("wrong", name, right, **_facts(one)))
    print(json.dumps({"ok": all(good), "judged": len(good)}))
    return 0 if all(good) else 1


def _short(us: dict[str, Any]) -> dict[str, Any]:
    return {key: us[key] for key in ("n", "p50", "p95", "p99", "max")}


if __name__ == "__main__":
    raise SystemExit(main())
