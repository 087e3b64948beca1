"""Demos on a GPU, in place of which stand a torch and an nvidia-smi of a few lines."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.lab_rig import GOOD, demo, ended, fake_torch, hold, host, make_host
from tutor.lab.host import LabHost
from tutor.model import Demo

__all__ = ["demo", "fake_torch", "hold", "host", "make_host"]

GPU_TORCH = """
class version:
    cuda = {built!r}
class OutOfMemoryError(RuntimeError): pass
class cuda:
    OutOfMemoryError = OutOfMemoryError
    is_available = staticmethod(lambda: {usable})
    get_device_name = staticmethod(lambda: "NVIDIA H200")
    current_device = staticmethod(lambda: 0)
    get_device_properties = staticmethod(lambda _: None)
    mem_get_info = staticmethod(lambda: (12 << 20, 1000 << 20))
    memory_reserved = staticmethod(lambda: 88 << 20)
"""
CARDS = (
    "0, GPU-0, NVIDIA H200, 570.1, 143771, 9000, 0, Disabled\\n1, GPU-1, NVIDIA H200, 570.1, 143771, 5, 0, Disabled\\n"
)
SMI = """#!/bin/sh
case "$1" in *compute-apps*) printf '{apps}';; *driver_version) echo 570.1;; *) printf '{cards}';; esac
"""
WHERE = 'lab.observe("gpu", {"n": os.environ.get("CUDA_VISIBLE_DEVICES", "-"), "device": lab.device})\n'
ELSEWHERE = f"GPU-0, {os.getpid()}, 9000, python\\n"


@pytest.fixture
def gpu(tmp_path: Path, fake_torch: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A machine of two GPUs, on the first of which somebody computes."""

    def make(smi: str = "", usable: bool = True, built: str | None = "13.0", apps: str = ELSEWHERE) -> None:
        init = fake_torch / "__init__.py"
        init.write_text(init.read_text() + GPU_TORCH.format(built=built, usable=usable))
        (tmp_path / "bin").mkdir()
        script = tmp_path / "bin" / "nvidia-smi"
        script.write_text(smi or SMI.format(apps=apps, cards=CARDS))
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    return make


def facts(events: list[dict[str, Any]]) -> dict[str, Any]:
    return next(event for event in events if event["event"] == "result")["environment"]


@pytest.mark.parametrize(
    ("asked", "visible", "why", "contended"),
    [("auto", "GPU-1", "idle", False), ("cuda:0", "GPU-0", "asked", True), ("cuda:GPU-1", "GPU-1", "asked", False)],
)
def test_a_run_sees_only_the_gpu_that_was_chosen(
    host: LabHost,
    demo: Callable[..., Demo],
    gpu: Callable[..., None],
    asked: str,
    visible: str,
    why: str,
    contended: bool,
) -> None:
    gpu()
    events = list(host.start(demo(WHERE + GOOD), device=asked))
    seen = next(event for event in events if event["event"] == "observation")["values"]
    assert seen == {"n": visible, "device": "cuda"}
    found = facts(events)
    assert (f"GPU-{found['gpu_index']}", found["gpu_why"], found["contended"]) == (visible, why, contended)


def test_the_settings_choose_the_gpu(
    make_host: Callable[..., LabHost], demo: Callable[..., Demo], gpu: Callable[..., None]
) -> None:
    gpu()
    assert facts(list(make_host(device="cuda:0").start(demo(GOOD))))["gpu_index"] == 0


def test_out_of_memory_says_what_was_free_and_who_has_the_rest(
    host: LabHost, demo: Callable[..., Demo], gpu: Callable[..., None]
) -> None:
    gpu()
    body = "import torch\nraise torch.cuda.OutOfMemoryError('CUDA out of memory')"
    events = list(host.start(demo(body), device="cuda:0"))
    assert ended(events) == ("limit", "lab.gpu-full-shared")
    args = {"free": 12, "total": 1000, "mine": 88, "others": f"python {os.getpid()} 9000 MiB"}
    assert events[-1]["message"]["args"] == args
    assert ended(list(host.start(demo(body), device="cuda:1"))) == ("limit", "lab.gpu-full")


@pytest.mark.parametrize(
    ("smi", "torch", "asked", "key"),
    [
        ("echo Failed to initialize NVML: Driver/library version mismatch; exit 18", {}, "cuda", "cuda-mismatch"),
        ("echo NVIDIA-SMI has failed; exit 9", {}, "cuda", "cuda-failed"),
        ("echo No devices were found; exit 6", {}, "cuda", "cuda-devices"),
        ("", {}, "cuda", "cuda-torch"),
        ("", {"built": None}, "cuda:1", "cuda-build"),
        ("", {}, "cuda:7", "gpu"),
    ],
)
def test_a_gpu_that_cannot_be_used_is_said_plainly(
    host: LabHost,
    demo: Callable[..., Demo],
    gpu: Callable[..., None],
    smi: str,
    torch: dict[str, Any],
    asked: str,
    key: str,
) -> None:
    gpu(f"#!/bin/sh\n{smi}\n" if smi else "", usable=False, **torch)
    assert ended(list(host.start(demo(GOOD), device=asked))) == ("unavailable", f"lab.needs-{key}")
    if key != "gpu":
        events = list(host.start(demo(GOOD)))
        assert (ended(events), facts(events)["device"]) == (("ok", "lab.ok"), "cpu")
        assert facts(events)["gpu_trouble"] == key
        assert ended(list(host.start(demo(GOOD, needs=("torch", "cuda"))))) == ("unavailable", f"lab.needs-{key}")
