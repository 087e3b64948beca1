"""Runs an admitted kernel on memory that it is given, and says what the memory holds afterwards; see `fused_worker`.

params: what the worker takes, but for `device`. Observed: `memory` for each call and tensor; `raised` when the kernel
did; `died` with the signal when its process did; on a GPU `timed` for each side and `large` for each timed shape.
"""

from __future__ import annotations

import json
import os
import subprocess
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
        try:
            said: list[dict[str, Any]] = lab.fresh(str(WORKER), str(request))["said"]
        except subprocess.CalledProcessError as error:
            if error.returncode >= 0:
                raise
            lab.observe("died", {"signal": -error.returncode})
            return
    for each in said:
        if each["series"] == "limit":
            raise MemoryError(each["values"]["text"])
        if "us" in each["values"]:
            each["values"]["us"] = lab.spread(each["values"]["us"])
        lab.observe(each["series"], each["values"], call=each["call"])
