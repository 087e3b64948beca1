"""What older events of a journal add up to, in one file that is replaced as a whole, and those events in `history/`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from tutor.learner.journal_lines import SCHEMA, seal, unseal
from tutor.learner.line_file import sync_folder, write_whole
from tutor.learner.progress import Progress


class Damaged(Exception):
    """The snapshot cannot be used; `has_history` says whether the events that it stood for can be read again."""

    def __init__(self, has_history: bool) -> None:
        super().__init__(has_history)
        self.has_history = has_history


class FromTheFuture(Exception):
    """A newer tutor wrote the snapshot."""


def path(folder: Path) -> Path:
    """Where the snapshot of the journal in `folder` is."""
    return folder / "snapshot.json"


def write(folder: Path, progress: Progress, last: str) -> None:
    """Put a snapshot in place that covers everything up to the event `last`. Raises OSError."""
    write_whole(path(folder), seal({"schema": SCHEMA, "last": last, "progress": progress.to_data()}))


def read(folder: Path) -> tuple[Progress, str] | None:
    """The progress and the id of the last event that it covers; None without a snapshot. Raises OSError, Damaged,
    FromTheFuture."""
    try:
        table = unseal(path(folder).read_bytes())
        if table["schema"] > SCHEMA:
            raise FromTheFuture
        return Progress.from_data(table["progress"]), str(table["last"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Damaged(bool(segments(folder))) from error


def put_aside(folder: Path, now: datetime) -> Path:
    """Move a damaged snapshot out of the way, and say where to. Raises OSError."""
    aside = folder / f"damaged-{now:%Y-%m-%dT%H%M%S}-{path(folder).name}"
    path(folder).rename(aside)
    return aside


def segments(folder: Path) -> list[Path]:
    """The files in `history/`, oldest first."""
    found = (folder / "history").glob("journal-*.jsonl")
    return sorted(each for each in found if each.stem.rpartition("-")[2].isdecimal())


def to_history(folder: Path, journal: Path) -> None:
    """Move a journal that the snapshot covers to `history/`. Raises OSError."""
    history = folder / "history"
    history.mkdir(mode=0o700, exist_ok=True)
    number = 1 + max((int(each.stem.rpartition("-")[2]) for each in segments(folder)), default=0)
    journal.rename(history / f"journal-{number:06}.jsonl")
    sync_folder(history)
    sync_folder(folder)
