"""A learner's journal on disk: an append-only file of sealed lines that survives dropped lines, full disks and company.

In the folder of one lesson: `journal.jsonl` (the events), `snapshot.json` (what older events add up to), `history/`
(those older events), `damaged-<date>.jsonl` (lines that could not be read), `journal.lock` and `session.lock`.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tutor.learner import snapshot
from tutor.learner.journal_events import Events
from tutor.learner.journal_lines import SCHEMA, encode
from tutor.learner.line_file import LineFile
from tutor.learner.progress import MAX_TEXT, Event, Evidence, Progress, apply
from tutor.learner.session_lock import Claim, Owner, myself
from tutor.model import Message
from tutor.paths import StateError, make_private, why

__all__ = ["Journal", "Owner", "StateError"]

#: A journal longer than this many bytes is folded into a snapshot.
SEGMENT = 1_000_000

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time as the journal writes it."""
    return datetime.now(UTC)


class Journal:
    """One learner's events of one lesson, shared by every process that works on them.

    `progress` is what the events add up to, always the same object. `notices` are things to tell the learner, oldest
    first. `pending` are events that stand in `progress` but not yet on the disk. `read_only` says why nothing can be
    written, None normally; `lost_session` that another process took the screen over.
    """

    def __init__(self, folder: Path, clock: Clock) -> None:
        """Use `open`."""
        self.folder = folder
        self.session = os.urandom(4).hex()
        self._events = Events()
        self.progress = self._events.progress
        self.notices: list[Message] = []
        self.pending: list[Event] = []
        self.read_only: Message | None = None
        self.lost_session = False
        self._clock = clock
        self._count = 0
        self._lines = 0
        self._claim = Claim(folder, self._tell)
        self._claimed = self._closed = False
        self._stale = True
        self._mutex = threading.RLock()
        self._file = LineFile(folder / "journal.jsonl", folder / "journal.lock")

    @classmethod
    def open(cls, folder: Path, clock: Clock = utc_now) -> Journal:
        """The journal in `folder`, which is made (mode 0700) when missing. Raises StateError."""
        notice = make_private(folder)
        try:
            journal = cls(folder, clock)
        except IsADirectoryError:
            raise StateError("state.not-a-file", path=str(folder / "journal.jsonl")) from None
        except OSError as error:
            raise StateError("state.unusable", path=str(folder), why=why(error)) from error
        if notice is not None:
            journal.notices.append(notice)
        with journal._guarded():
            journal._load()
            journal._note_troubles()
            journal._flush()
        return journal

    # --- writing ------------------------------------------------------------------------------------------------------

    def append(self, kind: str, **data: Any) -> Event:
        """Record an event and fold it into `progress`; it is on the disk when this returns.

        Raises StateError. When the disk refuses, the event stands in `progress` and in `pending`, and `retry` (or the
        next append) writes it later. When the journal is read-only, or a text is longer than MAX_TEXT, it is not taken.
        """
        text = data.get("text")
        if isinstance(text, str) and len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT:
            raise StateError("state.text-too-long", limit=MAX_TEXT // 1024)
        return self._record(kind, lambda: data)

    def add_evidence(self, record: Mapping[str, Any]) -> str:
        """Record what an experiment left behind and return its id, unique among all processes. Raises StateError, with
        the evidence kept in `pending`."""
        event = self._record("evidence", lambda: {"id": self.progress.next_evidence_id(), "record": dict(record)})
        return str(event.data["id"])

    def retry(self) -> bool:
        """Write what is pending; True when nothing is left. Raises StateError when the disk still refuses."""
        with self._mutex:
            if self.pending:
                with self._guarded():
                    self._catch_up()
                    self._refuse_reader()
                    self._flush()
            return not self.pending

    def refresh(self) -> bool:
        """Fold in what other processes wrote since; True when there was something. Cheap when there was not. Raises
        StateError."""
        with self._mutex, self._telling_why():
            if self._claimed:
                self._claim.keep()
            if not self._file.changed():
                return False
            before = self._events.last_id
            with self._file.locked():
                self._catch_up()
                self._flush()
            return self._events.last_id != before

    def _record(self, kind: str, data: Callable[[], Mapping[str, Any]]) -> Event:
        with self._mutex:
            event: Event | None = None
            try:
                with self._guarded():
                    self._catch_up()
                    self._refuse_reader()
                    event = self._note(kind, data())
                    self._flush()
                    return event
            except StateError:
                if event is None and self.read_only is None:
                    self._note(kind, data())
                raise

    def _note(self, kind: str, data: Mapping[str, Any]) -> Event:
        at = self._clock().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        event = Event(f"{self.session}-{self._count + 1}", at, kind, data)
        encode(event)  # An error in the data shows here, before anything has changed.
        apply(self.progress, event)
        self._count += 1
        self.pending.append(event)
        return event

    def _flush(self) -> None:
        """Write the pending events, whole or not at all. Holds the lock. Raises OSError."""
        if not self.pending or self.read_only is not None:
            return
        self._file.append([encode(event) for event in self.pending])
        for event in self.pending:
            self._events.remember(event)
        self._lines += len(self.pending)
        self.pending.clear()
        if self._file.offset > SEGMENT:
            self._fold()

    def _fold(self) -> None:
        """Put a snapshot in place of the events so far, which move to `history/`. Holds the lock."""
        try:
            snapshot.write(self.folder, self.progress, self._events.last_id)
            self._to_history()
        except OSError as error:
            # Nothing is lost: the journal grows on until a later fold succeeds.
            self._tell(Message("state.no-snapshot", {"path": str(self.folder), "why": why(error)}))

    def _to_history(self) -> None:
        """Move the journal, which the snapshot covers, and start a new one. Raises OSError."""
        snapshot.to_history(self.folder, self._file.path)
        self._file.open()
        self._lines = 0
        self._events.forget_lines()

    # --- reading ------------------------------------------------------------------------------------------------------

    def _load(self) -> None:
        """Read everything from the start. Holds the lock. Raises OSError, with `progress` as it was."""
        self._stale = True
        self._file.open()
        if self._file.unwritable is not None:
            what = {"path": str(self._file.path), "why": why(self._file.unwritable)}
            self._become_reader(Message("state.not-writable", what))
        progress, covered = self._read_snapshot()
        history = [] if progress else [(each.name, each.read_bytes()) for each in snapshot.segments(self.folder)]
        lines = self._file.new_lines()
        if covered and any(line.startswith(_start(covered)) for line in lines):
            # The last fold was cut short between its two steps: these lines are in the snapshot already.
            lines = []
            if self.read_only is None:
                self._to_history()

        self._events.begin(progress or Progress(), covered)
        for name, raw in history:
            self._take(raw.rstrip(b"\n").split(b"\n"), f"history/{name}", 0)
        self._lines = self._take(lines, self._file.path.name, 0)
        self._renumber_evidence()
        for event in self.pending:
            apply(self.progress, event)
        self._stale = False

    def _read_snapshot(self) -> tuple[Progress | None, str]:
        """What the snapshot holds and the id of the last event that it covers; None and "" when there is none that can
        be used, and the events in `history/` have to be read again. Raises OSError."""
        path = snapshot.path(self.folder)
        try:
            return snapshot.read(self.folder) or (None, "")
        except snapshot.FromTheFuture:
            self._become_reader(Message("state.from-the-future", {"path": str(path)}))
        except snapshot.Damaged as damage:
            aside = path if self.read_only is not None else snapshot.put_aside(self.folder, self._clock())
            key = "state.snapshot-damaged" if damage.has_history else "state.snapshot-lost"
            self._tell(Message(key, {"path": str(path), "aside": str(aside)}))
        return None, ""

    def _catch_up(self) -> None:
        """Fold in the lines after those we know. Holds the lock. Raises OSError."""
        if self._stale or self._file.replaced():
            self._load()
        else:
            self._lines += self._take(self._file.new_lines(), self._file.path.name, self._lines)
            self._renumber_evidence()
        if self._claimed and self.progress.owner not in (None, self.session):
            self.lost_session = True
            self._become_reader(Message("state.session-lost"))
            self._claim.release()

    def _renumber_evidence(self) -> None:
        """Evidence that waits for room gives way to one that was written meanwhile under the same id."""
        for place, event in enumerate(self.pending):
            if event.kind != "evidence":
                continue
            old, record = event.data["id"], event.data["record"]
            kept = self.progress.evidence.get(old)
            if kept is None or kept == Evidence(old, event.at, record):
                continue
            new = self.progress.next_evidence_id()
            self.pending[place] = event._replace(data={"id": new, "record": record})
            apply(self.progress, self.pending[place])
            self._tell(Message("state.evidence-renamed", {"old": old, "new": new}))

    def _take(self, lines: list[bytes], name: str, before: int) -> int:
        """Fold in lines of the file `name`, which follow `before` others; returns how many."""
        taken = self._events.take(lines, before)
        if taken.from_the_future:
            self._become_reader(Message("state.from-the-future", {"path": str(self.folder / name)}))
        if taken.damaged:
            self._put_aside(taken.damaged, name)
        return len(lines)

    def _put_aside(self, damaged: dict[int, bytes], name: str) -> None:
        """Copy damaged lines to a file of their own and say so, once."""
        names = self._events.set_aside(damaged)
        aside = self.folder / f"damaged-{self._clock():%Y-%m-%d}.jsonl"
        what: dict[str, str | int] = {
            "count": len(damaged),
            "lines": ", ".join(map(str, damaged)),
            "path": str(self.folder / name),
        }
        if self.read_only is None:
            try:
                fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
                with os.fdopen(fd, "wb") as file:
                    file.write(b"".join(line + b"\n" for line in damaged.values()))
            except OSError as error:
                self._tell(Message("state.damaged-stays", {**what, "why": why(error)}))
                return
            self._tell(Message("state.damaged", {**what, "aside": str(aside)}))
            self._note("set_aside", {"lines": names})
        else:
            self._tell(Message("state.damaged-read-only", what))

    # --- sessions -----------------------------------------------------------------------------------------------------

    def claim_session(self) -> Owner | None:
        """Take the learner's screen and record `opened`; returns the process that has it already, if one is alive.

        Then `take_over` or `only_read` decides. Call `refresh` now and then afterwards: `lost_session` says whether
        another process took over meanwhile. `progress.dropped` says whether the session before ended badly.
        """
        with self._mutex:
            if self.read_only is not None:
                return None
            me = self._myself()
            owner = self._claim.take(me)
            if owner is None:
                self._enter("opened", me)
            return owner

    def take_over(self) -> None:
        """Take the screen from the process that has it; that one goes read-only when it next looks."""
        with self._mutex:
            me = self._myself()
            self._claim.take_over(me)
            self._enter("session", me)

    def only_read(self) -> None:
        """Leave the screen to the process that has it: nothing is written from here."""
        self._become_reader(Message("state.reader"))

    def close(self) -> None:
        """Record `closed`, give the screen back and let go of the files. What is pending is tried once more. Raises
        StateError when that could not be written; everything is let go of all the same."""
        with self._mutex:
            if self._closed:
                return
            self._closed = True
            try:
                if self.read_only is None:
                    if self._claimed:
                        self.append("closed")
                    else:
                        self.retry()
            finally:
                self._claim.release()
                self._file.close()

    def _myself(self) -> Owner:
        return myself(self.session, self._clock().astimezone(UTC).isoformat(timespec="seconds"))

    def _enter(self, kind: str, me: Owner) -> None:
        try:
            self.append(kind, pid=me.pid, host=me.host, tty=me.tty)
        except StateError as error:
            self._tell(error.message)
        self._claimed = True

    # --- notices and refusals -----------------------------------------------------------------------------------------

    def _note_troubles(self) -> None:
        if self._file.unlocked is not None and self.read_only is None:
            self._tell(Message("state.no-locks", {"path": str(self.folder), "why": why(self._file.unlocked)}))

    def _tell(self, notice: Message) -> None:
        if notice not in self.notices:
            self.notices.append(notice)

    def _become_reader(self, reason: Message) -> None:
        if self.read_only is None:
            self.read_only = reason
            self._tell(reason)

    def _refuse_reader(self) -> None:
        if self.read_only is not None:
            raise StateError(self.read_only.key, **self.read_only.args)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        with self._telling_why(), self._file.locked():
            yield

    @contextmanager
    def _telling_why(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError as error:
            raise StateError("state.busy", path=str(self.folder)) from error
        except IsADirectoryError as error:
            raise StateError("state.not-a-file", path=str(self._file.path)) from error
        except OSError as error:
            key = "state.disk-full" if error.errno in _FULL else "state.unusable"
            raise StateError(key, path=str(self.folder), why=why(error)) from error


def _start(event_id: str) -> bytes:
    """How the line of an event begins."""
    return f'{{"schema":{SCHEMA},"id":"{event_id}",'.encode()
