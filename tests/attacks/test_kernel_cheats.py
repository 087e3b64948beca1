"""Known cheats on kernel benchmarks, against the optional exercise: each is refused or fails for its own reason."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Iterator

import pytest

from tests.attacks.kernel_cheats import HONEST, REFUSED, ROOT, WRONG
from tutor.fused import run, source
from tutor.lab.host import LabHost, LabSettings
from tutor.model import Ending, Message
from tutor.strings import say

DEMOS = ROOT / "lessons" / "lesson_02_torch_compile" / "demos"
MISSING = [name for name in ("torch", "triton", "numpy") if importlib.util.find_spec(name) is None]
interpreted = pytest.mark.skipif(bool(MISSING), reason=f"not installed in this environment: {', '.join(MISSING)}")


@pytest.fixture(scope="module")
def host() -> Iterator[LabHost]:
    host = LabHost(LabSettings())
    yield host
    host.close()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_more_than_a_kernel_is_refused_unrun(name: str) -> None:
    text, key = REFUSED[name]
    found = source.read(text)
    assert isinstance(found, Message), "admitted"
    assert found.key == f"kernel.{key}"
    assert all(say(lang, found) for lang in ("zh", "en"))


@pytest.mark.parametrize("name", [*HONEST, *WRONG])
def test_what_is_a_kernel_is_read(name: str) -> None:
    text = HONEST[name] if name in HONEST else WRONG[name][0]
    assert isinstance(source.read(text), source.Kernel)


@interpreted
@pytest.mark.torch
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_kernel_passes(host: LabHost, name: str) -> None:
    found = run.judge(HONEST[name], host, "cpu", demos=DEMOS)
    assert found.ending is Ending.PASSED, (found.message, found.case)
    assert found.calls == 14
    assert found.record is not None
    assert "memory" not in found.record["observed"]


@interpreted
@pytest.mark.torch
@pytest.mark.parametrize("name", WRONG)
def test_a_cheat_fails_for_the_reason_that_it_should(host: LabHost, name: str) -> None:
    text, keys = WRONG[name]
    found = run.judge(text, host, "cpu", demos=DEMOS, rng=random.Random(7))
    assert found.ending is Ending.FAILED, (found.message, found.case)
    assert found.message.key.removeprefix("kernel.") in keys, (found.message, found.case)
    assert all(say(lang, found.message) for lang in ("zh", "en"))
