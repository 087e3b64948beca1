"""What a full-screen program costs on the line and in time, next to a bare Textual app measured in the same run.

    python -m tests.bench.line_cost -- python -m tutor
    python -m tests.bench.line_cost --size 120x40 --before "f3 end" --keys "x ( ) backspace" -- python -m tutor
    python -m tests.bench.line_cost --json -- vim -u NONE notes.py

Program and bare app are started in turn, once a round. In each round: the first frame (from the start of the process to
the last byte before the screen is still), the --before keys (not counted), each of --keys, three presses of Page Down,
the --quit key. The terminal is a pseudo-terminal that answers the query for synchronized output, as a modern one does.

Keys are names separated by blanks: letters and signs stand for themselves, others as in "ctrl+q f3 pagedown escape".
Bytes do not depend on the machine; times do, so read the ratio. The bare app is a TextArea with 200 lines.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.ui.pty_screen import Program, key_bytes

STILL_S = 0.4
"""The first frame is finished when nothing has come for so long."""
KEY_STILL_S = 0.12
"""So is what a key sets going; longer than six frames at 60 frames a second, shorter than a cursor's blink."""
KEY_LIMIT_S = 3.0
START_LIMIT_S = 30.0

BARE_APP = """
from textual.app import App
from textual.widgets import TextArea
class Bare(App):
    def compose(self):
        editor = TextArea("def guarded(x):\\n    return x + 1\\n" * 100)
        editor.cursor_blink = False
        yield editor
Bare().run()
"""


class Silent(Exception):
    """The program drew nothing, or ended at once."""


def until_still(program: Program, still_s: float, limit_s: float) -> tuple[int, float | None, float | None]:
    """Read until nothing came for `still_s`: bytes, seconds to the first and to the last of them (None: none came)."""
    start = time.perf_counter()
    count, first, last = 0, None, None
    while True:
        now = time.perf_counter() - start
        size = program.read(limit_s - now if last is None else min(last + still_s, limit_s) - now)
        if not size:
            return count, first, last
        last = time.perf_counter() - start
        first = last if first is None else first
        count += size


def resident_mib(pid: int) -> float | None:
    """Resident memory of a process in MiB; None where /proc does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS")), None)


class Costs:
    """All that was measured of one program, over the rounds."""

    def __init__(self, argv: Sequence[str]) -> None:
        self.argv = argv
        self.values: dict[str, list[float]] = {}

    def add(self, name: str, value: float | None) -> None:
        if value is not None:
            self.values.setdefault(name, []).append(value)

    def round(self, columns: int, rows: int, before: list[str], keys: list[str], leave: list[str]) -> None:
        """Start the program, press the keys, leave it. Raises Silent and OSError."""
        start = time.perf_counter()
        with Program(self.argv, columns=columns, rows=rows) as program:
            spawned = time.perf_counter() - start
            size, first, last = until_still(program, STILL_S, START_LIMIT_S)
            if last is None or first is None or program.process.poll() is not None:
                raise Silent(bytes(program.output).decode("utf-8", "replace"))
            self.add("first byte, ms", (spawned + first) * 1e3)
            self.add("first frame, ms", (spawned + last) * 1e3)
            self.add("first frame, bytes", size)
            self.add("resident memory, MiB", resident_mib(program.process.pid))
            for key in before:
                program.press(key)
                until_still(program, KEY_STILL_S, KEY_LIMIT_S)
            for name, pressed in (("key", keys), ("page down", ["pagedown"] * 3)):
                for key in pressed:
                    program.press(key)
                    size, first, last = until_still(program, KEY_STILL_S, KEY_LIMIT_S)
                    self.add(f"{name}, bytes", size)
                    self.add(f"{name} to first byte, ms", None if first is None else first * 1e3)
                    self.add(f"{name} to last byte, ms", None if last is None else last * 1e3)
            program.press(*leave)
            until_still(program, STILL_S, KEY_LIMIT_S)


def spread(values: list[float]) -> dict[str, float]:
    """n, p50, p95, p99, max."""
    ordered = sorted(values)
    at = {f"p{percent}": ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] for percent in (95, 99)}
    return {"n": len(ordered), "p50": statistics.median(ordered), **at, "max": ordered[-1]}


def report(program: Costs, bare: Costs) -> dict[str, dict[str, object]]:
    """For each quantity the spread of both, and the ratio of their medians."""
    out: dict[str, dict[str, object]] = {}
    for name, values in program.values.items():
        mine, other = spread(values), spread(bare.values[name])
        out[name] = {"program": mine, "bare": other, "ratio": mine["p50"] / other["p50"] if other["p50"] else None}
    return out


def table(measured: dict[str, dict[str, object]]) -> str:
    lines = [f"{'':26}{'n':>5}{'p50':>10}{'p95':>10}{'p99':>10}{'max':>10}{'bare p50':>12}{'ratio':>8}"]
    for name, row in measured.items():
        mine, bare, ratio = row["program"], row["bare"], row["ratio"]
        assert isinstance(mine, dict)
        assert isinstance(bare, dict)
        numbers = "".join(f"{mine[column]:>10.1f}" for column in ("p50", "p95", "p99", "max"))
        last = f"{ratio:>8.2f}" if isinstance(ratio, float) else f"{'-':>8}"
        lines.append(f"{name:26}{mine['n']:>5}{numbers}{bare['p50']:>12.1f}{last}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="line_cost", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", default="80x24", metavar="COLUMNSxROWS", help="size of the terminal (default 80x24)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="starts of each (default 5)")
    parser.add_argument("--before", default="", metavar="KEYS", help="pressed first, not counted")
    parser.add_argument("--keys", default="a b c d e f g h", metavar="KEYS", help="each is measured (default a to h)")
    parser.add_argument("--quit", default="ctrl+q", metavar="KEYS", help="leaves the program (default ctrl+q)")
    parser.add_argument("--json", action="store_true", help="print one JSON object in place of the table")
    parser.add_argument("program", nargs="+", metavar="PROGRAM", help="the command line, after --")
    options = parser.parse_args()
    try:
        columns, rows = (int(number) for number in options.size.split("x"))
        pressed = [options.before.split(), options.keys.split(), options.quit.split()]
        for key in (key for keys in pressed for key in keys):
            key_bytes(key)
    except ValueError:
        parser.error(f"--size {options.size}: wanted is, for example, 80x24")
    except KeyError as error:
        parser.error(f"no such key: {error.args[0]}")
    program, bare = Costs(options.program), Costs([sys.executable, "-c", BARE_APP])
    try:
        for _ in range(options.rounds):
            program.round(columns, rows, *pressed)
            bare.round(columns, rows, [], pressed[1], ["ctrl+q"])
    except OSError as error:
        parser.error(f"{shlex.join(options.program)}: {error.strerror}")
    except Silent as error:
        parser.error(f"a program ended at once or drew nothing: {str(error)[-500:]!r}")
    measured = report(program, bare)
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    if options.json:
        print(json.dumps({"command": options.program, "size": options.size, "machine": machine, "measured": measured}))
    else:
        print(f"{shlex.join(options.program)}\nMeasured here: {machine}; terminal {options.size}\n\n{table(measured)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
