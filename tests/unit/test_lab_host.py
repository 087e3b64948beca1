"""The host, its parent and its children, with a torch of five lines in place of the real one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tutor.lab import interpreter, link, protocol
from tutor.lab.host import LabBusy, LabHost, LabSettings
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


# --- a run that goes well ---------------------------------------------------------------------------------------------


def test_a_run_says_all_in_order_and_is_judged_here(host: LabHost, demo: Callable[..., Demo]) -> None:
    events = list(host.start(demo(GOOD + "print('done')"), predicted={"call-1": 0}))
    kinds = [event["event"] for event in events]
    assert kinds[0] == "started"
    assert kinds[-2:] == ["result", "ended"]
    assert "progress" in kinds
    assert ended(events) == ("ok", "lab.ok")
    assert [event["at"] for event in events] == sorted(event["at"] for event in events)
    assert all(event["schema"] == 1 for event in events)
    observation = [event for event in events if event["event"] == "observation"][1]
    assert (observation["predicted"], observation["agrees"]) == (0, False)
    assert observation["plain"] == {"zh": "甲", "en": "A"}
    result = events[-2]
    assert result["claims"] == {"a-claim": "holds"}
    assert result["source"] == "measured"
    assert result["environment"]["torch"] == "2.99.0"
    assert (result["predicted"], result["answers"], result["agreed"]) == ({"call-1": 0}, {"call-1": 1}, 0)
    assert printed(events) == "done\n"


def test_an_observation_is_seen_while_the_demo_goes_on(
    host: LabHost, demo: Callable[..., Demo], tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    wait = f"\nwhile not os.path.exists({str(seen)!r}):\n    time.sleep(0.002)\n"
    run = host.start(demo(GOOD + wait + "print('went on')"))
    for event in run:
        if event["event"] == "observation":
            seen.touch()
    assert seen.exists()


def test_the_warm_parent_is_used_again(host: LabHost, demo: Callable[..., Demo]) -> None:
    parents = set()
    for _ in range(3):
        run = host.start(demo(PIDS))
        parents.add(until_pids(run)["parent"])
        run.close()
    assert len(parents) == 1
    host.close()
    assert host.state == "cold"
    run = host.start(demo(PIDS))
    assert until_pids(run)["parent"] not in parents
    run.close()


def test_states_from_cold_to_warm(host: LabHost, hold: Path) -> None:
    hold.touch()
    states = [host.state]
    host.warm()
    host.warm()
    states.append(host.state)
    hold.unlink()
    wait_for(lambda: host.state == "warm", "warm")
    host.close()
    states.append(host.state)
    assert states == ["cold", "warming", "cold"]
    assert host.interpreter is None


def test_a_warm_run_says_at_once_what_it_runs_on(host: LabHost, demo: Callable[..., Demo]) -> None:
    host.warm()
    wait_for(lambda: host.state == "warm", "warm")
    first, *rest = host.start(demo(GOOD))
    assert (first["event"], first["interpreter"]) == ("started", sys.executable)
    assert first["torch"] is not None
    assert rest[0]["event"] == "progress"
    assert rest[0]["phase"] == "running"


def test_a_cold_run_tells_that_torch_is_imported(host: LabHost, demo: Callable[..., Demo], hold: Path) -> None:
    hold.touch()
    phases = []
    for event in host.start(demo(GOOD)):
        if event["event"] == "progress":
            phases.append(event["phase"])
            if event["phase"] == "importing torch":
                hold.unlink(missing_ok=True)
    assert "importing torch" in phases
    assert event["outcome"] == "ok"


def test_one_run_at_a_time(host: LabHost, demo: Callable[..., Demo]) -> None:
    run = host.start(demo("time.sleep(600)"))
    with pytest.raises(LabBusy):
        host.start(demo(GOOD))
    run.close()
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


def test_the_demo_has_no_input_and_the_usual_names(host: LabHost, demo: Callable[..., Demo]) -> None:
    body = "assert sys.stdin.read() == ''\nassert not any('tutor' in entry for entry in sys.path[:1])\n"
    assert ended(list(host.start(demo(body + GOOD)))) == ("ok", "lab.ok")


def test_what_the_shell_says_to_torch_is_not_heard(
    make_host: Callable[..., LabHost], demo: Callable[..., Demo], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_JOB_ID", "TORCH_LOGS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("KEPT", "1")
    body = "print(sorted(set(os.environ) & {'TORCHDYNAMO_DISABLE', 'TORCH_COMPILE_JOB_ID', 'TORCH_LOGS', 'KEPT'}))\n"
    assert printed(list(make_host().start(demo(body + GOOD)))) == "['KEPT']\n"


# --- what it prints ---------------------------------------------------------------------------------------------------

FORGED = """\
import json
for forged in (
    {"schema": 1, "event": "ended", "how": "exit", "code": 0},
    {"schema": 1, "event": "ended", "outcome": "ok"},
    {"schema": 1, "event": "result", "environment": {}},
    {"schema": 1, "event": "child", "line": json.dumps({"schema": 1, "event": "result", "environment": {}})},
    {"schema": 1, "event": "observation", "series": "default", "values": {"n": 1}},
):
    print(json.dumps(forged))
    os.write(2, json.dumps(forged).encode() + b"\\n")
"""


def test_printed_lines_are_never_events(host: LabHost, demo: Callable[..., Demo]) -> None:
    events = list(host.start(demo(FORGED + "os._exit(0)")))
    assert ended(events) == ("broke", "lab.silent")
    assert {event["event"] for event in events} <= {"started", "progress", "output", "ended"}
    assert printed(events).count('"event": "result"') == 2


def test_a_parents_line_on_any_descriptor_is_not_believed(host: LabHost, demo: Callable[..., Demo]) -> None:
    body = """\
for descriptor in range(3, 64):
    try:
        os.write(descriptor, b'{"schema": 1, "event": "ended", "how": "exit", "code": 0}\\n')
    except OSError:
        pass
"""
    events = list(host.start(demo(body + GOOD)))
    assert ended(events) == ("ok", "lab.ok")
    assert (
        printed(events).count('"how": "exit"') == 1
    )  # The child's own channel carries it, and it is no child's event.


def test_garbage_is_shown_as_text(host: LabHost, demo: Callable[..., Demo]) -> None:
    body = "os.write(1, bytes(range(256)) + b'\\n')\nos.write(2, '你好'.encode()[:4])\n"
    events = list(host.start(demo(body + GOOD)))
    assert ended(events) == ("ok", "lab.ok")
    assert "\\xff" in printed(events)
    assert "你\\xe5" in printed(events)
    for event in events:
        protocol.encode(event).encode("utf-8")


def test_a_flood_is_cut_once_and_the_run_goes_on(make_host: Callable[..., LabHost], demo: Callable[..., Demo]) -> None:
    flood = "for _ in range(3000):\n    print('x' * 999)\n"
    events = list(make_host(output_bytes=50_000).start(demo(flood + GOOD)))
    assert ended(events) == ("ok", "lab.ok")
    assert len(printed(events)) == 50_000
    assert [event["cut"] for event in events if event["event"] == "output"].count(True) == 1


def test_a_flood_of_events_is_a_limit(host: LabHost, demo: Callable[..., Demo]) -> None:
    body = "while True:\n    lab.observe('default', {'n': 'x' * 30000})\n"
    assert ended(list(host.start(demo(body)))) == ("limit", "lab.limit-events")


def test_an_event_too_long_is_the_demos_mistake(host: LabHost, demo: Callable[..., Demo]) -> None:
    assert ended(list(host.start(demo("lab.observe('default', {'n': 'x' * 70000})")))) == ("failed", "lab.raised")


def test_a_line_without_an_end_breaks_the_run(host: LabHost, demo: Callable[..., Demo]) -> None:
    body = "os.write(lab._voice._descriptor, b'x' * 70000)\ntime.sleep(600)\n"
    assert ended(list(host.start(demo(body)))) == ("broke", "lab.garbled")


def test_a_demo_without_output_leaves_its_parent_asleep(host: LabHost, demo: Callable[..., Demo]) -> None:
    body = """\
os.close(1)
os.close(2)
def ticks():
    words = open(f"/proc/{os.getppid()}/stat").read().rpartition(")")[2].split()
    return int(words[11]) + int(words[12])
time.sleep(0.05)
before = ticks()
time.sleep(0.4)
lab.observe("parent", {"ticks": ticks() - before})
sys.stdout = sys.stderr = open(os.devnull, "w")
"""
    events = list(host.start(demo(GOOD + body)))
    assert ended(events) == ("ok", "lab.ok")
    (values,) = (event["values"] for event in events if event.get("series") == "parent")
    assert values["ticks"] < 10, "it looked again and again at a pipe that had ended"


# --- how it may end ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "outcome", "key"),
    [
        ("os._exit(0)", "broke", "lab.silent"),
        ("os._exit(3)", "broke", "lab.silent"),
        (GOOD + "os.kill(os.getpid(), signal.SIGSEGV)", "broke", "lab.died"),
        ("os.abort()", "broke", "lab.died"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "broke", "lab.died"),
        ("raise ValueError('no good')", "failed", "lab.raised"),
        ("sys.exit(0)", "failed", "lab.raised"),
        ("raise KeyboardInterrupt", "failed", "lab.raised"),
        ("raise MemoryError", "limit", "lab.raised"),
        ("lab.observe('default', {'n': float('nan')})", "failed", "lab.raised"),
        ("import nowhere", "failed", "lab.raised"),
        ("lab.device = 'gone'\n1 / 0", "failed", "lab.raised"),
    ],
)
def test_an_end_without_a_result_is_told_apart(
    host: LabHost, demo: Callable[..., Demo], body: str, outcome: str, key: str
) -> None:
    events = list(host.start(demo(body)))
    assert ended(events) == (outcome, key)
    assert "result" not in [event["event"] for event in events]
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")  # The parent has come to no harm.


def test_a_result_before_a_crash_does_not_count(host: LabHost, demo: Callable[..., Demo]) -> None:
    body = GOOD + "lab._voice.say('result', environment={})\nos.kill(os.getpid(), signal.SIGSEGV)\n"
    events = list(host.start(demo(body)))
    assert ended(events) == ("broke", "lab.died")
    assert "result" not in [event["event"] for event in events]


def test_a_syntax_error_in_a_demo_shows_its_traceback(host: LabHost, demo: Callable[..., Demo]) -> None:
    events = list(host.start(demo("return (")))
    assert ended(events) == ("failed", "lab.raised")
    assert "SyntaxError" in printed(events)


def test_time_runs_out_and_all_is_gone(make_host: Callable[..., LabHost], demo: Callable[..., Demo]) -> None:
    run = make_host(limit_s=0.5).start(demo(PIDS + "while True: pass"))
    pids = until_pids(run)
    assert ended(list(run)) == ("limit", "lab.limit-time")
    all_gone([pids["child"], pids["near"], pids["far"]])
    assert alive(pids["parent"])


def test_a_claim_whose_rules_cannot_be_read_breaks(host: LabHost, demo: Callable[..., Demo]) -> None:
    events = list(host.start(demo(GOOD, verdicts={"a-claim": {"holds": ["default.n == 1"]}})))
    assert ended(events) == ("broke", "lab.rules")


def test_a_gpu_that_is_not_there_is_unavailable(host: LabHost, demo: Callable[..., Demo]) -> None:
    events = list(host.start(demo(GOOD), device="cuda"))
    assert ended(events) == ("unavailable", "lab.needs-cuda")
    assert events[-1]["shows"] == {"zh": "甲", "en": "A"}


def test_the_parent_is_killed_from_outside(host: LabHost, demo: Callable[..., Demo]) -> None:
    run = host.start(demo(PIDS + "time.sleep(600)"))
    pids = until_pids(run)
    os.kill(pids["parent"], signal.SIGKILL)
    assert ended(list(run)) == ("broke", "lab.parent-gone")
    all_gone([pids["child"], pids["parent"], pids["near"]])
    os.kill(pids["far"], signal.SIGKILL)  # Nobody is left who would know of it.
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


# --- cancel -----------------------------------------------------------------------------------------------------------

DEAF = "for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):\n    signal.signal(number, signal.SIG_IGN)\n"


@pytest.mark.parametrize("body", ["time.sleep(600)", "while True: pass", "os.kill(os.getpid(), signal.SIGSTOP)"])
def test_cancel_ends_the_whole_tree(host: LabHost, demo: Callable[..., Demo], body: str) -> None:
    run = host.start(demo(DEAF + PIDS + body))
    pids = until_pids(run)
    run.cancel()
    assert ended(list(run)) == ("cancelled", "lab.cancelled")
    assert not any(map(alive, [pids["child"], pids["near"], pids["far"]]))
    assert alive(pids["parent"])
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


@pytest.mark.parametrize("after", range(5))
def test_cancel_after_any_number_of_events(host: LabHost, demo: Callable[..., Demo], after: int) -> None:
    run = host.start(demo(GOOD + "time.sleep(600)"))
    events = [next(run) for _ in range(min(after, 4))]
    run.cancel()
    run.cancel()
    events += run
    assert ended(events) == ("cancelled", "lab.cancelled")
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


def test_cancel_while_torch_is_imported_keeps_the_import(host: LabHost, demo: Callable[..., Demo], hold: Path) -> None:
    hold.touch()
    run = host.start(demo(GOOD))
    events = [next(run)]
    run.cancel()
    events += run
    assert ended(events) == ("cancelled", "lab.cancelled")
    assert host.state == "warming"
    hold.unlink()
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


def test_a_cancel_that_comes_too_late_does_nothing(host: LabHost, demo: Callable[..., Demo]) -> None:
    run = host.start(demo(GOOD))
    assert ended(list(run)) == ("ok", "lab.ok")
    run.cancel()
    assert list(run) == []
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


def test_a_parent_that_does_not_obey_is_ended(
    host: LabHost, demo: Callable[..., Demo], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tutor.lab.run.OBEY_S", 0.1)
    run = host.start(demo(PIDS + "time.sleep(600)"))
    pids = until_pids(run)
    os.kill(pids["parent"], signal.SIGSTOP)
    run.cancel()
    assert ended(list(run)) == ("cancelled", "lab.cancelled")
    all_gone([pids["parent"], pids["child"], pids["near"]])
    os.kill(pids["far"], signal.SIGKILL)  # Only the parent knew of it.
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


def test_closing_the_host_ends_a_run_and_everything(host: LabHost, demo: Callable[..., Demo]) -> None:
    run = host.start(demo(PIDS + "time.sleep(600)"))
    pids = until_pids(run)
    host.close()
    assert ended(list(run)) == ("cancelled", "lab.cancelled")
    all_gone(list(pids.values()))


def test_closing_the_host_while_torch_is_imported(host: LabHost, hold: Path) -> None:
    hold.touch()
    host.warm()
    wait_for(lambda: host._link is not None and host._link.stage == "importing", "importing")
    assert host._link is not None
    assert host._link._process is not None
    pid = host._link._process.pid
    host.close()
    all_gone([pid])


def test_a_run_that_nobody_read_can_be_closed(host: LabHost, demo: Callable[..., Demo]) -> None:
    host.start(demo(PIDS + "time.sleep(600)")).close()
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


# --- the lifeline -----------------------------------------------------------------------------------------------------

TUTOR = """\
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tutor.lab.host import LabHost, LabSettings
from tutor.model import Bilingual, Demo
both = Bilingual("", "")
demo = Demo("d", both, both, both, (), (), {{}}, Path({script!r}), (), (0.0, 1.0), ())
host = LabHost(LabSettings(python=sys.executable))
host.warm()
for event in host.start(demo):
    print(event, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
def test_no_process_outlives_the_tutor(demo: Callable[..., Demo], number: signal.Signals) -> None:
    script = demo(DEAF + PIDS + "while True: pass").script
    with subprocess.Popen(
        [sys.executable, "-c", TUTOR.format(root=str(ROOT), script=str(script))], stdout=subprocess.PIPE, text=True
    ) as tutor:
        assert tutor.stdout is not None
        pids = until_pids(eval(line) for line in tutor.stdout)  # Our own dicts, printed three lines above.
        assert all(map(alive, pids.values()))
        tutor.send_signal(number)
        all_gone(list(pids.values()))


def test_no_process_outlives_a_tutor_that_still_imports(demo: Callable[..., Demo], hold: Path) -> None:
    hold.touch()
    script = demo(GOOD).script
    with subprocess.Popen(
        [sys.executable, "-c", TUTOR.format(root=str(ROOT), script=str(script)).replace("host.warm()", SHOW_PARENT)],
        stdout=subprocess.PIPE,
        text=True,
    ) as tutor:
        assert tutor.stdout is not None
        pid = int(tutor.stdout.readline())
        assert alive(pid)
        tutor.kill()
        all_gone([pid])


SHOW_PARENT = """\
import time
host.warm()
while host._link.stage != "importing":
    time.sleep(0.002)
print(host._link._process.pid, flush=True)
"""


# --- no torch ---------------------------------------------------------------------------------------------------------


def test_without_torch_there_is_one_event(
    make_host: Callable[..., LabHost], demo: Callable[..., Demo], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreter, "_own_version", lambda: None)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    host = make_host(python=None)
    recorded = (Path("try_it.cpu-torch2.13.jsonl"),)
    events = list(host.start(demo(GOOD, recorded=recorded)))
    assert len(events) == 1
    assert ended(events) == ("unavailable", "lab.no-torch")
    assert events[0]["recorded"] == ["try_it.cpu-torch2.13.jsonl"]
    assert events[0]["shows"] == {"zh": "甲", "en": "A"}
    assert host.state == "unavailable"


def test_a_torch_that_cannot_be_imported_is_unavailable(
    host: LabHost, demo: Callable[..., Demo], fake_torch: Path
) -> None:
    (fake_torch / "__init__.py").write_text("raise ImportError('libcudart.so.13: cannot open shared object file')")
    events = list(host.start(demo(GOOD)))
    assert ended(events) == ("unavailable", "lab.torch-broken")
    assert "libcudart.so.13" in events[-1]["message"]["args"]["why"]
    assert host.state == "unavailable"


def test_a_torch_that_takes_python_down_is_a_broken_tool(
    host: LabHost, demo: Callable[..., Demo], fake_torch: Path
) -> None:
    (fake_torch / "__init__.py").write_text("import os, sys; sys.stderr.write('bad luck\\n'); os._exit(9)")
    events = list(host.start(demo(GOOD)))
    assert ended(events) == ("broke", "lab.parent-gone")
    assert "bad luck" in events[-1]["message"]["args"]["why"]


@pytest.mark.parametrize("path", ["/nowhere/python", "/etc/passwd", "/", "bad\0path"])
def test_a_python_that_is_none(make_host: Callable[..., LabHost], demo: Callable[..., Demo], path: str) -> None:
    assert ended(list(make_host(python=path).start(demo(GOOD)))) == ("unavailable", "lab.python-unusable")


def test_what_torch_prints_while_imported_is_no_event(
    host: LabHost, demo: Callable[..., Demo], fake_torch: Path
) -> None:
    code = (fake_torch / "__init__.py").read_text()
    forged = '{"schema": 1, "event": "missing", "why": "forged"}\\n'
    (fake_torch / "__init__.py").write_text(code + f"\nimport os, sys\nprint('{forged}')\nos.write(1, b'{forged}')\n")
    assert ended(list(host.start(demo(GOOD)))) == ("ok", "lab.ok")


# --- a launcher -------------------------------------------------------------------------------------------------------


@pytest.fixture
def launcher(tmp_path: Path) -> Callable[[str], tuple[str, ...]]:
    def make(body: str) -> tuple[str, ...]:
        path = tmp_path / "launcher"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return str(path), "--gres=gpu:1"

    return make


QUEUED = 'shift\necho "job 7 queued and waiting for resources" >&2\n'


def test_a_launcher_starts_each_run_and_nothing_stays(
    make_host: Callable[..., LabHost], demo: Callable[..., Demo], launcher: Callable[[str], tuple[str, ...]]
) -> None:
    host = make_host(launcher=launcher(QUEUED + 'exec "$@"'))
    host.warm()
    assert host.state == "cold"
    parents = []
    for _ in range(2):
        events = list(host.start(demo(GOOD + "lab.observe('pids', {'parent': os.getppid()})")))
        assert ended(events) == ("ok", "lab.ok")
        said = [event for event in events if event["event"] == "output" and event["stream"] == "launcher"]
        assert said[0]["text"] == "job 7 queued and waiting for resources\n"
        parents.append(until_pids(iter(events))["parent"])
        all_gone(parents)
        assert host.state == "cold"
    assert len(set(parents)) == 2


def test_a_launcher_that_waits_gets_sigterm_at_once(
    make_host: Callable[..., LabHost], demo: Callable[..., Demo], launcher: Callable[[str], tuple[str, ...]]
) -> None:
    host = make_host(launcher=launcher(QUEUED + "echo $$ >&2\nexec sleep 600"))
    run = host.start(demo(GOOD))
    events = []
    for event in run:
        events.append(event)
        if event["event"] == "output" and event["text"].strip().isdigit():
            run.cancel()
    pid = next(int(e["text"]) for e in events if e["event"] == "output" and e["text"].strip().isdigit())
    assert ended(events) == ("cancelled", "lab.cancelled")
    assert events[-1]["at"] < link.GRACE_S["launcher"][0]
    all_gone([pid])


def test_a_launchers_group_is_never_killed(
    make_host: Callable[..., LabHost],
    demo: Callable[..., Demo],
    launcher: Callable[[str], tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A deaf launcher is killed by its pid; the helper in its group, which ends the other side, lives."""
    monkeypatch.setitem(link.GRACE_S, "launcher", (0.1, 0.1))
    deaf = "trap '' TERM\nsleep 600 >/dev/null 2>&1 &\necho $! >&2\nwhile :; do sleep 0.05; done"
    run = make_host(launcher=launcher(deaf)).start(demo(GOOD))
    helper = 0
    for event in run:
        if event["event"] == "output" and event["text"].strip().isdigit():
            helper = int(event["text"])
            run.cancel()
    assert event["outcome"] == "cancelled"
    assert alive(helper)
    os.kill(helper, signal.SIGKILL)


def test_a_launcher_that_refuses_says_why(
    make_host: Callable[..., LabHost], demo: Callable[..., Demo], launcher: Callable[[str], tuple[str, ...]]
) -> None:
    events = list(make_host(launcher=launcher("echo 'invalid partition' >&2\nexit 1")).start(demo(GOOD)))
    assert ended(events) == ("broke", "lab.parent-gone")
    assert events[-1]["message"]["args"]["why"] == "invalid partition"


def test_a_launcher_that_ends_with_0_has_not_succeeded(
    make_host: Callable[..., LabHost], demo: Callable[..., Demo], launcher: Callable[[str], tuple[str, ...]]
) -> None:
    events = list(make_host(launcher=launcher("exit 0")).start(demo(GOOD)))
    assert ended(events) == ("broke", "lab.parent-gone")


def test_a_launcher_that_is_not_there(make_host: Callable[..., LabHost], demo: Callable[..., Demo]) -> None:
    events = list(make_host(launcher=("no-such-launcher",)).start(demo(GOOD)))
    assert ended(events) == ("unavailable", "lab.cannot-start")


def test_a_run_says_which_of_its_parts_goes_on(host: LabHost, demo: Callable[..., Demo], hold: Path) -> None:
    """The hold file keeps the experiment from going on until the step was shown."""
    body = f"lab.step(2, 3, 'the second')\nwhile os.path.exists({str(hold)!r}): time.sleep(0.005)\n" + GOOD
    run = host.start(demo(f"open({str(hold)!r}, 'w').close()\n" + body))
    seen = []
    for event in run:
        if event["event"] == "progress" and event["message"]["key"] == "lab.step":
            seen.append(event["message"]["args"])
            hold.unlink(missing_ok=True)
    assert (seen[0]["number"], seen[0]["of"], seen[0]["text"]) == (2, 3, "the second")
    assert ended([event]) == ("ok", "lab.ok")


def test_a_process_that_dies_is_an_answer(host: LabHost, demo: Callable[..., Demo], tmp_path: Path) -> None:
    script = tmp_path / "way.py"
    script.write_text(
        "import json, os, sys\n"
        "print('about to', sys.argv[1], file=sys.stderr, flush=True)\n"
        "if sys.argv[1] != 'live': os.kill(os.getpid(), int(sys.argv[1])) if sys.argv[1] != '3' else sys.exit(3)\n"
        "print(json.dumps({'n': 1, 'cache': os.environ['TORCHINDUCTOR_CACHE_DIR']}))\n"
    )
    body = f"""
import pathlib
for way in ("11", "3", "live"):
    got = lab.outcome({str(script)!r}, way, caches=pathlib.Path({str(tmp_path)!r}))
    lab.observe("ended", {{"how": got.how, "n": (got.answer or {{}}).get("n")}}, said=got.last_words)
"""
    events = list(host.start(demo(body + GOOD)))
    said = [event for event in events if event["event"] == "observation" and event["series"] == "ended"]
    assert [event["values"]["how"] for event in said] == ["SIGSEGV", "exit status 3", "exit status 0"]
    assert [event["values"]["n"] for event in said] == [None, None, 1]
    assert [event["said"] for event in said] == [["about to 11"], ["about to 3"], ["about to live"]]
    assert ended(events) == ("ok", "lab.ok")


def test_a_demo_that_usually_takes_long_may_take_twice_that(
    make_host: Callable[..., LabHost], demo: Callable[..., Demo]
) -> None:
    run = make_host(limit_s=0.05).start(demo("time.sleep(0.3)\n" + GOOD, usual_s=(5.0, 20.0)))
    assert ended(list(run)) == ("ok", "lab.ok")


# --- a GPU, in place of which stand a torch and an nvidia-smi of a few lines ------------------------------------------

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
