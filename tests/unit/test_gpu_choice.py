"""Where demos run: the page to choose from, what the first row says, what is remembered for which machine."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.unit.test_lab_gpus import SLICED, card
from tutor.context import Context
from tutor.lab import gpus
from tutor.lab.gpus import Gpu, Trouble
from tutor.language import LANGS, Lang
from tutor.settings import Settings
from tutor.ui import box
from tutor.ui.box import Box
from tutor.ui.views.gpus import choice_lines, device_words

EIGHT = [card(n, *range(10 * n, 10 * n + n), used=1000 * n, busy=10 * n) for n in range(8)]


def shown(listed: list[Gpu] | Trouble | None, chosen: str = "auto", lang: Lang = "en", **more: Any) -> list[str]:
    usual: dict[str, Any] = {"env": {}, "owner": lambda pid: f"user{pid}", "width": 79, **more}
    width = usual.pop("width")
    return [line.text for line in choice_lines(listed, chosen, lang, width, **usual)]


def items(listed: list[Gpu] | Trouble | None, chosen: str = "auto", **env: str) -> list[str]:
    lines = choice_lines(listed, chosen, "en", 79, env=env, owner=lambda _pid: None)
    return list(dict.fromkeys(line.item for line in lines if line.item))


def test_each_gpu_with_its_memory_load_and_who_is_on_it() -> None:
    rows = shown(EIGHT[:3], "cuda:1")
    assert rows[2] == "  auto: the least busy GPU, cuda:0 H200 now"
    assert rows[4] == "  cuda:0 H200  143771 of 143771 MiB free    0 % busy  least busy  nobody on it"
    assert rows[5:7] == [
        "> cuda:1 H200  142771 of 143771 MiB free   10 % busy  user10 python 10 100 MiB",
        "  cuda:2 H200  141771 of 143771 MiB free   20 % busy  user20 python 20 100 MiB,",
    ]
    assert rows[7].strip() == "user21 python 21 100 MiB"


def test_every_one_can_be_taken_and_a_number_is_the_same_as_its_uuid() -> None:
    assert items(EIGHT) == ["device:auto", "device:cpu", *(f"device:cuda:GPU-{n}aa" for n in range(8))]
    assert items([card(0), SLICED])[3:] == ["device:cuda:GPU-1aa", "device:cuda:MIG-a", "device:cuda:MIG-b"]
    for chosen in ("cuda:3", "cuda:GPU-3aa"):
        assert next(row for row in shown(EIGHT, chosen) if row.startswith(">")).startswith("> cuda:3 H200")
    assert any(row.startswith(">   MIG 2g.35gb  MIG-b") for row in shown([SLICED], "cuda:MIG-b"))


def test_a_device_is_named_as_people_call_it() -> None:
    there = [card(0), SLICED]
    assert device_words("cuda:GPU-0aa", there) == "cuda:0 H200"
    assert device_words("cuda:MIG-b", there) == "cuda:1 H200 MIG 2g.35gb"
    assert device_words("auto", there) == "auto"
    assert device_words("cuda:GPU-0aa", []) == "cuda:GPU-0aa"


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("width", [30, 62, 79, 120])
def test_whatever_is_listed_fits_the_width(lang: Lang, width: int) -> None:
    name = "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition \x1b[2J"
    wild = card(9, *range(40), name=name, used=None, busy=None)
    for listed in (EIGHT, [wild, SLICED], [], None, Trouble("failed", "x" * 200)):
        for row in shown(listed, "cuda:77", lang, width=width):
            assert cell_len(row) <= width
            assert "\x1b" not in row


def test_more_than_some_processes_are_counted() -> None:
    whole = " ".join("".join(shown([card(0, *range(1, 41))])).split())
    assert "user6 python 6 100 MiB, and 34 more" in whole
    assert "user7" not in whole


def test_only_what_the_environment_lets_through_can_be_taken() -> None:
    assert items(EIGHT, CUDA_VISIBLE_DEVICES="2,3")[2:] == ["device:cuda:GPU-2aa", "device:cuda:GPU-3aa"]
    assert "6 more GPU(s)" in shown(EIGHT, env={"CUDA_VISIBLE_DEVICES": "2,3"})[-1]
    assert items(EIGHT, CUDA_VISIBLE_DEVICES="") == ["device:auto", "device:cpu"]


@pytest.mark.parametrize("kind", ["none", "silent", "mismatch", "devices", "failed"])
@pytest.mark.parametrize("lang", LANGS)
def test_without_a_list_it_says_why_and_auto_and_the_cpu_stay(kind: str, lang: Lang) -> None:
    rows = shown(Trouble(kind, "what it said"), lang=lang)
    assert len(rows) >= 6
    assert items(Trouble(kind)) == ["device:auto", "device:cpu"]
    assert ("what it said" in rows[-1]) == (kind == "failed")


def test_a_chosen_gpu_that_is_not_here_is_said() -> None:
    assert "cuda:9, which is chosen now, is not on this machine" in shown(EIGHT, "cuda:9")[-2]
    assert "cuda:9" in shown(Trouble("none"), "cuda:9")[-2]
    assert "is not on this machine" not in " ".join(shown(EIGHT, "cuda"))


def test_behind_a_launcher_no_gpu_of_here_is_told() -> None:
    rows = shown(EIGHT, launcher=True)
    assert not any("H200" in row for row in rows)
    assert "launcher" in " ".join(rows)


def test_who_runs_a_process() -> None:
    import os
    import pwd

    assert gpus.owner(os.getpid()) == pwd.getpwuid(os.getuid()).pw_name
    assert gpus.owner(2**22 + 5) is None


# --- the first row ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("listed", "device", "expected"),
    [
        ([card(0)], "auto", Box("2.11.0", "H200")),
        (EIGHT, "auto", Box("2.11.0", "H200 cuda:0")),
        (EIGHT, "cuda:5", Box("2.11.0", "H200 cuda:5", busy=True)),
        ([card(0), card(1, busy=90)], "cuda:GPU-1aa", Box("2.11.0", "H200 cuda:1", busy=True)),
        (EIGHT, "cuda:9", Box("2.11.0", None, lacks="gone")),
        (EIGHT, "cpu", Box("2.11.0", None, lacks="cpu")),
        (Trouble("none"), "auto", Box("2.11.0", None)),
        (Trouble("none"), "cuda:1", Box("2.11.0", None, lacks="gone")),
        (Trouble("silent"), "auto", Box("2.11.0", None, lacks="trouble")),
    ],
)
def test_the_first_row_has_the_gpu_that_demos_use(
    monkeypatch: pytest.MonkeyPatch, listed: list[Gpu] | Trouble, device: str, expected: Box
) -> None:
    def look() -> list[Gpu]:
        if isinstance(listed, Trouble):
            raise listed
        return listed

    monkeypatch.setattr(gpus, "look", look)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    found = box._with_gpu("2.11.0", device)
    assert found == expected
    assert len({found.words(lang) for lang in LANGS}) == 2


# --- what is remembered -----------------------------------------------------------------------------------------------


def test_a_choice_holds_for_the_machine_it_was_made_on(tmp_path: Path) -> None:
    context = Context("lesson_02_torch_compile", tmp_path, Settings(device="cuda"))
    assert context.device == "cuda", "no journal is made to find out"
    assert not list(tmp_path.iterdir())
    here = socket.gethostname()
    for chosen, device in (
        ({here: "cuda:1", "elsewhere": "cpu"}, "cuda:1"),
        ({"elsewhere": "cpu"}, "cuda"),
        ({here: "gpu"}, "cuda"),
        ("cpu", "cuda"),
        ({here: ["cpu"]}, "cuda"),
    ):
        context.journal.append("setting", name="devices", value=chosen)
        assert context.device == device
    context.close()
