"""What a demo prints is text and never an event, however much it is and whatever it looks like."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.lab_rig import GOOD, demo, ended, fake_torch, hold, host, make_host, printed
from tutor.lab import protocol
from tutor.lab.host import LabHost
from tutor.model import Demo

__all__ = ["demo", "fake_torch", "hold", "host", "make_host"]

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
