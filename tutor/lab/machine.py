"""What a run was measured on. Used in the child; standard library and torch's public names, Python 3.10 and later."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
from typing import Any

import torch

#: Seconds that nvidia-smi may take; it is asked after the run, when nothing waits for it but the result.
SMI_S = 5.0


def use_threads(count: int) -> None:
    """Give this process the usual number of threads back, which its parent gave up to be able to fork."""
    torch.set_num_threads(count)


def has_cuda() -> bool:
    return bool(torch.cuda.is_available())


def has(need: str, device: str) -> bool:
    """Whether this machine offers what a demo needs on `device`: `torch`, `cuda`, `triton`, `triton-compiler` (a Triton
    that compiles for NVIDIA GPUs, with or without one), `triton-kernels` (a Triton that runs kernels there, on the CPU
    in its interpreter, which computes with NumPy), or `compiler`, which is what Inductor generates code with: C++, or
    Triton and the C compiler that it starts its kernels with."""
    if need == "cuda":
        return device == "cuda"
    if need == "triton":
        return device == "cuda" and _version("triton") is not None
    if need == "triton-compiler":
        return importlib.util.find_spec("triton") is not None and _for_nvidia()
    if need == "triton-kernels" and device == "cpu":
        return all(importlib.util.find_spec(name) is not None for name in ("triton", "numpy"))
    if need in ("compiler", "triton-kernels") and device == "cuda":
        return has("triton", device) and _which("CC", "cc", "gcc", "clang")
    if need == "compiler":
        return _which("CXX", "g++", "clang++", "c++")
    return need == "torch"


def _for_nvidia() -> bool:
    """Asked only where there is a Triton: it is imported for the answer."""
    return importlib.util.find_spec("triton.backends.nvidia") is not None


def _which(variable: str, *names: str) -> bool:
    return any(shutil.which(name) for name in (os.environ.get(variable) or "", *names) if name)


def busy_processors() -> bool:
    """Whether more was running than there are processors, by the load average of the last minute."""
    return os.getloadavg()[0] > _processors()


def environment(device: str, busy: bool) -> dict[str, Any]:
    """torch, triton (None: not installed), python, platform, device ("cpu" or "cuda"), gpu, driver, threads,
    processors, contended (True, False, None: unknown). `busy` is `busy_processors()` before the run."""
    found: dict[str, Any] = {
        "torch": str(torch.__version__),
        "triton": _version("triton"),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "host": platform.node(),
        "device": device,
        "gpu": None,
        "driver": None,
        "processors": _processors(),
        "threads": torch.get_num_threads(),
        "contended": busy,
    }
    if device == "cuda":
        found.update(gpu=torch.cuda.get_device_name(), driver=_smi("--query-gpu=driver_version"), contended=_shared())
    return found


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _shared() -> bool | None:
    """Whether another process computes on this GPU."""
    pids = _smi("--query-compute-apps=pid")
    if pids is None:
        return None
    return bool({pid.strip() for pid in pids.splitlines() if pid.strip()} - {str(os.getpid())})


def _smi(query: str) -> str | None:
    """nvidia-smi's answer for the current GPU, None where it cannot be asked."""
    uuid = getattr(torch.cuda.get_device_properties(torch.cuda.current_device()), "uuid", None)
    which = ["-i", f"GPU-{uuid}"] if uuid is not None else []
    try:
        asked = subprocess.run(
            ["nvidia-smi", query, "--format=csv,noheader", *which],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SMI_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() if asked.returncode == 0 else None
