"""Which Python values compile once per value? The control passes every value a second time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tutor.lab.child import Lab
    from tutor.lab.probe import Call

SCALE = 2


class Counter(torch.nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x + self.calls


def times(x: torch.Tensor, k: float) -> torch.Tensor:
    return x * k + 1


def either(x: torch.Tensor, flag: bool) -> torch.Tensor:
    return x + 1 if flag else x - 1


def named(x: torch.Tensor, mode: str) -> torch.Tensor:
    return x + (1 if mode == "a" else 2)


def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * SCALE


def run(lab: Lab) -> None:
    global SCALE
    x = torch.randn(4, 8, device=lab.device)

    def say(series: str, label: str, call: Call, *, expect: int = 1, ask: bool = False) -> None:
        why = "control" if series == "control" else "value" if expect else "symbol"
        lab.observe_call(series, label, call, why=why, expect=expect, ask=series if ask else None)

    arguments: tuple[tuple[str, tuple[float, ...]], ...] = (("int", (2, 3, 4, 5)), ("float", (0.5, 0.25, 0.125)))
    for series, numbers in arguments:
        watched = lab.watch(times)
        for place, k in enumerate(numbers, 1):
            say(series, f"k={k}", watched.call(x, k), expect=int(place <= 2), ask=place == 3)
        say("control", f"k={numbers[1]}", watched.call(x, numbers[1]), expect=0)
    watched = lab.watch(either)
    for flag in (True, False):
        say("value", f"flag={flag}", watched.call(x, flag))
    say("control", "flag=True", watched.call(x, True), expect=0)
    watched = lab.watch(named)
    for mode in ("a", "b", "c"):
        say("value", f"mode={mode!r}", watched.call(x, mode))
    say("control", "mode='a'", watched.call(x, "a"), expect=0)
    watched = lab.watch(scaled)
    for value in (2, 3, 4):
        SCALE = value
        say("global", f"SCALE={value}", watched.call(x), ask=value == 4)
    say("control", "SCALE=4", watched.call(x), expect=0)
    watched = lab.watch(Counter())
    for place in range(1, 5):
        say("module", f"self.calls={place}", watched.call(x, compare=False), ask=place == 3)
