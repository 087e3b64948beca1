"""The GPUs of a machine as nvidia-smi lists them, who computes on each, and which one to take. Nothing is ever changed.

Used by the tutor and, loaded by path, in the lab's child: standard library only, Python 3.10 and later.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: Seconds that nvidia-smi may take; on a sick driver it hangs.
SMI_S = 5.0
#: Seconds between two looks at who else is there.
GLANCE_S = 2.0
_GPU = "index,uuid,name,driver_version,memory.total,memory.used,utilization.gpu,mig.mode.current"
_SLICE = re.compile(r"\s+(MIG \S+)\s+Device\s+\d+:\s*\(UUID:\s*(MIG-[^)\s]+)\)")
_CARD = re.compile(r"GPU \d+:.*\(UUID:\s*(GPU-[^)\s]+)\)")


class Trouble(Exception):
    """nvidia-smi lists nothing. `kind` is

    none      it is not installed
    silent    it did not answer in SMI_S seconds
    mismatch  the driver's kernel module and its library are of two versions
    devices   the driver runs and finds no GPU
    failed    anything else; `text` is its first line
    """

    def __init__(self, kind: str, text: str = "") -> None:
        super().__init__(kind, text)
        self.kind, self.text = kind, text


@dataclass(frozen=True)
class Process:
    """One process that computes on a GPU; `used` in MiB, None where nvidia-smi may not say."""

    pid: int
    name: str
    used: int | None


@dataclass(frozen=True)
class Gpu:
    """One GPU; memory in MiB and utilisation in percent, None where it is not told, as on a GPU with MIG slices.

    `slices` are (profile, UUID) of its MIG slices as they are; empty without MIG.
    """

    index: int
    uuid: str
    name: str
    driver: str
    total: int | None
    used: int | None
    busy: int | None
    slices: tuple[tuple[str, str], ...] = ()
    processes: tuple[Process, ...] = ()


@dataclass(frozen=True)
class Choice:
    """The GPU to take, what CUDA_VISIBLE_DEVICES has to be for it, and why: `asked`, `only`, `idle` (the first of
    several on which nobody computes) or `least` (somebody is on each of them)."""

    gpu: Gpu
    visible: str
    why: str


def ask(*query: str) -> str:
    """What nvidia-smi says. Raises Trouble."""
    if shutil.which("nvidia-smi") is None:
        raise Trouble("none")
    try:
        asked = subprocess.run(
            ["nvidia-smi", *query],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SMI_S,
            check=False,
            errors="backslashreplace",
        )
    except subprocess.TimeoutExpired:
        raise Trouble("silent") from None
    except OSError as error:
        raise Trouble("failed", error.strerror or type(error).__name__) from None
    said = f"{asked.stdout.strip()}\n{asked.stderr.strip()}".strip()
    if "version mismatch" in said:
        raise Trouble("mismatch")
    if asked.returncode == 0 and "No devices were found" not in said:
        return asked.stdout
    raise Trouble("devices" if "No devices were found" in said else "failed", (said.splitlines() or ["?"])[0][:200])


def look() -> list[Gpu]:
    """Every GPU, in nvidia-smi's order. Raises Trouble. Takes some 100 ms, 5 s and no more when nvidia-smi hangs."""
    rows = [[part.strip() for part in line.split(",")] for line in _rows(ask(f"--query-gpu={_GPU}", *_CSV))]
    if not rows or any(len(row) != len(_GPU.split(",")) or not row[0].isdecimal() for row in rows):
        raise Trouble("failed", "what it lists cannot be read")
    slices = _slices(ask("-L")) if any(row[-1] == "Enabled" for row in rows) else {}
    there = processes()
    return [
        Gpu(
            index=int(row[0]),
            uuid=row[1],
            name=row[2],
            driver=row[3],
            total=_number(row[4]),
            used=_number(row[5]),
            busy=_number(row[6]),
            slices=tuple(slices.get(row[1], ())),
            processes=tuple(there.get(row[1], ())),
        )
        for row in rows
    ]


_CSV = ("--format=csv,noheader,nounits",)


def processes() -> dict[str, list[Process]]:
    """The processes that compute on each GPU, by its UUID. Raises Trouble."""
    found: dict[str, list[Process]] = {}
    for line in _rows(ask("--query-compute-apps=gpu_uuid,pid,used_memory,process_name", *_CSV)):
        uuid, pid, used, name = ([part.strip() for part in line.split(",", 3)] + [""] * 3)[:4]
        if pid.isdecimal():
            found.setdefault(uuid, []).append(Process(int(pid), os.path.basename(name), _number(used)))  # noqa: PTH119
    return found


def owner(pid: int) -> str | None:
    """Who runs a process; None for one that is gone, or is seen from inside a container by the host's number."""
    import pwd

    try:
        user = os.stat(f"/proc/{pid}").st_uid  # noqa: PTH116
        return pwd.getpwuid(user).pw_name
    except (OSError, KeyError):
        return None


def least_busy(gpus: Sequence[Gpu]) -> Gpu:
    """The one to take of several, of which there is at least one."""
    return min(gpus, key=lambda gpu: (len(gpu.processes), gpu.busy or 0, gpu.used or 0, gpu.index))


def choose(gpus: Sequence[Gpu], wanted: str, env: Mapping[str, str] = os.environ) -> Choice | None:
    """The GPU for `wanted`: `auto` or `cuda` for the least busy, `cuda:1`, `cuda:GPU-...` or `cuda:MIG-...` for one.

    Only those that CUDA_VISIBLE_DEVICES lets through are looked at, and a number counts all as nvidia-smi does. None
    when there is no such GPU.
    """
    gpus = allowed(gpus, env.get("CUDA_VISIBLE_DEVICES"))
    _, _, which = wanted.partition(":")
    if which:
        for gpu in gpus:
            for _, uuid in gpu.slices:
                if which == uuid:
                    return Choice(gpu, uuid, "asked")
            if which in (str(gpu.index), gpu.uuid):
                return Choice(gpu, _visible(gpu), "asked")
        return None
    if not gpus:
        return None
    best = least_busy(gpus)
    why = "only" if len(gpus) == 1 else "least" if best.processes else "idle"
    return Choice(best, _visible(best), why)


def _visible(gpu: Gpu) -> str:
    return gpu.slices[0][1] if gpu.slices else gpu.uuid


def allowed(gpus: Sequence[Gpu], visible: str | None) -> list[Gpu]:
    """Those that CUDA_VISIBLE_DEVICES, as the driver reads it, lets through: it ends at the first entry that names
    nothing."""
    if visible is None:
        return list(gpus)
    found: list[Gpu] = []
    for entry in map(str.strip, visible.split(",")):
        named = [gpu for gpu in gpus if _is(gpu, entry)]
        if not named:
            break
        found += [narrowed for narrowed in (_narrowed(named[0], entry),) if narrowed not in found]
    return found


def _is(gpu: Gpu, entry: str) -> bool:
    if entry.startswith(("GPU-", "MIG-")):
        return any(uuid.startswith(entry) for uuid in (gpu.uuid, *(uuid for _, uuid in gpu.slices)))
    return entry == str(gpu.index)


def _narrowed(gpu: Gpu, entry: str) -> Gpu:
    """The GPU with only the slice that was let through, where one was."""
    if not entry.startswith("MIG-"):
        return gpu
    slices = tuple(each for each in gpu.slices if each[1].startswith(entry))
    return Gpu(**{**gpu.__dict__, "slices": slices})


def _rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _number(text: str) -> int | None:
    """`[N/A]`, `[Not Supported]` and `[Insufficient Permissions]` are None."""
    return int(text) if text.isdecimal() else None


def _slices(text: str) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    card = ""
    for line in text.splitlines():
        if (named := _CARD.match(line)) is not None:
            card = named[1]
        elif (part := _SLICE.match(line)) is not None:
            found.setdefault(card, []).append((part[1], part[2]))
    return found


class Neighbours:
    """Who else computes on a GPU while we do: looked for before, now and then during, and after.

    `group` is the process group of the lab's child, which holds all that it started. In a container nvidia-smi gives
    the numbers that the host has, and then one of the newcomers is ourselves.
    """

    def __init__(self, choice: Choice, group: int) -> None:
        self._uuids = {choice.gpu.uuid, choice.visible}
        self._group = group
        self._looked = time.monotonic()
        self._known = True
        self._before = {process.pid for process in choice.gpu.processes}
        self.seen: dict[int, Process] = {process.pid: process for process in choice.gpu.processes}
        """The others, by process id."""

    @property
    def contended(self) -> bool | None:
        """Whether anybody was seen; None when nobody was and nvidia-smi did not always answer."""
        return True if self.seen else False if self._known else None

    def glance(self) -> None:
        """Look when the last look was GLANCE_S ago. Called between what is timed, never inside it."""
        if self._known and time.monotonic() - self._looked >= GLANCE_S:
            self.look()

    def look(self) -> list[Process]:
        """Those who are there now and are not ours."""
        try:
            there = [each for uuid, found in processes().items() if uuid in self._uuids for each in found]
        except Trouble:
            self._known = False
            return []
        self._looked = time.monotonic()
        others = [each for each in there if not _in_group(each.pid, self._group)]
        if others and len(others) == len(there):
            ours = next((each for each in others if each.pid not in self._before), None)
            others = [each for each in others if each is not ours]
        self.seen.update((each.pid, each) for each in others)
        return others


def _in_group(pid: int, group: int) -> bool:
    try:
        return os.getpgid(pid) == group
    except (ProcessLookupError, PermissionError):
        return False
