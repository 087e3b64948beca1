"""A CUDA graph writes to the same memory each time: what becomes of a kept result, and how inputs get in.

The control keeps a copy of the result, and the result of a build without CUDA graphs."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab

LARGE = 1 << 24


def f(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x) * 2


def plain(x: torch.Tensor) -> torch.Tensor:
    """The same again, compiled without CUDA graphs: entries belong to a function's code."""
    return torch.relu(x) * 2


def run(lab: Lab) -> None:
    one, ten = (torch.full((1024,), value, device=lab.device) for value in (1.0, 10.0))
    with torch.no_grad():
        by_hand(lab, one)
        kept(lab, one, ten)
        copies(lab)


def by_hand(lab: Lab, one: torch.Tensor) -> None:
    """A graph of torch.cuda alone, into whose input the caller writes: nothing watches over its output."""
    x = one.clone()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        f(x)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = f(x)
    graph.replay()
    before = out[0].item()
    x.fill_(10.0)
    graph.replay()
    after = out[0].item()
    changed = int(after != before)
    values = {"before": before, "after": after}
    lab.observe("by_hand", values, call="torch.cuda.CUDAGraph", ask="by-hand", answer=changed, why="overwritten")


def kept(lab: Lab, one: torch.Tensor, ten: torch.Tensor) -> None:
    """A result of reduce-overhead that is kept over the next call: 0 it is the same, 1 another, 2 torch raises."""
    served = torch.compile(f, mode="reduce-overhead", dynamic=False)
    for _ in range(3):
        served(one)
    result = served(one)
    before = result[0].item()
    served(ten)
    values: dict[str, float | str] = {"before": before}
    said: list[str] = []
    try:
        after = result[0].item()
    except RuntimeError as error:
        said, answer = [str(error)], 2
        values["after"], values["raised"] = "raised", type(error).__name__
    else:
        values["after"], answer = after, int(after != before)
    lab.observe("kept", values, call="reduce-overhead", ask="kept", answer=answer, said=said, why="overwritten")
    copied = served(one).clone()
    served(ten)
    usual = torch.compile(plain, dynamic=False)
    result = usual(one)
    usual(ten)
    for name, tensor in (("clone()", copied), ("no CUDA graphs", result)):
        lab.observe("control", {"before": before, "after": tensor[0].item()}, call=name, why="control")


def copies(lab: Lab) -> None:
    """How many copies a replay begins with, for an input as it comes and for one whose address was promised; and for
    the promise again where the code may come from the disk cache, whose key does not name it in torch 2.8 to 2.11."""
    for ask, cached in (("copied", True), ("promised", False), ("promised", True)):
        torch.compiler.reset()
        x = torch.ones(LARGE, device=lab.device)
        if ask == "promised":
            torch._dynamo.mark_static_address(x, guard=False)
        with nullcontext() if cached else lab.compiled_anew():
            served = torch.compile(f, mode="reduce-overhead", dynamic=False)
            for _ in range(4):
                served(x)
        work = lab.gpu_work(lambda: served(x))  # noqa: B023
        copied = len(work) - sum("relu" in name for name, _us in work)
        values = {"copies": copied, "work": [name[:60] for name, _us in work]}
        if ask == "promised" and cached:
            lab.observe("from_cache", values, call=lab.describe(x), why="cached")
        else:
            lab.observe(ask, values, call=lab.describe(x), ask=ask, answer=copied, why="copied")
