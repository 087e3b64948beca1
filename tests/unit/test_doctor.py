"""What doctor makes of a machine: one line per part, what a lack costs, the command that mends it."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tutor import doctor
from tutor.doctor import Finding
from tutor.lab import gpus
from tutor.language import LANGS
from tutor.model import Message
from tutor.sandbox import LayerState, Sandbox, SandboxUnavailable
from tutor.strings import say


def sayable(finding: Finding) -> Finding:
    for lang in LANGS:
        assert "\n" not in say(lang, finding.says)
        assert (finding.costs is None) is (finding.status == "ok")
        if finding.costs is not None:
            assert say(lang, finding.costs)
    return finding


def tool(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


@pytest.fixture
def bin_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with nothing on it but what a test puts there."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


class Tty(io.StringIO):
    """A terminal of no known size."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def screen(monkeypatch: pytest.MonkeyPatch, env: Mapping[str, str], **more: Any) -> Finding:
    monkeypatch.setattr(sys, "stderr", Tty())
    return sayable(doctor.screen(env, **more))


@pytest.mark.parametrize(
    ("env", "status", "detail"),
    [
        ({"TERM": "xterm-256color"}, "ok", "ok"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "ok", "ok"),
        ({"TERM": "xterm-direct"}, "ok", "ok"),
        ({"TERM": "xterm"}, "limited", "colours"),
        ({"TERM": "dumb"}, "missing", "dumb"),
        ({}, "missing", "dumb"),
    ],
)
def test_terminals(monkeypatch: pytest.MonkeyPatch, env: dict[str, str], status: str, detail: str) -> None:
    found = screen(monkeypatch, env)
    assert (found.status, found.says.key) == (status, f"doctor.terminal-{detail}")


@pytest.mark.parametrize(("answer", "status"), [("500", "limited"), ("20", "ok"), ("", "ok"), (None, "ok")])
def test_tmux_and_its_wait_after_escape(monkeypatch: pytest.MonkeyPatch, answer: str | None, status: str) -> None:
    env = {"TERM": "tmux-256color", "TMUX": "/tmp/tmux"}
    found = screen(monkeypatch, env, ask=lambda *_: answer)
    assert found.status == status
    if status == "limited":
        assert found.fix == "tmux set -s escape-time 20"
        assert found.says.args["ms"] == 500


def test_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert sayable(doctor.screen({"TERM": "xterm"})).says.key == "doctor.terminal-none"


def test_a_locale_that_is_not_utf8(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sayable(doctor.locale()).status == "ok"
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), "latin-1"))
    found = sayable(doctor.locale())
    assert (found.status, found.fix) == ("missing", "export LC_ALL=C.UTF-8")


def test_the_state_folder_is_made_and_private(tmp_path: Path) -> None:
    found = sayable(doctor.state_folder(tmp_path / "state" / "lesson"))
    assert found.status == "ok"
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700


def test_a_state_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert sayable(doctor.state_folder(tmp_path / "file")).status == "missing"


@pytest.mark.parametrize(
    ("change", "detail"),
    [("space", "full"), ("locks", "locks"), ("network", "network"), ("mode", "mode"), ("closed", "closed")],
)
def test_a_state_folder_with_a_flaw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, detail: str) -> None:
    folder = tmp_path / "state" / "lesson"
    folder.mkdir(parents=True, mode=0o700)
    if change == "space":
        monkeypatch.setattr(doctor, "ROOM", 1 << 80)
    elif change == "locks":

        def no_locks(*_: object) -> None:
            raise OSError(37, "No locks available")

        monkeypatch.setattr("tutor.learner.session_lock.fcntl.flock", no_locks)
    elif change == "network":
        monkeypatch.setattr(doctor, "file_system", lambda _: "nfs4")
    elif change == "mode":
        folder.chmod(0o755)
        monkeypatch.setattr(Path, "chmod", lambda *_: None)
    else:
        access = os.access
        monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and access(path, mode))
    found = sayable(doctor.state_folder(folder))
    assert found.says.key == f"doctor.state-{detail}"
    assert found.status == ("missing" if change == "closed" else "limited")


def test_which_file_system_holds_a_path(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "22 21 0:40 / /home rw shared:1 - nfs4 server:/home rw\n"
        "23 22 0:41 / /home/a\\040b rw - tmpfs tmpfs rw\n"
        "24 22 0:42 / /homework rw - xfs /dev/sdb rw\n"
        "broken line\n"
    )
    for path, kind in (("/etc", "ext4"), ("/home/x", "nfs4"), ("/home/a b/c", "tmpfs"), ("/homework", "xfs")):
        assert doctor.file_system(Path(path), mounts) == kind
    assert doctor.file_system(Path("/"), tmp_path / "none") == "?"


def test_the_sandbox_s_walls(monkeypatch: pytest.MonkeyPatch) -> None:
    walls = (
        LayerState("limits", True, None),
        LayerState("seccomp", False, Message("check.wall_not_linux", {"system": "x"})),
    )
    monkeypatch.setattr(Sandbox, "layers", lambda _: walls)
    found = sayable(doctor.sandbox())
    assert (found.status, found.says.args["active"], found.says.args["missing"]) == ("limited", 1, "seccomp")
    assert [detail.name for detail in found.details] == ["limits", "seccomp"]
    assert "code of others" in say("en", found.costs or found.says)
    for name, status in (("landlock", "limited"), ("namespaces", "ok")):
        monkeypatch.setattr(Sandbox, "layers", lambda _, name=name: (walls[0], replace(walls[1], name=name)))
        found = sayable(doctor.sandbox())
        assert (found.status, found.says.args["missing"]) == (status, name)
    monkeypatch.setattr(Sandbox, "layers", lambda _: walls[:1])
    assert sayable(doctor.sandbox()).status == "ok"

    def none(_: Sandbox) -> None:
        raise SandboxUnavailable("check.no_sandbox_start")

    monkeypatch.setattr(Sandbox, "layers", none)
    assert sayable(doctor.sandbox()).status == "missing"


def test_torch_that_is_not_there(tmp_path: Path) -> None:
    tool(tmp_path / "bin", "python", f'exec "{sys.executable}" -S "$@"')
    path = str(tmp_path / "bin" / "python")
    found = doctor.look_for_torch(path, {})
    assert sayable(doctor.torch(found)).fix == f"{path} -m pip install torch"
    assert sayable(doctor.triton(found, needed=True)).says.key == "doctor.triton-no-torch"
    found = doctor.look_for_torch("/nowhere/python", {})
    assert sayable(doctor.torch(found)).status == "missing"


def test_torch_of_the_interpreter_that_was_named(tmp_path: Path) -> None:
    site = tmp_path / "site"
    for name in ("torch", "triton"):
        (site / name).mkdir(parents=True)
        (site / name / "__init__.py").write_text("raise SystemExit('imported')")
        about = site / f"{name}-9.9.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9\n")
    tool(tmp_path / "bin", "python", f'PYTHONPATH="{site}" exec "{sys.executable}" -S "$@"')
    found = doctor.look_for_torch(str(tmp_path / "bin" / "python"), {})
    torch = sayable(doctor.torch(found))
    assert (torch.status, torch.says.key, torch.says.args["version"]) == ("ok", "doctor.torch-ok-setting", "9.9")
    assert sayable(doctor.triton(found, needed=True)).says.args["version"] == "9.9"


def test_compilers(bin_only: Path) -> None:
    env = {"PATH": str(bin_only)}
    found = sayable(doctor.compiler(env))
    assert (found.status, found.fix) == ("missing", "apt-get install g++")
    tool(bin_only, "clang++", "echo clang 19; echo more")
    found = sayable(doctor.compiler(env))
    assert (found.says.args["path"], found.says.args["version"]) == (str(bin_only / "clang++"), "clang 19")
    tool(bin_only, "mine", "exit 1")
    assert doctor.compiler({**env, "CXX": "mine"}).says.args["path"] == str(bin_only / "mine")


def smi(folder: Path, cards: str, apps: str = "", listing: str = "") -> None:
    """An nvidia-smi that answers the three questions."""
    for name, text in (("cards", cards), ("apps", apps), ("listing", listing)):
        (folder / name).write_text(text, encoding="utf-8")
    asked = f'case "$1" in *compute-apps*) what=apps;; -L) what=listing;; *) what=cards;; esac; f="{folder}/$what"'
    tool(folder, "nvidia-smi", f'{asked}; while IFS= read -r line; do printf "%s\\n" "$line"; done < "$f"')


CARD = "{0}, GPU-{0}, NVIDIA H200, 570.1, 143771, 5, 0, [N/A]\n"


def test_gpus(bin_only: Path) -> None:
    assert sayable(doctor.gpu()).says.key == "doctor.gpu-none"
    smi(bin_only, CARD.format(0) + CARD.format(1))
    found = sayable(doctor.gpu("2.11.0+cu130"))
    assert (found.status, found.says.args["count"], found.says.args["name"]) == ("ok", 2, "NVIDIA H200")
    assert [detail.name for detail in found.details] == ["cuda:0", "cuda:1"]
    smi(bin_only, CARD.format(0) + CARD.format(1), "GPU-1, 12, 2900, python\nGPU-1, 13, [N/A], /opt/a, b\n")
    found = sayable(doctor.gpu())
    assert (found.status, found.says.args["processes"]) == ("limited", 2)
    words = say("en", found.details[1].says)
    assert words == "NVIDIA H200, 5 of 143771 MiB in use, 0 % busy, 2 process(es): python 12 2900 MiB, a, b 13"
    assert sayable(doctor.gpu("2.13.0+cpu")).says.key == "doctor.gpu-build"


def test_mig_slices_are_listed_as_they_are(bin_only: Path) -> None:
    listing = "GPU 0: NVIDIA H200 (UUID: GPU-0)\n  MIG 1g.18gb     Device  0: (UUID: MIG-a1)\n"
    smi(bin_only, "0, GPU-0, NVIDIA H200, 570.1, 143771, [N/A], [N/A], Enabled\n", "", listing)
    found = sayable(doctor.gpu())
    assert [detail.name for detail in found.details] == ["cuda:0", "cuda:MIG-a1"]
    assert "1g.18gb" in say("en", found.details[1].says)
    assert "? of 143771 MiB" in say("en", found.details[0].says)


@pytest.mark.parametrize(
    ("script", "key"),
    [
        ("echo Failed to initialize NVML: Driver/library version mismatch; exit 18", "gpu-mismatch"),
        ("echo No devices were found; exit 6", "gpu-devices"),
        ("echo No devices were found", "gpu-devices"),
        ("echo NVIDIA-SMI has failed because; exit 9", "gpu-failed"),
        ("exit 9", "gpu-failed"),
        ("echo nonsense", "gpu-failed"),
        ("exec /bin/sleep 60", "gpu-silent"),
    ],
)
def test_a_driver_that_is_broken(bin_only: Path, monkeypatch: pytest.MonkeyPatch, script: str, key: str) -> None:
    monkeypatch.setattr(gpus, "SMI_S", 0.3 if "sleep" in script else 10.0)
    tool(bin_only, "nvidia-smi", script)
    found = sayable(doctor.gpu())
    assert (found.status, found.says.key, found.fix) == ("missing", f"doctor.{key}", "nvidia-smi")


@pytest.mark.parametrize(
    ("value", "detail"),
    [("vi", "ok"), ("vi -u NONE", "ok"), ("emacs", "none"), ("vi 'x", "quotes"), (None, "default")],
)
def test_editors(bin_only: Path, value: str | None, detail: str) -> None:
    tool(bin_only, "vi", "true")
    env = {"PATH": str(bin_only), **({"EDITOR": value} if value else {})}
    assert sayable(doctor.editor(env)).says.key == f"doctor.editor-{detail}"
    if value == "emacs":
        assert doctor.editor({**env, "VISUAL": "vi"}).status == "ok"


def test_no_editor_at_all(bin_only: Path) -> None:
    assert sayable(doctor.editor({"PATH": str(bin_only)})).status == "missing"
