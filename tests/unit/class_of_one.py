"""A class to which one learner has handed in once, and what comes back of it."""

from __future__ import annotations

import copy
import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tutor.classroom import exchange, handed_in, returned, submission
from tutor.classroom.exchange import ClassFolder, Receipt
from tutor.learner.progress import Progress
from tutor.lesson import catalog
from tutor.model import Lesson

ONE = {"points": 1, "of": 2, "veto": "guess", "comment": "see line 2", "at": "2026-12-01T00:00:00Z"}
OWN = {"own1": {"zh": "日志", "en": "the log"}}
BODY: dict[str, Any] = {
    "kind": returned.KIND,
    "schema": 1,
    "class": "",
    "lesson": "lesson_02_torch_compile",
    "submission": "",
    "final": False,
    "total": None,
    "machine": {"normal": 2, "edge": 0},
    "questions": {
        "q1": {**ONE, "slots": {"phase": True, "own1": True}, "labels": OWN},
        "q2": {"points": None, "of": 2},
    },
}


class Class(NamedTuple):
    """A class to which one learner has handed in once; `state` is what the learner keeps of it."""

    folder: ClassFolder
    state: Path
    receipt: Receipt

    @property
    def place(self) -> Path:
        return self.folder.feedback / f"{self.receipt.reply}.json"

    def body(self) -> dict[str, Any]:
        return {**copy.deepcopy(BODY), "class": self.folder.id, "submission": self.receipt.sha256}

    def write(self, body: dict[str, Any]) -> None:
        self.place.write_bytes(submission.canonical(sealed(body)))


def sealed(body: Any) -> dict[str, Any]:
    return {"body": body, "sha256": hashlib.sha256(submission.canonical(body)).hexdigest()}


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return catalog.load()


@pytest.fixture(scope="module")
def room(lesson: Lesson) -> Iterator[Class]:
    with tempfile.TemporaryDirectory() as name:
        folder, _ = exchange.create(Path(name) / "class", lesson.id)
        state = Path(name) / "state" / lesson.id
        receipt, _ = handed_in.submit(Progress(), lesson, state, folder)
        yield Class(folder, state, receipt)


@pytest.fixture(autouse=True)
def nothing_there(room: Class) -> Iterator[None]:
    yield
    if room.place.is_dir() and not room.place.is_symlink():
        room.place.rmdir()
    room.place.unlink(missing_ok=True)
