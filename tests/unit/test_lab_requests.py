"""The request lab without torch: lines read, the key as a cache, and where both sides part."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor import strings
from tutor.lab import requests
from tutor.lab.requests import Graphs, KeyCache, Request, RequestError, Row, Served, parse
from tutor.language import LANGS
from tutor.lesson import catalog
from tutor.model import Raised
from tutor.sandbox.outcome import Outcome, Returned

# --- lines ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("(8, 256, 4096) bf16 cuda transposed", Request((8, 256, 4096), "bf16", "cuda", "transposed")),
        ("(2,128,4096)", Request((2, 128, 4096))),
        ("  ( 2 , 3 )  no_grad  float32 ", Request((2, 3), "f32", grad="no_grad")),
        ("()", Request(())),
        ("(5,) requires_grad CPU", Request((5,), "bf16", "cpu", "", "requires_grad")),
        ("(0, 3) i64", Request((0, 3), "i64")),
        ("（2，3）bf16", Request((2, 3), "bf16")),
    ],
)
def test_a_line_is_read(line: str, wanted: Request) -> None:
    assert parse(line) == wanted


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("", "shape"),
        ("8, 256", "shape"),
        ("(8, -1)", "shape"),
        ("(8, x)", "shape"),
        ("(2, 3) cuda:0", "word"),
        ("(2, 3) \x1b[31m", "word"),
        ("(2, 3) bf16 f32", "twice"),
        ("(2, 3) transposed sliced", "twice"),
        ("(2, 3) no_grad requires_grad", "twice"),
        ("(4096, 4096, 4096)", "large"),
        ("(1, 1, 1, 1, 1, 1, 1)", "rank"),
        ("(3,) transposed", "transposed"),
        ("() sliced", "sliced"),
        ("() expanded", "expanded"),
        ("(3,) i64 requires_grad", "grad"),
        ("(3,)" + " bf16" * 100, "long"),
    ],
)
def test_a_bad_line_gets_one_sentence_that_says_what_to_write(line: str, key: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse(line)
    assert caught.value.message.key == f"lab_views.request-{key}"
    for lang in LANGS:
        assert "\x1b" not in strings.say(lang, caught.value.message)


@given(st.text(max_size=130))
def test_no_text_is_too_strange(line: str) -> None:
    said = None
    try:
        request = parse(line)
    except RequestError as error:
        said = strings.say("en", error.message)
    assert said or parse(request.words) == request


def test_a_draft_has_a_bound_of_lines_and_none_that_is_empty() -> None:
    assert requests.lines_of("\n(2,)\n\n  (3,) \n") == ["(2,)", "(3,)"]
    assert len(requests.lines_of("(2,)\n" * 1000)) == requests.LINES_MAX
    assert next(parse(line).shape for line in requests.lines_of(requests.DEFAULT)) == (2, 128, 4096)


def test_what_the_key_is_told_follows_the_setting() -> None:
    request = parse("(2, 128, 4096)")
    promised = requests.key_call(request, "None", "cpu")
    assert promised == ((2, 128, 4096), {0, 1}, "bf16", "cpu")
    assert requests.key_call(request, "mark", "cpu") == promised
    assert requests.key_call(request, "False", "cpu")[1] == set()
    assert requests.key_call(request, "True", "cuda")[1:] == ({0, 1, 2}, "bf16", "cuda")
    assert requests.key_call(parse("(2,) cpu"), "None", "cuda")[3] == "cpu"


# --- the key as a cache -----------------------------------------------------------------------------------------------


def test_the_key_cache_numbers_what_is_new_and_counts_what_comes_again() -> None:
    cache = KeyCache()
    one, two = Returned((("*", "*", 4096), "bf16", "cpu")), Returned((("*", "*", 2048), "bf16", "cpu"))
    assert [cache.look(each)[:2] for each in (one, two, one, one)] == [("new", 1), ("new", 2), ("hit", 1), ("hit", 1)]
    assert [(key.number, key.calls) for key in cache.keys] == [(1, 3), (2, 1)]


@pytest.mark.parametrize("value", [[1], ((1, [2]),), {1}, ("a", {2})])
def test_what_no_dict_takes_as_a_key_is_an_error(value: Any) -> None:
    served = KeyCache().look(Returned(value))
    assert served.how == "error"
    assert served.why is not None
    assert served.why.key == "lab_views.key-unhashable"


def test_a_key_that_raises_is_an_error_and_takes_no_entry() -> None:
    cache = KeyCache()
    assert cache.look(Raised("ValueError", "no")).how == "error"
    assert cache.look(None).how == "none"
    assert cache.keys == ()


def test_a_dict_takes_true_for_one_and_so_does_the_cache() -> None:
    cache = KeyCache()
    assert cache.look(Returned((1,))).how == "new"
    assert cache.look(Returned((True,))).how == "hit"


def test_a_run_that_did_not_come_back_leaves_the_rest_without_a_key() -> None:
    whole = Outcome("ok", results=(Returned(1), Returned(2)))
    assert requests.key_results(whole, 2) == ([Returned(1), Returned(2)], None)
    cut, why = requests.key_results(Outcome("limit", results=(Returned(1),)), 3)
    assert cut == [Returned(1), None, None]
    assert why is not None


# --- both sides -------------------------------------------------------------------------------------------------------


def seen(served_by: str, new: int, **more: Any) -> dict[str, Any]:
    return {"ended": "ok", "served_by": served_by, "new_graphs": new, "same_as_eager": True, **more}


def one_row(key: Served, values: dict[str, Any], said: list[str], graphs: Graphs) -> Row:
    return requests.row(parse("(2, 3)"), key, requests.dynamo(values, said, graphs), graphs)


def test_both_sides_agree_when_both_compile_or_both_serve() -> None:
    graphs = Graphs()
    assert not one_row(Served("new", 1), seen("0/0", 1), [], graphs).differs
    assert not one_row(Served("hit", 1), seen("0/0", 0), [], graphs).differs
    assert one_row(Served("new", 2), seen("0/0", 0), [], graphs).differs
    late = one_row(
        Served("hit", 1), seen("0/1", 1), ["0/0: tensor 'x' size mismatch at index 0. expected 2, actual 8"], graphs
    )
    assert late.differs
    assert late.tried == ("g0",)
    assert late.dynamo is not None
    assert late.dynamo.graphs == "g1"
    assert graphs.count == 2


def test_what_could_not_be_made_or_asked_is_no_difference() -> None:
    graphs = Graphs()
    assert not one_row(Served("hit", 1), {"ended": "unavailable", "text": "cuda"}, [], graphs).differs
    assert not one_row(Served("none"), seen("0/0", 1), [], graphs).differs
    assert requests.first_difference([]) is None


def test_which_entries_refused_is_known_without_a_key() -> None:
    graphs = Graphs()
    one_row(Served("none"), seen("0/0", 1), [], graphs)
    late = one_row(Served("none"), seen("0/1", 1), ["0/0: tensor 'x' rank mismatch. expected 2, actual 3"], graphs)
    assert (late.tried, late.differs) == (("g0",), False)


EXPLAINED = [
    (
        "size-first",
        Served("hit", 1),
        seen("0/1", 1),
        ["0/0: tensor 'x' size mismatch at index 0. expected 2, actual 8"],
    ),
    ("size", Served("new", 1), seen("0/1", 1), ["0/0: tensor 'x' size mismatch at index 0. expected 2, actual 8"]),
    ("stride", Served("hit", 1), seen("0/1", 1), ["0/0: tensor 'x' stride mismatch at index 0. expected 2, actual 8"]),
    ("zero_one", Served("hit", 1), seen("0/1", 1), ["0/0: 2 <= L['x'].size()[0]"]),
    ("grad_mode", Served("hit", 1), seen("0/1", 1), ["0/0: GLOBAL_STATE changed: grad_mode"]),
    ("first", Served("new", 1), seen("0/0", 1), []),
    ("served", Served("hit", 1), seen("0/0", 0), []),
    ("served-new", Served("new", 1), seen("0/0", 0), []),
    ("limit", Served("hit", 1), seen("eager", 0), []),
    ("key-error", Served("error"), seen("0/0", 1), []),
    ("unavailable", Served("hit", 1), {"ended": "unavailable", "text": "cuda"}, []),
    ("error", Served("hit", 1), {"ended": "error", "text": "RuntimeError: no"}, []),
]


@pytest.mark.parametrize(("key", "served", "values", "said"), EXPLAINED)
def test_each_row_has_its_plain_sentence(key: str, served: Served, values: dict[str, Any], said: list[str]) -> None:
    message = requests.explain(one_row(served, values, said, Graphs()), "None", limit=8)
    assert message.key == f"lab_views.plain-{key}"
    assert all(strings.say(lang, message) for lang in LANGS)


# --- the figure -------------------------------------------------------------------------------------------------------

SIZE = "0/0: tensor 'x' size mismatch at index 0. expected 2, actual "
DTYPE = "0/0: tensor 'x' dtype mismatch. expected Float, actual Double"


@pytest.mark.parametrize(
    ("dynamic", "values", "said", "passed", "not_passed"),
    [
        ("None", seen("0/0", 0), [], {"HIT", "FAST PATH", "RESULT"}, {"MISS", "RECAPTURE"}),
        ("None", seen("eager", 0), [], {"MISS", "LIMIT", "EAGER", "RESULT"}, {"HIT", "RECAPTURE"}),
        ("None", seen("0/0", 1), [], {"MISS", "RECAPTURE", "STATIC", "NEW ENTRY"}, {"HIT", "DYNAMIC", "EAGER"}),
        ("None", seen("0/1", 1), [SIZE + "8"], {"MISS", "RECAPTURE", "DYNAMIC", "NEW ENTRY"}, {"HIT", "STATIC"}),
        ("None", seen("0/1", 1), [SIZE + "1"], {"NEW ENTRY"}, {"STATIC", "DYNAMIC"}),
        ("None", seen("0/1", 1), [DTYPE], {"NEW ENTRY"}, {"STATIC", "DYNAMIC"}),
        ("False", seen("0/1", 1), [SIZE + "8"], {"STATIC", "NEW ENTRY"}, {"DYNAMIC"}),
        ("True", seen("0/0", 1), [], {"NEW ENTRY"}, {"STATIC", "DYNAMIC"}),
        ("mark", seen("0/0", 1), [], {"NEW ENTRY"}, {"STATIC", "DYNAMIC"}),
    ],
)
def test_a_path_lights_what_the_request_passed_and_no_more(
    dynamic: requests.Dynamic, values: dict[str, Any], said: list[str], passed: set[str], not_passed: set[str]
) -> None:
    labels = requests.figure_path(one_row(Served("new", 1), values, said, Graphs()), dynamic)
    assert passed <= set(labels)
    assert not not_passed & set(labels)
    figure = catalog.load().figures["life-cycle"]
    for drawing in ("\n".join(figure.narrow), "\n".join(figure.wide)):
        assert all(drawing.count(label) == 1 for label in labels)


def test_what_was_not_called_has_no_path() -> None:
    missing = one_row(Served("new", 1), {"ended": "unavailable", "text": "cuda"}, [], Graphs())
    assert requests.figure_path(missing, "None") == ()
    assert requests.figure_path(requests.row(parse("(2, 3)"), Served("none"), None, Graphs()), "None") == ()
