"""What becomes of a Triton kernel ahead of time, without a GPU: TTIR, TTGIR, PTX, machine code, and what it takes."""

from __future__ import annotations

import collections
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

#: Pointers and strides are multiples of this many bytes and elements, which is what makes accesses 16 bytes wide.
DIVISIBLE = 16
WARP = 32

_RESOURCES = re.compile(r"REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)")
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9]*)[A-Z0-9_.]*")


@dataclass(frozen=True)
class Code:
    """One kernel for one target. `stages` are the texts by name ("ttir", "ttgir", "ptx", "sass"), in order.

    `registers` are 32-bit ones a thread, `spilled_bytes` what a thread keeps in memory for want of registers,
    `shared_bytes` what a program takes of shared memory, and `instructions` counts the machine's by name. Those are
    None, and there is no "sass", where neither Triton nor a CUDA toolkit brought `cuobjdump`.
    """

    stages: Mapping[str, str]
    shared_bytes: int
    registers: int | None = None
    spilled_bytes: int | None = None
    instructions: Mapping[str, int] | None = None


def compile_ahead(
    kernel: Any, types: Mapping[str, str], constants: Mapping[str, Any], *, warps: int, target: int
) -> Code:
    """`kernel` compiled for compute capability `target`, as a launch with aligned pointers and strides would be.

    Raises ValueError for a parameter that is in neither or both of `types` and `constants`, and what Triton raises for
    a kernel that it cannot compile.
    """
    names = list(kernel.arg_names)
    for name in names:
        if (name in types) == (name in constants):
            raise ValueError(f"the parameter {name} needs either a type or a value")
    signature = {name: types.get(name, "constexpr") for name in names}
    aligned = [place for place, name in enumerate(names) if signature[name].startswith(("*", "i"))]
    source = ASTSource(
        kernel,
        signature,
        {name: constants[name] for name in names if name in constants},
        {(place,): [["tt.divisibility", DIVISIBLE]] for place in aligned},
    )
    options = {"num_warps": warps, "enable_fp_fusion": True}
    made = triton.compile(source, target=GPUTarget("cuda", target, WARP), options=options)
    stages = {stage: str(made.asm[stage]) for stage in ("ttir", "ttgir", "ptx")}
    tool, lister = _tool("cuobjdump"), _tool("nvdisasm")
    if tool is None:
        return Code(stages, made.metadata.shared)
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(made.asm["cubin"])
        file.flush()
        # Only nvdisasm names the line that an instruction came from.
        listed = (lister, "-c", "-gi") if lister is not None else (tool, "-sass")
        sass = _said(*listed, file.name)
        found = _RESOURCES.search(_said(tool, "-res-usage", file.name))
    if found is None:
        raise RuntimeError(f"{tool} does not say which registers the kernel takes")
    registers, stack, _, local = map(int, found.groups())
    counted = collections.Counter(match[1] for match in _INSTRUCTION.finditer(sass))
    counted.pop("NOP", None)
    return Code({**stages, "sass": sass}, made.metadata.shared, registers, stack + local, dict(counted.most_common()))


def _tool(name: str) -> str | None:
    """Triton's own, else the CUDA toolkit's."""
    own = Path(str(triton.__file__)).parent / "backends" / "nvidia" / "bin" / name
    return str(own) if own.is_file() else shutil.which(name)


def _said(*command: str) -> str:
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout
