"""Tries attacks on the judge, each with its canaries, and says what was touched.

`python runner.py CHECKOUT` with attacks as JSON lines on standard input; a JSON line for each on standard output, and
at the end one line with `"id": "batch"` about all of them. A script of its own, so that it can run as another user and
so that a judge that dies takes only this process with it. It needs the standard library alone.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import json
import os
import platform
import resource
import secrets
import shutil
import socket
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: How long a process that was left behind is given to show itself, seconds.
SETTLE_S = 0.4

#: Warm processes that share the attacks: half of the time goes into waiting for limits.
SANDBOXES = 2


def substitute(value: Any, marks: dict[str, str]) -> Any:
    if isinstance(value, str):
        for mark, text in marks.items():
            value = value.replace(mark, text)
    if isinstance(value, dict):
        return {key: substitute(item, marks) for key, item in value.items()}
    return value


class Ground:
    """A fresh folder with things to steal, change and connect to."""

    def __init__(self, secret: str, calls: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="attack-"))
        self.mark = "m" + secrets.token_hex(8)
        self.secret = secret
        self.calls = calls
        (self.folder / "home/.ssh").mkdir(parents=True)
        (self.folder / "tmp").mkdir()
        (self.folder / "home/.ssh/id_ed25519").write_text(secret)
        grades = self.folder / "gradebook.json"
        grades.write_text(json.dumps({"secret": secret}).ljust(4242))
        with contextlib.suppress(OSError):  # not every file system has them
            os.setxattr(grades, "user.note", secret.encode())
        (self.folder / "reference.py").write_text(f"TOKEN = {secret!r}\n")
        with zipfile.ZipFile(self.folder / "ref.zip", "w") as archive:
            archive.writestr("zref.py", f"TOKEN = {secret!r}\n")
        (self.folder / "keep").write_text("keep me")
        self.before = self.look(self.folder / "keep")
        self.tcp = self._socket(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.listeners = {
            f"tcp:{self.port}": self.tcp,
            f"udp:{self.port}": self._socket(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", self.port)),
            f"unix:{self.folder}/sock": self._socket(socket.AF_UNIX, socket.SOCK_STREAM, f"{self.folder}/sock"),
            f"unixdgram:{self.folder}/dgram": self._socket(socket.AF_UNIX, socket.SOCK_DGRAM, f"{self.folder}/dgram"),
            f"unix:@{self.mark}": self._socket(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self.mark),
        }

    @staticmethod
    def _socket(family: int, kind: int, address: Any) -> socket.socket:
        made = socket.socket(family, kind)
        made.bind(address)
        if kind == socket.SOCK_STREAM:
            made.listen()
        made.setblocking(False)
        return made

    @property
    def marks(self) -> dict[str, str]:
        return {
            "@DIR@": str(self.folder),
            "@SECRET@": self.secret,
            "@MARK@": self.mark,
            "@PORT@": str(self.port),
            "@HOST@": platform.node(),
            "@CALLS@": str(self.calls),
        }

    @staticmethod
    def look(path: Path) -> Any:
        try:
            state = path.lstat()
            return path.read_bytes(), state.st_mode, state.st_mtime_ns, state.st_nlink, sorted(os.listxattr(path))
        except OSError as error:
            return errno.errorcode[error.errno or 0]

    def reached(self, name: str) -> bool:
        listener = self.listeners[name]
        try:
            if listener.type == socket.SOCK_STREAM:
                listener.accept()[0].close()
            else:
                listener.recv(1)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        for listener in self.listeners.values():
            listener.close()
        shutil.rmtree(self.folder)


def processes_named(mark: str) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):  # it ended meanwhile
                if mark.encode() in (folder / "cmdline").read_bytes() + (folder / "comm").read_bytes():
                    found.append(int(folder.name))
    return found


def open_descriptors() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def lines_of(report: Any) -> list[str]:
    """All that a front end would show of a report, in both languages."""
    from tutor.literals import safe_text
    from tutor.strings import say

    lines = [say("en", report.message), say("zh", report.message)]
    for part in (*report.cases, *report.edges):
        for value in dataclasses.asdict(part).values():
            lines += [value] if isinstance(value, str) else []
        lines += [say("en", part.message), say("zh", part.message)]
    # Only what was printed is kept as it was, and made fit for the screen where it is shown.
    return lines + [safe_text(line) for line in report.output.splitlines()]


def bites(canary: dict[str, Any], ground: Ground, shown: str, seconds: float) -> Iterator[str]:
    for name, wanted in canary.items():
        match name:
            case "output_lacks":
                bitten = wanted in shown
            case "max_output_bytes":
                bitten = len(shown.encode("utf-8", "surrogatepass")) > wanted
            case "max_seconds":
                bitten = seconds > wanted
            case "file_absent":
                bitten = os.path.lexists(wanted)
            case "file_unchanged":
                bitten = ground.look(Path(wanted)) != ground.before
            case "no_connection_on":
                bitten = ground.reached(wanted)
            case "no_process":
                bitten = bool(processes_named(wanted))
            case "max_rss_mb":  # of the whole batch, at its end
                bitten = False
            case _:
                raise ValueError(f"unknown canary {name}")
        if bitten:
            yield name


def left_over(marks: list[str]) -> list[str]:
    """Shared memory, semaphores and queues on this machine that carry a mark or were made by this user."""
    found = [str(path) for path in Path("/dev/shm").glob("*") if any(mark in path.name for mark in marks)]
    for kind in ("shm", "sem", "msg"):
        with contextlib.suppress(OSError):  # a kernel without System V objects
            head, *rows = map(str.split, Path("/proc/sysvipc", kind).read_text().splitlines())
            maker = head.index("cuid")
            found += [f"{kind} {row[1]}" for row in rows if int(row[maker]) == os.getuid()]
    return found


def descendants(pid: int) -> set[int]:
    with contextlib.suppress(OSError):  # it ended meanwhile
        born = {int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}
        return born.union(*map(descendants, born))
    return set()


def try_attacks(judge: Any, secret: str, attacks: Iterator[dict[str, Any]], tell: Any) -> None:
    """Attack after attack, until another thread has taken the last one."""
    from tutor.exercise.judging import PROBES

    for attack in attacks:
        ground = Ground(secret, len(judge.exercise.given) + PROBES)
        expr = substitute(attack["expr"], ground.marks)
        if "repeat" in attack:
            text, times = attack["repeat"]
            expr = expr.replace("@REPEAT@", text * times)
        canary = substitute(attack.get("canary", {}), ground.marks)
        began = time.monotonic()
        report = judge.check(expr, [attack["edge"]] if "edge" in attack else [])
        seconds = time.monotonic() - began
        shown = lines_of(report)
        answer = {
            "id": attack["id"],
            "ending": report.ending.value,
            "bites": list(bites(canary, ground, "\n".join(shown), seconds)),
            "unprintable": [line for line in shown if not line.isprintable()],
            "points": [report.normal, report.edge],
            "says": report.message.key,
            "log": report.log,
            "seconds": seconds,
        }
        tell((answer, canary, ground))


class Shared:
    """One attack at a time for each thread."""

    def __init__(self, attacks: list[dict[str, Any]]) -> None:
        self._attacks = iter(attacks)
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self

    def __next__(self) -> dict[str, Any]:
        with self._lock:
            return next(self._attacks)


def main() -> None:
    sys.path.insert(0, sys.argv[1])
    from tutor.exercise.judging import Judge
    from tutor.lesson import catalog
    from tutor.sandbox import Sandbox

    secret = "s" + secrets.token_hex(12)
    os.environ["CLASS_SECRET"] = secret
    checks = Path(sys.argv[1]) / "checks" / catalog.DEFAULT_LESSON
    exercise = catalog.load_folder(Path(sys.argv[1]) / "lessons" / catalog.DEFAULT_LESSON, checks).exercise
    # Those that run into a limit first, so that no thread waits for another at the end.
    attacks = sorted(map(json.loads, sys.stdin), key=lambda attack: attack.get("says", [""])[0][:5] != "limit")
    shared = Shared(attacks)
    before, left_before = open_descriptors(), left_over([])
    tried: list[tuple[dict[str, Any], dict[str, Any], Ground]] = []
    boxes = [Sandbox() for _ in range(SANDBOXES)]
    layers = [dataclasses.asdict(layer) for box in boxes for layer in box.layers()]
    born = descendants(os.getpid())
    threads = [
        threading.Thread(target=try_attacks, args=(Judge(exercise, box), secret, shared, tried.append)) for box in boxes
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(SETTLE_S)  # absence has no event to wait for
    strangers = sorted(descendants(os.getpid()) ^ born)
    for box in boxes:
        box.close()
    for answer, canary, ground in tried:
        again: dict[str, Any] = {
            name: canary[name] for name in ("file_absent", "file_unchanged", "no_process") if name in canary
        }
        answer["bites"] += [f"{name}, later" for name in bites(again, ground, "", 0.0)]
        ground.close()
        print(json.dumps(answer))
    batch = {
        "id": "batch",
        "uid": os.getuid(),
        "layers": layers,
        "rss_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
        "descriptors": sorted(open_descriptors() - before),
        "processes": strangers,
        "alive": sorted(born & descendants(os.getpid())),
        "shared": sorted(set(left_over([ground.mark for _, _, ground in tried])) - set(left_before)),
    }
    print(json.dumps(batch))


if __name__ == "__main__":
    main()
