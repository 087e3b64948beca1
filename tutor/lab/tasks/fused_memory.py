"""The memory that a learner's kernel is given: one arena of canaries, tensors somewhere in it, values from a seed.

Loaded by path into the worker; standard library and torch only.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Mapping
from typing import Any

import torch

#: Bytes of the arena: on the CPU the interpreter copies it at each launch; on a GPU at most half of what is free.
ARENA = {"cpu": 4 << 20, "cuda": 4 << 30}
#: Pages that a GPU's memory is mapped in, and elements of 16 bytes, which Triton counts as aligned.
PAGE_BYTES, ALIGNED = 2 << 20, 8
#: Elements that are compared at once.
PIECE = 1 << 26


class Arena:
    """Memory that is canaries but for the tensors of one call."""

    def __init__(self, device: str, canary: int, seed: int) -> None:
        size = ARENA[device]
        if device == "cuda":
            size = min(size, torch.cuda.mem_get_info()[0] // 2) // PAGE_BYTES * PAGE_BYTES
        self.canary = canary
        self.memory = torch.full((size // 2,), canary, dtype=torch.int16, device=device)
        self._rng = random.Random(seed)
        self._places: dict[str, tuple[int, int]] = {}

    def take(self, sizes: Mapping[str, int]) -> dict[str, torch.Tensor]:
        """Memory as bf16 for each name, of so many elements, anywhere in any order, 16 bytes aligned."""
        units = {name: -(-size // ALIGNED) for name, size in sizes.items()}
        free = len(self.memory) // ALIGNED - sum(units.values())
        if free < 0:
            raise MemoryError(f"the tensors take more than the {len(self.memory) * 2} bytes that are watched")
        cuts = sorted(self._rng.randint(0, free) for _ in sizes)
        before = 0
        for name, cut in zip(self._rng.sample(list(sizes), len(sizes)), cuts, strict=True):
            start = (cut + before) * ALIGNED
            self._places[name] = start, start + sizes[name]
            before += units[name]
        return {name: self.memory[slice(*self._places[name])].view(torch.bfloat16) for name in sizes}

    def give_back(self) -> dict[str, Any] | None:
        """Canaries again where the tensors were. What is none elsewhere: how many elements, and for the first one the
        nearest tensor and how many bytes it is away, negative before it; None when all are."""
        for place in self._places.values():
            self.memory[slice(*place)] = self.canary
        changed = first = 0
        for start in range(0, len(self.memory), PIECE):
            wrong = self.memory[start : start + PIECE] != self.canary
            if bool(wrong.any()):
                first = first if changed else start + int(wrong.nonzero()[0])
                changed += int(wrong.sum())
        places, self._places = self._places, {}
        if not changed:
            return None
        self.memory.fill_(self.canary)
        away = {name: first - max(begin, min(first, end - 1)) for name, (begin, end) in places.items()}
        name = min(away, key=lambda each: abs(away[each]))
        return {"elements": changed, "name": name, "bytes": 2 * away[name]}


def drawn(seed: int, stream: int, first: int, count: int, device: str) -> torch.Tensor:
    """bf16[count]: elements `first` and on of a stream, as `tutor.fused.large.values` has them."""
    at = torch.arange(first, first + count, dtype=torch.int64, device=device)
    word = _mixed(at + _signed(_mixed_number((seed << 8) + stream)))
    fields = sum(_shifted(word, by) & 0xFFFF for by in (0, 16, 32, 48))
    assert isinstance(fields, torch.Tensor)
    return ((fields - 131070).to(torch.float32) / 32768).to(torch.bfloat16)


_STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def _mixed(word: torch.Tensor) -> torch.Tensor:
    for by, factor in _STEPS:
        word = (word ^ _shifted(word, by)) * _signed(factor)
    return word ^ _shifted(word, 31)


def _mixed_number(word: int) -> int:
    for by, factor in _STEPS:
        word = (word ^ (word >> by)) * factor & 0xFFFFFFFFFFFFFFFF
    return word ^ (word >> 31)


def _shifted(word: torch.Tensor, by: int) -> torch.Tensor:
    """Shifted right with zeros, which int64 is not by itself."""
    return (word >> by) & ((1 << (64 - by)) - 1) if by else word


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


def raw_of(tensor: torch.Tensor) -> str:
    return base64.b64encode(tensor.cpu().contiguous().view(torch.uint8).numpy().tobytes()).decode()
