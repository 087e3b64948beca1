"""Inside a kernel as lines: two settings to choose, then the code of both, beside each other or one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from rich.cells import cell_len

from tutor.lab.inside import Look, Looks, tool_missing
from tutor.lab.kernel_lines import Pair, Row
from tutor.lab.kernels import TARGETS, WARPS, Kernel
from tutor.language import Lang
from tutor.lines import BLANK, Line, Part, Role, crop, fit, line, wrap
from tutor.literals import safe_text
from tutor.strings import text

T = TypeVar("T")
Side = Literal["both", "a", "b"]
SIDES: tuple[Side, ...] = ("both", "a", "b")
FIELDS = ("kernel", "target", "warps", "size")
#: Cells from which two columns can be read; below, the lines of both come one after the other.
TWO = 80
#: Instructions that a head names, and characters that a line of code has at most.
NAMED, LONGEST = 3, 2000


@dataclass(slots=True)
class Choice:
    """One of the two settings. `warps` None is the kernel's own, `size` counts the kernel's sizes."""

    kernel: str
    target: int = 90
    warps: int | None = None
    size: int = 0

    def turn(self, field: str, kernels: Mapping[str, Kernel]) -> None:
        """The next value of one of FIELDS; another kernel starts from its own warps and size."""
        kernel = kernels[self.kernel]
        match field:
            case "kernel":
                self.kernel, self.warps, self.size = _after(list(kernels), self.kernel), None, 0
            case "target":
                self.target = _after(TARGETS, self.target)
            case "warps":
                self.warps = _after(WARPS, kernel.warps if self.warps is None else self.warps)
            case "size":
                self.size = (self.size + 1) % max(1, len(kernel.sizes))

    def setting(self, kernels: Mapping[str, Kernel]) -> dict[str, Any]:
        """What the task is asked for."""
        kernel = kernels[self.kernel]
        size = kernel.sizes[self.size] if kernel.sizes else {}
        return kernel.setting(self.target, self.warps, **size)


def _after(values: Sequence[T], now: T) -> T:
    return values[(values.index(now) + 1) % len(values)]


# --- the settings -----------------------------------------------------------------------------------------------------


def setting_lines(
    choices: Sequence[Choice], kernels: Mapping[str, Kernel], said: str, lang: Lang, width: int
) -> list[Line]:
    """Both settings, a row for each value as item `SIDE:FIELD`; `said` is how the run goes or ended."""
    out = wrap([(text(lang, "inside.intro"), "plain")], width)
    out += wrap([(said or text(lang, "inside.press"), "caution" if said else "muted")], width)
    for side, choice in zip("ab", choices, strict=True):
        kernel = kernels[choice.kernel]
        size = kernel.sizes[choice.size] if kernel.sizes else {}
        title = kernel.title.get(lang) if kernel.title is not None else ""
        warps = kernel.warps if choice.warps is None else choice.warps
        values = {
            "kernel": f"{choice.kernel}  {title}",
            "target": f"sm_{choice.target}",
            "warps": str(warps),
            "size": "  ".join(f"{name}={value}" for name, value in size.items()) or "-",
        }
        out += [BLANK, line((side.upper(), "title"))]
        for field in FIELDS:
            label = fit(text(lang, f"inside.field-{field}"), 10)
            row: list[Part] = [(f"  {label} ", "muted"), (values[field], "strong")]
            out.append(Line(crop(row, width), f"{side}:{field}"))
    return out


# --- the code ---------------------------------------------------------------------------------------------------------


def head_lines(looks: Looks, choices: Sequence[Choice], side: Side, stage: str, lang: Lang, width: int) -> list[Line]:
    """What each shown setting takes, and by what it was compiled."""
    out: list[Line] = []
    for number, (letter, choice) in enumerate(zip("ab", choices, strict=True)):
        if side in ("both", letter):
            out += wrap([(f"{letter.upper()} ", "title"), *_needs(looks, number, choice, lang)], width, rest="  ")
    made = text(lang, "inside.compiled", triton=looks.triton, targets=" ".join(_targets(choices, side)))
    shown = text(lang, f"inside.side-{side}")
    return [*out, *wrap([(f"{stage}  {shown}  ", "strong"), (made, "measured")], width, rest="  ")]


def _targets(choices: Sequence[Choice], side: Side) -> list[str]:
    used = [choice.target for letter, choice in zip("ab", choices, strict=True) if side in ("both", letter)]
    return [f"sm_{target}" for target in dict.fromkeys(used)]


def _needs(looks: Looks, number: int, choice: Choice, lang: Lang) -> list[Part]:
    look = looks.looks.get(number)
    name = f"{choice.kernel} sm_{choice.target}  "
    if look is None or look.needs is None:
        return [(name, "plain"), (problem_words(look, lang), "caution")]
    needs = look.needs
    if needs["registers"] is None:
        return [(name, "plain"), (text(lang, "inside.no-cuobjdump", shared=needs["shared_bytes"]), "plain")]
    most = " ".join(f"{word}={count}" for word, count in list(needs["instructions"].items())[:NAMED])
    values = {"registers": needs["registers"], "shared": needs["shared_bytes"], "spilled": needs["spilled_bytes"]}
    return [(name, "plain"), (text(lang, "inside.takes", **values), "measured"), (f"  {most}", "plain")]


def problem_words(look: Look | None, lang: Lang) -> str:
    """Why a setting has no code, empty where nothing was said of it."""
    if look is None or look.problem is None:
        return ""
    fields = {name: safe_text(str(value)) for name, value in look.problem.items() if name not in ("setting", "kind")}
    return text(
        lang, "inside.no-tool" if tool_missing(look.problem) else f"inside.problem-{look.problem['kind']}", **fields
    )


def one_lines(rows: Sequence[Row], stage: str, shift: int, width: int) -> list[Line]:
    """The code of one setting, each line an item `row:N`."""
    colours = coloured(stage, [row.text for row in rows])
    return [Line(cut(colours[n], shift, width), f"row:{n}") for n in range(len(rows))]


def both_lines(pairs: Sequence[Pair], stage: str, shift: int, width: int) -> list[Line]:
    """The code of both: in two columns where there is room, else one line after the other; items `pair:N`."""
    a = [pair.a for pair in pairs if pair.a is not None]
    b = [pair.b for pair in pairs if pair.b is not None]
    left, right = (iter(coloured(stage, [row.text for row in rows])) for rows in (a, b))
    half = (width - 3) // 2
    out: list[Line] = []
    for n, pair in enumerate(pairs):
        mark: Role = "caution" if pair.mark != " " else "muted"
        one = next(left) if pair.a is not None else []
        other = next(right) if pair.b is not None else []
        if width >= TWO:
            parts = (*cut(one, shift, half), (f" {pair.mark} ", mark), *cut(other, shift, half))
            out.append(Line(parts, f"pair:{n}"))
            continue
        lead = {"|": "<>"}.get(pair.mark, pair.mark)
        for sign in lead:
            code = other if sign == ">" else one
            out.append(Line(((f"{sign} ", mark), *cut(code, shift, width - 2)), f"pair:{n}{sign.strip()}"))
    return out


def coloured(stage: str, code: Sequence[str]) -> list[list[Part]]:
    """Each line in parts by role, safe for the screen."""
    from tutor.ui.widgets import kernel_syntax

    texts = list(map(_safe, code))
    out = []
    for words, stretches in zip(texts, kernel_syntax.spans(stage, "\n".join(texts)), strict=True) if texts else ():
        parts: list[Part] = []
        at = 0
        for start, end, role in stretches:
            parts += [(words[at:start], "code"), (words[start:end], role)]
            at = end
        out.append([part for part in (*parts, (words[at:], "code")) if part[0]])
    return out


def _safe(row: str) -> str:
    indent = len(row) - len(row.lstrip())
    return " " * indent + safe_text(row.strip(), LONGEST)


def cut(parts: Sequence[Part], shift: int, width: int) -> tuple[Part, ...]:
    """The parts from character `shift` on, in exactly `width` cells."""
    kept: list[Part] = []
    for words, role in parts:
        if shift < len(words):
            kept.append((words[shift:], role))
        shift = max(0, shift - len(words))
    out = crop(kept, width)
    room = width - sum(cell_len(words) for words, _ in out)
    return (*out, (" " * room, "plain")) if room else out
