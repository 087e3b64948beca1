"""The trusted side: starts the warm process, sends it jobs, reads claims."""

from __future__ import annotations

import ast
import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from tutor.model import Message, Plain, TutorError
from tutor.sandbox import policy, values
from tutor.sandbox.outcome import End, Outcome, judge_end
from tutor.sandbox.wire import FRAME

_BOOT = Path(__file__).with_name("boot.py")


class Cancelled(Exception):
    """The run was stopped by `Sandbox.cancel`: there is no verdict."""


class SandboxUnavailable(TutorError):
    """No sandbox can be started on this machine; `message` says why, `log` is what the warm process said."""

    def __init__(self, key: str, log: str = "", /, **fields: str) -> None:
        super().__init__(key, **fields)
        self.log = log

    def __str__(self) -> str:
        return f"{super().__str__()} {self.log}"


@dataclass(frozen=True, slots=True)
class LayerState:
    """One wall here and now; `why` says why it is missing, None when it is active."""

    name: str
    active: bool
    why: Message | None


@dataclass(frozen=True, slots=True)
class Template:
    """The function around the blank, alone: the assertions of the exercise file stay outside the sandbox."""

    source: str
    blank: str
    function: str

    @classmethod
    def of(cls, source: str, blank: str, function: str) -> Template:
        """Takes `function` out of the trusted `source`. Raises ValueError when it does not return `blank` once."""
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef) and node.name == function:
                returned = [
                    n.value.id for n in ast.walk(node) if isinstance(n, ast.Return) and isinstance(n.value, ast.Name)
                ]
                if returned.count(blank) != 1:
                    raise ValueError(f"{function} does not return {blank!r} exactly once")
                return cls("\n".join(source.split("\n")[node.lineno - 1 : node.end_lineno]) + "\n", blank, function)
        raise ValueError(f"no function {function!r} in the template")


class _Ill(Exception):
    """The warm process does not answer as it should."""


class Sandbox:
    """One warm process and one check at a time. Safe to use from any thread; `cancel` from any other.

    Started at the first use. Close it, or use it as a context manager: the warm process ends with the tutor in any
    case, whatever the tutor dies of.

    `minimum` names walls without which it does not start: `policy.MINIMUM` for the code of others, none for one's own.
    Every method that starts it raises SandboxUnavailable then.
    """

    def __init__(self, minimum: Sequence[str] = ()) -> None:
        self._minimum = tuple(minimum)
        self._lock = threading.Lock()
        self._cancel_lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._layers: tuple[LayerState, ...] = ()
        self._number = 0
        self._running: int | None = None
        self._asked = self._cancelled = False
        self._log = ""

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- what others call ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the warm process now, so that the first check need not. Raises SandboxUnavailable."""
        with self._lock:
            self._ensure()

    def layers(self) -> tuple[LayerState, ...]:
        """The walls of this machine, each shown to hold in a trial run or missing. Raises SandboxUnavailable."""
        self.start()
        return self._layers

    def run(self, template: Template, text: str, calls: Sequence[tuple[Plain, ...]]) -> Outcome:
        """Put `text` in the blank and make the calls, all in one child, in this order.

        Blocks until it ended, at most twice `policy.WALL_S` and a little. Raises Cancelled, SandboxUnavailable.
        """
        refusal = _refuse_early(text)
        if refusal is not None:
            return refusal
        job = json.dumps(
            {
                "template": template.source,
                "blank": template.blank,
                "function": template.function,
                "text": text,
                "calls": [values.encode(tuple(call)) for call in calls],
            }
        ).encode()
        with self._lock:
            began = time.perf_counter()
            self._asked, self._cancelled = True, False
            try:
                outcome = self._run(job, len(calls), text)
                if outcome.message == _WALL and outcome.cpu_seconds < policy.STARVED_CPU_S:
                    outcome = self._run(job, len(calls), text)  # it slept, or the box was busy: the second time decides
            finally:
                self._asked = False
            return replace(outcome, seconds=time.perf_counter() - began)

    def cancel(self) -> None:
        """Stop the run that goes on in another thread, if any; it raises Cancelled there."""
        with self._cancel_lock:
            self._cancelled = self._asked
            if self._running is not None and self._control is not None:
                try:
                    self._control.sendall(FRAME.pack(b"C", self._running, 0))
                except OSError:  # the warm process is gone, and with it the run
                    pass

    def close(self) -> None:
        """End the warm process and all that it started; a run in another thread raises Cancelled there."""
        self.cancel()
        with self._lock:
            self._stop()

    # --- under the lock -----------------------------------------------------------------------------------------------

    def _run(self, job: bytes, wanted: int, text: str) -> Outcome:
        control = self._ensure()
        log, self._log = self._log, ""
        self._number = (self._number + 1) % 2**32
        try:
            with self._cancel_lock:
                if self._cancelled:  # before there was anything to stop, or between two tries
                    raise Cancelled
                control.settimeout(policy.GRACE_S)
                control.sendall(FRAME.pack(b"J", self._number, len(job)) + job)
                self._running = self._number
            end, written, output = self._answer(control)
        except (OSError, _Ill) as error:
            detail = f"{type(error).__name__}: {error}; {self._stop()}"
            return Outcome(
                "broke", Message("check.broke_sandbox"), log=f"{log}the warm process did not answer: {detail}"
            )
        finally:
            with self._cancel_lock:
                self._running = None
        if end.why == "cancel":
            raise Cancelled
        outcome = judge_end(end, written, wanted, text)
        shown = output.decode("utf-8", "backslashreplace")
        return replace(outcome, output=shown, cpu_seconds=end.cpu, rss_kb=end.rss, log=log + outcome.log)

    def _answer(self, control: socket.socket) -> tuple[End, bytes, bytes]:
        kind, number, body = _read_frame(control, policy.WALL_S + policy.GRACE_S)
        if (kind, number) != (b"R", self._number):
            raise _Ill(f"unexpected frame {kind!r} {number}")
        head, _, rest = body.partition(b"\n")
        end = json.loads(head)
        size = end["result"]
        return End(end["why"], end["signal"], end["cpu"], end["rss"], end["printed"]), rest[:size], rest[size:]

    def _ensure(self) -> socket.socket:
        # It says nothing unasked: what can be read now is the end of the file.
        if self._control is not None and select.select([self._control], [], [], 0)[0]:
            self._log = f"the warm process had ended ({self._stop()}); a new one was started\n"
        if self._control is None:
            self._start()
        assert self._control is not None
        return self._control

    def _start(self) -> None:
        if not hasattr(os, "fork"):
            raise SandboxUnavailable("check.no_sandbox_system", system=sys.platform)
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-B", str(_BOOT), str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    env={},
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
            except OSError as error:
                ours.close()
                raise SandboxUnavailable("check.no_sandbox_start", str(error)) from error
        self._control = ours
        try:
            kind, _, body = _read_frame(ours, policy.START_S)
            if kind != b"H":
                raise _Ill(f"unexpected frame {kind!r}")
        except (OSError, _Ill) as error:
            raise SandboxUnavailable("check.no_sandbox_start", f"{error}; {self._stop()}") from error
        self._layers = tuple(
            LayerState(name, active, None if active else Message(f"check.{key}", args))
            for name, active, key, args in json.loads(body)
        )
        lacking = [layer.name for layer in self._layers if layer.name in self._minimum and not layer.active]
        if lacking:
            self._stop()
            raise SandboxUnavailable("check.sandbox_weak", missing=", ".join(lacking))

    def _stop(self) -> str:
        """Ends the warm process. Returns how it had ended, and what it said, for a log."""
        with self._cancel_lock:
            if self._control is not None:
                self._control.close()  # it reads the end of the file, ends its child, and leaves
                self._control = None
        process, self._process = self._process, None
        if process is None:
            return "not started"
        try:
            process.wait(policy.GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stderr is not None
        with process.stderr:
            said = process.stderr.read(4096) if select.select([process.stderr], [], [], 0)[0] else b""
        return f"exit {process.returncode} {said.decode('utf-8', 'backslashreplace')}".strip()


_WALL = Message("check.limit_wall", {"seconds": int(policy.WALL_S)})


def _refuse_early(text: str) -> Outcome | None:
    """What needs no child to be seen. All else is read in the child only: a parser can be crashed."""
    if "\0" in text:
        return Outcome("refused", Message("check.refused_nul"))
    if len(text) > policy.EXPRESSION_MAX:
        return Outcome("refused", Message("check.refused_long", {"length": len(text), "most": policy.EXPRESSION_MAX}))
    return None


def _read_frame(control: socket.socket, seconds: float) -> tuple[bytes, int, bytes]:
    """The next frame, within `seconds`. Raises _Ill at the end of the file, OSError (TimeoutError among them)."""
    until = time.monotonic() + seconds
    kind, number, size = FRAME.unpack(_read(control, FRAME.size, until))
    return kind, number, _read(control, size, until)


def _read(control: socket.socket, size: int, until: float) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        control.settimeout(max(until - time.monotonic(), 0.001))
        part = control.recv(size - len(parts))
        if not part:
            raise _Ill("end of file")
        parts += part
    return bytes(parts)
