"""The whole program in a real pseudo-terminal: keys as packets, lines that drop, kills, rubbish."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest

from tests.ui.pty_screen import ScreenView, Terminal

DEADLINE_S = 20.0


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {
        "TUTOR_STATE": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "NO_COLOR": "",
    }


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "state" / "lesson_02_torch_compile" / "journal.jsonl"


def tutor(env: dict[str, str], *args: str, **options: Any) -> Terminal:
    return Terminal([sys.executable, "-m", "tutor", "--lang", "en", *args], env=env, **options)


def begun(terminal: Terminal) -> Terminal:
    """Past the welcome, in the lesson."""
    terminal.wait(lambda s: "Enter start" in s.text)
    terminal.press("enter")
    terminal.wait(lambda s: "n next" in s.text)
    return terminal


def in_blank(terminal: Terminal) -> Terminal:
    terminal.press("1")
    terminal.wait(lambda s: "Enter edit" in s.text)
    terminal.press("enter")
    terminal.wait(lambda s: "Esc keys" in s.text)
    return terminal


def events(journal: Path) -> list[dict[str, Any]]:
    lines = journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []
    return [json.loads(line) for line in lines]


def until(what: Any) -> None:
    end = time.monotonic() + DEADLINE_S
    while not what():
        assert time.monotonic() < end, "never came"
        os.sched_yield()


def coloured(screen: ScreenView, words: str) -> bool:
    """Whether the lexer has been at the code: it comes some time after the first frame, and costs bytes once."""
    for row, cells in zip(screen.rows, screen.cells, strict=True):
        if words in row:
            at = row.index(words)
            return cells[at].foreground != cells[at + len(words) - 1].foreground
    return False


def descendants(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            child = int(path.parent.name)
            found += [child, *descendants(child)]
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_enter_read_leave_and_come_back(env: dict[str, str]) -> None:
    with tutor(env) as t:
        begun(t).press("n", "n")
        t.wait(lambda s: "Step 3/" in s.text)
        t.press("ctrl+q")
        assert t.wait_for_exit() == 0
    with tutor(env) as t:
        t.wait(lambda s: "Step 3/" in s.text)
        assert "Line dropped" not in t.screen.text


def test_esc_and_a_digit_in_one_packet_leave_the_editor_and_change_the_tab(env: dict[str, str]) -> None:
    with tutor(env) as t:
        in_blank(begun(t)).write(b"abc")
        t.wait(lambda s: "return abc" in s.text)
        t.write(b"\x1b7")
        t.wait(lambda s: "[7 Result]" in s.text)
        t.write(b"\x1b1")
        t.wait(lambda s: "[1 Code]" in s.text and "return abc" in s.text)


def test_a_dropped_line_loses_nothing_and_leaves_no_process(env: dict[str, str], journal: Path) -> None:
    with tutor(env) as t:
        in_blank(begun(t)).write(b"abc")
        t.wait(lambda s: "return abc" in s.text)
        t.press("f5")
        t.wait(lambda s: "FAIL" in s.text)
        children = descendants(t.process.pid)
        assert children, "the sandbox is a process of its own"
        t.write(b"d")
        t.wait(lambda s: "return abcd" in s.text)
        t.kill(signal.SIGHUP)
        assert t.wait_for_exit() == -signal.SIGHUP
        until(lambda: not any(map(alive, children)))
    kinds = [event["kind"] for event in events(journal)]
    assert kinds[-1] == "hangup"
    with tutor(env) as t:
        t.wait(lambda s: "The line dropped at" in s.text and "return abcd" in s.text)


def test_a_terminal_that_is_gone_ends_the_program(env: dict[str, str], journal: Path) -> None:
    """The kernel's own hang-up: the terminal's other end is closed while the screen is being written."""
    t = tutor(env)
    in_blank(begun(t)).write(b"abc")
    t.wait(lambda s: "return abc" in s.text)
    pid = t.process.pid
    os.close(t._fd)
    assert t.process.wait(DEADLINE_S) == -signal.SIGHUP
    assert not alive(pid)
    assert events(journal)[-1]["kind"] == "hangup"


def test_kill_9_loses_at_most_the_last_second(env: dict[str, str], journal: Path) -> None:
    with tutor(env) as t:
        in_blank(begun(t)).write(b"abc")
        until(lambda: any(e["kind"] == "draft" and e["data"]["text"] == "abc" for e in events(journal)))
        until(lambda: any(e["kind"] == "place" and e["data"]["tab"] == "code" for e in events(journal)))
        children = descendants(t.process.pid)
        t.kill(signal.SIGKILL)
        t.wait_for_exit()
        until(lambda: not any(map(alive, children)))
    with tutor(env) as t:
        t.wait(lambda s: "ended without a word" in s.text and "return abc" in s.text)


def test_sigterm_puts_the_terminal_in_order(env: dict[str, str], journal: Path) -> None:
    with tutor(env) as t:
        in_blank(begun(t)).write(b"abc")
        t.wait(lambda s: "return abc" in s.text)
        t.kill(signal.SIGTERM)
        assert t.wait_for_exit() == 0
        assert t.local_modes & termios.ECHO
        assert t.local_modes & termios.ICANON
    assert events(journal)[-1]["kind"] == "closed"


def test_a_megabyte_pasted_into_the_blank_is_one_sentence(env: dict[str, str]) -> None:
    with tutor(env) as t:
        in_blank(begun(t))
        t.write(b"\x1b[200~" + b"x = [1, 2]\n" * 100_000 + b"\x1b[201~")
        t.wait(lambda s: "too long" in s.text.lower(), deadline_s=60)
        t.write(b"ok")
        t.wait(lambda s: "ok" in s.text)


def test_a_hostile_paste_is_plain_text_and_steers_nothing(env: dict[str, str]) -> None:
    hostile = "a\x07\x1b]0;PWN\x07\x08\x9b31mb\u202ec\tz"
    with tutor(env) as t:
        in_blank(begun(t))
        mark = t.mark()
        t.write(b"\x1b[200~" + hostile.encode() + b"\x1b[201~")
        t.wait(lambda s: "return a]0;PWN31mbc" in s.text)
        sent = t.bytes_since(mark)
        for never in (b"\x07", b"\x1b]0;", b"\x9b", "\u202e".encode()):
            assert never not in sent
        assert "PWN" not in t.screen.title


def test_rubbish_on_the_line_changes_nothing_that_counts(env: dict[str, str], journal: Path) -> None:
    with tutor(env) as t:
        in_blank(begun(t)).write(b"abc")
        t.wait(lambda s: "return abc" in s.text)
        t.write(b"\x1b[999;999R\x1b]52;c;AAAA\x07\x1b[<0;5;5M\x1b[<0;5;5m\xff\xfe\x1b[?2026;2$y\x1bP1$r0m\x1b\\")
        t.press("ctrl+l", "ctrl+q")
        assert t.wait_for_exit() == 0
    drafts = [e["data"]["text"] for e in events(journal) if e["kind"] == "draft"]
    assert all(text.startswith("abc") for text in drafts[-1:])


def test_the_screen_after_many_keys_is_the_screen_painted_anew(env: dict[str, str]) -> None:
    """What the frame diff left on the terminal is what a full repaint shows."""
    with tutor(env) as t:
        begun(t)
        for key in ("n", "space", "m", "1", "enter", "a", "b", "escape", "2", "a", "x", "escape", "7", "0", "f9", "?"):
            t.press(key)
        t.wait(lambda s: "> 帮助" in s.text)
        t.press("escape")
        t.wait(lambda s: "Enter" in s.rows[-1] and "> 帮助" not in s.text)
        before = t.screen.rows
        mark = t.mark()
        t.press("ctrl+l")
        t.wait(lambda _: len(t.bytes_since(mark)) > 500)
        t.wait(lambda s: s.rows == before)


def test_a_typed_key_costs_tens_of_bytes(env: dict[str, str]) -> None:
    for columns, rows in ((80, 24), (120, 40)):
        with tutor(env, columns=columns, rows=rows) as t:
            if columns == 80:
                begun(t)
            t.wait(lambda s: "Lesson 2" in s.text)
            in_blank(t)
            t.wait(lambda s: coloured(s, "def guard_key"))
            typed = "guarded_shape, dtype"
            shown = ""
            mark = t.mark()
            for key in typed:
                shown += key
                wanted = f"return {shown}".rstrip()
                t.press(key)
                t.wait(lambda s, wanted=wanted: wanted in s.text)  # type: ignore[misc]
            cost = len(t.bytes_since(mark)) / len(typed)
            assert cost <= 120, f"{cost} bytes a key at {columns}x{rows}"
            t.press("escape")
            t.press("R")
            t.wait(lambda s: "y yes" in s.text)
            t.press("y")
            t.wait(lambda s: "as shipped again" in s.text)
            t.press("ctrl+q")
            t.wait_for_exit()


@pytest.mark.parametrize(
    ("terminal", "allowed"),
    [
        ({"NO_COLOR": "1"}, r"(0|1|4|7|22|24|27|39|49)?"),
        ({"NO_COLOR": "", "TERM": "xterm", "COLORTERM": ""}, r"(0|1|4|7|22|24|27|39|49|9[0-7]|3[0-7])?"),
    ],
)
def test_a_terminal_without_colours_gets_none_and_one_with_sixteen_gets_those(
    env: dict[str, str], terminal: dict[str, str], allowed: str
) -> None:
    with tutor({**env, **terminal}) as t:
        begun(t).press("n", "n", "n", "n", "1")
        t.wait(lambda s: "Enter edit" in s.text)
        t.press("f5")
        t.wait(lambda s: "REFUSED" in s.text)
        codes = {code for sgr in re.findall(rb"\x1b\[([0-9;]*)m", bytes(t.output)) for code in sgr.decode().split(";")}
        assert codes
        assert [code for code in codes if re.fullmatch(allowed, code) is None] == []


def test_resizing_down_and_up_keeps_everything(env: dict[str, str]) -> None:
    with tutor(env, columns=120, rows=40) as t:
        begun(t)
        in_blank(t).write(b"abc")
        t.wait(lambda s: "return abc" in s.text)
        for columns, rows, wanted in ((60, 20, "too small"), (80, 24, "return abc"), (200, 60, "return abc")):
            t.resize(columns, rows)
            t.wait(lambda s, wanted=wanted: wanted in s.text)  # type: ignore[misc]
        t.press("ctrl+q")
        assert t.wait_for_exit() == 0


def test_the_editor_comes_and_goes(env: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "editor.py"
    script.write_text(
        "import pathlib, sys\np = pathlib.Path(sys.argv[-1])\n"
        "p.write_text(p.read_text().replace('______', 'from_editor'))\n"
    )
    with tutor({**env, "EDITOR": f"{sys.executable} {script}", "VISUAL": ""}) as t:
        begun(t)
        in_blank(t).press("f4")
        t.wait(lambda s: "return from_editor" in s.text and "Taken over" in s.text)
    spoiler = tmp_path / "spoiler.py"
    spoiler.write_text("import pathlib, sys\npathlib.Path(sys.argv[-1]).write_text('pass\\n')\n")
    with tutor({**env, "EDITOR": f"{sys.executable} {spoiler}", "VISUAL": ""}) as t:
        t.wait(lambda s: "last session ended" in s.text)  # the greeting comes behind the first frame
        t.press("1")
        t.wait(lambda s: "return from_editor" in s.text)
        t.press("e")
        t.wait(lambda s: "your file is kept at" in s.text and "return from_editor" in s.text)


def test_the_screen_process_never_loads_torch(env: dict[str, str]) -> None:
    with tutor(env, columns=120, rows=40) as t:
        begun(t)
        t.press("3")
        t.wait(lambda s: "[3 Lab]" in s.text)
        maps = Path(f"/proc/{t.process.pid}/maps").read_text()
        assert not re.search(r"libtorch|/torch/", maps)
        t.press("ctrl+q")
        assert t.wait_for_exit() == 0


@pytest.mark.parametrize(
    ("packet", "text"),
    [(b"abx\x7fy", "aby"), (b"ab\x1b[D\x1b[DQ", "Qab"), (b"ab\x1b[Hx\x1b[F)", "ab)"), (b"ab\x15cd", "cd")],
)
def test_letters_do_not_overtake_the_keys_before_them(env: dict[str, str], packet: bytes, text: str) -> None:
    with tutor(env) as t:
        in_blank(begun(t))
        t.write(packet)
        t.wait(lambda s: f"return {text}" in s.text)


def test_an_editor_that_does_not_start_or_is_stopped_gives_the_screen_back(env: dict[str, str]) -> None:
    with tutor({**env, "EDITOR": "/nowhere/ed", "VISUAL": ""}) as t:
        begun(t)
        in_blank(t).press("f4")
        t.wait(lambda s: "/nowhere/ed" in s.text and "______" in s.text)
        t.write(b"abc")
        t.wait(lambda s: "return abc" in s.text)
        t.press("ctrl+q")
        assert t.wait_for_exit() == 0
    with tutor({**env, "EDITOR": "sh -c 'echo waiting; sleep 60'", "VISUAL": ""}) as t:
        t.wait(lambda s: "return abc" in s.text)
        t.press("e")
        t.wait(lambda s: "waiting" in s.text)
        t.write(b"\x03")
        t.wait(lambda s: "return abc" in s.text and "nothing was taken" in s.text)
