"""torch's own words for a failed guard, as torch 2.6 to 2.13 wrote them, read into kinds and sides."""

from __future__ import annotations

import pytest

from tutor.lab import reasons

SAID = [
    ("0/0: tensor 'x' size mismatch at index 0. expected 2, actual 8", ("0/0", "size", "x.size(0)", "2", "8")),
    ("tensor 'x' stride mismatch at index 2. expected 1, actual 256", ("", "stride", "x.stride(2)", "1", "256")),
    (
        "0/6: tensor 'x' dtype mismatch. expected BFloat16, actual Float",
        ("0/6", "dtype", "x.dtype", "BFloat16", "Float"),
    ),
    ("0/4: tensor 'x' rank mismatch. expected 3, actual 2", ("0/4", "rank", "x.rank", "3", "2")),
    ("0/1: GLOBAL_STATE changed: grad_mode ", ("0/1", "grad_mode", "grad_mode", "", "")),
    ("0/1: GLOBAL_STATE changed: num_threads", ("0/1", "global", "num_threads", "", "")),
    ("tensor 'x' requires_grad mismatch. expected requires_grad=0", ("", "requires_grad", "x.requires_grad", "", "")),
]


@pytest.mark.parametrize(("raw", "wanted"), SAID)
def test_torchs_words_are_read_into_sides(raw: str, wanted: tuple[str, ...]) -> None:
    assert reasons.read(raw)[:5] == wanted


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("0/1: 2 <= L['x'].size()[0]  # (_dynamo/output_graph.py:99 in f)", "zero_one"),
        ("L['x'].size()[0] == L['x'].size()[1]  # duck sizing", "duck"),
        ("L['x'].stride()[0] == L['x'].size()[1]*L['x'].size()[2]", "stride"),
        ("L['x'].size()[0] <= 8", "size"),
        ("L['n'] == 3", "value"),
        ("something that nobody has seen yet", "other"),
        ("", "other"),
    ],
)
def test_an_expression_is_told_by_what_it_compares(raw: str, kind: str) -> None:
    assert reasons.read(raw).kind == kind


def test_the_words_lose_torchs_own_names_and_its_stack() -> None:
    assert reasons.read("0/1: 2 <= L['x'].size()[0]  # f.py:3 in f\nUser stack trace:\n  File").text == "2 <= x.size(0)"


def test_the_entry_that_came_closest_is_the_one_that_explains() -> None:
    said = [
        reasons.read(text)
        for text in (
            "0/3: tensor 'x' stride mismatch at index 1. expected 1, actual 4",
            "0/2: 2 <= L['x'].size()[0]",
            "0/1: GLOBAL_STATE changed: grad_mode",
        )
    ]
    nearest = reasons.nearest(said)
    assert nearest is not None
    assert nearest.entry == "0/2"
    assert reasons.nearest([]) is None


def test_every_kind_that_can_be_read_has_its_place_in_the_order() -> None:
    kinds = {reasons.read(raw).kind for raw, _ in SAID}
    assert all(reasons.nearest([reasons.read(raw)]) for raw, _ in SAID)
    assert len(kinds) >= 6
