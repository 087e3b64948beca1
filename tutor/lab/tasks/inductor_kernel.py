"""The Triton kernel that Inductor generates for a function, without a GPU: its text, and how it would be launched.

Inductor writes Triton for CPU tensors too when it is told to (`cpu_backend`), by the rules that it has for a GPU; only
nothing on this machine could run it. So each kernel is caught as it is handed to Triton, and the call ends there. It
asks for a driver now and then, which is one of a few lines here. Seen from torch 2.8 with Triton 3.4 up to torch 2.14
with Triton 3.8.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget


@dataclass(frozen=True)
class Generated:
    """One kernel: its function, a Triton type for each run-time parameter, the values of the compile-time ones, and the
    warps of a program, the last two as Inductor's first choice has them, before any autotuning."""

    kernel: Any
    types: dict[str, str]
    constants: dict[str, Any]
    warps: int


def generate(function: Callable[..., Any], inputs: Sequence[torch.Tensor], target: int, folder: Path) -> Generated:
    """The largest kernel that Inductor makes of `function` for these inputs; its text is kept in `folder`.

    Raises RuntimeError when this torch makes none, and whatever stops torch.
    """
    caught: list[tuple[str, str]] = []
    _stand_in(target)
    torch.compiler.reset()
    with _catching(caught), torch.no_grad():
        torch.compile(function, dynamic=False)(*inputs)
    if not caught:
        raise RuntimeError("Inductor handed no kernel to Triton")
    name, text = max(caught, key=lambda each: len(each[1]))
    # The same name stands for other sizes too, and two of them may be looked at beside each other.
    path = folder / hashlib.sha256(text.encode()).hexdigest()[:12] / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.strip() + "\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Could not find an active CPU backend")  # None is needed.
        tuner = getattr(_module(path), name)
    chosen = tuner.configs[0]
    signature = dict(tuner.triton_meta["signature"])
    types = {each: kind for each, kind in signature.items() if kind != "constexpr"}
    constants = {**tuner.triton_meta.get("constants", {}), **chosen.kwargs}
    constants = {each: value for each, value in constants.items() if each in tuner.fn.arg_names}
    return Generated(tuner.fn, types, constants, chosen.num_warps)


@contextlib.contextmanager
def _catching(caught: list[tuple[str, str]]) -> Iterator[None]:
    """While this is entered, Inductor makes Triton kernels for the CPU, takes nothing from its caches, and compiles
    and runs none of them."""
    from torch._inductor import config
    from torch._inductor.async_compile import AsyncCompile

    def catch(_self: Any, name: str, text: str, *_args: Any, **_kwargs: Any) -> Any:
        caught.append((name, text))
        return SimpleNamespace(run=lambda *_, **__: None)

    before = AsyncCompile.triton
    AsyncCompile.triton = catch
    try:
        with warnings.catch_warnings(), config.patch(cpu_backend="triton", force_disable_caches=True):
            warnings.filterwarnings("ignore", "dynamo_pgo force disabled")
            yield
    finally:
        AsyncCompile.triton = before


def _stand_in(target: int) -> None:
    """From now on Triton takes this machine for one with a GPU of capability `target`; the process ends soon."""
    driver = SimpleNamespace(
        get_current_target=lambda: GPUTarget("cuda", target, 32),
        get_current_device=lambda: 0,
        get_active_torch_device=lambda: torch.device("cpu"),
    )
    triton.runtime.driver.set_active(driver)


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"inductor_{path.parent.name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
