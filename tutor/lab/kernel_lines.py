"""The compiler's texts as lines to read: where in the source each comes from, and two texts beside each other (pure).

Source lines are written in three ways: in MLIR as `loc(...)` with definitions `#locN` at the end or the start, in PTX
as `.loc FILE LINE COLUMN` before the instructions, with the calls in a comment behind it, and by nvdisasm as
`//## File "PATH", line N`. The calls do not get from that comment into the machine code, so nvdisasm has none to name;
`with_calls` takes them from the PTX.
"""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple


class Place(NamedTuple):
    """A line of a source file, counted from 1."""

    file: str
    line: int


class Row(NamedTuple):
    """One line of code; `places` are the source lines it was made from, the innermost call first."""

    text: str
    places: tuple[Place, ...] = ()


#: The same in both (but for register numbers), otherwise, only in the first, only in the second.
Mark = Literal[" ", "|", "<", ">"]


class Pair(NamedTuple):
    """A line of each text; None where the other has no like. The second is what is new."""

    a: Row | None
    b: Row | None
    mark: Mark


def rows(stage: str, text: str) -> list[Row]:
    """The lines of a stage ("ttir", "ttgir", "ptx", "sass") without those that only say where others come from."""
    make: dict[str, Callable[[str], list[Row]]] = {"ttir": _mlir, "ttgir": _mlir, "ptx": _ptx, "sass": _sass}
    return make[stage](text)


# --- MLIR -------------------------------------------------------------------------------------------------------------

_DEFINED = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
_FILE_PLACE = re.compile(r'^"([^"]*)":(\d+):\d+')
_NAMED = re.compile(r'^"[^"]*"\((.*)\)$')
_CALLSITE = re.compile(r"^callsite\((.*)\)$")
#: Calls within calls that are followed; deeper ones are a text that refers to itself.
_DEEPEST = 40


def _mlir(text: str) -> list[Row]:
    lines = text.rstrip("\n").split("\n")
    known = {match[1]: match[2] for match in map(_DEFINED.match, lines) if match}
    out = []
    for line in lines:
        if _DEFINED.match(line):
            continue
        bare, last = _without_loc(line)
        out.append(Row(bare, _resolved(last, known) if last else ()))
    return out


def _without_loc(line: str) -> tuple[str, str]:
    """The line without each ` loc(...)`, and what stood in the last one."""
    kept, last, at = "", "", 0
    while (start := line.find(" loc(", at)) >= 0:
        end, depth = start + 5, 1
        while end < len(line) and depth:
            depth += {"(": 1, ")": -1}.get(line[end], 0)
            end += 1
        kept, last, at = kept + line[at:start], line[start + 5 : end - 1], end
    return kept + line[at:], last


def _resolved(loc: str, known: dict[str, str], depth: int = 0) -> tuple[Place, ...]:
    if depth > _DEEPEST:
        return ()
    if match := _FILE_PLACE.match(loc):
        return (Place(match[1], int(match[2])),)
    if loc in known:
        return _resolved(known[loc], known, depth + 1)
    if match := _NAMED.match(loc):
        return _resolved(match[1], known, depth + 1)
    if match := _CALLSITE.match(loc):
        for cut in re.finditer(" at ", match[1]):
            callee, caller = match[1][: cut.start()], match[1][cut.end() :]
            if callee.count("(") == callee.count(")"):
                return _resolved(callee, known, depth + 1) + _resolved(caller, known, depth + 1)
    return ()


# --- PTX --------------------------------------------------------------------------------------------------------------

_PTX_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_PTX_LOC = re.compile(r"^\s*\.loc\s+(\d+ \d+ \d+)(.*)$")
#: Where a line's function was called, as newer compilers write it: the place of a `.loc` that stands before.
_PTX_INLINED = re.compile(r",\s*inlined_at (\d+ \d+ \d+)")
#: LLVM's note behind a `.loc`: `// a.py:24:35 @[ b.py:48:30 ]`, the calls from the inside to the outside.
_PTX_CALLER = re.compile(r"@\[ ([^\s:]+):(\d+):\d+")
_PTX_TEMPORARY = re.compile(r"^\$L__(?:tmp|func_|info_)\w*:")


def _ptx(text: str) -> list[Row]:
    lines = text.rstrip("\n").split("\n")
    files: dict[str, str] = {}
    for found in filter(None, map(_PTX_FILE.match, lines)):
        files[found[1]] = posixpath.join(found[2], found[3]) if found[3] else found[2]
    by_name = {posixpath.basename(path): path for path in files.values()}
    out: list[Row] = []
    places: tuple[Place, ...] = ()
    chains: dict[str, tuple[Place, ...]] = {}
    for line in lines:
        if line.lstrip().startswith(".section") and ".debug" in line:
            break  # From here on there are only bytes for debuggers.
        if match := _PTX_LOC.match(line):
            here = _ptx_place(match[1], files)
            callers = tuple(Place(by_name.get(name, name), int(n)) for name, n in _PTX_CALLER.findall(match[2]))
            if inlined := _PTX_INLINED.search(match[2]):
                callers = chains.get(inlined[1], (_ptx_place(inlined[1], files),))
            places = (here, *callers) if here.line else ()
            chains[match[1]] = (here, *callers)
        elif not _PTX_FILE.match(line) and not _PTX_TEMPORARY.match(line):
            coded = line.startswith("\t") and line[1:2] not in ("", ".", "/")
            out.append(Row(line.expandtabs(8).rstrip(), places if coded else ()))
    return _trimmed(out)


def _ptx_place(loc: str, files: Mapping[str, str]) -> Place:
    file, row, _ = loc.split(" ")
    return Place(files.get(file, file), int(row))


# --- machine code -----------------------------------------------------------------------------------------------------

_SASS_LINE = re.compile(r'^\s*//## File "([^"]*)", line (\d+)(.*)$')
#: An instruction, which nvdisasm sets far to the right of its address.
_SASS_CODE = re.compile(r"^\s*(/\*[0-9a-f]{4,}\*/)\s+")
_SASS_CALLER = re.compile(r'inlined at "([^"]*)", line (\d+)')


def _sass(text: str) -> list[Row]:
    out: list[Row] = []
    places: tuple[Place, ...] = ()
    goes_on = False
    for line in text.rstrip("\n").split("\n"):
        if match := _SASS_LINE.match(line):
            here = Place(match[1], int(match[2]))
            callers = tuple(Place(path, int(n)) for path, n in _SASS_CALLER.findall(match[3]))
            # Behind a line that was inlined stands its caller, a line of its own.
            places = (*places, *callers) if goes_on and places[-1] == here else (here, *callers)
            goes_on = True
        else:
            goes_on = False
            bare = _SASS_CODE.sub(r"  \1  ", line)
            out.append(Row(bare.expandtabs(8).rstrip(), places if _SASS_CODE.match(line) else ()))
    return _trimmed(out)


def with_calls(sass: Sequence[Row], ptx: Sequence[Row]) -> list[Row]:
    """Machine code whose lines also name the calls that they were inlined through, where the PTX knows one way only."""
    ways: dict[Place, set[tuple[Place, ...]]] = {}
    for row in ptx:
        if row.places:
            ways.setdefault(row.places[0], set()).add(row.places)
    one = {place: next(iter(found)) for place, found in ways.items() if len(found) == 1}
    return [Row(row.text, one.get(row.places[0], row.places) if len(row.places) == 1 else row.places) for row in sass]


def _trimmed(out: list[Row]) -> list[Row]:
    while out and not out[-1].text:
        out.pop()
    return out


# --- two texts --------------------------------------------------------------------------------------------------------

#: What the compiler numbers as it goes: registers, values, labels, addresses. Another number is no other code.
_NUMBERED = re.compile(r"%[a-z]+\d+\b|(%[A-Za-z_]\w*?)_\d+\b|\bU?[RP]\d+\b|/\*[0-9a-f]{4,}\*/|\$L__\w+|\.L_x_\d+|%\d+")


def beside(a: Sequence[Row], b: Sequence[Row]) -> list[Pair]:
    """Both texts line by line. Lines that differ in the compiler's numbers only are the same."""
    matcher = difflib.SequenceMatcher(None, _plain(a), _plain(b), autojunk=False)
    out: list[Pair] = []
    for tag, a_from, a_to, b_from, b_to in matcher.get_opcodes():
        both = min(a_to - a_from, b_to - b_from)
        mark: Mark = " " if tag == "equal" else "|"
        out += [Pair(a[a_from + n], b[b_from + n], mark) for n in range(both)]
        out += [Pair(row, None, "<") for row in a[a_from + both : a_to]]
        out += [Pair(None, row, ">") for row in b[b_from + both : b_to]]
    return out


def _plain(code: Sequence[Row]) -> list[str]:
    return [_NUMBERED.sub(lambda match: match[1] or "%", row.text).strip() for row in code]
