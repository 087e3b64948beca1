"""From the run key to the verdict on the terminal, and what the screen's process weighs.

    python tests/bench/verdict_latency.py [--quick] [--size 80x24] [--json]

Runs `python -m tutor` in a pseudo-terminal, types a wrong and a right answer in turn, presses F5 and waits until the
emulated screen shows the verdict. The ratio is to a key typed in the same run: its time until the screen shows it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.spread import spread
from tests.ui.pty_screen import Terminal


def milliseconds(values: list[float]) -> dict[str, float]:
    return {name: round(value * 1e3, 2) if name != "n" else value for name, value in spread(values).items()}


def measure(rounds: int, columns: int, rows: int) -> dict[str, object]:
    """`rounds` verdicts and as many typed keys, warm. Times in milliseconds, memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        env = {"TUTOR_STATE": folder, "XDG_CACHE_HOME": f"{folder}/cache", "XDG_CONFIG_HOME": f"{folder}/config"}
        argv = [sys.executable, "-m", "tutor", "--lang", "en"]
        with Terminal(argv, columns=columns, rows=rows, env=env) as t:
            t.wait(lambda s: "Enter start" in s.text)
            t.press("enter")
            t.wait(lambda s: "n next" in s.text)
            t.press("1")
            t.wait(lambda s: "Enter edit" in s.text)
            t.press("enter")
            t.write(b"guarded_shape, dtype, device")
            t.wait(lambda s: "dtype, device" in s.text)
            t.press("f5")
            t.wait(lambda s: "PASS" in s.text)
            verdicts, keys = [], []
            for n in range(rounds):
                # In turn a wrong and a right answer, so that each verdict is another one.
                right = bool(n % 2)
                start = time.perf_counter()
                t.press("backspace" if not right else "e")
                t.wait(lambda s, right=right: ("device" in s.text) == right or "earlier text" in s.text)  # type: ignore[misc]
                keys.append(time.perf_counter() - start)
                t.wait(lambda s: "earlier text" in s.text)
                start = time.perf_counter()
                t.press("f5")
                word = "PASS" if right else "FAIL"
                t.wait(lambda s, word=word: word in s.text and "earlier text" not in s.text)  # type: ignore[misc]
                verdicts.append(time.perf_counter() - start)
            status = Path(f"/proc/{t.process.pid}/status").read_text()
            loaded = re.search(r"libtorch", Path(f"/proc/{t.process.pid}/maps").read_text()) is not None
            t.press("ctrl+q")
            t.wait_for_exit()
    resident = re.search(r"VmRSS:\s+(\d+)", status)
    assert resident is not None
    return {
        "size": f"{columns}x{rows}",
        "verdict_ms": milliseconds(verdicts),
        "typed_key_ms": milliseconds(keys),
        "verdict_to_key_p50": round(spread(verdicts)["p50"] / spread(keys)["p50"], 2),
        "rss_mib": int(resident[1]) // 1024,
        "torch_loaded": loaded,
        "load": os.getloadavg()[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few rounds, to see that it runs")
    parser.add_argument("--size", default="80x24")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    columns, rows = map(int, options.size.split("x"))
    result = measure(4 if options.quick else 60, columns, rows)
    if options.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:20} {value}")


if __name__ == "__main__":
    main()
