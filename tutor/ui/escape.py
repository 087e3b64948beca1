"""Esc and the key after it, told apart before Textual's parser joins them.

tmux sends Esc and a key pressed soon after it as one packet, and the parser then reads `ESC 4` as Alt+4, which types a
cent sign. Outside pastes an ESC is therefore a key of its own, unless what follows begins a sequence or is one of the
keys that editors know under Alt (b d f and backspace, by words). A lone ESC at the end of a packet is held back as long
as the parser itself would wait. An ESC inside a paste is dropped: the parser would read keys out of the paste.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import monotonic

from textual import constants, events
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.message import Message

ESC = "\x1b"
_PASTE, _PASTED = "\x1b[200~", "\x1b[201~"
#: CSI, SS2, SS3, DCS, SOS, OSC, PM, APC, the end of a string, a second ESC; then the keys under Alt.
_JOINED = frozenset("[NOPX]^_\\" + ESC + "bdf\x7f")


class Splitter:
    """Cuts a stream of terminal input into pieces; a piece that is a lone ESC is the key (pure)."""

    def __init__(self) -> None:
        self._pasting = False
        self._held = ""

    @property
    def holding(self) -> bool:
        return bool(self._held)

    def release(self) -> str:
        """What was held back, to be taken as it is."""
        held, self._held = self._held, ""
        return held

    def feed(self, data: str) -> Iterator[str]:
        data = self.release() + data
        at = 0
        while at < len(data):
            if self._pasting:
                end = data.find(_PASTED, at)
                if end < 0:
                    stop = len(data) - _overlap(data[at:], _PASTED)
                    self._held = data[stop:]
                    yield data[at:stop].replace(ESC, "")
                    return
                self._pasting = False
                yield data[at:end].replace(ESC, "") + _PASTED
                at = end + len(_PASTED)
                continue
            found = data.find(ESC, at)
            if found < 0:
                yield data[at:]
                return
            if found > at:
                yield data[at:found]
            after = data[found + 1 : found + 2]
            if not after:
                self._held = ESC
                return
            if data.startswith(_PASTE, found):
                self._pasting = True
                yield _PASTE
                at = found + len(_PASTE)
            elif after not in _JOINED:
                yield ESC
                at = found + 1
            else:
                nearest = data.find(ESC, found + 1)
                stop = len(data) if nearest < 0 else nearest
                # ESC ESC: the parser has its own rule for it.
                if stop == found + 1:
                    stop += 1
                yield data[found:stop]
                at = stop


def _overlap(text: str, end: str) -> int:
    """How many characters at the end of `text` may be the start of `end`."""
    return next((n for n in range(min(len(text), len(end) - 1), 0, -1) if text.endswith(end[:n])), 0)


class _Parser(XTermParser):
    """Textual's parser behind the splitter."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._splitter = Splitter()
        self._due = 0.0

    def feed(self, data: str) -> Iterable[Message]:
        if not data:
            yield from super().feed(self._splitter.release())
            yield from super().feed("")
            return
        for piece in self._splitter.feed(data):
            if piece == ESC:
                yield from self._key()
            elif piece:  # An empty one would mean the end of all input.
                yield from super().feed(piece)
        if self._splitter.holding:
            self._due = monotonic() + constants.ESCAPE_DELAY

    def tick(self) -> Iterable[Message]:
        if self._splitter.holding and monotonic() >= self._due:
            held = self._splitter.release()
            yield from self._key() if held == ESC else super().feed(held)
        yield from super().tick()

    def _key(self) -> Iterator[Message]:
        yield events.Key("escape", ESC)


def install() -> None:
    """Have Textual's Linux driver use the splitting parser. Raises AttributeError where its parser has moved."""
    if getattr(linux_driver, "XTermParser", None) not in (XTermParser, _Parser):
        raise AttributeError("textual.drivers.linux_driver.XTermParser is not the parser that was expected")
    setattr(linux_driver, "XTermParser", _Parser)  # noqa: B010  The module does not export the name for type checkers.
