"""What the lab's own views run: a script under `tasks/` as a `Demo` that asks nothing and claims nothing (pure)."""

from __future__ import annotations

from pathlib import Path

from tutor.language import Bilingual
from tutor.model import Demo

TASKS = Path(__file__).with_name("tasks")

#: How long each usually takes on two processors, torch imported, in seconds (low, high); the name each goes by.
_KNOWN: dict[str, tuple[tuple[float, float], Bilingual]] = {
    "requests": ((0.5, 4.0), Bilingual("请求实验", "The request lab")),
    "breaks": ((0.5, 4.0), Bilingual("断图实验", "The break lab")),
    "layers": ((4.0, 60.0), Bilingual("三层代码", "Three layers of code")),
    "file": ((0.5, 30.0), Bilingual("你的文件", "Your file")),
    "fused": ((2.0, 60.0), Bilingual("你的融合 kernel", "Your fused kernel")),
    "inside": ((2.0, 15.0), Bilingual("看 kernel 里面", "Inside a kernel")),
}

#: What a task needs beside torch.
_NEEDS = {"fused": ("triton-kernels",), "inside": ("triton-compiler",)}


def task(name: str) -> Demo:
    """The task of this name. What it observed is evidence with no claim. Raises KeyError."""
    usual, title = _KNOWN[name]
    return Demo(
        name=name,
        title=title,
        shows=title,
        question=title,
        asks=(),
        claims=(),
        verdicts={},
        script=TASKS / f"{name}.py",
        recorded=(),
        usual_s=usual,
        needs=("torch", *_NEEDS.get(name, ())),
    )
