"""The fields of trace records, read as what they should be: nobody vouches for them, so nothing here raises (pure)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tutor.lab.breaks import Break, is_library

#: Characters of one text and of a file's name that are kept.
TEXT_MAX, FILE_MAX = 2000, 500
#: Reasons of one recompile, line numbers of one graph.
REASONS_MAX, LINES_MAX = 64, 200

PHASES = ("dynamo", "aot", "inductor", "codegen")
"""Seconds of a compilation by who spent them: Dynamo (tracing and guards), AOTAutograd and the backend around Inductor,
Inductor, and in it the generated code with Triton's and the C++ compiler's time."""

_RESUMED = re.compile(r"torch_dynamo_resume_in_(?P<fn>.+)_at_(?P<line>\d+)")
_OP_LINE = re.compile(r"^[ \t]*# File: (?P<file>.{1,1000}?):(?P<line>\d{1,9}) in ", re.MULTILINE)
_USER_CODE = re.compile(
    r'^[ \t]*File "(?P<file>[^"\n]{1,1000})", line (?P<line>\d{1,9}).*\n[ \t]+(?P<text>\S.*)', re.MULTILINE
)
#: Longer runs of blanks than torch's own columns need cost a reader of regular expressions the square of their length.
_BLANKS = re.compile(r"[ \t]{4,}")


class Frame(NamedTuple):
    """A code object: its name, file and first line; `resumed` is the line that a piece after a break goes on from."""

    fn: str = "?"
    file: str = ""
    line: int = 0
    resumed: int | None = None


def short(file: str) -> str:
    """A file as a line has room for it: its name with its folder, or from the installed package on."""
    for mark in ("/site-packages/", "/dist-packages/"):
        if mark in file:
            return file.rpartition(mark)[2]
    return "/".join(file.split("/")[-2:]) if not file.startswith("<") else file


def text(value: Any, most: int = TEXT_MAX) -> str:
    """A text, up to `most` characters; anything else is the empty one."""
    return value[:most] if isinstance(value, str) else ""


def whole(value: Any) -> int | None:
    """A whole number that JSON can say exactly."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 53 else None


def number(value: Any) -> float:
    """A number that time or size can be; anything else is 0."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e15
    return float(value) if known else 0.0


def table(payload: str) -> dict[str, Any]:
    """The JSON object that a payload is."""
    try:
        found = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def rows(payload: str) -> list[str]:
    """One reason is a bare text, several are a JSON list."""
    if payload[:1] in ("[", '"'):
        try:
            rows = json.loads(payload)
        except (ValueError, RecursionError):
            rows = payload
    else:
        rows = payload
    found = [rows] if isinstance(rows, str) else rows if isinstance(rows, list) else []
    return [_BLANKS.sub("   ", row[: 2 * TEXT_MAX]) for row in found[:REASONS_MAX] if isinstance(row, str)]


def compile_id(meta: Mapping[str, Any]) -> str:
    """`0/2`, or `!1/0/2` under compiled autograd number 1, as torch writes it."""
    numbers = [whole(meta.get(key)) for key in ("frame_id", "frame_compile_id")]
    name = "/".join("-" if number is None else str(number) for number in numbers)
    autograd = whole(meta.get("compiled_autograd_id"))
    return name if autograd is None else f"!{autograd}/{name}"


def frame(fn: Any, file: Any, line: Any) -> Frame:
    """A code object by what the records call it."""
    name = text(fn, 300) or "?"
    resumed = _RESUMED.fullmatch(name)
    first = whole(line) or 0
    if resumed is None:
        return Frame(name, text(file, FILE_MAX), first)
    return Frame(resumed["fn"], text(file, FILE_MAX), first, int(resumed["line"][:9]))


def lines(payload: str, file: str) -> list[int]:
    """The lines of `file` that a graph's text names."""
    found = {int(match["line"]) for match in _OP_LINE.finditer(payload) if not file or match["file"] == file}
    return sorted(found)[:LINES_MAX]


def seconds(said: Mapping[str, Any]) -> float:
    """How long the whole of a compilation took."""
    frame = number(said.get("entire_frame_compile_time_s")) or number(said.get("duration_us")) / 1e6
    return round(frame, 6)


def phases(said: Mapping[str, Any], total: float) -> dict[str, float]:
    """Seconds by phase, no moment counted twice: each counter of torch's holds the ones within it."""
    backward = said.get("is_forward") is False or said.get("backward_cumulative_compile_time_us") is not None
    codegen = _part(said, "inductor_code_gen_cumulative_compile_time_us", "code_gen_time_s")
    inductor = max(codegen, _part(said, "inductor_cumulative_compile_time_us", "inductor_compile_time_s"))
    aot = _part(said, "aot_autograd_cumulative_compile_time_us", "backend_compile_time_s")
    aot = min(total, max(inductor, total if backward else aot))
    inductor = min(inductor, aot)
    codegen = min(codegen, inductor)
    parts = (total - aot, aot - inductor, inductor - codegen, codegen)
    return {name: round(part, 6) for name, part in zip(PHASES, parts, strict=True)}


def _part(said: Mapping[str, Any], micros: str, seconds: str) -> float:
    return number(said.get(micros)) / 1e6 or number(said.get(seconds))


def failed(payload: str) -> Break | None:
    """Where in the user's code a compilation failed, without a reason yet."""
    found = list(_USER_CODE.finditer(payload.rpartition("from user code:")[2]))
    own = [match for match in found if not is_library(match["file"])] or found
    return clipped(Break(own[-1]["file"], int(own[-1]["line"]), own[-1]["text"].strip(), "", False)) if own else None


def clipped(one: Break) -> Break:
    """A break whose texts are bounded."""
    return Break(one.file[:FILE_MAX], one.line, one.text[:TEXT_MAX], one.reason[:TEXT_MAX], one.whole_frame)
