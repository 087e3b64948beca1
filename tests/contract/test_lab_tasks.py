"""The lab's own tasks on a real torch, all in one host."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tutor.lab import breaks, layers, requests
from tutor.lab.host import LabHost, LabSettings
from tutor.lab.requests import Dynamo, Graphs
from tutor.lab.task import TASKS, task
from tutor.lab.watched import Watched

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed in this environment"),
]

FILE = """\
import torch
def fn(x, scale=2):
    y = torch.relu(x) * scale
    print("between")
    x.add_(1)
    return y + 1
def calls():
    yield torch.ones(4, 8)
    yield (torch.ones(5, 8),)
    yield (torch.ones(6, 8),), {"scale": 2}
"""


@pytest.fixture(scope="module")
def host() -> Iterator[LabHost]:
    """Without a C++ compiler, as on many machines: only the layers want one, and then for half a minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CXX", "/nowhere/c++")
        host = LabHost(LabSettings())
        yield host
        host.close()


def run(host: LabHost, name: str, **params: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    events = list(host.start(task(name), device="cpu", params=params))
    assert events[-1]["outcome"] == "ok", events[-1]
    return [event for event in events if event["event"] == "observation"], events[-2]


def answers(host: LabHost, dynamic: str, *lines: str) -> list[Dynamo]:
    graphs = Graphs()
    asked = [requests.parse(line).as_data() for line in lines]
    seen, _ = run(host, "requests", requests=asked, dynamic=dynamic)
    assert seen[0]["values"]["entries"] >= 8
    return [requests.dynamo(each["values"], each["said"], graphs) for each in seen if each["series"] == "dynamo"]


def test_every_task_has_its_script() -> None:
    for name in ("requests", "breaks", "layers", "file"):
        assert task(name).script == TASKS / f"{name}.py"
        assert task(name).script.is_file()


def test_requests_part_from_a_key_by_layout_state_and_small_sizes(host: LabHost) -> None:
    lines = ("(2, 8, 4)", "(4, 6, 4)", "(4, 6, 4) transposed", "(1, 8, 4)", "(4, 6, 4) no_grad", "(5, 7, 4)")
    got = answers(host, "None", *lines)
    assert [each.how for each in got] == ["new", "new", "new", "new", "new", "served"]
    kinds = [requests.reasons.nearest(each.reasons) for each in got]
    assert [kind.kind if kind else None for kind in kinds] == [None, "size", "stride", "zero_one", "grad_mode", None]
    assert got[-1].graphs == "g1"
    assert all(each.same_as_eager for each in got)


def test_every_word_of_a_request_makes_its_tensor(host: LabHost) -> None:
    words = (*requests.DTYPES, *requests.LAYOUTS, *requests.GRADS)
    got = answers(host, "False", *(f"(3, 4) {'f32 ' if word in requests.GRADS else ''}{word}" for word in words))
    assert {each.how for each in got} <= {"new", "eager"}
    assert got[-1].how == "eager", "more variants than entries"


def test_what_is_marked_dynamic_is_so_from_the_first_call(host: LabHost) -> None:
    assert [each.how for each in answers(host, "mark", "(2, 8, 4)", "(5, 6, 4)")] == ["new", "served"]
    assert [each.how for each in answers(host, "False", "(2, 8, 4)", "(5, 6, 4)", "(6, 6, 4)")] == ["new"] * 3


@pytest.mark.parametrize(
    ("on", "graphs", "line"),
    [((), 1, None), (("B1",), 2, "B1"), (("B3",), 2, "B3"), (("B4",), 2, "B4"), (("B6",), 0, "B6")],
)
def test_breaks_are_counted_and_placed(host: LabHost, on: tuple[str, ...], graphs: int, line: str | None) -> None:
    _, result = run(host, "breaks", source=breaks.source(on), file=breaks.FILE, fullgraph=False)
    report = breaks.report(result["observed"])
    assert len(report.graphs) == graphs
    assert report.same_as_eager is True
    numbers = {each.switch: breaks.number_of(place) for place, each in enumerate(breaks.FUNCTION)}
    assert [each.line for each in report.breaks] == ([numbers[line]] if line else [])
    assert [each.whole_frame for each in report.breaks] == ([graphs == 0] if line else [])


def test_fullgraph_raises_where_something_breaks(host: LabHost) -> None:
    _, result = run(host, "breaks", source=breaks.source({"B1"}), file=breaks.FILE, fullgraph=True)
    report = breaks.report(result["observed"])
    assert report.raised
    assert report.graphs == ()


def test_a_file_of_ones_own_is_watched_call_by_call(host: LabHost, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FILE, encoding="utf-8")
    asked = {"file": str(path), "fn": "fn", "calls": "calls", "dynamic": "auto", "fullgraph": False}
    seen, _ = run(host, "file", **asked, mode=None, backend=None)
    watched = Watched()
    events = [
        made for each in seen for made in watched.take(each["series"], each["call"], each["values"], each["said"])
    ]
    calls = [event for event in events if event["event"] == "call"]
    assert [call["args"] for call in calls] == ["f32[4, 8]", "f32[5, 8]", "f32[6, 8], scale=2"]
    assert [call["compiled"] for call in calls] == [True, True, False]
    assert [call["same_as_eager"] for call in calls] == [True] * 3, "and the arguments that it changes are copies"
    assert [event["line"] for event in events if event["event"] == "break"] == [4]
    assert watched.summary()["graphs"] == sum(event["event"] == "graph" for event in events) == 4
    assert [name for name, _ in watched.advice()] == ["break", "sizes"]


@pytest.mark.parametrize(
    ("source", "kind", "shown"),
    [
        ("", None, None),
        ("def fn(x:\n", "SyntaxError", ['  File "{path}", line 1']),
        (
            "1 / 0\n",
            "ZeroDivisionError",
            ["Traceback (most recent call last):", '  File "{path}", line 1, in <module>'],
        ),
        ("raise SystemExit(3)\n", "SystemExit", ["Traceback (most recent call last):"]),
    ],
)
def test_what_a_file_raises_is_shown_from_its_own_first_line(
    host: LabHost, tmp_path: Path, source: str, kind: str | None, shown: list[str] | None
) -> None:
    path = tmp_path / "name without an ending"
    path.write_text(source)
    asked = {"file": str(path), "fn": "fn", "calls": "calls", "dynamic": "auto", "fullgraph": False}
    events = list(host.start(task("file"), device="cpu", params={**asked, "mode": None, "backend": None}))
    printed = "".join(event["text"] for event in events if event["event"] == "output")
    if kind is None:
        assert (events[-1]["outcome"], printed) == ("ok", "")
        return
    assert events[-1]["outcome"] == "failed"
    assert events[-1]["message"]["args"]["kind"] == kind
    assert "tutor/lab" not in printed
    assert printed.splitlines()[: len(shown or [])] == [line.format(path=path) for line in shown or []]


def test_what_a_file_does_before_the_process_dies_was_begun(host: LabHost, tmp_path: Path) -> None:
    path = tmp_path / "dies.py"
    path.write_text("import os\nos._exit(9)\n")
    asked = {"file": str(path), "fn": "fn", "calls": "calls", "dynamic": "auto", "fullgraph": False}
    events = list(host.start(task("file"), device="cpu", params={**asked, "mode": None, "backend": None}))
    assert [event["series"] for event in events if event["event"] == "observation"] == ["begins"]
    assert events[-1]["message"] == {"key": "lab.silent", "args": {"code": 9}}


def test_a_file_without_the_function_names_what_it_has(host: LabHost, tmp_path: Path) -> None:
    path = tmp_path / "other.py"
    path.write_text("def g(): pass\ncalls = []\n", encoding="utf-8")
    asked = {"file": str(path), "fn": "fn", "calls": "calls", "dynamic": "auto", "fullgraph": False}
    seen, _ = run(host, "file", **asked, mode=None, backend=None)
    assert [each["series"] for each in seen] == ["begins", "problem"]
    assert seen[1]["values"] == {"missing": "fn", "names": "g, calls"}


def test_without_a_compiler_the_layers_before_it_come_out(host: LabHost) -> None:
    _, result = run(host, "layers")
    names = [layer.name for layer in layers.gather(result["observed"])]
    assert {"bytecode-before", "fx-graph", "aot-joint", "aot-forward"} <= set(names)
    assert "inductor-backward" not in names
    assert layers.no_compiler(layers.stopped(result["observed"]))
