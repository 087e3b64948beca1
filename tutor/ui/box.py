"""What this machine can run, in a few words for the first row; asked in a thread, torch is never imported for it."""

from __future__ import annotations

import json
import socket
from dataclasses import asdict, dataclass
from pathlib import Path

from tutor import paths
from tutor.lab import gpus
from tutor.language import Lang
from tutor.literals import safe_text
from tutor.strings import text

#: Percent from which a GPU on which nobody is listed counts as busy all the same.
BUSY = 5


@dataclass(frozen=True, slots=True)
class Box:
    """`torch` is its version, None when there is none; `gpu` the short name of the one that demos use, None without;
    `busy` whether anybody computes on it; `lacks` why there is none: empty, `trouble` with the driver, `gone` for a
    chosen one that is not there, or `cpu`, which was chosen."""

    torch: str | None
    gpu: str | None
    busy: bool = False
    lacks: str = ""

    def words(self, lang: Lang) -> str:
        torch = "" if self.torch is None else ".".join(self.torch.split("+")[0].split(".")[:2])
        if self.torch is None:
            return text(lang, "ui.box_gpu_no_torch", gpu=self.gpu) if self.gpu else text(lang, "ui.box_no_torch")
        if self.gpu is None:
            return text(lang, f"gpus.box-{self.lacks}" if self.lacks else "ui.box_cpu", torch=torch)
        return text(lang, "ui.box_busy" if self.busy else "ui.box_gpu", gpu=self.gpu, torch=torch)


def look(python: str | None, device: str) -> Box:
    """This machine, as the demos will find it on `device`. Raises InterpreterError for a named Python that does not
    run."""
    from tutor.lab import interpreter

    return _with_gpu(interpreter.find(python).torch_version, device)


def _with_gpu(torch: str | None, device: str) -> Box:
    if device == "cpu":
        return Box(torch, None, lacks="cpu")
    try:
        listed = gpus.look()
    except gpus.Trouble as trouble:
        without = "gone" if device.startswith("cuda") else ""
        return Box(torch, None, lacks=without if trouble.kind == "none" else "trouble")
    choice = gpus.choose(listed, device)
    if choice is None:
        return Box(torch, None, lacks="gone")
    name = short_name(choice.gpu.name) + (f" cuda:{choice.gpu.index}" if len(listed) > 1 else "")
    return Box(torch, name, bool(choice.gpu.processes) or (choice.gpu.busy or 0) > BUSY)


def short_name(name: str) -> str:
    """A GPU's name without its maker's, fit for a screen."""
    return safe_text(name.replace("NVIDIA", "").strip(), 40)


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
