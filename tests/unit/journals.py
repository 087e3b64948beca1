"""What the tests of the journal share: a journal at noon, and what is written to it."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tutor.language import LANGS
from tutor.learner.journal import Journal
from tutor.model import Message
from tutor.strings import say

ROOT = Path(__file__).resolve().parents[2]
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "lesson"


def open_at_noon(folder: Path) -> Journal:
    return Journal.open(folder, clock=lambda: NOON)


def type_code(journal: Journal, text: str) -> None:
    journal.append("draft", name="code", text=text, cursor=[0, len(text)])


def three_events(folder: Path) -> list[bytes]:
    """The lines of a journal with three settings."""
    journal = open_at_noon(folder)
    for number in range(3):
        journal.append("setting", name=f"s{number}", value=number)
    return (folder / "journal.jsonl").read_bytes().splitlines(keepends=True)


def keys(messages: list[Message]) -> list[str]:
    return [message.key for message in messages]


def sayable(*messages: Message) -> None:
    for message in messages:
        for lang in LANGS:
            assert say(lang, message)


def run_python(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *args], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
