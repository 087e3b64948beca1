"""`lab --trace` and `lab --script`: the events for programs, a screen's width for people, and nothing raw."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import east_asian_width

import pytest

from tests.unit.test_trace_job import compiled
from tests.unit.test_trace_records import BREAK, TRACES, record
from tutor.cli.main import run
from tutor.language import LANGS

ROOT = Path(__file__).resolve().parents[2]
PLAIN = "\x1b]0;title\x07\x1b[2J\u202e{fields} [b]x[/b]"
#: As JSON can say it, and no file can hold it.
HOSTILE = f"{PLAIN} \ud83d"


class Ran(NamedTuple):
    """What one command left behind."""

    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    def kinds(self, *without: str) -> list[str]:
        return [event["event"] for event in self.events if event["event"] not in without]


Lab = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TUTOR_STATE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    for name in ("TUTOR_LANG", "LC_ALL", "LC_MESSAGES", "TORCH_TRACE", "TORCH_COMPILE_DISABLE", "TORCHDYNAMO_DISABLE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def lab(capfdbinary: pytest.CaptureFixture[bytes]) -> Lab:
    def ran(*args: str) -> Ran:
        code = run(["lab", *args])
        out, err = capfdbinary.readouterr()
        return Ran(code, out.decode(), err.decode())

    return ran


def width(line: str) -> int:
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in line)


# --- --trace ----------------------------------------------------------------------------------------------------------


def test_json_has_every_event_and_a_summary_at_the_end(lab: Lab) -> None:
    ran = lab("--json", "--trace", str(TRACES / "2.13-ranks"))
    assert (ran.code, ran.err) == (0, "")
    assert all(event["schema"] == 1 for event in ran.events)
    assert set(ran.kinds()) == {"graph", "recompile", "process", "frame", "difference", "summary"}
    summary = ran.events[-1]
    counts = {name: summary[name] for name in ("graphs", "breaks", "recompiles", "eager_calls", "limit_reached")}
    assert counts == {"graphs": 7, "breaks": 0, "recompiles": 3, "eager_calls": None, "limit_reached": False}
    assert (summary["ranks"], summary["processes"], summary["differences"]) == ([0, 1], 2, 2)
    assert [each["id"] for each in summary["advice"]] == ["ranks", "sizes", "zero-one", "kinds"]
    recompile = next(event for event in ran.events if event["event"] == "recompile")
    wanted = {"rank": 1, "process": "p1", "fn": "encode", "id": "0/1", "why": "x.size(0) 8 -> 11", "was": "8"}
    assert {name: recompile[name] for name in wanted} == wanted
    difference = next(event for event in ran.events if event["event"] == "difference")
    assert [(group["ranks"], group["compiles"]) for group in difference["groups"]] == [([0], 1), ([1], 3)]


def test_a_break_has_the_contracts_fields(lab: Lab) -> None:
    ran = lab("--json", "--trace", str(TRACES / "2.13-breaks"))
    broke = next(event for event in ran.events if event["event"] == "break" and event["line"] == 24)
    assert {"file", "line", "text", "reason", "whole_frame_eager"} <= broke.keys()
    assert (broke["text"], broke["whole_frame_eager"]) == ('print("i", i)', True)


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("name", ["2.6-sizes", "2.8-breaks", "2.13-sizes", "2.13-ranks", "2.13-train", "2.14-breaks"])
def test_people_get_80_columns(lab: Lab, name: str, lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TRACES)
    ran = lab("--lang", lang, "--trace", name)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert [line for line in lines if width(line) > 80] == []
    assert 12 < len(lines) < 70


def test_people_read_which_rank_and_why(lab: Lab) -> None:
    out = lab("--lang", "en", "--trace", str(TRACES / "2.13-ranks")).out
    assert "encode (learner/ranks.py:8): rank 0 compiled it 1x, rank 1 compiled it 3x" in out
    assert "there 1x, elsewhere 0x: x.size(0) 8 -> 11 (first 11-30 08:19:37" in out
    assert "rank 1 compiled 0.3 s, rank 0 0.1 s." in out
    assert "set_enable_guard_collectives" in out


@pytest.mark.parametrize("lang", LANGS)
def test_nothing_from_a_file_reaches_the_terminal_raw(lab: Lab, tmp_path: Path, lang: str) -> None:
    said = f"Graph break in user code at {PLAIN}.py:3\nGraph Break Reason: {PLAIN}\n"
    ids = {"frame_id": 0, "frame_compile_id": 1}
    failed = {"co_name": HOSTILE, "co_filename": HOSTILE, "co_firstlineno": 1, "fail_type": HOSTILE}
    data = compiled(HOSTILE, 2, why=f"{PLAIN} == 1") + record({**BREAK, **ids}, said)
    data += record({"compilation_metrics": {**failed, "fail_reason": HOSTILE}, **ids, "frame_id": 5})
    data += record({HOSTILE: 1}) + record({"kind.of-" + "x" * 80: 1})
    (tmp_path / "evil\x1b[31m.log").write_bytes(data)
    ran = lab("--lang", lang, "--trace", str(tmp_path))
    assert ran.code == 0
    assert "\\x1b]0;title\\x07" in ran.out
    for char in "\x1b\x07\u202e\ud83d":
        assert char not in ran.out + ran.err
    assert "[b]x[/b]" in ran.out
    ran = lab("--json", "--trace", str(tmp_path))
    assert ran.events[-1]["event"] == "summary"


def test_damage_is_told_and_is_no_failure(lab: Lab, tmp_path: Path) -> None:
    data = compiled() + b"Epoch 3\n" + record({"dynamo_dream": {}}) + compiled()[:-40]
    (tmp_path / "t.log").write_bytes(data)
    (tmp_path / "readme.txt").write_text("x")
    ran = lab("--lang", "en", "--trace", str(tmp_path))
    assert ran.code == 0
    for words in ("lines that are no record: 1", "dynamo_dream (1)", "The job was killed, or still runs."):
        assert words in " ".join(ran.out.split())
    assert "1 files are no traces" in ran.err
    summary = lab("--json", "--trace", str(tmp_path)).events[-1]
    assert (summary["damage"], summary["unknown_records"]) == ({"stray": 1, "cut": 1}, {"dynamo_dream": 1})


def test_hundreds_of_like_ranks_are_one_row(lab: Lab, tmp_path: Path) -> None:
    for rank in range(300):
        (tmp_path / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_bytes(compiled(count=2 if rank == 7 else 1))
    out = lab("--lang", "en", "--trace", str(tmp_path)).out
    assert len(out.splitlines()) < 40
    assert "298 more processes with the same counts as rank 0" in out
    assert "rank 0-6,8-299 compiled it 1x, rank 7 compiled it 2x" in " ".join(out.split())


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--trace", "gone"], "There is no gone"),
        (["--trace", "empty"], "holds no torch trace: of 0 files"),
        (["--trace", "other"], "of 1 files"),
        (["--trace", "a\0b"], "cannot be read"),
        (["--trace"], "--trace"),
        (["--trace", "empty", "--fn", "x"], "--fn belongs to lab FILE"),
        (["--trace", "empty", "--mode", "default"], "--mode belongs to lab FILE"),
        (["--trace", "empty", "--warps", "2"], "--warps belongs to --kernel"),
        (["a.py", "--trace", "empty"], "Give one of"),
        (["--trace", "empty", "--script", "a.py"], "Give one of"),
        (["--script"], "Which program"),
        (["--script", "-m"], "Which program"),
        (["--script", "gone.py"], "gone.py"),
        (["--script", "other"], "__main__.py"),
    ],
)
def test_wrong_usage_is_one_line(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], words: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x.log").write_text("hello\n")
    monkeypatch.chdir(tmp_path)
    ran = lab("--lang", "en", *args)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_folder_that_may_not_be_read(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def shut(path: str) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr("tutor.trace.files.os.scandir", shut)
    ran = lab("--lang", "en", "--trace", str(tmp_path))
    assert ran.code == 2
    assert "cannot be read: Permission denied" in ran.err


def test_no_torch_is_loaded_to_explain_a_trace() -> None:
    code = f"from tutor.cli.main import run; run(['lab', '--trace', {str(TRACES / '2.13-ranks')!r}])"
    code += "; import sys; print(*(n for n in ('torch', 'textual', 'sqlalchemy') if n in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines()[-1] == ""


# --- --script ---------------------------------------------------------------------------------------------------------

#: In place of a program that compiles: it leaves what torch once wrote.
PROGRAM = """\
import os, shutil, sys, time
folder = os.environ["TORCH_TRACE"]
os.makedirs(folder, exist_ok=True)
print("args", sys.argv[1:], os.path.isdir(folder))
shutil.copy({trace!r}, folder)
print("\\x1b[31mred\\x1b[0m \\x1b]0;t\\x07")
print("1/2\\r2/2\\r", end="")
print("done", file=sys.stderr)
sys.stdout.write(sys.stdin.read())
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (trace,) = (TRACES / "2.13-sizes").glob("*.log")
    path = tmp_path / "train.py"
    path.write_text(PROGRAM.format(trace=str(trace)))
    return path


def watch(*args: str, text: str = "", **env: str) -> Ran:
    """`lab` in a process of its own, as a shell starts it."""
    command = [sys.executable, "-m", "tutor", "lab", *args]
    here = {**os.environ, "PYTHONPATH": str(ROOT), **env}
    done = subprocess.run(command, input=text.encode(), capture_output=True, env=here, timeout=60, check=False)
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_program_is_run_shown_and_explained(program: Path, tmp_path: Path) -> None:
    ran = watch("--script", str(program), "--json", "-x", text="typed\n")
    assert ran.code == 0
    for words in ("| args ['--json', '-x'] True", "| typed", "| red \\x1b]0;t\\x07", "exit code 0", "self.step == 6"):
        assert words in ran.out
    assert "! done" in ran.err
    assert "~ recompiled head (learner/sizes.py:4): x.size(0) 4 -> 6" in ran.err
    assert "\x1b" not in ran.out + ran.err
    assert list((tmp_path / "tmp").iterdir()) == [], "nothing is left behind"


def test_a_program_for_programs(program: Path) -> None:
    ran = watch("--json", "--script", str(program), "a")
    assert (ran.code, ran.err) == (0, "")
    assert next(event["text"] for event in ran.events if event["event"] == "output") == "args ['a'] True\n"
    assert set(ran.kinds()) == {"output", "graph", "recompile", "eager", "process", "frame", "summary", "ended"}
    assert ran.kinds()[-2:] == ["summary", "ended"]
    ended = ran.events[-1]
    assert (ended["outcome"], ended["exit_code"], ended["signal"]) == ("ok", 0, None)
    assert ran.events[-2]["limit_reached"] is True


def test_a_program_that_raises_keeps_what_was_seen(program: Path) -> None:
    program.write_text(program.read_text() + "raise ValueError('its own')\n")
    ran = watch("--script", str(program))
    assert ran.code == 1
    assert "! ValueError: its own" in ran.err
    assert "exit code 1" in ran.out
    assert "self.step == 6" in ran.out


def test_a_program_that_compiles_nothing_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("print('hello')\n")
    ran = watch("--script", str(tmp_path / "plain.py"), TORCH_COMPILE_DISABLE="1")
    assert ran.code == 0
    assert "compiled nothing" in ran.out
    assert "TORCH_COMPILE_DISABLE=1" in ran.out


def test_a_module_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "served.py").write_text("import sys; print('served', sys.argv[1:])\n")
    ran = watch("--script", "-m", "served", "--port", "1", PYTHONPATH=f"{ROOT}:{tmp_path}")
    assert "| served ['--port', '1']" in ran.out


def test_who_sets_torch_trace_keeps_it_and_reads_only_what_is_new(program: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    shutil.copy(next(iter((TRACES / "2.13-breaks").glob("*.log"))), kept / "old.log")
    ran = watch("--json", "--script", str(program), TORCH_TRACE=str(kept))
    assert len(list(kept.iterdir())) == 2
    assert ran.events[-2]["breaks"] == 0


def test_a_line_without_an_end_is_shown_while_it_waits(tmp_path: Path) -> None:
    (tmp_path / "ask.py").write_text("print('name?', end=' ', flush=True); print(input())\n")
    command = [sys.executable, "-m", "tutor", "lab", "--script", str(tmp_path / "ask.py")]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=here) as asked:
        assert asked.stdin is not None
        assert asked.stdout is not None
        assert asked.stdout.readline() == b"| name? \n"
        asked.stdin.write(b"me\n")
        asked.stdin.close()
        assert b"| me\n" in asked.stdout.read()


WAITS = """\
import signal, sys, time
def told(number, frame):
    print("told", number, flush=True)
    sys.exit({code})
signal.signal(signal.SIGTERM, told)
signal.signal(signal.SIGINT, told)
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(("number", "code", "ours"), [(signal.SIGTERM, 3, 1), (signal.SIGINT, 130, 130)])
def test_a_signal_to_us_is_passed_on_once(tmp_path: Path, number: int, code: int, ours: int) -> None:
    (tmp_path / "waits.py").write_text(WAITS.format(code=code))
    command = [sys.executable, "-m", "tutor", "lab", "--lang", "en", "--script", str(tmp_path / "waits.py")]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=here) as watched:
        assert watched.stdout is not None
        assert watched.stdout.readline() == b"| ready\n"
        watched.send_signal(number)
        out = watched.stdout.read().decode()
        assert watched.wait() == ours
    assert out.count("| told") == 1
    assert f"exit code {code}" in out
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_program_that_dies_by_a_signal_is_told(tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text("import os; os.kill(os.getpid(), 9)\n")
    ran = watch("--lang", "en", "--json", "--script", str(tmp_path / "dies.py"))
    assert ran.code == 1
    assert (ran.events[-1]["signal"], ran.events[-1]["exit_code"]) == ("SIGKILL", None)


def test_a_program_ends_with_its_reader(tmp_path: Path) -> None:
    (tmp_path / "chatty.py").write_text("import os\nprint(os.getpid(), flush=True)\nwhile True: print('x' * 1000)\n")
    command = [sys.executable, "-m", "tutor", "lab", "--script", str(tmp_path / "chatty.py")]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=here) as watched:
        assert watched.stdout is not None
        pid = int(watched.stdout.readline().split()[1])
        watched.stdout.close()
        assert watched.wait(30) == 141
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert list((tmp_path / "tmp").iterdir()) == []


#: Ends, and leaves a process that prints until nobody reads it.
LEAVES = """\
import os, time
program = os.getpid()
if os.fork():
    os._exit(0)
os.setsid()
while True:
    print("gone" if os.getppid() != program else "there", flush=True)
    time.sleep(0.01)
"""


def test_ctrl_c_ends_the_wait_for_what_outlives_the_program(tmp_path: Path) -> None:
    (tmp_path / "leaves.py").write_text(LEAVES)
    command = [sys.executable, "-m", "tutor", "lab", "--lang", "en", "--script", str(tmp_path / "leaves.py")]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=here) as watched:
        assert watched.stdout is not None
        while (line := watched.stdout.readline()) != b"| gone\n":
            assert line, "it ended by itself"
        watched.stdout.readline()  # Whoever shows a second one has seen the program end.
        watched.send_signal(signal.SIGINT)
        assert b"exit code 0" in watched.stdout.read()
        assert watched.wait() == 0
