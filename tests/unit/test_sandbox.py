"""The sandbox with real processes: endings, threads, cancelling, faults of its own, and what it leaves behind."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tutor.language import LANGS
from tutor.model import Message, Raised
from tutor.sandbox import Cancelled, Returned, Sandbox, SandboxUnavailable, Template, client, policy
from tutor.strings import say

ROOT = Path(__file__).parents[2]
SOURCE = "X = 1\n\n\ndef key(a):\n    b = [a]\n    return ______\n\n\nassert key(1) == 'the expected value'\n"
TEMPLATE = Template.of(SOURCE, "______", "key")
ENDLESS = "[0 for _ in iter(int, 1) if 0]"

#: How long a state is waited for before the test fails, seconds.
PATIENCE = 20


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


def wait_until(state: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not state():
        assert time.monotonic() < until, "the state never came"
        time.sleep(0.005)


def children(pid: int) -> list[int]:
    with contextlib.suppress(FileNotFoundError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def alive(pid: int) -> bool:
    """Running; a dead one that its parent did not yet ask for does not count."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def zygote(sandbox: Sandbox) -> int:
    """The warm process: the one that was started, or its child that is process 1 of the new namespaces."""
    layers = {layer.name: layer for layer in sandbox.layers()}
    assert sandbox._process is not None
    return children(sandbox._process.pid)[0] if layers["namespaces"].active else sandbox._process.pid


def family(pid: int) -> set[int]:
    """A process and all that descend from it."""
    return {pid}.union(*(family(child) for child in children(pid)))


# --- results and endings ----------------------------------------------------------------------------------------------


def test_only_the_function_enters_the_sandbox() -> None:
    assert TEMPLATE.source == "def key(a):\n    b = [a]\n    return ______\n"


@pytest.mark.parametrize("source", ["", "def other(a):\n    return ______\n", "def key(a):\n    return 1\n"])
def test_a_template_without_its_blank_is_the_callers_mistake(source: str) -> None:
    with pytest.raises(ValueError, match="key"):
        Template.of(source, "______", "key")


def test_calls_come_back_in_their_order(sandbox: Sandbox) -> None:
    outcome = sandbox.run(TEMPLATE, "(a, 1 / a)", [(2.0,), (0,), ({1, 2},)])
    assert outcome.ending == "ok"
    assert outcome.results[0] == Returned((2.0, 0.5))
    assert outcome.results[1] == Raised("ZeroDivisionError", "division by zero")
    assert isinstance(outcome.results[2], Raised)
    assert outcome.seconds > outcome.cpu_seconds > 0
    assert outcome.rss_kb > 1000


def test_arguments_are_fresh_for_each_call(sandbox: Sandbox) -> None:
    outcome = sandbox.run(TEMPLATE, "a.append(1) or a", [([],), ([],)])
    assert outcome.results == (Returned([1]), Returned([1]))


def test_what_is_printed_is_kept_apart(sandbox: Sandbox) -> None:
    outcome = sandbox.run(TEMPLATE, "print('\\x1b', a) or __import__('os').write(2, b'\\xff err\\n') or 1", [(7,)])
    assert outcome.results == (Returned(1),) or outcome.ending == "ok"
    assert outcome.output == "\x1b 7\n\\xff err\n"


def test_much_that_is_printed_is_cut_and_spoils_nothing(sandbox: Sandbox) -> None:
    outcome = sandbox.run(TEMPLATE, "print('x' * 200_000) or a", [(7,)] * 4)
    assert outcome.results == (Returned(7),) * 4
    assert outcome.output == "x" * policy.OUTPUT_KEPT


@pytest.mark.parametrize(
    ("text", "ending", "key"),
    [
        ("(", "refused", "refused_syntax"),
        ("a; b", "refused", "refused_more"),
        ("", "refused", "refused_empty"),
        ("\0", "refused", "refused_nul"),
        ("a" * (policy.EXPRESSION_MAX + 1), "refused", "refused_long"),
        (ENDLESS, "limit", "limit_time"),
        ("b'x' * (3 << 30)", "limit", "limit_memory"),
        ("__import__('os')._exit(0)", "failed", "ended_early"),
        ("__import__('ctypes').string_at(0)", "failed", "died_signal"),
        ("print('x' * (9 << 20))", "failed", "flood_output"),
        ("['x' * 4000] * 20", "failed", "flood_result"),
        ("__import__('ctypes').CDLL(None).syscall(0x40000000)", "failed", "died_call"),
        ("__import__('os').write(3, b'x\\n')", "failed", "unusable"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_every_ending_has_a_sentence_of_its_own(sandbox: Sandbox, text: str, ending: str, key: str) -> None:
    outcome = sandbox.run(TEMPLATE, text, [(1,)] * 3)
    assert outcome.ending == ending
    assert outcome.message is not None
    assert outcome.message.key == f"check.{key}"
    assert all(say(lang, outcome.message) for lang in LANGS)
    assert sandbox.run(TEMPLATE, "a", [(1,)]).results == (Returned(1),)


def test_the_second_check_sees_nothing_of_the_first(sandbox: Sandbox) -> None:
    sandbox.run(TEMPLATE, "__import__('builtins').__dict__.setdefault('left', 1)", [(1,)])
    assert isinstance(sandbox.run(TEMPLATE, "left", [(1,)]).results[0], Raised)


LEFT = """
import sys
frame = sys._getframe()
while not hasattr(frame.f_locals.get('self'), '_surplus'):
    frame = frame.f_back
warm = frame.f_locals['self']
left = [name for name in ('_result', '_output', '_surplus') if any(getattr(warm, name)._bytes)]
left += ['_job'] * any(warm._job._bytes[warm._job.length:])
found = len(warm._job._bytes) > warm._job.length > 0
"""


def test_no_text_of_the_last_learner_is_left_in_memory(sandbox: Sandbox) -> None:
    """The warm process wipes what passed through it: its memory is the next child's."""
    long = f"print('my own secret' * 9999) or ['my own secret' * 200] * 9  {'#' * 2000}"
    assert sandbox.run(TEMPLATE, long, [(1,)]).ending == "ok"
    outcome = sandbox.run(TEMPLATE, f"exec({LEFT!r}, s := {{}}) or (s['left'], s['found'])", [(1,)])
    assert outcome.results == (Returned(([], True)),)


# --- several threads, several sandboxes -------------------------------------------------------------------------------


def test_threads_may_share_one_sandbox(sandbox: Sandbox) -> None:
    got: dict[int, object] = {}

    def check(number: int) -> None:
        got[number] = sandbox.run(TEMPLATE, f"a + {number}", [(1,)]).results

    threads = [threading.Thread(target=check, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == {number: (Returned(1 + number),) for number in range(12)}


def test_it_outlives_the_thread_that_started_it() -> None:
    with Sandbox() as sandbox:
        starter = threading.Thread(target=sandbox.start)
        starter.start()
        starter.join()
        pid = zygote(sandbox)
        assert sandbox.run(TEMPLATE, "a", [(1,)]).ending == "ok"
        assert zygote(sandbox) == pid


def test_close_does_not_wait_for_a_run() -> None:
    sandbox = Sandbox()
    caught: list[type] = []

    def check() -> None:
        try:
            sandbox.run(TEMPLATE, "__import__('time').sleep(60)", [(1,)])
        except Cancelled as cancelled:
            caught.append(type(cancelled))

    pid = zygote(sandbox)
    thread = threading.Thread(target=check)
    thread.start()
    wait_until(lambda: children(pid))
    sandbox.close()
    thread.join()
    assert caught == [Cancelled]
    assert not alive(pid)


def test_cancel_stops_a_run_and_the_next_one_is_whole() -> None:
    with Sandbox() as sandbox:
        caught: list[object] = []

        def check() -> None:
            try:
                caught.append(sandbox.run(TEMPLATE, "__import__('time').sleep(60)", [(1,)]))
            except Cancelled as cancelled:
                caught.append(type(cancelled))

        pid = zygote(sandbox)
        thread = threading.Thread(target=check)
        thread.start()
        wait_until(lambda: children(pid))
        sandbox.cancel()
        thread.join()
        assert caught == [Cancelled]
        assert children(pid) == []
        sandbox.cancel()  # nothing runs: nothing happens
        assert sandbox.run(TEMPLATE, "a", [(1,)]).results == (Returned(1),)
        assert zygote(sandbox) == pid


# --- its own faults ---------------------------------------------------------------------------------------------------


def test_a_warm_process_that_died_between_checks_is_replaced() -> None:
    with Sandbox() as sandbox:
        pid = zygote(sandbox)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not alive(pid))
        outcome = sandbox.run(TEMPLATE, "a", [(1,)])
        assert outcome.results == (Returned(1),)
        assert "had ended" in outcome.log
        assert sandbox.run(TEMPLATE, "a", [(1,)]).log == ""


def test_a_warm_process_that_dies_during_a_check_is_the_tools_fault() -> None:
    with Sandbox() as sandbox:
        pid = zygote(sandbox)
        outcomes: list[object] = []
        thread = threading.Thread(
            target=lambda: outcomes.append(sandbox.run(TEMPLATE, "__import__('time').sleep(60)", [(1,)]))
        )
        thread.start()
        wait_until(lambda: children(pid))
        (child,) = children(pid)
        os.kill(pid, signal.SIGKILL)
        thread.join()
        (outcome,) = outcomes
        assert isinstance(outcome, client.Outcome)
        assert outcome.ending == "broke"
        assert outcome.message == Message("check.broke_sandbox")
        assert "exit -9" in outcome.log
        wait_until(lambda: not alive(child))
        assert sandbox.run(TEMPLATE, "a", [(1,)]).ending == "ok"


def test_a_warm_process_that_hangs_is_the_tools_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "GRACE_S", 0.2)
    monkeypatch.setattr(policy, "WALL_S", 0.2)
    with Sandbox() as sandbox:
        pid = zygote(sandbox)
        os.kill(pid, signal.SIGSTOP)
        outcome = sandbox.run(TEMPLATE, "a", [(1,)])
        assert outcome.ending == "broke"
        wait_until(lambda: not alive(pid))
        monkeypatch.undo()
        assert sandbox.run(TEMPLATE, "a", [(1,)]).ending == "ok"


@pytest.mark.parametrize(
    "script", ["raise SystemExit('no luck')", "print('hello')", "import os; os.write(int(os.sys.argv[1]), b'x' * 64)"]
)
def test_no_warm_process_means_no_sandbox(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "boot.py").write_text(script)
    monkeypatch.setattr(client, "_BOOT", tmp_path / "boot.py")
    with Sandbox() as sandbox, pytest.raises(SandboxUnavailable) as caught:
        sandbox.run(TEMPLATE, "a", [(1,)])
    assert caught.value.message == Message("check.no_sandbox_start")
    assert "exit" in caught.value.log


def test_a_missing_python_means_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with Sandbox() as sandbox, pytest.raises(SandboxUnavailable, match="/no/such/python"):
        sandbox.start()


# --- what is left behind ----------------------------------------------------------------------------------------------


def test_a_hundred_checks_leave_nothing() -> None:
    """The warm process has few descriptors to waste here; attacks of some kinds are among the checks."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = {path.name for path in Path("/proc/self/fd").iterdir()}
    with Sandbox() as sandbox:
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(before) + 32, hard))
        try:
            pid = zygote(sandbox)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        texts = (
            "a",
            "(",
            "print(a)",
            "__import__('os')._exit(0)",
            "__import__('os').fork()",
            "b'x' * (3 << 30)",
            "1 / 0",
        )
        endings = [sandbox.run(TEMPLATE, texts[number % len(texts)], [(1,)]).ending for number in range(105)]
        assert "broke" not in endings
        assert zygote(sandbox) == pid
        assert children(pid) == []
    assert not alive(pid)
    assert {path.name for path in Path("/proc/self/fd").iterdir()} == before


PARENT = """
import sys, threading
sys.path.insert(0, sys.argv[1])
from tutor.sandbox import Sandbox, Template
sandbox = Sandbox()
template = Template.of("def f(a):\\n    return ______\\n", "______", "f")
walls = [layer.name for layer in sandbox.layers() if layer.active]
print(sandbox._process.pid, *walls, sep=",", flush=True)
threading.Thread(target=sandbox.run, args=(template, sys.argv[2], [(1,)])).start()
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_no_process_outlives_the_tutor(ending: signal.Signals) -> None:
    command = [sys.executable, "-B", "-c", PARENT, ROOT, "__import__('time').sleep(60)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        started, walls = parent.stdout.readline().split(",", 1)
        wait_until(lambda: len(family(int(started))) == 2 + ("namespaces" in walls))
        born = family(int(started))
        assert all(map(alive, born))
        parent.send_signal(ending)
        parent.wait(PATIENCE)
    wait_until(lambda: not any(map(alive, born)))


def test_close_ends_a_warm_process_and_may_be_called_again() -> None:
    sandbox = Sandbox()
    sandbox.close()
    pid = zygote(sandbox)
    sandbox.close()
    sandbox.close()
    assert not alive(pid)
    assert sandbox.run(TEMPLATE, "a", [(1,)]).ending == "ok"  # it starts again when it is needed again
    sandbox.close()
