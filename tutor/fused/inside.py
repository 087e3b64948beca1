"""The learner's kernel as one that can be looked into: its types and sizes are known, as the exercise launches it."""

from __future__ import annotations

from pathlib import Path

from tutor.fused import source
from tutor.lab.kernels import Kernel

TYPES = {
    **dict.fromkeys(("x", "bias", "weight", "shift", "residual", "out"), "*bf16"),
    **dict.fromkeys(("x_stride", "residual_stride", "out_stride"), "i32"),
    "eps": "fp32",
}
#: Hidden sizes to choose from, the first one first.
SIZES = (4096, 2048, 8192)


def kernel_of(path: Path) -> Kernel | None:
    """The kernel in a file of the exercise; None when the file is none, cannot be read, or is not admitted."""
    try:
        found = source.read(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None  # Whoever compiles it says what is wrong with it.
    if not isinstance(found, source.Kernel):
        return None
    sizes = [{"H": hidden, "BLOCK": source.block(hidden, found.max_block)} for hidden in SIZES]
    place = {"file": str(path.absolute())}
    return Kernel(path.name, place, source.KERNEL, None, TYPES, sizes[0], tuple(sizes), found.num_warps)
