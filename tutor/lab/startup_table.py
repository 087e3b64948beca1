"""The table of first calls, `recorded/startup.md`, from the recorded runs of `cold-warm`. For maintainers:

python -m tutor.lab.startup_table
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tutor.lab import transcripts
from tutor.lesson import catalog
from tutor.model import Demo

COLUMNS = ("first_call", "start", "probe", "tracing", "codegen", "compiler", "load", "run", "import", "device")
LATER = ("n", "p50", "p95", "p99", "max")

INTRODUCTION = """\
# First calls, by way of starting

A small model (4 blocks of LayerNorm, Linear, GELU, Linear beside a residual; width 256, input 8x128x256, float32, no
grad), each row a fresh process run by `demos/startup/way.py`. Seconds, single runs. `first_call` is the wait from a
ready model to its first result, and the phases after it add up to it:

* `start`: importing the compiler. `probe`: asking what the CPU's vector instructions can do (`pick_vec_isa`). Both
  would happen inside the call or the load; they are done just before it so that they can be timed.
* `tracing`: Dynamo. `codegen`: AOTAutograd and Inductor. `compiler`: C++ or Triton, or Triton's own cache. `load`:
  saved artifacts, a package, generated modules. These are torch's own marks (structured trace), each moment counted
  once, for the innermost part; for the package's making `tracing` is torch.export, and for saved artifacts and packages
  the loading function was timed.
* `run`: what is left of the call.
* `import` of torch and `device` (the model's way onto the device, a GPU's context included) come before it.

TORCHINDUCTOR_COMPILE_THREADS=1 throughout. Written by `python -m tutor.lab.startup_table`.
"""


def write(demo: Demo) -> str:
    """The whole file, one part for each recorded run. Raises TranscriptError."""
    return "\n".join([INTRODUCTION, *(line for path in demo.recorded for line in _part(demo, path))]) + "\n"


def _part(demo: Demo, path: Path) -> Iterator[str]:
    about = transcripts.header(path)
    events = [event for event in transcripts.replay(demo, path) if event["event"] == "observation"]
    result = next(event for event in transcripts.replay(demo, path) if event["event"] == "result")
    machine = result["environment"]
    yield f"## {about.where}"
    yield ""
    yield (
        f"{about.date}, torch {about.torch}, Triton {about.triton or 'none'}, Python {about.python}, "
        f"{machine['processors']} processors" + (", contended" if machine["contended"] else "") + f"; `{path.name}`."
    )
    yield ""
    if not any("run_s" in event["values"] for event in events):
        yield "Recorded by an earlier form of this demo, without phases: to be recorded again."
        yield ""
        return
    yield from _table(("way", *COLUMNS), (_row(event) for event in events if event["series"] != "uncovered"))
    for event in events:
        if event["series"] == "uncovered" and "first_call_s" in event["values"]:
            yield f"{event['call']}: {event['values']['first_call_s']:.2f} s."
        if "warmup_s" in event["values"]:
            yield f"The warm-up itself, before traffic: {event['values']['warmup_s']:.2f} s."
        if "ended" in event["values"]:
            yield f"{event['call']} ended by {event['values']['ended']}: {' / '.join(event['said'])}"
    yield ""
    yield "Later calls of the same processes, microseconds:"
    yield ""
    yield from _table(("way", *LATER), (_later(event) for event in events if "later_us" in event["values"]))


def _row(event: Mapping[str, Any]) -> list[str]:
    values = event["values"]
    if "ended" in values:
        return [event["call"], f"ended by {values['ended']}", *[""] * (len(COLUMNS) - 1)]
    return [event["call"], *(f"{values[f'{name}_s']:.2f}" if f"{name}_s" in values else "" for name in COLUMNS)]


def _later(event: Mapping[str, Any]) -> list[str]:
    spread = event["values"]["later_us"]
    return [event["call"], str(spread["n"]), *(f"{spread[part]:.0f}" for part in LATER[1:])]


def _table(head: Iterable[str], rows: Iterable[list[str]]) -> Iterator[str]:
    head = list(head)
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


if __name__ == "__main__":
    lesson = catalog.load()
    target = lesson.folder / "recorded" / "startup.md"
    target.write_text(write(lesson.demos["cold-warm"]), encoding="utf-8")
    print(f"{target.name}: {len(lesson.demos['cold-warm'].recorded)} recorded runs")
