"""The kernels that can be looked into, and the settings that they are compiled for (pure but for the lesson's list)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tutor.language import Bilingual

#: Compute capabilities that the compiler is asked for, and warps of 32 threads a program.
TARGETS = (80, 90, 100)
WARPS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Kernel:
    """One kernel. `place` says where its module is: `folder` and `module`, or `file`; with `inductor` and `examples` it
    is what Inductor writes for a function of that module. `function` is None for a file's only one. `sizes` are
    constants that go together, `title` is None for a learner's own."""

    name: str
    place: Mapping[str, str]
    function: str | None = None
    title: Bilingual | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    sizes: tuple[Mapping[str, Any], ...] = ()
    warps: int = 4

    def setting(self, target: int = 90, warps: int | None = None, **constants: Any) -> dict[str, Any]:
        """What the task `inside` is asked for: the kernel for compute capability `target`, with other constants."""
        return {
            **self.place,
            "function": self.function,
            "types": dict(self.types),
            "constants": {**self.constants, **constants},
            "warps": self.warps if warps is None else warps,
            "target": target,
        }


def of_file(path: Path, function: str | None = None, *, types: Mapping[str, str] | None = None) -> Kernel:
    """The kernel in a learner's file, which may say its types itself: `TYPES = {"x_ptr": "*bf16", "n": "i32"}`."""
    return Kernel(path.name, {"file": str(path.absolute())}, function, types=dict(types or {}))


def of_lesson(folder: Path) -> dict[str, Kernel]:
    """The kernels of the lesson in `folder` by name, in the order of its kernels.toml; none where it has no such file.

    Raises OSError, tomllib.TOMLDecodeError and KeyError for a file that cannot be read or lacks something.
    """
    path = folder / "kernels.toml"
    if not path.is_file():
        return {}
    kernels: dict[str, Kernel] = {}
    for table in tomllib.loads(path.read_text(encoding="utf-8"))["kernel"]:
        for variant in table["variant"]:
            kernels[variant["name"]] = Kernel(
                variant["name"],
                {
                    **{"folder": str(folder / "demos"), "module": table["module"]},
                    **{name: table[name] for name in ("inductor", "examples") if name in table},
                },
                table.get("function"),
                Bilingual(variant["title"]["zh"], variant["title"]["en"]),
                table.get("types", {}),
                {**table["constants"], **variant["constants"]},
                tuple(table["sizes"]),
                variant["warps"],
            )
    return kernels
