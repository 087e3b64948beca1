"""The notation of a lesson's steps, read into blocks (pure).

A small part of Markdown, so that nothing heavy is imported for the first frame:

    # Title                      once, first line
    ## Heading
    One paragraph per line, with `code` and **strong** inside.
    - a list item, on one line
    ```python                    a fence, shown as it is
    @claim automatic-dynamic     the claim's mark and state, on a line of its own
    @figure life-cycle           a figure of figures.toml
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

SpanKind = Literal["plain", "code", "strong"]


class LessonTextError(ValueError):
    """The text of a step cannot be read; the message names the line."""


class Span(NamedTuple):
    kind: SpanKind
    text: str


class Heading(NamedTuple):
    level: int
    spans: tuple[Span, ...]


class Paragraph(NamedTuple):
    spans: tuple[Span, ...]


class Item(NamedTuple):
    spans: tuple[Span, ...]


class Fence(NamedTuple):
    language: str
    lines: tuple[str, ...]


class ClaimMark(NamedTuple):
    claim: str


class FigureMark(NamedTuple):
    figure: str


Block = Heading | Paragraph | Item | Fence | ClaimMark | FigureMark

_INLINE = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*")
_MARK = re.compile(r"@(claim|figure) ([a-z0-9-]+)\Z")


def spans(text: str) -> tuple[Span, ...]:
    """Inline notation of one line, in order; adjacent plain text is one span."""
    found: list[Span] = []
    end = 0
    for match in _INLINE.finditer(text):
        if match.start() > end:
            found.append(Span("plain", text[end : match.start()]))
        code, strong = match.groups()
        found.append(Span("code", code) if code is not None else Span("strong", strong))
        end = match.end()
    if end < len(text):
        found.append(Span("plain", text[end:]))
    return tuple(found)


def title(text: str) -> str:
    """The step's title. Raises LessonTextError when the first line is not one."""
    first = text.split("\n", 1)[0]
    if not first.startswith("# "):
        raise LessonTextError("line 1: a step starts with '# Title'")
    return first[2:].strip()


def blocks(text: str) -> tuple[Block, ...]:
    """The step's blocks without its title. Raises LessonTextError naming the line that cannot be read."""
    title(text)
    return tuple(_blocks(text.split("\n")))


def _blocks(lines: list[str]) -> Iterator[Block]:
    at = 1
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line.strip():
            continue
        if line.startswith("```"):
            opened, body = at, []
            while at < len(lines) and lines[at].rstrip() != "```":
                body.append(lines[at])
                at += 1
            if at == len(lines):
                raise LessonTextError(f"line {opened}: the fence is never closed")
            at += 1
            yield Fence(line[3:].strip(), tuple(body))
        elif line.startswith("## "):
            yield Heading(2, spans(line[3:].strip()))
        elif line.startswith("- "):
            yield Item(spans(line[2:].strip()))
        elif line.startswith("@"):
            mark = _MARK.match(line.rstrip())
            if mark is None:
                raise LessonTextError(f"line {at}: a mark is '@claim ID' or '@figure ID'")
            yield ClaimMark(mark[2]) if mark[1] == "claim" else FigureMark(mark[2])
        elif line[0] in "#>|\t " or (line[0] == "*" and not line.startswith("**")):
            raise LessonTextError(f"line {at}: not in the lesson's notation: {line[:40]!r}")
        else:
            yield Paragraph(spans(line.strip()))
