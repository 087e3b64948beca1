"""One parent process as the tutor holds it: how it is started, what it says, and how it is made to stop.

A thread finds the interpreter, starts the parent and reads its lines into `inbox`; whoever runs a demo takes them from
there. The parent's stdin is its lifeline: when it closes, for whatever reason, the parent ends its child and itself.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from tutor.lab import interpreter, protocol
from tutor.lab.interpreter import Interpreter, InterpreterError
from tutor.lab.protocol import LineError
from tutor.model import Message

Stage = Literal["finding", "starting", "importing", "ready", "gone"]

PARENT = Path(__file__).with_name("parent.py")

#: Seconds from closing stdin to SIGTERM, and from there to SIGKILL. The first is short for a parent of our own, which
#: obeys at once or is stuck; a launcher hands both on to another machine.
GRACE_S = {"own": (0.5, 0.2), "launcher": (2.0, 10.0)}

#: The experiments show what torch does by default, whatever the learner's shell says to it.
_UNSET = ("TORCHDYNAMO_", "TORCH_COMPILE_", "TORCH_LOGS", "TORCH_TRACE")


@dataclass(frozen=True, slots=True)
class Note:
    """What the thread says. `fields` holds a parent's event; the kinds are

    found  an interpreter is known, the parent is being started
    said   the parent said `fields`
    stray  a line that is no event: `text`, from stdout or a launcher's stderr
    gone   there is no process, or no longer: `text` is the last of its stderr
    """

    kind: Literal["found", "said", "stray", "gone"]
    fields: Mapping[str, Any] | None = None
    text: str = ""


class Link:
    """A parent process from its start to its end. Every method may be called from any thread."""

    def __init__(self, python: str | None, launcher: tuple[str, ...]) -> None:
        self.inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.stage: Stage = "finding"
        self.interpreter: Interpreter | None = None
        self.unavailable: Message | None = None
        self._python = python
        self._launcher = launcher
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._stopped = False
        self._last_words: deque[str] = deque(maxlen=20)
        self._thread = threading.Thread(target=self._serve, name="lab-parent", daemon=True)
        self._thread.start()

    @property
    def over(self) -> bool:
        """Whether nothing can be run through it any more."""
        return self._stopped or self.stage == "gone"

    def send(self, **request: Any) -> bool:
        """Hand the parent one request. False when it is gone."""
        line = (protocol.encode(request) + "\n").encode()
        with self._lock:
            if self._process is None or self._process.stdin is None or self._process.stdin.closed:
                return False
            try:
                self._process.stdin.write(line)
                self._process.stdin.flush()
            except (BrokenPipeError, ConnectionResetError):
                return False
        return True

    def stop(self) -> None:
        """End the process and wait for it: its lifeline first, then signals.

        A launcher that has not started its command yet would only go on waiting, so it gets SIGTERM at once. SIGKILL
        goes to a launcher's own pid, never to its group: its helper must live to end the remote side.
        """
        with self._lock:
            self._stopped = True
            process = self._process
            if process is not None and process.stdin is not None:
                _close(process.stdin)
        if process is None:
            return  # The thread starts nothing any more; it may still be asking an interpreter.
        grace, patience = GRACE_S["launcher" if self._launcher else "own"]
        waiting = bool(self._launcher) and self.stage == "starting"
        if waiting or not _ended(process, grace):
            _signal_group(process, signal.SIGTERM)
            if not _ended(process, patience):
                if self._launcher:
                    process.kill()
                else:
                    _signal_group(process, signal.SIGKILL)
        self._thread.join(1.0)  # Longer only if something that a launcher left behind holds its pipes.

    # --- the thread ---------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        try:
            process = self._begin()
            if process is not None:
                self._follow(process)
        finally:
            self.stage = "gone"
            self.inbox.put(Note("gone", text="\n".join(self._last_words)))

    def _begin(self) -> subprocess.Popen[bytes] | None:
        """The started process, None when there is no sense in starting one or it cannot be."""
        try:
            found = interpreter.find(self._python)
        except InterpreterError as error:
            self.unavailable = error.message
            return None
        if found.torch_version is None:
            self.unavailable = Message("lab.no-torch", {"path": found.path})
        self.interpreter = found
        with self._lock:
            if self.unavailable is not None or self._stopped:
                return None
            try:
                self._process = self._start(found)
            except OSError as error:
                what = (*self._launcher, found.path)[0]
                self.unavailable = Message("lab.cannot-start", {"path": what, "why": error.strerror or str(error)})
                return None
            self.stage = "starting"
            self.inbox.put(Note("found"))
            return self._process

    def _follow(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        errors = threading.Thread(target=self._read_errors, args=(process.stderr,), name="lab-stderr", daemon=True)
        errors.start()
        self._read(process.stdout)
        errors.join()
        process.wait()
        with self._lock:
            process.stdout.close()
            process.stderr.close()
            _close(process.stdin)

    def _start(self, found: Interpreter) -> subprocess.Popen[bytes]:
        environ = {name: value for name, value in os.environ.items() if not name.startswith(_UNSET)}
        environ["PYTHONUNBUFFERED"] = "1"
        return subprocess.Popen(
            [*self._launcher, found.path, str(PARENT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            start_new_session=True,
        )

    def _read(self, pipe: IO[bytes]) -> None:
        for line in _lines(pipe):
            try:
                fields = protocol.decode(line, protocol.MAX_PARENT_LINE)
            except LineError:
                self.inbox.put(Note("stray", text=_text(line)))
                continue
            kind = fields.get("event")
            if kind == "hello":
                self.stage = "importing"
            elif kind == "ready":
                self.stage = "ready"
            elif kind == "missing":
                assert self.interpreter is not None
                why = str(fields.get("why"))[:300]
                self.unavailable = Message("lab.torch-broken", {"path": self.interpreter.path, "why": why})
            self.inbox.put(Note("said", fields=fields))

    def _read_errors(self, pipe: IO[bytes]) -> None:
        for line in _lines(pipe):
            text = _text(line)
            self._last_words.append(text[:500])
            if self._launcher:
                self.inbox.put(Note("stray", text=text))


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        pass  # The process went first, with a request unread.


def _lines(pipe: IO[bytes]) -> Iterator[bytes]:
    """Lines of any length, a longer one than any event cut into pieces."""
    while line := pipe.readline(protocol.MAX_PARENT_LINE + 1):
        yield line


def _text(line: bytes) -> str:
    return line.decode("utf-8", "backslashreplace").rstrip("\r\n")


def _ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """The group bears the pid of the process, which leads a session of its own and has not been waited for."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass  # It ended in between.
