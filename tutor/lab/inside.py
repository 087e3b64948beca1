"""What the task `inside` said, put together: for each setting its kernel, its code by stage, what it takes (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tutor.lab.kernel_lines import Place, Row, rows, with_calls

#: In the order of the compiler. "source" is the kernel's own file.
STAGES = ("source", "ttir", "ttgir", "ptx", "sass")
#: What is wrong with how the kernel was asked for, and not with the kernel.
ASKED_WRONG = frozenset(("none", "which", "parameter", "value", "type", "type-unknown"))


@dataclass(slots=True)
class Look:
    """One setting. `needs` and `problem` are the values of these observations, None until they come."""

    name: str = ""
    file: str = ""
    first: int = 0
    last: int = 0
    texts: dict[str, str] = field(default_factory=dict)
    needs: Mapping[str, Any] | None = None
    problem: Mapping[str, Any] | None = None


@dataclass(slots=True)
class Looks:
    """One run of the task. `files` are the sources by path, `ended` is the outcome, empty while it runs."""

    triton: str = ""
    looks: dict[int, Look] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def take(self, series: str, values: Mapping[str, Any]) -> None:
        """Fold in one observation."""
        if series == "compiler":
            self.triton = str(values["triton"])
            return
        if series == "file":
            path = str(values["path"])
            self.files[path] = self.files.get(path, "") + str(values["text"])
            return
        look = self.looks.setdefault(int(values["setting"]), Look())
        match series:
            case "kernel":
                look.name, look.file = str(values["name"]), str(values["file"])
                look.first, look.last = int(values["first"]), int(values["last"])
            case "code":
                stage = str(values["stage"])
                look.texts[stage] = look.texts.get(stage, "") + str(values["text"])
            case "needs":
                look.needs = values
            case "problem":
                look.problem = values

    def text(self, number: int, stage: str) -> str | None:
        """The whole text of a stage of setting `number`, None where there is none."""
        look = self.looks.get(number)
        if look is None:
            return None
        if stage != "source":
            return look.texts.get(stage)
        lines = self.files.get(look.file, "").split("\n")[look.first - 1 : look.last] if look.first else []
        return "\n".join(lines) or None

    def rows(self, number: int, stage: str) -> list[Row]:
        """The lines to show of a stage, each with the source lines it was made from; empty where there are none."""
        text = self.text(number, stage)
        if text is None:
            return []
        if stage == "sass":
            return with_calls(rows(stage, text), rows("ptx", self.text(number, "ptx") or ""))
        if stage != "source":
            return rows(stage, text)
        look = self.looks[number]
        return [Row(line, (Place(look.file, look.first + n),)) for n, line in enumerate(text.split("\n"))]

    def source(self, place: Place) -> str:
        """The source line of a place, empty where its file was not told."""
        lines = self.files.get(place.file, "").split("\n")
        return lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""


def tool_missing(problem: Mapping[str, Any]) -> bool:
    """Whether it is the installation that lacks something, such as ptxas, whatever the kernel."""
    why = str(problem.get("why", ""))
    return problem["kind"] == "stopped" and (why.startswith("FileNotFoundError") or "Cannot find ptxas" in why)


def without_code(observed: Mapping[str, Any]) -> dict[str, Any]:
    """What a run observed, as evidence keeps it: of code and files only their sizes, in characters."""
    kept = dict(observed)
    for series in ("code", "file"):
        if series in kept:
            columns: dict[str, Any] = dict(kept[series])
            texts: Iterable[str] = columns.pop("text")
            kept[series] = {**columns, "characters": [len(text) for text in texts]}
    return kept
