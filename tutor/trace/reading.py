"""Reads traces in one pass and bounded memory, as far as they are written: at once, or again and again beside a job."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tutor.paths import why
from tutor.trace.facts import Event, Facts
from tutor.trace.fields import Frame
from tutor.trace.files import TraceFile, opened
from tutor.trace.job import Job
from tutor.trace.records import Reader, Record

#: Bytes read at once.
CHUNK = 1 << 20
#: Processes of one file: with torch up to 2.12 a forked child writes into its parent's.
PROCESSES_MAX = 64


class Reading:
    """The traces of one job. `job` holds what was read so far, `unreadable` files that stopped being readable."""

    def __init__(self) -> None:
        self.job = Job()
        self.unreadable: dict[str, str] = {}
        self._files: dict[str, _File] = {}
        self._count = 0

    def add(self, file: TraceFile) -> None:
        """Read this file too; one that is known already is not read twice."""
        if file.name not in self._files:
            one = self._files[file.name] = _File(file)
            self.job.files[file.name] = one.reader.kinds

    def more(self) -> Iterator[Event]:
        """The events of everything written since, and a `progress` for each piece read. What a file gains while it is
        read waits for the next time: who writes faster than this reads would hold us for ever."""
        for one in self._files.values():
            if one.file.name in self.unreadable:
                continue
            try:
                with opened(one.file.path) as file:
                    file.seek(one.read)
                    size = os.fstat(file.fileno()).st_size
                    while data := file.read(min(CHUNK, max(0, size - one.read))):
                        one.read += len(data)
                        for record in one.reader.feed(data):
                            yield from self._take(one, record)
                        yield {"event": "progress", "file": one.file.name, "bytes": len(data)}
                for record in one.reader.pause():
                    yield from self._take(one, record)
            except OSError as error:
                self.unreadable[one.file.name] = why(error)

    def end(self) -> Iterator[Event]:
        """What is left when nothing more will be written."""
        for one in self._files.values():
            for record in one.reader.end():
                yield from self._take(one, record)
            for facts in one.facts.values():
                yield from self._counted(facts.end())

    def compiling(self) -> list[Frame]:
        """What processes are compiling at this moment, as far as they have said."""
        return [frame for one in self._files.values() for facts in one.facts.values() for frame in facts.open_frames()]

    def _take(self, one: _File, record: Record) -> Iterator[Event]:
        process = record.process or one.newest  # What is no record belongs to whoever wrote last.
        facts = one.facts.get(process)
        if facts is None and len(one.facts) < PROCESSES_MAX:
            facts = one.facts[process] = Facts(f"p{self._count}", one.file.rank)
            self._count += 1
            self.job.know(facts, one.file.name, process)
        if facts is None:
            facts = one.facts[one.newest]
        else:
            one.newest = process
        yield from self._counted(facts.take(record))

    def _counted(self, events: Iterator[Event]) -> Iterator[Event]:
        for event in events:
            self.job.take(event)
            yield event


class _File:
    """How far one file was read, and the processes in it."""

    def __init__(self, file: TraceFile) -> None:
        self.file = file
        self.read = 0
        self.newest = 0
        self.reader = Reader()
        self.facts: dict[int, Facts] = {}
