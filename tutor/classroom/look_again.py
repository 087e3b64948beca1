"""A request to look again, as bytes: what a learner writes of a score that they were told (pure).

Sealed like a hand-in, and read as if it meant harm. It names the hand-in by its hash; whose that is, the owner of the
file decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tutor.classroom.submission import Author, Unacceptable, seal

KIND = "torch-compile-tutor/look-again"
SCHEMA = 1

#: The longest text, characters.
TEXT_MAX = 2_000
#: The largest file, bytes: each character may need six, as an escape.
SIZE_MAX = 16 << 10

_HASH = re.compile(r"[0-9a-f]{64}\Z")


class LookAgain(NamedTuple):
    """What was asked: of which hand-in (its hash) and question, and why."""

    author: Author
    lesson: str
    submission: str
    question: str
    text: str


def pack(ask: LookAgain) -> bytes:
    """The file. Raises Unacceptable for a text that is empty or too long."""
    body = {
        "kind": KIND,
        "schema": SCHEMA,
        "author": {"uid": ask.author.uid, "login": ask.author.login},
        "lesson": ask.lesson,
        "submission": ask.submission,
        "question": ask.question,
        "text": ask.text,
    }
    read(body)
    return seal(body)


def read(body: Mapping[str, Any]) -> LookAgain:
    """A request out of a sealed document's body that nobody vouches for. Raises Unacceptable."""
    author = body.get("author")
    if body.get("kind") != KIND or type(body.get("schema")) is not int or body["schema"] != SCHEMA:
        raise Unacceptable("class.refuse-shape", where="kind")
    if not isinstance(author, dict) or type(author.get("uid")) is not int or not 0 <= author["uid"] < 2**32:
        raise Unacceptable("class.refuse-shape", where="uid")
    named = (_text(author, "login", 256), _text(body, "lesson", 100), _text(body, "submission", 64))
    question, text = _text(body, "question", 40), body.get("text")
    if not _HASH.match(named[2]):
        raise Unacceptable("class.refuse-shape", where="submission")
    if not isinstance(text, str) or not text.strip():
        raise Unacceptable("handin.ask-empty")
    if len(text) > TEXT_MAX:
        raise Unacceptable("handin.ask-long", chars=len(text), most=TEXT_MAX)
    return LookAgain(Author(author["uid"], named[0]), named[1], named[2], question, text)


def _text(table: Mapping[str, Any], key: str, most: int) -> str:
    value = table.get(key)
    if not isinstance(value, str) or len(value) > most:
        raise Unacceptable("class.refuse-shape", where=key)
    return value
