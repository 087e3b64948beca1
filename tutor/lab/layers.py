"""Three layers of one small function, as torch's own texts, folded to what matters (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

#: The layers in the order in which a compilation makes them.
NAMES = (
    "bytecode-before",
    "bytecode-after",
    "guards",
    "fx-graph",
    "aot-joint",
    "aot-forward",
    "aot-backward",
    "inductor-forward",
    "inductor-backward",
)


class Layer(NamedTuple):
    """One layer's text. `lines` are those that matter, `hidden` how many were left out, such as imports."""

    name: str
    text: str
    lines: tuple[str, ...]
    hidden: int


def gather(observed: Mapping[str, Mapping[str, Sequence[Any]]]) -> list[Layer]:
    """The layers of a run, each from the parts that the child said, in the order of NAMES."""
    table = observed.get("layer", {})
    texts: dict[str, str] = {}
    for name, part in zip(table.get("name", ()), table.get("text", ()), strict=True):
        texts[str(name)] = texts.get(str(name), "") + str(part)
    return [_layer(name, texts[name]) for name in NAMES if name in texts]


def _layer(name: str, text: str) -> Layer:
    every = [line.rstrip() for line in text.splitlines()]
    kept = [line for line in every if _matters(name, line)]
    return Layer(name, text, tuple(kept), sum(bool(line) for line in every) - len(kept))


_NOISE = re.compile(
    r"\s*(?:import |from \S+ import |#(?: Topologically| kernel path| Original ATen)|aten = |inductor_ops = |_quantized"
    r"|assert_\w+ = |empty_strided_\w+ = |reinterpret_tensor = |alloc_from_pool = |async_compile|del async_compile)"
)


def _matters(name: str, line: str) -> bool:
    if not line.strip():
        return False
    if name.startswith("inductor"):
        return _NOISE.match(line) is None
    return not (name == "guards" and line.startswith("TREE_GUARD_MANAGER"))


def stopped(observed: Mapping[str, Mapping[str, Sequence[Any]]]) -> str:
    """What stopped the run before its last layer, empty when nothing did."""
    return str(observed["end"]["stopped"][0] or "")


def no_compiler(why: str) -> bool:
    """Whether it was a C++ compiler that was missing."""
    return any(words in why for words in ("InvalidCxxCompiler", "No working C++ compiler", "Failed to find C compiler"))
