"""What this machine has of what the tutor needs: one finding per part, what its lack costs, and what mends it."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from tutor import terminal
from tutor.lab import gpus, interpreter
from tutor.learner.session_lock import UNSUPPORTED, briefly
from tutor.model import Message
from tutor.paths import StateError, make_private, why
from tutor.sandbox import EXTRA, Sandbox, SandboxUnavailable, strength

Status = Literal["ok", "limited", "missing"]

#: Seconds that a program asked about this machine may take; nvidia-smi on a sick driver hangs.
PATIENCE_S = 5.0
#: Bytes that the learner's state should have room for.
ROOM = 20 << 20
#: Milliseconds after Esc from which a wait is felt.
ESCAPE_MS = 50

NETWORK = ("nfs", "nfs4", "cifs", "smb3", "lustre", "beegfs", "gpfs", "fuse.sshfs", "9p", "ceph", "afs")


@dataclass(frozen=True, slots=True)
class Detail:
    """One of the things that a part is made of; `why` says why it is missing, None when it is there."""

    name: str
    says: Message
    why: Message | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One part of the machine. `costs` says what its state takes away, `fix` is a command, both None when it is ok."""

    part: str
    status: Status
    says: Message
    costs: Message | None = None
    fix: str | None = None
    details: tuple[Detail, ...] = ()


def examine(folder: Path, python: str | None, env: Mapping[str, str] = os.environ) -> list[Finding]:
    """Every part, in the order of contract and screen. Takes a second or so: it asks other programs."""
    found = look_for_torch(python, env)
    cards = gpu(found.found.torch_version if found.found is not None else None)
    return [
        python_itself(),
        screen(env),
        locale(),
        state_folder(folder),
        sandbox(),
        torch(found),
        triton(found, needed=cards.status != "missing"),
        compiler(env),
        cards,
        editor(env),
    ]


def _finding(part: str, status: Status, detail: str, fix: str | None = None, /, **args: str | int) -> Finding:
    costs = None if status == "ok" else Message(f"doctor.{part}-{detail}-costs")
    return Finding(part, status, Message(f"doctor.{part}-{detail}", args), costs, fix)


def _ask(*command: str) -> str | None:
    """What a program prints, None when it is missing, fails or takes longer than PATIENCE_S."""
    try:
        asked = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
            errors="backslashreplace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() if asked.returncode == 0 else None


# --- the machine without torch ----------------------------------------------------------------------------------------


def python_itself() -> Finding:
    """The Python that runs the tutor; an older one than it needs cannot get here."""
    return _finding("python", "ok", "ok", version=platform.python_version(), path=sys.executable)


def screen(env: Mapping[str, str], ask: Callable[..., str | None] = _ask) -> Finding:
    """The terminal. The first thing that is wrong with it is told."""
    if sys.stdout is None or sys.stderr is None or not sys.stderr.isatty():
        return _finding("terminal", "missing", "none", "python -m tutor --help")
    term = env.get("TERM", "")
    if term in ("", "dumb", "unknown"):
        return _finding("terminal", "missing", "dumb", "export TERM=xterm-256color", term=term or '""')
    cells = terminal.size(sys.stderr) or (terminal.MIN_COLUMNS, terminal.MIN_ROWS)
    if cells[0] < terminal.MIN_COLUMNS or cells[1] < terminal.MIN_ROWS:
        return _finding("terminal", "missing", "small", None, columns=cells[0], rows=cells[1])
    if env.get("TMUX"):
        wait = ask("tmux", "show", "-sv", "escape-time")
        if wait is not None and wait.isdecimal() and int(wait) > ESCAPE_MS:
            return _finding("terminal", "limited", "escape", "tmux set -s escape-time 20", ms=int(wait))
    if env.get("COLORTERM") not in ("truecolor", "24bit") and "256color" not in term and "direct" not in term:
        return _finding("terminal", "limited", "colours", "export COLORTERM=truecolor", term=term)
    return _finding("terminal", "ok", "ok", term=term, columns=cells[0], rows=cells[1])


def locale() -> Finding:
    """Whether text leaves this process as UTF-8."""
    if sys.stderr is None or terminal.is_utf8(sys.stderr):
        return _finding("locale", "ok", "ok")
    return _finding("locale", "missing", "other", "export LC_ALL=C.UTF-8", encoding=sys.stderr.encoding)


def state_folder(folder: Path) -> Finding:
    """The folder that holds the learner's progress: usable, private, with room, on a file system that has locks."""
    try:
        notice = make_private(folder)
    except StateError as error:
        return Finding("state", "missing", error.message, Message("doctor.state-missing-costs"), "--state DIR")
    kind = file_system(folder)
    place = {"path": str(folder), "kind": kind}
    if not os.access(folder, os.W_OK):
        return _finding("state", "missing", "closed", f"chmod u+w {shlex.quote(str(folder))}", **place)
    if notice is not None:
        mode = f"{stat.S_IMODE(folder.stat().st_mode):04o}"
        return _finding("state", "limited", "mode", "--state DIR", mode=mode, **place)
    space = os.statvfs(folder)
    free = space.f_bavail * space.f_frsize
    if free < ROOM:
        return _finding("state", "limited", "full", f"du -sh {shlex.quote(str(folder))}", mb=free >> 20, **place)
    trouble = _locks(folder)
    if trouble is not None:
        return _finding("state", "limited", "locks", "--state DIR", why=trouble, **place)
    if kind in NETWORK:
        return _finding("state", "limited", "network", "--state DIR", **place)
    return _finding("state", "ok", "ok", **place)


def _locks(folder: Path) -> str | None:
    try:
        fd = os.open(folder / "journal.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        return why(error)
    try:
        with briefly(fd, 0.0):
            return None
    except TimeoutError:
        return None  # Another process has it this moment: there are locks.
    except OSError as error:
        if error.errno in UNSUPPORTED:
            return why(error)
        raise
    finally:
        os.close(fd)


def file_system(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str:
    """The type of the file system that holds `path` (`ext4`, `nfs4`), "?" where the system does not tell."""
    best, kind = -1, "?"
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return kind
    place = path.resolve()
    for line in lines:
        before, _, after = line.partition(" - ")
        if not after or len(before.split()) < 5:
            continue
        point = Path(before.split()[4].replace("\\040", " "))
        if place.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), after.split()[0]
    return kind


def sandbox() -> Finding:
    """The walls around a learner's code, each proven in a trial run."""
    try:
        with Sandbox() as box:
            layers = box.layers()
    except SandboxUnavailable as error:
        return Finding("sandbox", "missing", error.message, Message("doctor.sandbox-missing-costs"))
    details = tuple(Detail(layer.name, Message(f"check.layer_{layer.name}"), layer.why) for layer in layers)
    missing = [layer.name for layer in layers if not layer.active]
    counts = {"active": len(layers) - len(missing), "of": len(layers)}
    if not missing:
        return replace(_finding("sandbox", "ok", "ok", **counts), details=details)
    named = ", ".join(missing)
    if set(missing) <= set(EXTRA):
        return replace(_finding("sandbox", "ok", "extra", missing=named, **counts), details=details)
    detail = "weak" if strength(missing) == "weak" else "some"
    fix = "python -m tutor doctor --json"
    return replace(_finding("sandbox", "limited", detail, fix, missing=named, **counts), details=details)


# --- what the demos need ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Torch:
    """The interpreter that demos run under, or why the one that was named does not run."""

    found: interpreter.Interpreter | None
    trouble: Message | None = None


def look_for_torch(python: str | None, env: Mapping[str, str]) -> Torch:
    """Which Python has torch; nothing imports it."""
    try:
        return Torch(interpreter.find(python, env))
    except interpreter.InterpreterError as error:
        return Torch(None, error.message)


def torch(torch: Torch) -> Finding:
    """The torch that demos run with, from which interpreter, and why that one."""
    if torch.found is None:
        assert torch.trouble is not None
        return Finding("torch", "missing", torch.trouble, Message("doctor.torch-none-costs"))
    path, because = torch.found.path, torch.found.why
    if torch.found.torch_version is None:
        return _finding("torch", "missing", "none", f"{shlex.quote(path)} -m pip install torch", path=path)
    return _finding("torch", "ok", f"ok-{because}", version=torch.found.torch_version, path=path)


def triton(torch: Torch, *, needed: bool) -> Finding:
    """Triton, which writes the code for a GPU; without one it is not `needed`."""
    if torch.found is None or torch.found.torch_version is None:
        return _finding("triton", "missing", "no-torch")
    script = "import importlib.metadata as m; print(m.version('triton'))"
    version = _ask(torch.found.path, "-c", script)
    if version is None:
        fix = f"{shlex.quote(torch.found.path)} -m pip install triton" if needed else None
        return _finding("triton", "missing", "none", fix)
    return _finding("triton", "ok", "ok", version=version)


def compiler(env: Mapping[str, str]) -> Finding:
    """The C++ compiler that Inductor calls for code on the CPU."""
    wanted = env.get("CXX") or "g++"
    for name in dict.fromkeys((wanted, "g++", "clang++", "c++")):
        path = shutil.which(name, path=env.get("PATH"))
        if path is not None:
            version = (_ask(path, "--version") or "").partition("\n")[0]
            return _finding("compiler", "ok", "ok", path=path, version=version or "?")
    return _finding("compiler", "missing", "none", "apt-get install g++", name=wanted)


def gpu(torch_version: str | None = None) -> Finding:
    """The GPUs, who computes on each now, MIG slices as they are, and whether that version of torch can use them."""
    try:
        cards = gpus.look()
    except gpus.Trouble as trouble:
        fix = 'launcher = "srun --gres=gpu:1"' if trouble.kind == "none" else "nvidia-smi"
        return _finding("gpu", "missing", trouble.kind, fix, seconds=int(gpus.SMI_S), text=trouble.text)
    what: dict[str, str | int] = {"count": len(cards), "name": cards[0].name, "driver": cards[0].driver}
    processes = sum(len(card.processes) for card in cards)
    if torch_version is not None and torch_version.endswith("+cpu"):
        found = _finding("gpu", "limited", "build", "pip install torch", torch=torch_version, **what)
    elif processes:
        found = _finding("gpu", "limited", "busy", "nvidia-smi", processes=processes, **what)
    else:
        found = _finding("gpu", "ok", "ok", **what)
    return replace(found, details=tuple(detail for card in cards for detail in _card(card)))


def _card(card: gpus.Gpu) -> Iterator[Detail]:
    """A GPU as `--device` names it, then its MIG slices."""
    memory = {"used": _or_unknown(card.used), "total": _or_unknown(card.total), "busy": _or_unknown(card.busy)}
    each = [f"{one.name} {one.pid}" + (f" {one.used} MiB" if one.used is not None else "") for one in card.processes]
    who = f": {', '.join(each)}" if each else ""
    says = Message("doctor.gpu-one", {"name": card.name, "processes": len(each), "who": who, **memory})
    yield Detail(f"cuda:{card.index}", says, None)
    for profile, uuid in card.slices:
        yield Detail(f"cuda:{uuid}", Message("doctor.gpu-slice", {"profile": profile, "index": card.index}), None)


def _or_unknown(number: int | None) -> str:
    return "?" if number is None else str(number)


def editor(env: Mapping[str, str]) -> Finding:
    """What opens the blank or an answer outside the screen."""
    chosen = env.get("VISUAL") or env.get("EDITOR")
    try:
        words = shlex.split(chosen) if chosen else []
    except ValueError:
        return _finding("editor", "missing", "quotes", "export EDITOR=vi", value=str(chosen))
    names = words[:1] if words else ["vi", "nano"]
    for name in names:
        if shutil.which(name, path=env.get("PATH")):
            return _finding("editor", "ok", "ok" if words else "default", name=name)
    return _finding("editor", "missing", "none", "export EDITOR=vi", name=", ".join(names))
