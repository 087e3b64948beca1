"""The warm process: forks one walled child per check, watches it, and hands what it wrote to the tutor.

It runs no foreign code itself and judges nothing. It has one thread and, after the walls, no file system. It ends when
its control socket does.
"""

from __future__ import annotations

import gc
import io
import json
import os
import select
import signal
import sys
import time
from typing import NoReturn

from tutor.sandbox import child, policy, values
from tutor.sandbox.layers import LAYERS, Layer, Missing
from tutor.sandbox.wire import FRAME, READY

#: Away from the numbers that a child gives a new meaning.
_CONTROL_FD = 16


class _Gone(Exception):
    """The tutor closed the control socket, or died."""


class _Buffer:
    """Bytes of one check in a place of its own, wiped after it: the next child inherits this process's memory."""

    def __init__(self, size: int) -> None:
        self._bytes = bytearray(size)
        self.length = 0

    def read(self, fd: int, size: int | None = None) -> int:
        """Adds what is there to be read, at most up to `size` bytes in all. Returns how many; 0 at end of file."""
        got = os.readv(fd, [memoryview(self._bytes)[self.length : size]])
        self.length += got
        return got

    def read_all(self, fd: int, size: int) -> None:
        """Exactly `size` bytes. Raises _Gone at end of file."""
        if size > len(self._bytes):
            self._bytes = bytearray(size)
        while self.length < size:
            if not self.read(fd, size):
                raise _Gone

    @property
    def full(self) -> bool:
        return self.length == len(self._bytes)

    def view(self) -> memoryview:
        return memoryview(self._bytes)[: self.length]

    def wipe(self) -> None:
        self._bytes[: self.length] = bytes(self.length)
        self.length = 0


def serve(control_fd: int) -> NoReturn:
    """Build the walls, say hello, answer jobs until the tutor is gone."""
    if control_fd != _CONTROL_FD:
        os.dup2(control_fd, _CONTROL_FD)
        os.close(control_fd)
    _warm_up()
    walls, states = _build_walls()
    gc.collect()
    gc.freeze()
    try:
        _send(b"H", 0, json.dumps(states).encode())
        zygote = _Zygote(walls)
        while True:
            zygote.answer_one()
    except _Gone:
        os._exit(0)


def _warm_up() -> None:
    """Load now what a child could not load later, having no files: it also saves each child the time."""
    sys.stdout = sys.__stdout__ = _writer(1)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _writer(2)  # type: ignore[misc]
    # NFKC names and \\N{...} need unicodedata.
    text = "(lambda \uff41: [\uff41, '\\N{ASTERISK}'])(x)"
    function = child.build("def f(x):\n    return ______\n", "______", "f", text)
    assert values.decode(json.loads(json.dumps(values.encode(function(1.5))))) == [1.5, "*"]


def _writer(fd: int) -> io.TextIOWrapper:
    """A standard stream that hands each print on at once: a child that is killed has no time to flush."""
    raw = io.FileIO(fd, "w", closefd=False)
    return io.TextIOWrapper(raw, "utf-8", "backslashreplace", write_through=True)


# --- walls ------------------------------------------------------------------------------------------------------------


def _build_walls() -> tuple[tuple[Layer, ...], list[object]]:
    """The walls that hold here, shown in a trial child, and the state of each: [name, active, key, arguments]."""
    missing: dict[str, tuple[str, dict[str, str | int]]] = {}
    for layer in LAYERS:
        try:
            layer.prepare()
        except (Missing, OSError) as error:
            missing[layer.name] = _why(error)
    walls = [layer for layer in LAYERS if layer.name not in missing]
    missing |= _try_walls(walls)
    states: list[object] = [
        [layer.name, layer.name not in missing, *missing.get(layer.name, ("", {}))] for layer in LAYERS
    ]
    return tuple(layer for layer in walls if layer.name not in missing), states


def _why(error: Missing | OSError) -> tuple[str, dict[str, str | int]]:
    if isinstance(error, Missing):
        return error.key, error.args_said
    return "wall_error", {"error": str(error)[: policy.ERROR_TEXT_MAX]}


def _try_walls(walls: list[Layer]) -> dict[str, tuple[str, dict[str, str | int]]]:
    """Build and prove each wall in a child that runs nothing else. Returns what turned out to be missing.

    Raises RuntimeError when that child did not live to tell: nothing is shown to hold, and there is no sandbox.
    """
    parent = os.getpid()
    pipes = _Pipes()
    pid = os.fork()
    if not pid:
        pipes.become_standard()
        missing = {}
        for layer in walls:
            try:
                layer.enter(parent)
                layer.prove()
            except (Missing, OSError) as error:
                missing[layer.name] = _why(error)
        os.write(policy.RESULT_FD, json.dumps(missing).encode() + b"\n")
        os._exit(0)
    pipes.close_child_ends()
    said = b""
    while part := os.read(pipes.result_fd, policy.RESULT_MAX):
        said += part
    pipes.close()
    _, status = os.waitpid(pid, 0)
    if not said.endswith(b"\n"):
        raise RuntimeError(f"the trial of the walls ended without an answer (status {status})")
    return {name: (key, arguments) for name, (key, arguments) in json.loads(said).items()}


class _Pipes:
    """The two pipes of one child: what it answers, and what it prints."""

    def __init__(self) -> None:
        self.result_fd, self._result_end = os.pipe()
        self.output_fd, self._output_end = os.pipe()

    def become_standard(self) -> None:
        """In the child: the ends that it writes to get the numbers that it knows."""
        os.dup2(self._output_end, 1)
        os.dup2(self._output_end, 2)
        os.dup2(self._result_end, policy.RESULT_FD)

    def close_child_ends(self) -> None:
        os.close(self._result_end)
        os.close(self._output_end)

    def close(self) -> None:
        os.close(self.result_fd)
        os.close(self.output_fd)


# --- one check --------------------------------------------------------------------------------------------------------


class _Zygote:
    def __init__(self, walls: tuple[Layer, ...]) -> None:
        self._walls = walls
        self._pid = os.getpid()
        self._frame = _Buffer(FRAME.size)
        self._job = _Buffer(policy.RESULT_MAX)
        self._result = _Buffer(policy.RESULT_MAX)
        self._output = _Buffer(policy.OUTPUT_KEPT)
        self._surplus = _Buffer(policy.RESULT_MAX)

    def answer_one(self) -> None:
        """The next job, from its first byte to its answer. Raises _Gone."""
        kind, number, size = self._read_frame()
        if kind != b"J":  # a cancel that came too late
            return
        self._job.read_all(_CONTROL_FD, size)
        pipes = _Pipes()
        began = time.monotonic()
        pid = os.fork()
        if not pid:
            self._be_the_child(pipes)
        pipes.close_child_ends()
        self._job.wipe()
        try:
            why, printed = self._watch(number, began, pipes)
        finally:
            _kill(pid)
        printed += self._drain(pipes.output_fd)
        pipes.close()
        _, status, used = os.wait4(pid, 0)
        if self._pid == 1:
            _reap_all()
        end = {
            "why": why,
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
            "cpu": used.ru_utime + used.ru_stime,
            "rss": used.ru_maxrss,
            "result": self._result.length,
            "printed": printed,
        }
        _send(b"R", number, json.dumps(end).encode() + b"\n", self._result.view(), self._output.view())
        for buffer in (self._result, self._output):
            buffer.wipe()

    def _read_frame(self) -> tuple[bytes, int, int]:
        self._frame.read_all(_CONTROL_FD, FRAME.size)
        kind, number, size = FRAME.unpack(self._frame.view())
        self._frame.wipe()
        return kind, number, size

    def _be_the_child(self, pipes: _Pipes) -> NoReturn:
        code = 1
        try:
            pipes.become_standard()
            for layer in self._walls:
                layer.enter(self._pid)
            os.write(policy.RESULT_FD, READY)
            code = 0
            child.run(bytes(self._job.view()))
        finally:
            # Whatever happened: the lines on the result pipe are the answer, and this process must not return.
            os._exit(code)

    def _watch(self, number: int, began: float, pipes: _Pipes) -> tuple[str, int]:
        """Reads until the child closed its result pipe. Returns why it has to end ("" by itself), and bytes printed."""
        poll, result_fd, output_fd = select.poll(), pipes.result_fd, pipes.output_fd
        for fd in (_CONTROL_FD, result_fd, output_fd):
            poll.register(fd, select.POLLIN)
        printed = 0
        while True:
            left = began + policy.WALL_S - time.monotonic()
            ready = dict(poll.poll(max(left, 0) * 1000))
            # What is there is read even a little late, when the machine was busy; a trickle without end is not.
            if not ready or left < -policy.GRACE_S / 2:
                return "wall", printed
            if _CONTROL_FD in ready and self._read_frame()[:2] == (b"C", number):
                return "cancel", printed
            if output_fd in ready:
                got = self._read_output(output_fd)
                printed += got
                if not got:
                    poll.unregister(output_fd)
                if printed > policy.OUTPUT_MAX:
                    return "output", printed
            if result_fd in ready:
                if self._result.full:
                    return "result", printed
                if not self._result.read(result_fd):
                    return "", printed

    def _read_output(self, fd: int) -> int:
        if not self._output.full:
            return self._output.read(fd)
        got = self._surplus.read(fd)
        self._surplus.wipe()
        return got

    def _drain(self, fd: int) -> int:
        os.set_blocking(fd, False)
        printed = 0
        try:
            while printed <= policy.OUTPUT_MAX and (got := self._read_output(fd)):
                printed += got
        except BlockingIOError:  # a process that left the group still holds the pipe
            pass
        return printed


def _kill(pid: int) -> None:
    """End the child and all that is left of its group; in a namespace of its own, whatever else there is too."""
    for target in (-pid, pid, *([-1] if os.getpid() == 1 else [])):
        try:
            os.kill(target, signal.SIGKILL)
        except ProcessLookupError:
            pass


def _reap_all() -> None:
    """What a check left behind, and what was killed with it, belongs to process 1."""
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass


def _send(kind: bytes, number: int, *parts: bytes | memoryview) -> None:
    """One frame, without a copy of its parts. Raises _Gone."""
    try:
        for part in (FRAME.pack(kind, number, sum(map(len, parts))), *parts):
            pending = memoryview(part)
            while pending:
                pending = pending[os.write(_CONTROL_FD, pending) :]
    except (BrokenPipeError, ConnectionResetError) as error:
        raise _Gone from error
