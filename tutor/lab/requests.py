"""The request lab: lines that ask for a tensor, the learner's key as a cache, where real guards part with it (pure).

    (8, 256, 4096) bf16 cuda transposed no_grad

The shape comes first; the rest is in any order and may be left out: a dtype (bf16), a device (the one here), one layout
(transposed, sliced, expanded) and one state of autograd (no_grad, requires_grad).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from tutor import literals
from tutor.lab import reasons
from tutor.lab.reasons import Reason
from tutor.model import Message, Plain, Raised, TutorError
from tutor.sandbox.outcome import Outcome, Result, Returned

DRAFT = "requests"
DEFAULT = "(2, 128, 4096) bf16\n(8, 256, 4096) bf16\n(2, 128, 2048) bf16"
LINES_MAX, LINE_MAX = 40, 120
#: The largest tensor, in elements: a list of requests has to run in seconds, in the memory of a shared box.
ELEMENTS_MAX = 1 << 24
RANK_MAX = 6
DTYPES = ("f32", "f64", "f16", "bf16", "i32", "i64", "u8", "bool")
#: What can have a gradient.
_FLOATS = ("f32", "f64", "f16", "bf16")
LAYOUTS = ("transposed", "sliced", "expanded")
GRADS = ("no_grad", "requires_grad")
_ALIASES = {
    "bfloat16": "bf16",
    "float16": "f16",
    "half": "f16",
    "float32": "f32",
    "float": "f32",
    "float64": "f64",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
}

Dynamic = Literal["None", "False", "True", "mark"]
DYNAMICS: tuple[Dynamic, ...] = ("None", "False", "True", "mark")
#: The worked example's promise: batch and sequence vary, the hidden size does not.
_PROMISED = (0, 1)

_SHAPE = re.compile(r"\(\s*(?:\d{1,9}\s*(?:,\s*\d{1,9}\s*)*,?\s*)?\)")


class RequestError(TutorError):
    """A line asks for nothing that can be made; `message` says what to write."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `device` is empty for the lab's own; `layout` and `grad` are empty for the usual."""

    shape: tuple[int, ...]
    dtype: str = "bf16"
    device: str = ""
    layout: str = ""
    grad: str = ""

    @property
    def words(self) -> str:
        """The request as a line again, in the order in which it is best read."""
        return " ".join(part for part in (str(self.shape), self.dtype, self.device, self.layout, self.grad) if part)

    def as_data(self) -> dict[str, Any]:
        return {
            "shape": list(self.shape),
            "dtype": self.dtype,
            "device": self.device,
            "layout": self.layout,
            "grad": self.grad,
        }


def parse(line: str) -> Request:
    """Read a line. Raises RequestError, whose message says what to write instead."""
    if len(line) > LINE_MAX:
        raise RequestError("lab_views.request-long", most=LINE_MAX)
    text = line.strip().translate(str.maketrans("（），", "(),"))
    match = _SHAPE.match(text)
    if match is None:
        raise RequestError("lab_views.request-shape")
    shape = tuple(int(size) for size in re.findall(r"\d+", match[0]))
    if len(shape) > RANK_MAX:
        raise RequestError("lab_views.request-rank", most=RANK_MAX)
    if math.prod(shape) > ELEMENTS_MAX:
        raise RequestError("lab_views.request-large", most=ELEMENTS_MAX)
    found: dict[str, str] = {}
    for word in text[match.end() :].replace(",", " ").split():
        name, value = _word(word)
        if found.setdefault(name, value) != value:
            raise RequestError("lab_views.request-twice", one=found[name], other=value)
    request = Request(shape, **found)
    _possible(request)
    return request


def _word(word: str) -> tuple[str, str]:
    low = _ALIASES.get(word.lower(), word.lower())
    for name, known in (("dtype", DTYPES), ("layout", LAYOUTS), ("grad", GRADS), ("device", ("cpu", "cuda"))):
        if low in known:
            return name, low
    raise RequestError("lab_views.request-word", word=literals.safe_text(word, 30))


def _possible(request: Request) -> None:
    if request.layout == "transposed" and len(request.shape) < 2:
        raise RequestError("lab_views.request-transposed")
    if request.layout == "sliced" and not request.shape:
        raise RequestError("lab_views.request-sliced")
    if request.layout == "expanded" and not request.shape:
        raise RequestError("lab_views.request-expanded")
    if request.grad == "requires_grad" and request.dtype not in _FLOATS:
        raise RequestError("lab_views.request-grad", dtype=request.dtype)


def lines_of(text: str) -> list[str]:
    """The lines of a saved draft, empty ones left out."""
    return [line.strip()[: 2 * LINE_MAX] for line in text.splitlines() if line.strip()][:LINES_MAX]


# --- the learner's key as a cache -------------------------------------------------------------------------------------


def dynamic_dims(dynamic: Dynamic, rank: int) -> set[int]:
    """What the key is told is dynamic. `None` and `mark` are the lesson's promise, `False` nothing, `True` all."""
    if dynamic == "False":
        return set()
    return set(range(rank)) if dynamic == "True" else set(_PROMISED)


def key_call(request: Request, dynamic: Dynamic, device: str) -> tuple[Plain, ...]:
    """The arguments of `guard_key` for a request; `device` is where a request that names none is made."""
    dims = dynamic_dims(dynamic, len(request.shape))
    return request.shape, dims, request.dtype, request.device or device


class Served(NamedTuple):
    """What the key cache did: `hit`, `new`, `error` (`why` says), or `none` when there is no key to ask."""

    how: Literal["hit", "new", "error", "none"]
    entry: int | None = None
    why: Message | None = None


class Key(NamedTuple):
    """One entry of the key cache, numbered from 1, and how many calls it stands for."""

    number: int
    key: Plain
    calls: int


class KeyCache:
    """A dict of the keys that the sandbox returned; they are literals here and nothing of the learner's runs."""

    def __init__(self) -> None:
        self._keys: list[Plain] = []
        self._calls: list[int] = []

    def look(self, result: Result | None) -> Served:
        """Serve one call's result. None: it was not asked for."""
        if result is None:
            return Served("none")
        if isinstance(result, Raised):
            kind = literals.safe_text(result.kind or result.text, 60)
            return Served("error", why=Message("lab_views.key-raised", {"kind": kind}))
        if not literals.is_plain(result.value) or not _hashable(result.value):
            shown = literals.show(result.value, 60)
            return Served("error", why=Message("lab_views.key-unhashable", {"value": shown}))
        for place, key in enumerate(self._keys):
            if key == result.value:  # As a dict compares: True is 1 there.
                self._calls[place] += 1
                return Served("hit", place + 1)
        self._keys.append(result.value)
        self._calls.append(1)
        return Served("new", len(self._keys))

    @property
    def keys(self) -> tuple[Key, ...]:
        return tuple(Key(n, key, calls) for n, (key, calls) in enumerate(zip(self._keys, self._calls, strict=True), 1))


def _hashable(value: Plain) -> bool:
    if type(value) is tuple:
        return all(map(_hashable, value))
    return type(value) not in (list, set)


def key_results(outcome: Outcome, count: int) -> tuple[list[Result | None], Message | None]:
    """The result of each of `count` calls, and why some have none: the blank is empty, refused, or did not end."""
    got: list[Result | None] = [result for result in outcome.results if isinstance(result, (Returned, Raised))]
    if outcome.ending == "ok" and len(got) == count:
        return got, None
    why = outcome.message or Message("check.not_run")
    return got[:count] + [None] * (count - len(got)), why


# --- both sides -------------------------------------------------------------------------------------------------------


class Dynamo(NamedTuple):
    """What Dynamo did with one request: `served` and `new` name graphs ("g0"), `eager` is a call that no graph ran,
    `unavailable` one that could not be made here, `error` one that raised `text`."""

    how: Literal["served", "new", "eager", "unavailable", "error"]
    graphs: str = ""
    reasons: tuple[Reason, ...] = ()
    same_as_eager: bool | None = None
    text: str = ""


class Row(NamedTuple):
    """A request with both answers. `tried` are the graphs that refused, the one used last first."""

    request: Request
    key: Served
    dynamo: Dynamo | None
    differs: bool
    tried: tuple[str, ...] = ()


class Graphs:
    """Numbers graphs g0, g1, ... in the order in which they came, by the compile ids that torch gave them."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def name(self, compile_id: str) -> str:
        return self._names.setdefault(compile_id, f"g{len(self._names)}")

    def known(self, compile_id: str) -> str:
        """The name of a graph that was seen before; torch's own id when it was not."""
        return self._names.get(compile_id, compile_id)

    @property
    def count(self) -> int:
        return len(self._names)


def dynamo(values: Mapping[str, Any], said: Sequence[str], graphs: Graphs) -> Dynamo:
    """One observation of the child, read. Raises KeyError and ValueError when it is not one."""
    ended = values["ended"]
    if ended in ("unavailable", "error"):
        return Dynamo(ended, text=str(values["text"]))
    told = tuple(reasons.read(text) for text in said)
    if values["served_by"] == "eager":
        return Dynamo("eager", reasons=told, same_as_eager=values["same_as_eager"])
    names = "+".join(graphs.name(each) for each in str(values["served_by"]).split("+"))
    how: Literal["new", "served"] = "new" if values["new_graphs"] else "served"
    return Dynamo(how, names, told, values["same_as_eager"])


def row(request: Request, key: Served, answer: Dynamo | None, graphs: Graphs) -> Row:
    """Both sides of one request. They differ when one would have run old code and the other not."""
    if answer is None or answer.how == "unavailable":
        return Row(request, key, answer, False)
    tried = tuple(graphs.known(reason.entry) for reason in answer.reasons if reason.entry)
    differs = key.how != "none" and {"hit": "served", "new": "new"}.get(key.how) != answer.how
    return Row(request, key, answer, differs, tried)


def explain(one: Row, dynamic: Dynamic, *, limit: int | None = None) -> Message:
    """One plain sentence on a row: why Dynamo did what it did, and why the key did not."""
    answer = one.dynamo
    if answer is None:
        return Message("lab_views.plain-not-run")
    if answer.how in ("unavailable", "error"):
        return Message(f"lab_views.plain-{answer.how}", {"text": answer.text})
    if answer.how == "eager":
        return Message("lab_views.plain-limit", {"limit": limit or 0})
    if one.key.how == "error":
        return Message("lab_views.plain-key-error")
    if answer.how == "served":
        return Message("lab_views.plain-served-new" if one.key.how == "new" else "lab_views.plain-served")
    nearest = reasons.nearest(answer.reasons)
    if nearest is None:
        return Message("lab_views.plain-first" if answer.graphs == "g0" else "lab_views.plain-unsaid")
    kind = nearest.kind
    if kind == "size":
        automatic = dynamic == "None" and one.key.how == "hit"
        return Message("lab_views.plain-size-first" if automatic else "lab_views.plain-size")
    known = ("stride", "dtype", "requires_grad", "device", "rank", "zero_one", "duck", "grad_mode", "global")
    return Message(f"lab_views.plain-{kind if kind in known else 'other'}")


def figure_path(one: Row, dynamic: Dynamic) -> tuple[str, ...]:
    """The labels of the lesson's figure of a call's life that this request passed; none when there was no call.

    STATIC or DYNAMIC is among them only where it follows from what was seen: a first capture that was told nothing
    takes sizes as they are, the first change of one makes it a symbol (but for 0 and 1), under dynamic=False none is.
    """
    answer = one.dynamo
    if answer is None or answer.how in ("unavailable", "error"):
        return ()
    if answer.how == "served":
        return "CALL", "GUARDS", "HIT", "FAST PATH", "RESULT"
    if answer.how == "eager":
        return "CALL", "GUARDS", "MISS", "LIMIT", "EAGER", "RESULT"
    nearest = reasons.nearest(answer.reasons)
    kind: tuple[str, ...] = ()
    if dynamic == "False" or (dynamic == "None" and nearest is None and answer.graphs == "g0"):
        kind = ("STATIC",)
    elif dynamic == "None" and nearest is not None and nearest.kind == "size" and nearest.now not in ("0", "1"):
        kind = ("DYNAMIC",)
    return "CALL", "GUARDS", "MISS", "RECAPTURE", *kind, "NEW ENTRY", "RESULT"


def first_difference(rows: Iterable[Row]) -> int | None:
    """The place of the first row in which both sides part, None when there is none."""
    return next((n for n, one in enumerate(rows) if one.differs), None)
