"""`lab --script FILE [ARGS...]`: a whole program under torch.compile, watched from outside.

The program runs as `python FILE ARGS` would run it; TORCH_TRACE makes torch write down what it compiles, in every
process and rank that the program starts, and the reader of `--trace` explains that while it grows. So one explanation
serves both, nothing is added to the program's own process, and no version of torch has to be known here.
"""

from __future__ import annotations

import argparse
import codecs
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from tutor.cli import lab_trace
from tutor.cli.exits import Exit, Stop
from tutor.cli.output import LINE, Output
from tutor.cli.progress_line import ProgressLine
from tutor.context import Context
from tutor.lab import interpreter
from tutor.paths import why
from tutor.trace import files as trace_files
from tutor.trace import story as trace_story
from tutor.trace.facts import Event
from tutor.trace.fields import short
from tutor.trace.reading import Reading
from tutor.trace.story import Said

#: Seconds between two looks at the trace, and until a line without an end is shown.
LOOK_S, WAIT_S = 0.5, 0.2
#: Seconds without output after which processes that outlive the program are waited for no more, and at most in all: one
#: that stays in the background may print for ever.
LINGER_S, LINGER_MAX_S = 1.0, 10.0
#: Seconds that a program gets to end when nobody reads us any more.
TERMINATE_S = 5.0
#: Lines about single compilations while the program runs, and seconds from which a compilation is worth one.
LIVE_MAX, LONG_S = 100, 1.0

_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
#: Variables that switch torch.compile off, when they are set to 1.
_OFF = ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE")


def run(context: Context, args: argparse.Namespace, out: Output) -> int:
    """Run the program to its end and explain it. Raises Stop."""
    command = _command(context, args.script, out)
    with ExitStack() as stack:
        folder, own = _folder(stack)
        watched = _Watched(folder, out)
        if not out.as_json:
            out.hint(out.text("trace.script-runs", command=" ".join(command)))
        began = time.monotonic()
        code = _run(command, folder, watched, out)
        seconds = time.monotonic() - began
        watched.look()
        lab_trace.emit(watched.reading.end(), out)
        return _conclude(watched, code, seconds, None if own else folder, out)


def _command(context: Context, script: list[str], out: Output) -> list[str]:
    module = script[:1] == ["-m"]
    if not script or (module and len(script) < 2):
        raise Stop("trace.script-missing")
    if not module:
        path = Path(script[0])
        if not path.exists():
            raise Stop("cli.file-missing", path=str(path))
        if path.is_dir() and not (path / "__main__.py").is_file():
            raise Stop("trace.script-folder", path=str(path))
    try:
        found = interpreter.find(context.settings.python)
    except interpreter.InterpreterError as error:
        raise Stop.saying(error.message, Exit.UNAVAILABLE) from error
    if found.torch_version is None:
        out.hint(out.text("trace.script-no-torch", python=found.path))
    return [found.path, *script]


def _folder(stack: ExitStack) -> tuple[Path, bool]:
    """Where the trace goes, and whether the folder is ours to remove: who sets TORCH_TRACE keeps the trace."""
    asked = os.environ.get("TORCH_TRACE")
    if asked:
        return Path(asked).absolute(), False  # The program may change its folder before it compiles.
    try:
        made = tempfile.TemporaryDirectory(prefix="tutor-trace-", ignore_cleanup_errors=True)
    except OSError as error:
        raise Stop("trace.script-no-folder", Exit.UNAVAILABLE, why=why(error)) from error
    return Path(stack.enter_context(made)), True


# --- running ----------------------------------------------------------------------------------------------------------


def _run(command: list[str], folder: Path, watched: _Watched, out: Output) -> int:
    """The program's exit code, negative for the signal that ended it. Its input is ours."""
    env = {**os.environ, "TORCH_TRACE": str(folder), "PYTHONUNBUFFERED": "1"}
    sys.stdout.flush()
    with _signals() as pass_on:
        try:
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, bufsize=0)
        except OSError as error:
            raise Stop("trace.script-no-start", Exit.UNAVAILABLE, command=command[0], why=why(error)) from error
        pass_on.append(child)
        try:
            with ProgressLine(out) as line, child:
                watched.line = line
                _read_out(child, watched, pass_on)
                return child.wait()
        finally:
            if child.poll() is None:  # Whoever read us has gone: a program without readers is ended, as by a pipe.
                child.terminate()
                try:
                    child.wait(TERMINATE_S)
                except subprocess.TimeoutExpired:
                    child.kill()


class _PassOn(list["subprocess.Popen[bytes]"]):
    """The program, once it runs: signals that only we got are passed on to it."""

    def now(self) -> bool:
        """The terminal's Ctrl-C reaches the whole group, the program too; what is sent to us alone does not. Whether
        there was a signal for a program that has ended: it means us."""
        ours = False
        while (info := signal.sigtimedwait(_PASSED_ON, 0)) is not None:
            for child in self:
                if child.poll() is not None:
                    ours = True
                elif info.si_code <= 0:
                    child.send_signal(info.si_signo)
        return ours


@contextmanager
def _signals() -> Iterator[_PassOn]:
    """While this is entered none of these signals ends us: the program decides. It starts with its own defaults, since
    a handler does not outlive an exec."""

    def ignored(_number: int, _frame: FrameType | None) -> None:
        """Only until they are blocked."""

    pass_on = _PassOn()
    # What is ignored, as by nohup, stays so for the program too.
    heard = [number for number in _PASSED_ON if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, ignored) for number in heard}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        yield pass_on
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in before.items():
            signal.signal(number, handler)


def _read_out(child: subprocess.Popen[bytes], watched: _Watched, pass_on: _PassOn) -> None:
    """Show what the program prints, and look at its trace now and again, until it has ended and its pipes are empty."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
    streams = {"stdout": child.stdout, "stderr": child.stderr}
    printers = {name: _Printer(name, watched) for name in streams}
    last_look = last_data = time.monotonic()
    ended: float | None = None
    with selectors.DefaultSelector() as pipes:
        for name, pipe in streams.items():
            assert pipe is not None
            pipes.register(pipe, selectors.EVENT_READ, printers[name])
        while pipes.get_map():
            ready = pipes.select(WAIT_S)
            now = time.monotonic()
            for key, _ in ready:
                data = os.read(key.fd, 1 << 16)
                last_data = now
                key.data.feed(data)
                if not data:
                    pipes.unregister(key.fileobj)
            for printer in printers.values() if not ready else ():
                printer.wait_no_more()
            enough = pass_on.now() and ended is not None  # Not the one that ended the program.
            if now - last_look >= LOOK_S:
                last_look = now
                watched.look()
            if child.poll() is not None:
                ended = now if ended is None else ended
                if enough or now - last_data > LINGER_S or now - ended > LINGER_MAX_S:
                    break
        while child.poll() is None:  # It closed its output, and goes on.
            time.sleep(WAIT_S)
            pass_on.now()
            watched.look()
    for printer in printers.values():
        printer.wait_no_more()


class _Printer:
    """One stream of the program as whole lines, marked as its own. What a carriage return overwrites is not kept."""

    def __init__(self, stream: str, watched: _Watched) -> None:
        self._stream = stream
        self._watched = watched
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._piece = ""

    def feed(self, data: bytes) -> None:
        text = (self._piece + self._decoder.decode(data, final=not data)).replace("\r\n", "\n")
        *lines, piece = text.split("\n")
        for line in lines:
            self._say(line.rpartition("\r")[2])
        while len(piece) > LINE:
            self._say(piece[:LINE])
            piece = piece[LINE:]
        over, mark, rest = piece[:-1].rpartition("\r")  # One at the very end may be half of a line's end.
        if mark:
            self._watched.status(over.rpartition("\r")[2])
            piece = rest + piece[-1:]
        self._piece = piece

    def wait_no_more(self) -> None:
        """A line without an end, such as a question, is shown after a while."""
        if self._piece.endswith("\r"):
            self._watched.status(self._piece.rstrip("\r").rpartition("\r")[2])
        elif self._piece:
            self._say(self._piece)
            self._piece = ""

    def _say(self, line: str) -> None:
        self._watched.printed(self._stream, line)


# --- what is seen meanwhile -------------------------------------------------------------------------------------------


class _Watched:
    """The program's trace as it grows, and what is said of it while it does."""

    def __init__(self, folder: Path, out: Output) -> None:
        self.reading = Reading()
        self.line: ProgressLine | None = None
        self._folder = folder
        self._out = out
        self._known: set[str] = set()
        self._known |= {file.name for file in self._new_files()}
        self._told = 0
        self._compiling: tuple[str, float] = ("", 0.0)

    def look(self) -> None:
        """Read what was written since."""
        for file in self._new_files():
            self._known.add(file.name)
            self.reading.add(file)
        for event in self.reading.more():
            lab_trace.emit([event], self._out)
            if not self._out.as_json and self._told < LIVE_MAX:
                self._tell(event)
        self._now_compiling()

    def _new_files(self) -> list[trace_files.TraceFile]:
        try:
            return trace_files.find(self._folder, self._known).files
        except FileNotFoundError:
            return []  # torch makes the folder with its first record.
        except OSError as error:
            raise Stop("trace.unreadable", path=str(self._folder), why=why(error)) from error

    def printed(self, stream: str, line: str) -> None:
        """A line of the program's."""
        if self._out.as_json:
            self._out.emit({"schema": 1, "event": "output", "stream": stream, "text": line + "\n"})
            return
        self.status("")
        shown = _COLOUR.sub("", line)
        if stream == "stdout":
            self._out.result(f"| {shown}")
        else:
            self._out.hint(f"! {shown}")

    def status(self, text: str) -> None:
        """What is shown in place where stderr is a terminal, and nowhere else."""
        if self.line is not None and sys.stderr.isatty():
            self.line.show(_COLOUR.sub("", text)[:200])

    def _tell(self, event: Event) -> None:
        """One line about a compilation, on stderr beside the program's own."""
        where = {"place": f"{short(event['file'])}:{event['line']}" if "fn" in event and event["file"] else "?"}
        text = ""
        match event["event"]:
            case "recompile":
                guard = trace_story.guard(event, trace_story.Telling(self._out.lang))
                text = self._out.text("trace.script-recompiled", fn=event["fn"], why=guard, **where)
            case "break":
                text = self._out.text("trace.script-broke", text=event["text"][:200] or event["reason"][:200], **where)
            case "eager" if event["why"] == "limit":
                text = self._out.text("trace.script-limit", fn=event["fn"], **where)
            case "graph" if event["seconds"] >= LONG_S:
                seconds = f"{event['seconds']:.1f}"
                text = self._out.text("trace.script-graph", fn=event["fn"], seconds=seconds, **where)
        if text:
            self._told += 1
            self.status("")
            self._out.hint(f"~ {text}")

    def _now_compiling(self) -> None:
        frames = self.reading.compiling()
        if not frames:
            self.status("")
            return
        frame, now = frames[-1], time.monotonic()
        name = trace_story.place(frame)
        if self._compiling[0] != name:
            self._compiling = (name, now)
        graphs = sum(process.counts.graphs for process in self.reading.job.processes.values())
        seconds = round(now - self._compiling[1])
        self.status(self._out.text("trace.script-compiling", fn=frame.fn, place=name, seconds=seconds, graphs=graphs))


# --- the end ----------------------------------------------------------------------------------------------------------


def _conclude(watched: _Watched, code: int, seconds: float, kept: Path | None, out: Output) -> Exit:
    job = watched.reading.job
    unreadable = list(watched.reading.unreadable.items())
    if code < 0:
        ended = out.text("trace.script-signal", signal=_signal_name(-code), seconds=f"{seconds:.1f}")
    else:
        ended = out.text("trace.script-ended", code=code, seconds=f"{seconds:.1f}")
    if out.as_json:
        lab_trace.conclude(job, out, unreadable)
        out.emit({"schema": 1, "event": "ended", **_ended(code), "seconds": round(seconds, 3), "message": ended})
    else:
        out.result()
        out.result(ended)
        said = []
        if job.files:
            lab_trace.conclude(job, out, unreadable)
        else:
            said.append(out.text("trace.script-nothing"))
            off = [variable for variable in _OFF if os.environ.get(variable) == "1"]
            said += [out.text("trace.script-disabled", variable=variable, value="1") for variable in off]
        if kept is not None:
            said.append(out.text("trace.script-kept", path=str(kept)))
        lab_trace.say(map(Said, said), out)
    if _interrupted(code):
        return Exit.INTERRUPTED
    return Exit.GOOD if code == 0 else Exit.FAILS


def _interrupted(code: int) -> bool:
    return code in (-signal.SIGINT, Exit.INTERRUPTED)


def _ended(code: int) -> dict[str, Any]:
    outcome = "ok" if code == 0 else "cancelled" if _interrupted(code) else "failed"
    return {
        "outcome": outcome,
        "exit_code": code if code >= 0 else None,
        "signal": _signal_name(-code) if code < 0 else None,
    }


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
