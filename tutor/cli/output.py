"""What a command says: results to stdout, hints to stderr, and nothing raw on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from tutor.language import Lang
from tutor.literals import safe_text
from tutor.model import Message
from tutor.strings import say, text

#: No line that is shown is longer, in characters.
LINE = 4_000


class Output:
    """One command's two streams, in one language; `as_json` says what goes to stdout."""

    def __init__(self, lang: Lang, as_json: bool) -> None:
        self.lang = lang
        self.as_json = as_json

    def result(self, line: str = "") -> None:
        """A line for people, on stdout."""
        _show(sys.stdout, line)

    def emit(self, table: Mapping[str, Any]) -> None:
        """One JSON object as a line of UTF-8, on stdout. A lone surrogate leaves as its escape."""
        raw = json.dumps(table, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
        sys.stdout.flush()
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()

    def whole(self, raw: bytes) -> None:
        """A file's content, on stdout: as it is for a pipe, made safe for a terminal."""
        if sys.stdout.isatty():
            for line in raw.decode("utf-8", "backslashreplace").removesuffix("\n").split("\n"):
                self.result(line)
            return
        sys.stdout.flush()
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()

    def hint(self, line: str) -> None:
        """A line beside the result, on stderr."""
        _show(sys.stderr, line)

    def text(self, key: str, /, **args: str | int | float) -> str:
        """A sentence in the output's language."""
        return text(self.lang, key, **args)

    def say(self, message: Message) -> str:
        """A message in the output's language."""
        return say(self.lang, message)


def _show(stream: TextIO, line: str) -> None:
    stream.write("\n".join(safe_text(part, LINE) for part in line.split("\n")) + "\n")
    stream.flush()
