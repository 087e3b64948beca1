"""What a grader has begun and not saved, on the disk: it outlives the window, the line and the gradebook's server.

A file for each answer, in the grader's own state folder and not in the gradebook: it can be written while the gradebook
is lost, locked or full; other graders, who may read all of a gradebook, see nothing before it is saved; and a key costs
a small local write, no transaction over the network. A file is replaced whole, so several windows and several boxes
that share a home never mix two drafts: the last one counts. It names an answer by the hand-in's hash, since the item
numbers of a gradebook that was put back from a copy may mean other answers; it holds no learner's name.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from tutor.classroom.sitting import COMMENT_MAX, Given
from tutor.learner.line_file import sync_folder, write_whole
from tutor.learner.scoring import VETOES
from tutor.model import Message
from tutor.paths import StateError, make_private, why

_SCHEMA = 1
#: Bytes of a file, at the most: a comment in JSON's longest spelling, and ticks.
_SIZE_MAX = 12 * COMMENT_MAX + 100_000


class Kept(NamedTuple):
    """A draft as it was kept: `item` is the gradebook's number then, `seen` the last score that was shown with it."""

    item: int
    seen: int | None
    given: Given


class Drafts:
    """The drafts of one grader in one class. Methods return at once and may be called from any thread; the disk is
    written by a thread of its own, and of each answer only what is newest."""

    def __init__(self, state: Path, class_id: str, grader: str, trouble: Callable[[Message], object]) -> None:
        """`trouble` is told, in that thread, why a draft could not be kept: once, until one could again."""
        self._folder = state / f"review-{class_id}"
        self._grader = grader
        self._trouble = trouble
        self._thread = ThreadPoolExecutor(1, "drafts")
        self._lock = threading.Lock()
        self._wanted: dict[str, Kept | None] = {}
        self._ready = False
        self.troubled = False
        """Whether something could not be kept, and only memory has it."""

    # --- keeping ------------------------------------------------------------------------------------------------------

    def keep(self, hand_in: str, question: str, kept: Kept) -> None:
        """Have this on the disk, in place of what was there of this answer. `hand_in` is its hash."""
        self._want(self._name(hand_in, question), kept)

    def drop(self, hand_in: str, question: str) -> None:
        """It is saved, or taken back: nothing stays on the disk."""
        self._want(self._name(hand_in, question), None)

    def flush(self, timeout_s: float) -> None:
        """Wait until all is on the disk. Raises TimeoutError."""
        self._thread.submit(lambda: None).result(timeout_s)

    def close(self) -> None:
        """Write what is left, and end."""
        self._thread.shutdown()

    # --- finding ------------------------------------------------------------------------------------------------------

    def find(self, hand_in: str, question: str) -> Kept | None:
        """What was kept of an answer, by any window of this grader. What cannot be read is none."""
        name = self._name(hand_in, question)
        with self._lock:
            if name in self._wanted:
                return self._wanted[name]
        return _read(self._folder / name)

    def items(self) -> frozenset[int]:
        """The gradebook's numbers of all that is begun and not saved."""
        with self._lock:
            wanted = dict(self._wanted)
        try:
            names = [path.name for path in self._folder.glob(f"{_quoted(self._grader)}.*.json")]
        except OSError:
            names = []
        found = [wanted[name] if name in wanted else _read(self._folder / name) for name in {*names, *wanted}]
        return frozenset(kept.item for kept in found if kept is not None)

    # --- the disk -----------------------------------------------------------------------------------------------------

    def _name(self, hand_in: str, question: str) -> str:
        return f"{_quoted(self._grader)}.{_quoted(question)}.{hand_in[:32]}.json"

    def _want(self, name: str, kept: Kept | None) -> None:
        with self._lock:
            is_new = name not in self._wanted
            self._wanted[name] = kept
        if is_new:  # otherwise it is waited for already
            self._thread.submit(self._write, name)

    def _write(self, name: str) -> None:
        """In the thread. What is being written stays in `_wanted` until it is on the disk: whoever looks finds it."""
        while True:
            with self._lock:
                kept = self._wanted[name]
            try:
                self._put(self._folder / name, kept)
            except (OSError, StateError) as error:
                self._told(error)
            else:
                self.troubled = False
            with self._lock:
                if self._wanted[name] is kept:
                    del self._wanted[name]
                    return

    def _put(self, path: Path, kept: Kept | None) -> None:
        if kept is None:
            if path.exists():
                path.unlink()
                sync_folder(path.parent)
            return
        if not self._ready:
            open_to_others = make_private(self._folder)
            self._ready = True
            if open_to_others is not None:
                self._trouble(open_to_others)
        write_whole(path, json.dumps(_to_data(kept)).encode())

    def _told(self, error: OSError | StateError) -> None:
        if not self.troubled:
            self.troubled = True
            if isinstance(error, StateError):
                self._trouble(error.message)
            else:
                self._trouble(Message("review.draft-failed", {"path": str(self._folder), "why": why(error)}))


def _quoted(name: str) -> str:
    """As a part of a file's name."""
    return quote(name, safe="").replace(".", "%2E")


def _to_data(kept: Kept) -> dict[str, Any]:
    given = kept.given
    return {
        "schema": _SCHEMA,
        "item": kept.item,
        "seen": kept.seen,
        "ticks": sorted(given.ticks),
        "by_hand": given.by_hand,
        "vetoes": dict(given.vetoes),
        "comment": given.comment,
    }


def _read(path: Path) -> Kept | None:
    try:
        if path.stat().st_size > _SIZE_MAX:
            return None
        return _of_data(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        return None


def _of_data(data: Any) -> Kept | None:
    """Raises ValueError for data of another shape; None for a schema that is not ours."""
    try:
        if data["schema"] != _SCHEMA:
            return None
        vetoes = tuple((veto, data["vetoes"][veto]) for veto in VETOES if veto in data["vetoes"])
        ticks, by_hand, comment, item, seen = (data[key] for key in ("ticks", "by_hand", "comment", "item", "seen"))
        well = (
            type(item) is int
            and (seen is None or type(seen) is int)
            and (by_hand is None or type(by_hand) is int)
            and type(comment) is str
            and type(ticks) is list
            and all(type(each) is str for each in ticks)
            and all(type(each) is bool for _, each in vetoes)
        )
    except (KeyError, TypeError) as error:
        raise ValueError("not a draft") from error
    if not well:
        raise ValueError("not a draft")
    return Kept(item, seen, Given(frozenset(ticks), by_hand, vetoes, comment[:COMMENT_MAX]))
