"""A template with one blank: everything around the blank is locked (pure)."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from tutor.model import Message

#: The largest exercise file that is read, in bytes. A filled template is a few hundred.
FILE_MAX = 64 * 1024
#: The longest text of a blank, in characters: what the sandbox takes.
TEXT_MAX = 4000


@dataclass(frozen=True, slots=True)
class Blank:
    """The locked text before and after the one blank, each exact; the blank's own text may span lines."""

    prefix: str
    suffix: str

    @classmethod
    def of(cls, template: str, marker: str) -> Blank:
        """The blank that `marker` stands for. Raises ValueError when it does not stand exactly once in `template`."""
        if template.count(marker) != 1:
            raise ValueError(f"the marker {marker!r} stands {template.count(marker)} times in the template, not once")
        prefix, suffix = template.split(marker)
        return cls(prefix, suffix)

    def fill(self, text: str) -> str:
        """The whole source with `text` in the blank, exactly as it is."""
        return self.prefix + text + self.suffix

    def extract(self, source: str) -> str | None:
        """The blank's text, None when anything outside the blank differs."""
        if len(source) < len(self.prefix) + len(self.suffix):
            return None
        if not (source.startswith(self.prefix) and source.endswith(self.suffix)):
            return None
        return source[len(self.prefix) : len(source) - len(self.suffix)]

    def matches(self, source: str) -> bool:
        """Whether only the blank differs from the template."""
        return self.extract(source) is not None

    def line_of_difference(self, source: str) -> int | None:
        """The line of `source`, from 1, where the locked text was changed; None when it was not.

        Before the blank that is the first changed line, after it the last one.
        """
        if self.matches(source):
            return None
        lines, before, after = source.split("\n"), self.prefix.split("\n"), self.suffix.split("\n")
        for number, wanted in enumerate(before, start=1):
            line = lines[number - 1] if number <= len(lines) else ""
            if line != wanted and not (number == len(before) and line.startswith(wanted)):
                return min(number, len(lines))
        for offset, wanted in enumerate(reversed(after), start=1):
            line = lines[-offset] if offset <= len(lines) else ""
            if line != wanted and not (offset == len(after) and line.endswith(wanted)):
                return max(len(lines) - offset + 1, 1)
        return len(before)  # the locked parts overlap: the blank's own line was shortened

    def read_file(self, data: bytes) -> str | Message:
        """The blank's text in an exercise file, or a message that says what is wrong with the file and where.

        A byte order mark, Windows line ends and a last line without an end are no change: editors make them so.
        """
        if len(data) > FILE_MAX:
            return Message("check.file_large", {"size": len(data), "most": FILE_MAX})
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return Message("check.file_utf16")
        try:
            source = data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            return Message("check.file_not_utf8", {"line": data[: error.start].count(b"\n") + 1})
        if "\0" in source:
            return Message("check.file_nul", {"line": source[: source.index("\0")].count("\n") + 1})
        if self.suffix.endswith("\n") and not source.endswith("\n"):
            source += "\n"
        text = self.extract(source)
        if text is not None:
            return text
        number = self.line_of_difference(source) or 1
        line = source.split("\n")[number - 1]
        if "\t" in line and "\t" not in self.prefix + self.suffix:
            return Message("check.file_tabs", {"line": number})
        return Message("check.file_changed", {"line": number})
