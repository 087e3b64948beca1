"""How long the device takes: raw microseconds of single calls, by launches or by replays of a CUDA graph.

A graph takes the host out of it: what is left is the device's own time. With a cold cache, L2 is filled with something
else before each call, so that everything has to come from memory, as it does in a model whose other layers ran between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

Side = Callable[[], object]
#: Written before each call whose cache is to be cold: several times the L2 of any GPU so far.
FLUSH_BYTES = 256 * 1024 * 1024
#: Calls before each one whose cache is to be warm. They also keep the device busy until the host has issued that one.
WARM_CALLS = 4


def floor_of(x: torch.Tensor, residual: torch.Tensor) -> Side:
    """The floor that other times are set beside: a three-tensor add into memory of its own.

    It reads two tensors and writes one of their size, the least that a block with an input, a residual and an output
    has to move. A copy is no floor: in a CUDA graph it becomes a memcpy node, which is slower than this.
    """
    out = torch.empty_like(x)
    return lambda: torch.add(x, residual, out=out)


def replay_of(side: Side) -> Side:
    """The replay of `side` as a CUDA graph, recorded after warm-up calls; it writes to the same memory each time.

    The replay keeps `side`: what a graph reads and writes is not the graph's own, and is gone when nobody holds it.
    """
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            side()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        side()

    def replay(_kept: Side = side) -> None:
        graph.replay()

    return replay


def device_times(sides: Mapping[str, Side], *, n: int, cold: bool) -> dict[str, list[float]]:
    """Microseconds from event to event of `n` calls of each side, the sides taking turns.

    With a warm cache it holds what the side's own calls just before have left there.
    """
    flush = torch.empty(FLUSH_BYTES if cold else 0, dtype=torch.int8, device="cuda")
    for side in sides.values():
        for _ in range(3):
            side()
    marks: dict[str, list[tuple[torch.cuda.Event, torch.cuda.Event]]] = {name: [] for name in sides}
    for _ in range(n):
        for name, side in sides.items():
            if cold:
                flush.zero_()
            for _ in range(0 if cold else WARM_CALLS):
                side()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            side()
            end.record()
            marks[name].append((begin, end))
    torch.cuda.synchronize()
    return {name: [a.elapsed_time(b) * 1e3 for a, b in pairs] for name, pairs in marks.items()}
