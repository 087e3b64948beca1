"""Runs an admitted kernel on memory that it is given, and says what the memory holds afterwards; see `fused_worker`.

params: what the worker takes, but for `device`. Observed, each where it applies: `memory` for each call and tensor;
`row` for each row that was asked for of a size made there, `large` once for each such size, and on a GPU `timed` for
each side and way; `stray` when something was stored outside every tensor; `raised` when the kernel did; `died` with the
signal when its process did.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tutor.lab.child import Lab

WORKER = Path(__file__).with_name("fused_worker.py")


def run(lab: Lab) -> None:
    # Triton asks for this when it is imported, which the lab's warm parent has long done: hence a Python of its own.
    os.environ["TRITON_INTERPRET"] = "0" if lab.device == "cuda" else "1"
    with tempfile.TemporaryDirectory(prefix="tutor-kernel-") as folder:
        request = Path(folder) / "request.json"
        request.write_text(json.dumps({**lab.params, "device": lab.device}), encoding="utf-8")
        command = [sys.executable, str(WORKER), str(request)]
        said: list[dict[str, Any]] = []
        with subprocess.Popen(command, stdout=subprocess.PIPE) as worker:
            assert worker.stdout is not None
            for line in worker.stdout:
                answer = json.loads(line)
                if "number" in answer:
                    lab.step(answer["number"], answer["of"], answer["text"])
                said = answer.get("said", said)
    if worker.returncode < 0:
        lab.observe("died", {"signal": -worker.returncode})
        return
    if worker.returncode:
        raise subprocess.CalledProcessError(worker.returncode, command)
    for each in said:
        if each["series"] == "limit":
            raise MemoryError(each["values"]["text"])
        if "us" in each["values"]:
            each["values"]["us"] = lab.spread(each["values"]["us"])
        lab.observe(each["series"], each["values"], call=each["call"])
