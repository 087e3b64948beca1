"""A host of the lab with a torch of five lines in place of the real one, and what becomes of its processes."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tutor.lab.host import LabHost, LabSettings
from tutor.language import Bilingual
from tutor.model import Ask, Demo

ROOT = Path(__file__).resolve().parents[2]
BOTH = Bilingual("甲", "A")
#: Seconds after which a state that must come is taken as never coming.
PATIENCE_S = 20.0

TORCH = """\
import os, time
while os.path.exists({hold!r}):
    time.sleep(0.005)
__version__ = "2.99.0"
get_num_threads = lambda: 1
set_num_threads = lambda count: None
class Tensor: pass
class cuda:
    is_available = staticmethod(lambda: False)
"""


@pytest.fixture
def hold(tmp_path: Path) -> Path:
    """While this file exists the import of torch does not end."""
    return tmp_path / "hold"


@pytest.fixture(autouse=True)
def fake_torch(tmp_path: Path, hold: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "site" / "torch"
    (package / "_dynamo").mkdir(parents=True)
    (package / "_dynamo" / "__init__.py").write_text("")
    (package / "__init__.py").write_text(TORCH.format(hold=str(hold)))
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    return package


@pytest.fixture
def make_host() -> Iterator[Callable[..., LabHost]]:
    hosts: list[LabHost] = []

    def make(**settings: Any) -> LabHost:
        hosts.append(LabHost(LabSettings(**{"python": sys.executable, **settings})))
        return hosts[-1]

    yield make
    for host in hosts:
        host.close()


@pytest.fixture
def host(make_host: Callable[..., LabHost]) -> LabHost:
    return make_host()


@pytest.fixture
def demo(tmp_path: Path) -> Callable[..., Demo]:
    """A demo whose `run(lab)` has this body."""

    def make(body: str, **more: Any) -> Demo:
        script = tmp_path / f"demo_{len(list(tmp_path.glob('demo_*.py')))}.py"
        script.write_text(
            "import os, signal, subprocess, sys, threading, time\ndef run(lab):\n" + textwrap.indent(body, "    ")
        )
        fields: dict[str, Any] = {
            "name": "try-it",
            "title": BOTH,
            "shows": BOTH,
            "question": BOTH,
            "asks": (Ask("call-1", "x", ()),),
            "claims": ("a-claim",),
            "verdicts": {"a-claim": {"control": ["control.n == 0"], "holds": ["default.n == 1"]}},
            "script": script,
            "recorded": (),
            "usual_s": (0.1, 0.2),
            "needs": ("torch",),
            "why": {"because": BOTH},
        }
        return Demo(**{**fields, **more})

    return make


GOOD = """\
lab.observe("control", {"n": 0})
lab.observe("default", {"n": 1}, ask="call-1", answer=1, call="f32[2]", said=["0/0: no"], why="because")
"""

#: Says its own pid, its parent's, and those of two processes that it starts: one in its group, one that left it.
PIDS = """\
near = subprocess.Popen(["sleep", "600"])
far = subprocess.Popen(["sleep", "600"], start_new_session=True)
lab.observe("pids", {"child": os.getpid(), "parent": os.getppid(), "near": near.pid, "far": far.pid})
"""


def wait_for(state: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + PATIENCE_S
    while not state():
        assert time.monotonic() < until, f"never: {what}"
        time.sleep(0.002)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def all_gone(pids: list[int]) -> None:
    wait_for(lambda: not any(map(alive, pids)), f"the end of {pids}")


def until_pids(events: Iterator[dict[str, Any]]) -> dict[str, int]:
    for event in events:
        if event["event"] == "observation" and event["series"] == "pids":
            values: dict[str, int] = event["values"]
            return values
    raise AssertionError("the run ended before it said its pids")


def ended(events: list[dict[str, Any]]) -> tuple[str, str]:
    """Outcome and key of the message; every stream has one `ended`, and it is the last."""
    assert [event["event"] for event in events].count("ended") == 1
    assert events[-1]["event"] == "ended"
    return events[-1]["outcome"], events[-1]["message"]["key"]


def printed(events: list[dict[str, Any]]) -> str:
    return "".join(event["text"] for event in events if event["event"] == "output" and event["stream"] == "demo")
