"""Which GPU is taken, who else is on it, and what nvidia-smi may say instead."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import pytest

from tutor.lab import gpus
from tutor.lab.gpus import Choice, Gpu, Neighbours, Process
from tutor.settings import is_device


def card(index: int, *pids: int, **more: object) -> Gpu:
    there = tuple(Process(pid, "python", 100) for pid in pids)
    usual = {"name": "NVIDIA H200", "driver": "570.1", "total": 143771, "used": 5, "busy": 0}
    return Gpu(**{"index": index, "uuid": f"GPU-{index}aa", "processes": there, **usual, **more})  # type: ignore[arg-type]


def taken(choice: Choice | None) -> tuple[str, str] | None:
    return (choice.visible, choice.why) if choice else None


@pytest.mark.parametrize(
    ("listed", "answer"),
    [
        ([card(0)], ("GPU-0aa", "only")),
        ([card(0, 7)], ("GPU-0aa", "only")),
        ([card(0, 7), card(1), card(2)], ("GPU-1aa", "idle")),
        ([card(0, busy=90), card(1)], ("GPU-1aa", "idle")),
        ([card(0, used=9000), card(1)], ("GPU-1aa", "idle")),
        ([card(0, 7, 8), card(1, 9)], ("GPU-1aa", "least")),
        ([card(0, busy=None, used=None), card(1)], ("GPU-0aa", "idle")),
        ([], None),
    ],
)
def test_the_least_busy_gpu_is_taken(listed: list[Gpu], answer: tuple[str, str] | None) -> None:
    assert taken(gpus.choose(listed, "auto", {})) == answer
    assert taken(gpus.choose(listed, "cuda", {})) == answer


SLICED = card(1, slices=(("MIG 1g.18gb", "MIG-a"), ("MIG 2g.35gb", "MIG-b")))


@pytest.mark.parametrize(
    ("wanted", "visible"),
    [
        ("cuda:0", "GPU-0aa"),
        ("cuda:2", "GPU-2aa"),
        ("cuda:GPU-2aa", "GPU-2aa"),
        ("cuda:1", "MIG-a"),
        ("cuda:MIG-b", "MIG-b"),
        ("cuda:7", None),
        ("cuda:MIG-c", None),
    ],
)
def test_one_gpu_is_asked_for(wanted: str, visible: str | None) -> None:
    assert is_device(wanted)
    got = gpus.choose([card(0, 7), SLICED, card(2, 8, 9)], wanted, {})
    assert taken(got) == ((visible, "asked") if visible else None)


@pytest.mark.parametrize(
    ("variable", "wanted", "visible"),
    [
        ("1,0", "auto", "GPU-0aa"),
        ("1", "cuda", "GPU-1aa"),
        ("GPU-1", "auto", "GPU-1aa"),
        ("1", "cuda:0", None),
        ("1", "cuda:1", "GPU-1aa"),
        ("", "auto", None),
        ("-1", "auto", None),
        ("9,1", "auto", None),
        ("1,9,0", "auto", "GPU-1aa"),
    ],
)
def test_only_what_the_environment_lets_through(variable: str, wanted: str, visible: str | None) -> None:
    got = gpus.choose([card(0), card(1, 7)], wanted, {"CUDA_VISIBLE_DEVICES": variable})
    assert (got.visible if got else None) == visible


def test_only_the_slice_that_the_environment_lets_through() -> None:
    env = {"CUDA_VISIBLE_DEVICES": "MIG-b"}
    assert taken(gpus.choose([card(0), SLICED], "auto", env)) == ("MIG-b", "only")
    assert gpus.choose([card(0), SLICED], "cuda:MIG-a", env) is None


@pytest.mark.parametrize(
    "bad", ["", "gpu", "cuda:", "cuda:-1", "cuda:1 2", "cuda:GPU-\n", "cuda:12345", "CUDA", "cpu:0"]
)
def test_what_is_no_device(bad: str) -> None:
    assert not is_device(bad)


# --- who else is there ------------------------------------------------------------------------------------------------


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[list[Process] | gpus.Trouble]:
    """What nvidia-smi says at each look, in order."""
    answers: list[list[Process] | gpus.Trouble] = []

    def processes() -> dict[str, list[Process]]:
        answer = answers.pop(0)
        if isinstance(answer, gpus.Trouble):
            raise answer
        return {"GPU-0aa": answer, "GPU-1aa": [Process(99, "elsewhere", 1)]}

    monkeypatch.setattr(gpus, "processes", processes)
    return answers


@pytest.fixture(scope="module")
def stranger() -> Iterator[int]:
    """A process that is alive and in a group of its own."""
    process = subprocess.Popen(["sleep", "600"], start_new_session=True)
    yield process.pid
    process.kill()
    process.wait()


OURS = Process(os.getpid(), "python", 500)


def neighbours(*before: int) -> Neighbours:
    return Neighbours(Choice(card(0, *before), "GPU-0aa", "only"), os.getpgid(0))


def test_alone(listed: list[list[Process] | gpus.Trouble]) -> None:
    listed += [[], [OURS]]
    there = neighbours()
    assert there.look() == there.look() == []
    assert there.contended is False


def test_who_was_there_before_counts_though_gone_after(
    listed: list[list[Process] | gpus.Trouble], stranger: int
) -> None:
    listed += [[OURS]]
    there = neighbours(stranger)
    assert there.look() == []
    assert there.contended is True


def test_who_came_and_went_during_the_run_counts(listed: list[list[Process] | gpus.Trouble], stranger: int) -> None:
    other = Process(stranger, "python", 100)
    listed += [[OURS, other], [OURS]]
    there = neighbours()
    assert (there.look(), there.look()) == ([other], [])
    assert there.contended is True
    assert list(there.seen) == [stranger]


def test_in_a_container_one_unknown_newcomer_is_ourselves(listed: list[list[Process] | gpus.Trouble]) -> None:
    gone = 2**22 - 1  # No process here has this number, as the host's numbers are none of ours.
    listed += [[Process(gone, "python", 1)], [Process(gone, "python", 1), Process(gone - 1, "python", 1)]]
    there = neighbours()
    there.look()
    assert there.contended is False
    there.look()
    assert there.contended is True


def test_what_nvidia_smi_did_not_say_is_unknown(listed: list[list[Process] | gpus.Trouble], stranger: int) -> None:
    listed += [gpus.Trouble("silent"), gpus.Trouble("silent")]
    there = neighbours()
    there.look()
    assert there.contended is None
    there.glance()  # Asks no more after it failed: every answer would take seconds.
    assert len(listed) == 1
    known = neighbours(stranger)
    known.look()
    assert known.contended is True
