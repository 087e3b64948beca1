"""What does a first call cost by way of starting, and where does the time go? The control is a first call in eager.

Each way is a Python process of its own (`startup/way.py`); one that dies is told of, and the others go on.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tutor.lab.child import Lab

#: The phases of a first call, in the order in which they come.
PHASES = ("start", "probe", "tracing", "codegen", "compiler", "load", "run")
SCRIPT = str(Path(__file__).with_name("startup") / "way.py")


class Way(NamedTuple):
    """`way` as `startup/way.py` has it, the folder of its caches and the file that it reads or writes."""

    series: str
    label: str
    way: str
    caches: str
    why: str
    file: str = "-"


WAYS = (
    Way("control", "eager", "eager", "eager", "control"),
    Way("cold", "f(x), empty caches", "compiled", "kept", "cold", "saved.bin"),
    Way("warm", "f(x), same caches, second process", "compiled", "kept", "warm", "again"),
    Way("warm", "f(x), same caches, third process", "compiled", "kept", "warm", "again"),
    Way("artifacts", "f(x), saved artifacts, empty caches", "artifacts", "artifacts", "artifacts", "saved.bin"),
    Way("make", "make an AOTInductor package", "make", "make", "make", "model.pt2"),
    Way("package", "load the package, empty caches", "package", "package", "package", "model.pt2"),
    Way("package_again", "load it, same caches, second process", "package", "package", "package-again", "model.pt2"),
    Way("warmed", "f(x) after a warm-up", "warmed", "kept", "warmed"),
)


def run(lab: Lab) -> None:
    folder = lab.cache / "startup"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cold = 0.0
    for number, way in enumerate(WAYS, 1):
        lab.step(number, len(WAYS), way.label)
        ended = lab.outcome(SCRIPT, way.way, lab.device, str(folder / way.file), caches=folder / way.caches)
        if ended.answer is None:
            lab.observe(way.series, {"ended": ended.how}, call=way.label, said=ended.last_words, why="died")
            continue
        first, why, ask = ended.answer["first_call_s"], way.why, None
        answer = None
        if way.series == "cold":
            cold, ask, answer = first, "cold", sum(first >= bound for bound in (1, 10, 60))
            why = way.why if first >= 1 else "unexpected"
        elif way.label == "f(x), same caches, second process" and cold:
            ask, answer = "warm", sum(first >= share * cold for share in (0.05, 0.5, 0.95))
            why = way.why if 0.05 * cold < first < cold else "unexpected"
        lab.observe(way.series, _values(lab, ended.answer), call=way.label, ask=ask, answer=answer, why=why)
        if "other_s" in ended.answer["more"]:
            other = {"first_call_s": ended.answer["more"]["other_s"]}
            lab.observe("uncovered", other, call="f(x), a size not warmed up", why="uncovered")
    shutil.rmtree(folder, ignore_errors=True)


def _values(lab: Lab, said: dict[str, Any]) -> dict[str, Any]:
    """The whole first call, then its phases, which add up to it, and what is apart."""
    values = {"first_call_s": said["first_call_s"]}
    values |= {f"{name}_s": said["phases"][name] for name in PHASES if name in said["phases"]}
    values |= {name: said["more"][name] for name in ("warmup_s",) if name in said["more"]}
    values |= {name: said[name] for name in ("import_s", "device_s")}
    shown = {name: round(seconds, 4) for name, seconds in values.items()}
    later = {"later_us": lab.spread(said["later_us"])} if said["later_us"] else {}
    return {**shown, **later, "same_as_eager": said["close"]}
