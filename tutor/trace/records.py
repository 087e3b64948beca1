"""The records of a TORCH_TRACE file, as bytes come in: one pass, bounded memory, damage named and survived (pure).

A record is a line `V<MMDD> <HH:MM:SS.micros> <process> <file>:<line>] {json}`, whose first key is its kind. With
`has_payload` (the md5 of the UTF-8 text) the payload follows, each of its lines behind one tab. Written so by torch 2.6
to 2.14. Nothing in such a file is to be trusted: it may be cut, mixed with other output, or made by hand.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

#: Bytes of a header and of a payload that are kept; what is longer is left out and said to be `long`.
HEAD_MAX, PAYLOAD_MAX = 4 << 20, 1 << 20
#: Kinds of one file that are told apart; the writer decides how many there are.
KINDS_MAX = 500

Damage = Literal["stray", "json", "payload", "long", "cut"]
"""`stray`: a line that is no record; `json`: a header that is not the JSON it should be; `payload`: not the text that
was written; `long`: longer than is kept; `cut`: the file ends inside it."""

#: Kinds that explain something. All else is counted and skipped unread: most of a file.
READ = frozenset(
    {
        *("str", "dynamo_start", "dynamo_output_graph", "compilation_metrics", "bwd_compilation_metrics"),
        *("inductor_output_code", "artifact"),
    }
)
#: Artifacts that explain something.
ARTIFACTS = frozenset(
    {
        *("torch_version", "recompile_reasons", "dynamo_graph_break_reason", "dynamo_error"),
        *("fx_graph_cache_hit", "fx_graph_cache_miss", "fx_graph_cache_bypass"),
        *("aotautograd_cache_hit", "aotautograd_cache_miss", "aotautograd_cache_bypass"),
        "inductor_collective_schedule",
    }
)
#: Kinds and artifacts whose payload is read.
_PAYLOADS = frozenset(
    {
        *("dynamo_output_graph", "torch_version", "recompile_reasons", "dynamo_graph_break_reason", "dynamo_error"),
        "inductor_collective_schedule",
    }
)
#: Kinds that torch is known to write besides.
KNOWN = READ | {
    *("chromium_event", "describe_tensor", "describe_storage", "describe_source", "create_symbol", "stack"),
    *("create_unbacked_symbol", "guard_added", "guard_added_fast", "dynamo_cpp_guards_str", "dynamo_guards"),
    *("aot_joint_graph", "aot_forward_graph", "aot_backward_graph", "aot_inference_graph", "compiled_autograd_graph"),
    *("inductor_post_grad_graph", "inductor_input_graph", "graph_dump", "dump_file", "link", "exported_program"),
    *("export", "expression_created", "symbolic_shape_specialization", "guard_on_data_dependent_error"),
    *("mismatched_fake_kernel", "missing_fake_kernel", "propagate_real_tensors", "propagate_real_tensors_provenance"),
    *("optimize_ddp_split_child", "optimize_ddp_split_graph", "torch_version", "exception", "log_level"),
}

_HEAD = re.compile(rb"[A-Z](\d{4}) (\d\d:\d\d:\d\d\.\d{1,9}) (\d{1,19}) [^\n]{1,4096}?:\d{1,9}\] (?=\{)")
_KIND = re.compile(rb'\{"([A-Za-z0-9_.-]{1,100})": ?(?:\{"name": ?"([^"\\]{1,200})")?')
#: NaN and the infinities are no JSON, and no number that torch would mean.
_JSON = json.JSONDecoder(parse_constant=lambda _name: None)
#: A record ends before a line that has no tab; blank lines belong to what stands before them.
_BOUNDARY = re.compile(rb"\n(?![\t\n])")


class Record(NamedTuple):
    """One record that explains something, or a damage where there is none (`kind` is then empty).

    `name` is an artifact's, `at` is `11-30 00:33:09.259`, `damage` says what is wrong with a record all the same used.
    """

    kind: str
    name: str
    meta: dict[str, Any]
    payload: str
    process: int
    at: str
    damage: Damage | None = None


class Reader:
    """Turns bytes into records. `kinds` counts all records of each kind, those that are skipped too."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self._held = b""
        self._head = bytearray()
        self._body: list[bytes] = []
        self._size = 0
        self._in_body = False
        self._keeps = False
        self._wrong: Damage | None = None

    def feed(self, data: bytes) -> Iterator[Record]:
        """The records that end in these bytes. A newline at the end waits: the next byte says what follows it."""
        data = self._held + data
        self._held = b""
        if data.endswith(b"\n"):
            data, self._held = data.rstrip(b"\n"), b"\n"
        start = 0
        while True:
            found = _BOUNDARY.search(data, start)
            self._add(data, start, found.start() if found else len(data))
            if found is None:
                return
            start = found.end()
            record = self._finish(whole=True)
            if record is not None:
                yield record

    def pause(self) -> Iterator[Record]:
        """The last record when it is whole without what follows: one that has no payload, up to its newline."""
        if self._held and not self._in_body and self._head and b'"has_payload"' not in self._head:
            record = self._finish(whole=True)
            self._held = b""
            if record is not None:
                yield record

    def end(self) -> Iterator[Record]:
        """What is left when the file ends here."""
        record = self._finish(whole=bool(self._held))
        self._held = b""
        if record is not None:
            yield record

    def _add(self, data: bytes, start: int, end: int) -> None:
        if not self._in_body:
            newline = data.find(b"\n", start, end)
            stop = newline if newline >= 0 else end
            if len(self._head) + stop - start > HEAD_MAX:
                self._wrong = "long"
                del self._head[HEAD_MAX:]
            else:
                self._head += data[start:stop]
            if newline < 0:
                return
            self._in_body, start = True, newline
            self._keeps = self._wanted()
        if self._keeps and start < end:
            room = PAYLOAD_MAX - self._size
            if end - start > room:
                self._wrong = "long"
            self._body.append(data[start : min(end, start + room)])
            self._size += len(self._body[-1])

    def _wanted(self) -> bool:
        head = _HEAD.match(self._head)
        named = _KIND.match(self._head, head.end()) if head else None
        if named is None:
            return False
        kind, name = _names(named)
        return (name if kind == "artifact" else kind) in _PAYLOADS

    def _finish(self, whole: bool) -> Record | None:
        head, body, wrong = bytes(self._head), b"".join(self._body), self._wrong
        had_body, kept = self._in_body, self._keeps
        self._head.clear()
        self._body.clear()
        self._size, self._in_body, self._keeps, self._wrong = 0, False, False, None
        if not head.strip():
            return None
        found = _HEAD.match(head)
        if found is None:
            return Record("", "", {}, "", 0, "", "cut" if not whole else wrong or "stray")
        day, clock, process = (part.decode("ascii") for part in found.groups())
        at = f"{day[:2]}-{day[2:]} {clock[:12]}"
        damaged = Record("", "", {}, "", int(process), at, "json" if whole else "cut")
        named = _KIND.match(head, found.end())
        if named is None:
            return damaged
        kind, name = _names(named)
        if kind in self.kinds or len(self.kinds) < KINDS_MAX:
            self.kinds[kind] += 1
        if kind == "artifact" and not name:
            return damaged
        if kind not in READ or (kind == "artifact" and name not in ARTIFACTS):
            return None if whole else damaged
        if wrong == "long" and not had_body:
            return damaged._replace(damage="long")
        try:
            meta = _JSON.decode(head[found.end() :].decode())
        except (ValueError, RecursionError):
            return damaged
        if not isinstance(meta, dict) or kind not in meta:
            return damaged
        wants = meta.get("has_payload")
        if not kept:
            if wants is not None and not had_body and not whole:
                wrong = "cut"
            return Record(kind, name, meta, "", int(process), at, wrong)
        raw = body.rstrip(b"\n").replace(b"\n\t", b"\n")[1:]
        if wrong is None and hashlib.md5(raw, usedforsecurity=False).hexdigest() != wants:
            wrong = "payload" if whole else "cut"
        return Record(kind, name, meta, raw.decode("utf-8", "backslashreplace"), int(process), at, wrong)


def _names(named: re.Match[bytes]) -> tuple[str, str]:
    return named[1].decode("ascii"), (named[2] or b"").decode("utf-8", "replace")
