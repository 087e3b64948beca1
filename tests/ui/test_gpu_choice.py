"""Choosing the GPU on the screen, by keys."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from tests.ui.learner_app import Box80, FakeLab, box
from tests.unit.test_gpu_choice import EIGHT
from tutor.lab import gpus
from tutor.lab.gpus import Gpu, Trouble
from tutor.ui import app as app_module
from tutor.ui.box import Box

__all__ = ["box"]


class Lab(FakeLab):
    """One that remembers which device it was told to use."""

    device = ""

    def use(self, device: str) -> None:
        self.device = device


@pytest.mark.parametrize(
    ("lang", "title", "taken"), [("en", "Where demos run", "run on"), ("zh", "演示在哪里跑", "演示在")]
)
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_gpu_is_taken_used_and_remembered(
    box: Box80, monkeypatch: pytest.MonkeyPatch, lang: str, title: str, taken: str, size: tuple[int, int]
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(gpus, "look", lambda: EIGHT)
    monkeypatch.setattr(app_module, "look", lambda _python, device: Box("2.11.0", f"H200 on {device}"))
    lab = Lab([])
    async with box.open(lang=lang, size=size, lab=lab) as learner:
        await learner.press("3", "D")
        await learner.until(lambda: "cuda:7 H200" in learner.text)
        assert title in learner.rows[0]
        await learner.press("j", "j", "j")
        await learner.press("enter")
        device = "cuda:GPU-1aa"
        assert lab.device == device
        assert learner.store.progress.settings["devices"] == {socket.gethostname(): device}
        assert taken in learner.rows[-2]
        await learner.until(lambda: f"H200 on {device}"[:12] in learner.rows[0])
        assert learner.app.context.device == device
        await learner.press("D")
        await learner.until(lambda: "cuda:7 H200" in learner.text)
        assert any(row.startswith("> cuda:1 H200") for row in learner.rows)
        await learner.press("escape")
        assert learner.app.context.device == device, "Esc leaves it as it is"


async def test_the_screen_is_there_while_a_sick_driver_is_asked(box: Box80, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = threading.Event()

    def look() -> list[Gpu]:
        answer.wait(20)
        raise Trouble("silent")

    monkeypatch.setattr(gpus, "look", look)
    async with box.open(lab=Lab([])) as learner:
        await learner.press("3", "D")
        assert "asking nvidia-smi" in learner.text
        answer.set()
        await learner.until(lambda: "nvidia-smi gave no answer" in learner.text)
        await learner.press("j", "enter")
        assert learner.app.context.device == "cpu"


async def test_a_choice_that_is_gone_leaves_the_cursor_on_what_is_there(
    box: Box80, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> list[Gpu]:
        raise Trouble("none")

    monkeypatch.setattr(gpus, "look", none)
    async with box.open(lab=Lab([])) as learner:
        learner.store.record("setting", name="devices", value={socket.gethostname(): "cuda:GPU-9"})
        await learner.press("3", "D")
        await learner.until(lambda: "cuda:GPU-9, which is chosen now" in learner.text)
        await learner.press("j", "k", "enter")
        assert learner.app.context.device == "auto"


async def test_a_real_nvidia_smi_of_a_few_lines(box: Box80, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cards = "".join(f"{n}, GPU-{n}, NVIDIA H200, 570.1, 143771, {n}, 0, [N/A]\n" for n in range(8))
    (tmp_path / "cards").write_text(cards, encoding="utf-8")
    (tmp_path / "apps").write_text("GPU-0, 4194000, 2900, /opt/train\n", encoding="utf-8")
    script = tmp_path / "nvidia-smi"
    script.write_text(f'#!/bin/sh\ncase "$1" in *apps*) cat {tmp_path}/apps;; *) cat {tmp_path}/cards;; esac\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    async with box.open(lab=Lab([])) as learner:
        await learner.press("3", "D")
        await learner.until(lambda: "cuda:7 H200" in learner.text)
        assert "cuda:1 H200 now" in learner.text
        assert "? train 4194000 2900 MiB" in learner.text
