"""The warm parent: imports torch once, then forks one child per demo and passes on what the child says.

Run by path under the interpreter that has torch; standard library and torch only, Python 3.10 and later. One JSON
object a line: requests on stdin (`{"run": 1, "script": ...}`, `{"cancel": 1}`), on stdout `hello`, then `ready` or
`missing`, then for each run `forked`, `child`, `output`, `ended`. The requests' pipe is the lifeline: at its end every
process that this one started is killed and so is this one.

A fork is safe only while no thread pool runs, so nothing here computes: torch is told to use one thread before anything
else, CUDA is never touched, and the child gets the usual number of threads back.
"""

from __future__ import annotations

import codecs
import ctypes
import gc
import importlib.util
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
#: The same bound as `protocol.MAX_LINE`, and bytes of events from one child, far above what any experiment says.
MAX_LINE, MAX_EVENTS = 64 * 1024, 4 * 1024 * 1024
#: Bytes of printed text that are held back for the end of their line.
MAX_PIECE = 4096
#: Seconds in which pipes are read out after a child's end; only a process that could not be killed keeps them open.
DRAIN_S = 0.5
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


class TutorGone(Exception):
    """Nobody reads what is said any more."""


class Channel:
    """Requests in, events out, on descriptors of their own, so that nothing that prints can reach them."""

    def __init__(self) -> None:
        self.requests, self._events = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        self._unread = b""
        self.waiting: list[dict[str, Any]] = []

    def say(self, event: str, **fields: Any) -> None:
        line = json.dumps({"schema": 1, "event": event, **fields}).encode() + b"\n"
        try:
            while line:
                line = line[os.write(self._events, line) :]
        except (BrokenPipeError, ConnectionResetError) as error:
            raise TutorGone from error

    def read(self) -> None:
        """Add what has come to the requests that wait, blocking for it. Raises TutorGone at the end of the lifeline."""
        data = os.read(self.requests, 65536)
        if not data:
            raise TutorGone
        *lines, self._unread = (self._unread + data).split(b"\n")
        self.waiting += map(json.loads, lines)

    def close(self) -> None:
        os.close(self.requests)
        os.close(self._events)


class ImportWatch:
    """Ends the process when the tutor goes while torch is being imported. No thread is left when this is closed."""

    def __init__(self, requests: int) -> None:
        self._stop, self._stopper = os.pipe()
        self._requests = requests
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        poll = select.poll()
        poll.register(self._requests, 0)  # Hang-up is always reported; a request that waits is not.
        poll.register(self._stop, select.POLLIN)
        if any(which == self._requests for which, _ in poll.poll()):
            os._exit(0)

    def close(self) -> None:
        os.close(self._stopper)
        self._thread.join()
        os.close(self._stop)


class Child:
    """The child of one request, from its fork to its last byte."""

    def __init__(self, channel: Channel, child: ModuleType, request: dict[str, Any], threads: int) -> None:
        self._channel = channel
        self._number = request["run"]
        self._deadline = time.monotonic() + request["limit_s"]
        self._room = request["output_bytes"]
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._piece = ""
        self._cut = False
        self._line = b""
        self._events = 0
        self._how: str | None = None
        self._over = False
        self._code: int | None = None
        self._said, said = os.pipe()
        self._printed, printed = os.pipe()
        self._open = {self._said, self._printed}
        lifeline, self._lifeline = os.pipe()
        self._scratch = _scratch()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                os.setsid()
                _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
                if os.getppid() != parent:
                    os._exit(0)
                if self._scratch is not None:
                    os.environ["TMPDIR"] = tempfile.tempdir = self._scratch
                channel.close()
                for ours in (self._said, self._printed, self._lifeline):
                    os.close(ours)
                child.main(request, said, printed, lifeline, threads)
            finally:
                os._exit(70)
        for theirs in (said, printed, lifeline):
            os.close(theirs)

    def serve(self, woken: int) -> None:
        """Pass on what the child says until it has ended; then everything it started is ended too."""
        self._channel.say("forked", pid=self.pid)
        cancel = {"cancel": self._number}
        while self._how is None:
            if cancel in self._channel.waiting:
                self._how = "cancelled"
                break
            left = self._deadline - time.monotonic()
            if left <= 0:
                self._how = "limit"
                break
            ready = select.select([self._channel.requests, woken, *self._open], [], [], left)[0]
            if self._channel.requests in ready:
                self._channel.read()
            self._pass_on(ready)
            if woken in ready:
                os.read(woken, 512)
                if self._ended(os.WNOHANG):
                    break
        self.kill()
        self._read_out()
        assert self._code is not None
        if self._how is not None:
            self._channel.say("ended", how=self._how)
        elif self._code < 0:
            self._channel.say("ended", how="signal", code=-self._code)
        else:
            self._channel.say("ended", how="exit", code=self._code)

    def kill(self) -> None:
        """Kill the child and its group, then whatever left the group and became ours, then remove what they left in
        their own folder for temporary files: who is killed cannot. Once is enough."""
        if self._over:
            return
        self._over = True
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)  # It may not lead its group yet.
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass  # Nobody is left in it; some systems say so in the second way.
        self._ended(0)
        os.close(self._lifeline)
        while orphans := _children():
            for pid in orphans:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _ended(self, options: int) -> bool:
        if self._code is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code is not None

    def _read_out(self) -> None:
        until = time.monotonic() + DRAIN_S
        while self._open and (left := until - time.monotonic()) > 0:
            self._pass_on(select.select(list(self._open), [], [], left)[0])
        self._print(self._decoder.decode(b"", final=True), last=True)
        os.close(self._said)
        os.close(self._printed)

    def _pass_on(self, ready: list[int]) -> None:
        """Reads each pipe that has something. One at its end is watched no more: it would always be ready."""
        if self._printed in ready:
            data = os.read(self._printed, 65536)
            if not data:
                self._open.remove(self._printed)
            kept, self._room = data[: self._room], self._room - min(self._room, len(data))
            self._print(self._decoder.decode(kept))
            if len(kept) < len(data) and not self._cut:
                self._cut = True
                self._print("", last=True)
                self._channel.say("output", text="", cut=True)
        if self._said in ready:
            data = os.read(self._said, 65536)
            if not data:
                self._open.remove(self._said)
            *lines, self._line = (self._line + data).split(b"\n")
            self._events += len(data)
            for line in lines:
                self._channel.say("child", line=line.decode("utf-8", "backslashreplace"))
            if len(self._line) > MAX_LINE:
                self._how, self._line = self._how or "garbled", b""
            if self._events > MAX_EVENTS:
                self._how = self._how or "flood"

    def _print(self, text: str, last: bool = False) -> None:
        """Say printed text in whole lines; what has none yet waits for it."""
        text = self._piece + text
        whole = len(text) if last or len(text) > MAX_PIECE else text.rfind("\n") + 1
        text, self._piece = text[:whole], text[whole:]
        if text:
            self._channel.say("output", text=text)


def _prctl(option: int, value: int) -> None:
    """Linux's own safety net; elsewhere the lifeline and the process group have to do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _scratch() -> str | None:
    """A folder for one run's temporary files; None where none can be made: most experiments need none."""
    try:
        return tempfile.mkdtemp(prefix="tutor-run-")
    except OSError:
        return None


def _children() -> list[int]:
    """Direct children of this process, which adopts what its child leaves behind (Linux)."""
    try:
        return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except FileNotFoundError:
        return []


def _sibling(name: str) -> ModuleType:
    """A module beside this one, without its folder on the path where it would stand before the learner's packages."""
    spec = importlib.util.spec_from_file_location(f"tutor_lab_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _terminate(*_signal: object) -> None:
    raise TutorGone


def _wake(*_signal: object) -> None:
    """What the handler does not do, the wake-up descriptor does."""


def main() -> None:
    channel = Channel()
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != HERE]
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGTERM, _terminate)
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGCHLD, _wake)
    # Some libraries that torch loads hold idle threads of their own and are made for a fork; Python cannot know.
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    current: Child | None = None
    try:
        channel.say("hello")
        watch = ImportWatch(channel.requests)
        try:
            import torch
            import torch._dynamo

            threads = torch.get_num_threads()
            torch.set_num_threads(1)
            _sibling("gpus")
            _sibling("machine")
            _sibling("probe")
            _sibling("timing")
            child = _sibling("child")
        except Exception as error:  # Whatever a broken installation raises, it is said to who can mend it.
            channel.say("missing", why=f"{type(error).__name__}: {error}")
            return
        finally:
            watch.close()
        gc.freeze()
        channel.say("ready")
        while True:
            while channel.waiting:
                request = channel.waiting.pop(0)
                if "run" in request:  # A cancel here came after its run had ended.
                    current = Child(channel, child, request, threads)
                    current.serve(woken)
                    current = None
            channel.read()
    except TutorGone:
        return
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if current is not None:
            current.kill()


if __name__ == "__main__":
    main()
    os._exit(0)  # Taking an imported torch apart takes longer than anybody wants to wait.
