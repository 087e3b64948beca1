"""The judge's side of guard_key: the reference, the mistakes, and the inputs that are drawn anew."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from tutor.exercise.judging import PROBES
from tutor.language import LANGS
from tutor.lesson import catalog
from tutor.model import Message
from tutor.strings import say

EXERCISE = catalog.load().exercise


def behaviour(function: Any, args: tuple[Any, ...]) -> str:
    try:
        return f"returns {function(*args)!r}"
    except Exception as error:  # raising is part of the behaviour
        return f"raises {type(error).__name__}"


def well_formed(rng: random.Random) -> tuple[Any, ...]:
    rank = rng.randint(0, 5)
    shape = tuple(rng.choice((0, 1, 2, 64, 100, rng.randint(0, 999))) for _ in range(rank))
    dims = [
        rng.randint(-2, rank + 1) if rng.random() < 0.3 else rng.randrange(max(rank, 1))
        for _ in range(rng.randint(0, 3))
    ]
    dtype, device = rng.choice(("bf16", "bfloat16", "F32")), rng.choice(("cuda", "cuda:1", "cpu"))
    return shape, rng.choice((set, list, tuple, frozenset))(dims), dtype, device


def test_the_given_assertions_are_what_the_reference_does() -> None:
    for assertion in EXERCISE.given:
        assert EXERCISE.reference(*assertion.args) == assertion.expected


def test_every_mistake_differs_from_the_reference_and_from_every_other() -> None:
    rng = random.Random(2)
    inputs = [well_formed(rng) for _ in range(2000)]
    assert not any(EXERCISE.malformed(args) for args in inputs)
    functions = {"the reference": EXERCISE.reference, **{wrong.id: wrong.run for wrong in EXERCISE.wrong}}
    seen: dict[tuple[str, ...], str] = {}
    for name, function in functions.items():
        signature = tuple(behaviour(function, args) for args in inputs)
        assert signature not in seen, (name, seen.get(signature))
        seen[signature] = name


def test_each_mistake_lives_through_the_given_assertions_or_says_why_not() -> None:
    assert len(EXERCISE.wrong) >= 24
    for wrong in EXERCISE.wrong:
        lives = all(behaviour(wrong.run, one.args) == f"returns {one.expected!r}" for one in EXERCISE.given)
        assert lives == (wrong.given_catches is None), wrong.id


def test_each_mistake_is_told_in_one_line_in_both_languages() -> None:
    assert len({wrong.id for wrong in EXERCISE.wrong}) == len(EXERCISE.wrong)
    for wrong in EXERCISE.wrong:
        for lang in LANGS:
            assert wrong.text.get(lang).isprintable()


@pytest.mark.parametrize("seed", range(20))
def test_probes_are_well_formed_in_range_and_of_every_kind(seed: int) -> None:
    probes = EXERCISE.probes(random.Random(seed), 8)
    assert len(probes) == 8
    for probe in probes:
        assert EXERCISE.malformed(probe.args) is None
        EXERCISE.reference(*probe.args)  # none is out of range
    assert {len(probe.args[0]) for probe in probes} == set(range(6))
    assert {type(probe.args[1]) for probe in probes} == {set, list, tuple}
    assert any(
        len(set(shape)) < len(shape) and 0 < len(set(dims)) < len(shape)
        for shape, dims, _, _ in (p.args for p in probes)
    )
    assert probes != EXERCISE.probes(random.Random(seed + 100), 8)


@pytest.mark.parametrize("seed", range(20))
def test_eight_of_the_probes_change_one_thing_about_a_given_input(seed: int) -> None:
    probes = EXERCISE.probes(random.Random(seed), PROBES)[:14]
    keys = [EXERCISE.reference(*given.args) for given in EXERCISE.given]
    changed = []
    for probe in probes[6:]:
        assert EXERCISE.malformed(probe.args) is None
        assert EXERCISE.reference(*probe.args) not in keys
        parts = [[at for at in range(4) if probe.args[at] != given.args[at]] for given in EXERCISE.given]
        changed.append(min(parts, key=len))
    assert changed == [[2], [3], [1], [0]] * 2
    assert {probe.args[0] for probe in probes[6:]} > {given.args[0] for given in EXERCISE.given}
    assert {len(probe.args[0]) for probe in probes[:6]} == set(range(6))
    words = [probe.args[2] for probe in probes[:6]]
    assert sum(word != word.lower() for word in words) == 3


#: Right for inputs of the usual size and wrong further out, where an edge input may still go.
NARROW: dict[str, Callable[[Any, Any, str, str], Any]] = {
    "five dims": lambda key, _dims, dtype, device: (key[:5], dtype, device),
    "sizes of four digits": lambda key, _dims, dtype, device: (_sizes(key, lambda n: min(n, 9999)), dtype, device),
    "sizes of 32 bits": lambda key, _dims, dtype, device: (_sizes(key, lambda n: n & 0xFFFFFFFF), dtype, device),
    "sizes as floats": lambda key, _dims, dtype, device: (_sizes(key, lambda n: int(float(n))), dtype, device),
    "short dtypes": lambda key, _dims, dtype, device: (key, dtype[:12], device),
    "short devices": lambda key, _dims, dtype, device: (key, dtype, device[:12]),
    "a dtype by default": lambda key, _dims, dtype, device: (key, dtype or "bf16", device),
    "a device by default": lambda key, _dims, dtype, device: (key, dtype, device or "cuda"),
    "one word": lambda key, _dims, dtype, device: (key, (dtype.split() or [dtype])[0], device),
    "stripped": lambda key, _dims, dtype, device: (key, dtype, device.strip()),
    "ASCII": lambda key, _dims, dtype, device: (key, dtype if dtype.isascii() else "", device),
    "no frozenset": lambda key, dims, dtype, device: type(dims) is not frozenset and (key, dtype, device),
    "no dim twice": lambda key, dims, dtype, device: len(dims) == len(set(dims)) and (key, dtype, device),
}


def _sizes(key: Any, of: Callable[[int], int]) -> Any:
    return tuple(size if size == "*" else of(size) for size in key)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", NARROW)
def test_what_is_right_for_usual_inputs_alone_meets_a_far_one(name: str, seed: int) -> None:
    wrong = 0
    for probe in EXERCISE.probes(random.Random(seed), PROBES):
        assert EXERCISE.malformed(probe.args) is None
        right: Any = EXERCISE.reference(*probe.args)
        wrong += NARROW[name](right[0], probe.args[1], *right[1:]) != right
    assert wrong > 0


GOOD = ((2, 128), {0}, "bf16", "cuda")


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({}, None),
        ({0: ()}, None),
        ({1: [1, 1]}, None),
        ({1: (-1,)}, None),
        ({1: frozenset()}, None),
        ({0: [2, 128]}, "args_shape"),
        ({0: (2, -1)}, "args_shape"),
        ({0: (2, 1.0)}, "args_shape"),
        ({0: (True,)}, "args_shape"),
        ({0: ((2,),)}, "args_shape"),
        ({0: 2}, "args_shape"),
        ({0: (1,) * 65}, "args_rank"),
        ({1: 0}, "args_dims"),
        ({1: {0.0}}, "args_dims"),
        ({1: {True}}, "args_dims"),
        ({1: "0"}, "args_dims"),
        ({1: [0] * 65}, "args_many_dims"),
        ({2: 16}, "args_text"),
        ({3: None}, "args_text"),
        ({3: "x" * 41}, "args_long"),
    ],
)
def test_malformed(change: dict[int, Any], key: str | None) -> None:
    args = tuple(change.get(place, value) for place, value in enumerate(GOOD))
    message = EXERCISE.malformed(args)
    assert (message.key if message else None) == (f"check.{key}" if key else None)
    if message is not None:
        assert all(say(lang, message) for lang in LANGS)


@pytest.mark.parametrize("count", [0, 3, 5])
def test_the_number_of_arguments_is_said(count: int) -> None:
    assert EXERCISE.malformed((1,) * count) == Message("check.args_count", {"count": count})
