"""The child: runs one demo and says what it saw. It never says a verdict.

Loaded by path into the parent and entered right after the fork; standard library and torch only, Python 3.10 and later.
A demo is a file with `run(lab)`; `Lab` is all that it is given.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from tutor.lab import gpus, machine, probe, timing
else:
    gpus, machine, probe, timing = (sys.modules[f"tutor_lab_{name}"] for name in ("gpus", "machine", "probe", "timing"))

#: The bound of one line, and of a text inside one, that the other side holds us to.
MAX_LINE, MAX_TEXT = 64 * 1024, 2000
#: Lines of stderr that are kept of a process that a demo started.
LAST_WORDS = 6


class Unavailable(Exception):
    """This machine lacks what the demo needs: the text names it."""


class Voice:
    """Says events on a descriptor that no print reaches and no program that the demo starts inherits."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def say(self, event: str, **fields: Any) -> None:
        """Raises ValueError for what is not JSON or is too long: a mistake in the demo."""
        line = json.dumps({"schema": 1, "event": event, **fields}, allow_nan=False).encode() + b"\n"
        if len(line) > MAX_LINE:
            raise ValueError(f"an event of {len(line)} bytes; {MAX_LINE} is the most")
        while line:
            line = line[os.write(self._descriptor, line) :]


@dataclass(frozen=True)
class Ended:
    """How a process of its own ended: what it said as JSON on its last line, None when it failed; its exit status, or
    the name of the signal that ended it; and the last lines of its stderr."""

    answer: dict[str, Any] | None
    how: str
    last_words: tuple[str, ...]


class Lab:
    """What a demo works with."""

    def __init__(self, voice: Voice, device: str, params: Mapping[str, Any] | None = None, cache: str = "") -> None:
        self._voice = voice
        self.device = device
        """`cpu` or `cuda`, where the demo makes its tensors."""
        self.params: Mapping[str, Any] = params or {}
        """What whoever started the run wants of it; a demo of a lesson gets nothing."""
        self.cache = Path(cache)
        """The tutor's own folder for compiled code, which may be emptied at any time."""
        self.neighbours: gpus.Neighbours | None = None
        """Who else is on the GPU; None without one that nvidia-smi lists."""

    def observe(
        self,
        series: str,
        values: Mapping[str, Any],
        *,
        call: str | None = None,
        ask: str | None = None,
        answer: int | None = None,
        said: Sequence[str] = (),
        why: str | None = None,
    ) -> None:
        """Say one observation, as soon as it is made.

        `series` groups those that a rule looks at together ("default", "control"), `values` are names with numbers,
        texts, truth values, lists of them, or a `timing.Spread`. `call` describes the call in the field's terms,
        `ask` is the question of the demo's TOML that it answers and `answer` the answer (a number, or a choice's
        place from 0), `said` are torch's own words and `why` names a sentence of the TOML.
        """
        if self.neighbours is not None:
            self.neighbours.glance()
        self._voice.say(
            "observation",
            series=series,
            call=call,
            ask=ask,
            answer=answer,
            values=dict(values),
            said=[text[:MAX_TEXT] for text in said],
            why=why,
        )

    def observe_call(
        self,
        series: str,
        label: str,
        call: probe.Call,
        *,
        why: str | None = None,
        expect: int | None = None,
        ask: str | None = None,
    ) -> None:
        """Say what a watched call did: new graphs (the answer to `ask`), who served it, and whether it equals eager.

        `why` names the sentence for `expect` new graphs, the usual number; for any other number it is `unexpected`.
        """
        values: dict[str, Any] = {"new_graphs": call.new_graphs, "served_by": call.served_by}
        if call.same_as_eager is not None:
            values["same_as_eager"] = call.same_as_eager
        if call.said:
            values["reason"] = " | ".join(call.said)
        if expect is not None and call.new_graphs != expect:
            why = "unexpected"
        answer = call.new_graphs if ask else None
        self.observe(series, values, call=label, ask=ask, answer=answer, said=call.said, why=why)

    def race(
        self, sides: Mapping[str, Callable[[], object]], *, n: int, clock: timing.Clock = "device"
    ) -> dict[str, timing.Spread]:
        """The spread of `n` calls of each side in microseconds, the sides taking turns; see `timing.race`."""
        return timing.race(sides, self.device, n=n, clock=clock)

    @staticmethod
    def guards_of(function: Callable[..., Any], local: dict[str, Any]) -> tuple[Callable[[], bool], int]:
        """The guards of a compiled function's newest entry: what evaluates them for these local variables and does
        nothing else, and how many there are."""
        entry = probe.entries(function)[0]
        return probe.guard_check(entry, local), len(probe.guards(entry))

    @staticmethod
    def generated(function: Callable[..., Any], *examples: torch.Tensor) -> Callable[..., Any]:
        """What Inductor generates for these arguments, without any guard or check before it."""
        return probe.generated(function, *examples)

    @staticmethod
    def compiled_anew() -> contextlib.AbstractContextManager[Any]:
        """While this is entered, Inductor takes nothing from its caches."""
        return probe.compiled_anew()

    @staticmethod
    @contextlib.contextmanager
    def artefacts() -> Iterator[Mapping[str, str]]:
        """The newest text of each artefact that torch's layers make while this is entered, by torch's name for it."""
        with probe.Events() as events:
            yield events.made

    @staticmethod
    def kernels(call: Callable[[], object]) -> list[tuple[str, float]]:
        """The kernels that one call starts on the GPU, in order: name and microseconds."""
        return timing.kernels(call)

    def trace(self, call: Callable[[], object]) -> list[Any]:
        """torch's profiler events of one call, until the device was done; the call itself is `timing.CALL`."""
        return timing.trace(call, self.device)

    def gpu_work(self, call: Callable[[], object]) -> list[tuple[str, float]]:
        """What the GPU did for one call, copies and fills too, in order: name and microseconds."""
        return timing.gpu_work(self.trace(call))

    @staticmethod
    def spread(us: Sequence[float]) -> timing.Spread:
        """The spread of microseconds that were taken in another way than by `race`."""
        return timing.spread(us)

    @staticmethod
    @contextlib.contextmanager
    def cudagraph_skips() -> Iterator[list[str]]:
        """Why torch made no CUDA graph, in its own words, each time that it did not while this is entered."""
        with probe.Skips() as skips:
            yield skips.said

    @staticmethod
    @contextlib.contextmanager
    def recordings() -> Iterator[list[str]]:
        """What torch says of each CUDA graph that it records while this is entered."""
        with probe.Recordings() as recorded:
            yield recorded.said

    def settle(self) -> None:
        """Wait until the device has nothing left to do."""
        timing.settle(self.device)

    def fresh(self, script: str, *args: str, caches: Path | None = None) -> dict[str, Any]:
        """What `script` says, as JSON on its last line, when it is run by a Python of its own.

        `caches` is where that process keeps compiled code, in place of the tutor's own. Raises
        subprocess.CalledProcessError when it fails.
        """
        env = {**os.environ, **(cache_variables(caches) if caches else {})}
        said = subprocess.run([sys.executable, script, *args], stdout=subprocess.PIPE, env=env, check=True)
        answer: dict[str, Any] = json.loads(said.stdout.splitlines()[-1])
        return answer

    def outcome(self, script: str, *args: str, caches: Path) -> Ended:
        """The same for a script that may fail or die, which is then an answer too; what it writes to stderr is kept."""
        env = {**os.environ, **cache_variables(caches)}
        said = subprocess.run([sys.executable, script, *args], capture_output=True, env=env, check=False)
        words = tuple(said.stderr.decode("utf-8", "backslashreplace").splitlines()[-LAST_WORDS:])
        if said.returncode:
            code = said.returncode
            return Ended(None, _signal_name(-code) if code < 0 else f"exit status {code}", words)
        return Ended(json.loads(said.stdout.splitlines()[-1]), "exit status 0", words)

    def step(self, number: int, of: int, text: str) -> None:
        """Say which of how many parts begins now; whoever waits is shown it."""
        self._voice.say("step", number=number, of=of, text=text[:MAX_TEXT])

    @staticmethod
    def describe(tensor: torch.Tensor) -> str:
        """A tensor as the field writes it: `f32[2, 128]`."""
        return probe.describe(tensor)

    @staticmethod
    def entry_limit() -> int:
        """How many entries one function may have here."""
        return probe.entry_limit()

    @staticmethod
    def explain(function: Callable[..., Any], *args: Any) -> tuple[int, int] | None:
        """Graphs and breaks by torch's own `explain`, None where it cannot say."""
        return probe.explained(function, *args)

    @staticmethod
    def layers(function: Callable[..., Any], *args: Any) -> tuple[dict[str, str], str | None]:
        """What each layer of torch.compile makes of a function, and what stopped the rest; see `probe.layers`."""
        return probe.layers(function, *args)

    def watch(self, function: Callable[..., Any], **options: Any) -> probe.Watch:
        """`function` under torch.compile with `options`, every call watched, starting from an empty cache."""
        return probe.Watch(function, **options)


def cache_variables(folder: Path) -> dict[str, str]:
    """Environment variables that keep everything compiled in `folder`."""
    return {"TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"), "TRITON_CACHE_DIR": str(folder / "triton")}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _prepare(cache: str) -> None:
    """Caches of our own; no pool of compiler processes, whose start takes longer than these small compilations; and no
    profile of earlier jobs, which would make sizes symbolic from the first call on."""
    os.environ.update(cache_variables(Path(cache)))
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    os.environ.pop("TORCH_COMPILE_JOB_ID", None)


def main(request: Mapping[str, Any], said: int, printed: int, lifeline: int, threads: int) -> None:
    """Run the request's demo; never returns. `said`, `printed` and `lifeline` are this child's descriptors."""
    for stream in (1, 2):
        os.dup2(printed, stream)
    os.close(printed)
    sys.stdout, sys.stderr = map(_printer, (1, 2))
    threading.Thread(target=_die_with, args=(lifeline,), daemon=True).start()
    voice = Voice(said)
    voice.say("begun", pid=os.getpid())
    try:
        busy = machine.busy_processors()
        machine.use_threads(threads)
        _prepare(request["cache"])
        place = _place(request["device"])
        for need in request["needs"]:
            if not machine.has(need, place.device):
                raise Unavailable(place.trouble if need in ("cuda", "triton") and place.trouble else need)
        lab = Lab(voice, place.device, request.get("params"), request["cache"])
        if place.choice is not None:
            lab.neighbours = gpus.Neighbours(place.choice, os.getpgid(0))
        try:
            _load(request["script"]).run(lab)
        except RuntimeError as error:
            if lab.device != "cuda" or type(error).__name__ != "OutOfMemoryError":
                raise
            traceback.print_exc()
            voice.say("full", **_memory(lab.neighbours))
        else:
            voice.say("result", environment=_environment(lab, place, busy))
    except Unavailable as lack:
        voice.say("unavailable", need=str(lack))
    except BaseException as error:  # Also SystemExit and KeyboardInterrupt: whatever a demo raises is its answer.
        _show(error)
        text = str(error).strip().split("\n", 1)[0]
        voice.say("failed", kind=type(error).__name__, text=text[:MAX_TEXT])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _show(error: BaseException) -> None:
    """Print a traceback from the first frame that is not the tool's; all of it when there is no other."""
    shown = traceback.TracebackException.from_exception(error)
    inside = (str(Path(__file__).parent), "<frozen importlib")
    theirs = next((n for n, frame in enumerate(shown.stack) if not frame.filename.startswith(inside)), None)
    if theirs is None and isinstance(error, SyntaxError):  # It was never run, and says its own place.
        theirs = len(shown.stack)
    del shown.stack[: theirs or 0]
    print("".join(shown.format()), end="", file=sys.stderr)


def _printer(stream: int) -> TextIOWrapper:
    raw = FileIO(stream, "w", closefd=False)
    return TextIOWrapper(BufferedWriter(raw), "utf-8", errors="backslashreplace", line_buffering=True)


def _die_with(lifeline: int) -> None:
    """Wait for the parent's end; only it holds the other side."""
    os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


@dataclass(frozen=True)
class Place:
    """Where the demo runs: `cpu` or `cuda`, the chosen GPU where nvidia-smi lists it, and what is wrong with a GPU that
    is there and cannot be used, as a need that `tutor.lab.run` has a sentence for."""

    device: str
    choice: gpus.Choice | None = None
    trouble: str | None = None


def _place(wanted: str) -> Place:
    """Choose a GPU, and let CUDA, which nothing has touched yet in this process, see no other. Raises Unavailable."""
    if wanted == "cpu":
        return Place(wanted)
    choice, trouble = None, None
    try:
        listed = gpus.look()
    except gpus.Trouble as error:
        trouble = None if error.kind == "none" else f"cuda-{error.kind}"
        if wanted.startswith("cuda:"):
            os.environ["CUDA_VISIBLE_DEVICES"] = wanted.partition(":")[2]
    else:
        choice = gpus.choose(listed, wanted)
        if choice is not None:
            os.environ.update(CUDA_DEVICE_ORDER="PCI_BUS_ID", CUDA_VISIBLE_DEVICES=choice.visible)
        elif wanted.startswith("cuda:"):
            raise Unavailable(wanted)
        else:
            trouble = "cuda-hidden"
    if machine.has_cuda():
        return Place("cuda", choice)
    if choice is not None:
        built_for = getattr(getattr(torch, "version", None), "cuda", None)
        trouble = "cuda-torch" if built_for else "cuda-build"
    if wanted != "auto":
        raise Unavailable(trouble or "cuda")
    return Place("cpu", None, trouble)


def _environment(lab: Lab, place: Place, busy: bool) -> dict[str, Any]:
    found = machine.environment(lab.device, busy)
    if place.choice is not None and lab.neighbours is not None:
        lab.neighbours.look()
        found.update(gpu_index=place.choice.gpu.index, gpu_why=place.choice.why, contended=lab.neighbours.contended)
        found["gpu_others"] = len(lab.neighbours.seen)
    if place.trouble is not None:
        found["gpu_trouble"] = place.trouble
    return found


def _memory(neighbours: gpus.Neighbours | None) -> dict[str, Any]:
    """MiB of the GPU: free, in all, held by this run; and who has the rest."""
    free, total = (size >> 20 for size in torch.cuda.mem_get_info())
    there = neighbours.look() if neighbours is not None else []
    others = [f"{each.name} {each.pid}" + (f" {each.used} MiB" if each.used is not None else "") for each in there]
    return {"free": free, "total": total, "mine": torch.cuda.memory_reserved() >> 20, "others": others[:8]}


def _load(script: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("tutor_demo", script)
    if spec is None or spec.loader is None:
        raise ImportError(f"not a Python file: {script}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
