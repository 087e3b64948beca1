"""`check --kernel` as the contract fixes it, with a host whose run is a list of events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tutor.cli import check_kernel
from tutor.cli.main import run
from tutor.lab import protocol
from tutor.model import Message


class Host:
    """In place of the lab's host."""

    outcome = "unavailable"
    settings: Any = None
    asked: dict[str, Any] = {}
    device: str | None = None

    def __init__(self, settings: Any) -> None:
        Host.settings = settings

    def start(self, _demo: Any, device: str | None, params: dict[str, Any]) -> Host:
        Host.asked, Host.device = params, device
        return self

    def __iter__(self) -> Iterator[dict[str, Any]]:
        message = protocol.as_json(Message("lab.needs-triton-kernels"))
        yield protocol.event("ended", 0.5, demo="fused", outcome=self.outcome, message=message)

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        pass


Check = Callable[..., tuple[int, str, str]]
DRAFT = (
    Path(__file__).resolve().parents[2] / "lessons" / "lesson_02_torch_compile" / "exercise" / "fused_kernel.py"
).read_text(encoding="utf-8")


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Check:
    for name in ("TUTOR_STATE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setattr(check_kernel, "LabHost", Host)
    monkeypatch.chdir(tmp_path)
    Host.asked, Host.device = {}, None

    def ran(*args: str) -> tuple[int, str, str]:
        code = run(["check", *args, "--lang", "en"])
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return ran


@pytest.mark.parametrize("device", ["auto", "cpu", "cuda", "cuda:1", "cuda:GPU-ab12", "cuda:MIG-ab12"])
def test_it_takes_every_device_that_others_take(check: Check, device: str) -> None:
    code, out, _ = check("--kernel", "--device", device, "--json")
    assert code == 6
    assert Host.device == device
    assert json.loads(out)["why"] == "lab.needs-triton-kernels"


def test_without_a_device_it_is_the_host_s_own(check: Check) -> None:
    check("--kernel")
    assert Host.device is None
    assert Host.settings.device == "auto"


def test_without_a_file_it_is_the_learner_s_own_and_the_draft_before(check: Check, tmp_path: Path) -> None:
    check("--kernel")
    assert Host.asked["text"] == DRAFT
    own = tmp_path / "tutor_state" / "lesson_02_torch_compile" / "fused_kernel.py"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(DRAFT.replace("NUM_WARPS = 4", "NUM_WARPS = 8"), encoding="utf-8")
    check("--kernel")
    assert Host.asked["warps"] == 8


def test_nothing_of_what_is_right_is_told_to_the_process_that_runs_it(check: Check) -> None:
    check("--kernel")
    assert set(Host.asked) == {
        *("text", "warps", "max_block", "eps", "canary", "poison", "demos", "seed", "large", "calls"),
    }
    assert all(set(call) == {"rows", "hidden", "strides", "starts", "memory"} for call in Host.asked["calls"])


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--device", "cuda:0"], "--device belongs to --kernel"),
        (["--device", "cpu", "--expr", "1"], "--device belongs to --kernel"),
        (["--kernel", "--device", "tpu"], "tpu"),
        (["--kernel", "gone.py"], "gone.py"),
        (["--kernel", "."], "."),
        (["--kernel", "binary.py"], "not UTF-8"),
        (["--kernel", "k.py", "--expr", "1"], "alone"),
    ],
)
def test_wrong_usage_is_one_sentence(check: Check, tmp_path: Path, args: list[str], words: str) -> None:
    (tmp_path / "binary.py").write_bytes(b"\xff\x00")
    code, out, err = check(*args)
    assert (code, out) == (2, "")
    assert words in err
    assert Host.asked == {}


def test_a_file_that_is_too_long_is_refused_whatever_its_letters(check: Check, tmp_path: Path) -> None:
    for text in ("#" * 20_001, "# " + "字" * 20_000):
        (tmp_path / "long.py").write_text(text, encoding="utf-8")
        code, out, _ = check("--kernel", "long.py", "--json")
        assert (code, json.loads(out)["why"]) == (5, "kernel.long")
    (tmp_path / "long.py").write_bytes("字".encode() * 40_000)
    code, _, err = check("--kernel", "long.py")
    assert code == 2
    assert "longer than 20000 characters" in err
