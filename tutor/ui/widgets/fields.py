"""What is typed in: Textual's editors without frames, colours of their own or a blinking cursor."""

from __future__ import annotations

from typing import Any
from unicodedata import category

from textual import events
from textual.message import Message
from textual.widgets import Input, TextArea
from textual.widgets.text_area import Edit, EditResult

#: What a text may not hold besides control and format characters: halves of pairs, and nobody's characters.
_NEVER = frozenset(("Cc", "Cf", "Cs", "Co"))
#: Edits that undo can take back.
UNDO = 500


def clean(text: str) -> str:
    """`text` without what would steer a terminal or hide: control, format and bidi characters; line ends are LF."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isprintable():
        return text
    return "".join(c for c in text if c in "\n\t" or category(c) not in _NEVER)


class TooLong(Message):
    """An edit of `chars` characters would have made a text longer than `limit`; nothing was changed."""

    def __init__(self, chars: int, limit: int) -> None:
        super().__init__()
        self.chars = chars
        self.limit = limit


class Prose(TextArea):
    """An editor that fills its pane; a blinking cursor would send bytes for ever."""

    DEFAULT_CSS = """
    Prose, Prose:focus {
        border: none; padding: 0; height: 1fr; background: $background; color: $foreground; scrollbar-size: 0 0;
        & .text-area--cursor { text-style: reverse; background: $background; color: $foreground; }
        & .text-area--selection { text-style: reverse; background: $background; }
    }
    """

    def __init__(self, text: str, *, soft_wrap: bool, limit: int) -> None:
        super().__init__(
            clean(text), soft_wrap=soft_wrap, tab_behavior="focus", highlight_cursor_line=False, max_checkpoints=UNDO
        )
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self.limit = limit

    def edit(self, edit: Edit) -> EditResult:
        edit.text = clean(edit.text)
        if len(edit.text) > 1 and len(self.text) + len(edit.text) > self.limit:
            return self.refused(len(edit.text))
        return super().edit(edit)

    def refused(self, chars: int) -> EditResult:
        """Nothing was changed by an edit of `chars` characters."""
        self.post_message(TooLong(chars, self.limit))
        return EditResult(self.cursor_location, "")


class Field(Input):
    """One row to type in."""

    DEFAULT_CSS = """
    Field, Field:focus {
        border: none; padding: 0; height: 1; background: $background; color: $foreground;
        & .input--cursor { text-style: reverse; background: $background; color: $foreground; }
        & .input--selection { text-style: reverse; background: $background; }
    }
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.cursor_blink = False

    def validate_value(self, value: str) -> str:
        return clean(value).replace("\n", " ")

    def on_paste(self, event: events.Paste) -> None:
        """All lines become one; Textual would take the first alone, and drop a long one without a word."""
        event.prevent_default()
        event.stop()
        words = " ".join(row.strip() for row in clean(event.text).split("\n"))
        start, end = sorted(self.selection)
        if self.max_length and len(self.value) - (end - start) + len(words) > self.max_length:
            self.post_message(TooLong(len(words), self.max_length))
        else:
            self.replace(words, start, end)
