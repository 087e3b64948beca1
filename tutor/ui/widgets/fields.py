"""What is typed in: Textual's editors without frames, colours of their own or a blinking cursor."""

from __future__ import annotations

from typing import Any

from textual.widgets import Input, TextArea

#: Edits that undo can take back.
UNDO = 500


class Prose(TextArea):
    """An editor that fills its pane; a blinking cursor would send bytes for ever."""

    DEFAULT_CSS = """
    Prose, Prose:focus {
        border: none; padding: 0; height: 1fr; background: $background; color: $foreground; scrollbar-size: 0 0;
        & .text-area--cursor { text-style: reverse; background: $background; color: $foreground; }
        & .text-area--selection { text-style: reverse; background: $background; }
    }
    """

    def __init__(self, text: str, *, soft_wrap: bool) -> None:
        super().__init__(
            text, soft_wrap=soft_wrap, tab_behavior="focus", highlight_cursor_line=False, max_checkpoints=UNDO
        )
        self.cursor_blink = False
        self.match_cursor_bracket = False


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
