"""What torch says of a guard that failed, read into the learner's terms (pure; texts of torch 2.6 to 2.14)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_ENTRY = re.compile(r"(?P<entry>\d+/\d+(?:_\d+)?): ")
_PLAIN = (
    (re.compile(r"\b[LG]\['([^']+)'\]"), r"\1"),
    (re.compile(r"\._(?:modules|parameters|buffers)\['([^']+)'\]"), r".\1"),
    (re.compile(r"\.(size|stride)\(\)\[(\d+)\]"), r".\1(\2)"),
)
_TENSOR = re.compile(
    r"tensor '(?P<x>.+?)' (?P<what>size|stride|dtype|requires_grad|dispatch key set|rank|Python type) mismatch"
    r"(?: at index (?P<at>\d+))?\. (?P<rest>.*)"
)
_SIDES = re.compile(
    r"expected (?:requires_grad=)?(?P<was>.+?),? (?:actual|to be requires_grad=|but got|got) ?(?P<now>.*)"
)
#: The kinds in the order in which torch checks them, as far as it matters for which entry came closest.
_ORDER = (
    *("global", "grad_mode", "type", "device", "dtype", "requires_grad", "rank"),
    *("size", "stride", "other", "value", "duck", "zero_one"),
)
_KINDS = {"dispatch key set": "device", "Python type": "type"}
_SIZE = re.compile(r"\b\w+\.size\(\d+\)")


class Reason(NamedTuple):
    """One entry's first failing guard.

    `entry` is the entry's compile id ("0/2", empty when torch did not say), `kind` one of size, stride, dtype,
    requires_grad, device, rank, type, zero_one, duck, grad_mode, global, value, other; `about` what it is about, `was`
    and `now` both sides where torch names them; `text` torch's words without its internal names.
    """

    entry: str
    kind: str
    about: str
    was: str
    now: str
    text: str


def read(raw: str) -> Reason:
    """One of torch's recompile reasons. Never fails: what is not known is `other`, in torch's own words."""
    match = _ENTRY.match(raw)
    entry = match["entry"] if match else ""
    words = plain_words(raw[match.end() :] if match else raw)
    tensor = _TENSOR.match(words)
    if tensor is not None:
        kind = _KINDS.get(tensor["what"], tensor["what"])
        about = f"{tensor['x']}.{kind}" + (f"({tensor['at']})" if tensor["at"] else "")
        sides = _SIDES.match(tensor["rest"])
        was, now = (sides["was"].strip(" ."), sides["now"].strip(" .")) if sides else ("", "")
        return Reason(entry, kind, about, was, now, words)
    if words.startswith("GLOBAL_STATE changed"):
        what = words.partition(":")[2].strip()
        return Reason(entry, "grad_mode" if "grad_mode" in what else "global", what or "global state", "", "", words)
    return Reason(entry, _expression(words), words, "", "", words)


def nearest(said: Sequence[Reason]) -> Reason | None:
    """Of the entries that refused, the reason of the one that came closest: whose guards failed last. torch checks the
    global state first, then a tensor's kind, its sizes and strides, and the expressions over symbolic sizes at the end.
    """
    return max(said, key=lambda reason: _ORDER.index(reason.kind), default=None)


def plain_words(raw: str) -> str:
    """torch's text without `L['x']`, source lines and stack traces."""
    words = re.split(r"\n|\s{2,}#|\s+\(HINT|\s+\(user code shown", raw.strip(), maxsplit=1)[0].strip()
    for pattern, to in _PLAIN:
        words = pattern.sub(to, words)
    return words


def _expression(words: str) -> str:
    if ".stride(" in words:
        return "stride"
    sizes = _SIZE.findall(words)
    if re.match(r"2 <= \w+\.size\(\d+\)", words) or re.search(r"\.size\(\d+\) (?:>= 2|> 1|!= [01])", words):
        return "zero_one"
    if len(set(sizes)) > 1 and re.search(r"==|!=", words):
        return "duck"
    if sizes:
        return "size"
    return "value" if "==" in words or words.startswith("len(") else "other"
