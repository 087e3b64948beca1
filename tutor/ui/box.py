"""What this machine can run, in a few words for the first row; asked in a thread, torch is never imported for it."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

from tutor import paths
from tutor.model import Lang
from tutor.strings import text

#: A driver that hangs must not hang the screen, in seconds.
PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class Box:
    """`torch` is its version, None when there is none; `gpu` the first GPU's short name; `busy` whether it computes."""

    torch: str | None
    gpu: str | None
    busy: bool = False

    def words(self, lang: Lang) -> str:
        torch = "" if self.torch is None else ".".join(self.torch.split("+")[0].split(".")[:2])
        if self.torch is None:
            return text(lang, "ui.box_gpu_no_torch", gpu=self.gpu) if self.gpu else text(lang, "ui.box_no_torch")
        if self.gpu is None:
            return text(lang, "ui.box_cpu", torch=torch)
        return text(lang, "ui.box_busy" if self.busy else "ui.box_gpu", gpu=self.gpu, torch=torch)


def look(python: str | None) -> Box:
    """This machine, as the demos will find it. Raises InterpreterError for a named Python that does not run."""
    from tutor.lab import interpreter

    gpu, busy = _gpu()
    return Box(interpreter.find(python).torch_version, gpu, busy)


def remembered() -> Box | None:
    """This machine as it was last time, so that the first frame need not wait; `look` says whether it still is."""
    try:
        return Box(**json.loads(_file().read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None  # Only a memory: it is looked at afresh in any case.


def remember(box: Box) -> None:
    """Keep it for the next start, where there is a place to."""
    path = _file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(box)), encoding="utf-8")
    except OSError:
        return  # The next start asks again, that is all.


def _file() -> Path:
    # A home on NFS is shared by machines that differ.
    return paths.cache_folder() / f"box-{socket.gethostname()}.json"


def _gpu() -> tuple[str | None, bool]:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None, False
    asked = [tool, "--query-gpu=name,utilization.gpu", "--format=csv,noheader,nounits"]
    try:
        said = subprocess.run(asked, capture_output=True, text=True, timeout=PATIENCE_S, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return None, False
    first = said.stdout.splitlines()[0] if said.returncode == 0 and said.stdout.strip() else ""
    name, _, load = first.partition(",")
    return (name.replace("NVIDIA", "").strip() or None), load.strip().isdecimal() and int(load) > 5
