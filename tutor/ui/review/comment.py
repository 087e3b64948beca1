"""Where a comment is written: an editor over the last rows, and phrases that a digit puts in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import TextArea

from tutor.classroom.sitting import COMMENT_MAX
from tutor.language import Lang
from tutor.lines import Line, fit, line
from tutor.literals import safe_text
from tutor.strings import text
from tutor.ui.theme import ThemeName
from tutor.ui.widgets.fields import Prose
from tutor.ui.widgets.lines_view import LinesView

#: Rows of the editor.
ROWS = 4


class Phrased(Prose):
    """On an empty line a digit puts the phrase of that number in; anywhere else it is a digit."""

    def __init__(self, words: str, phrases: Sequence[str]) -> None:
        super().__init__(words, soft_wrap=True, limit=COMMENT_MAX)
        self._phrases = phrases

    async def _on_key(self, event: events.Key) -> None:
        row = self.cursor_location[0]
        if event.character in tuple("123456789") and not self.document.get_line(row):
            number = int(event.character)
            if number <= len(self._phrases):
                event.stop()
                event.prevent_default()
                self.insert(self._phrases[number - 1])
                return
        await super()._on_key(event)


class CommentPad(ModalScreen[str]):
    """Esc closes it with what is written; `typed` is told after each change."""

    CSS = """
    CommentPad { background: transparent; align: center bottom; }
    CommentPad > Vertical { height: auto; background: $background; }
    """
    BINDINGS = [Binding("escape", "close", priority=True, show=False)]

    def __init__(
        self, theme: ThemeName, lang: Lang, words: str, phrases: Sequence[str], typed: Callable[[str], object]
    ) -> None:
        super().__init__()
        self._typed = typed
        self._theme_name: ThemeName = theme
        self._lang = lang
        self._phrases = phrases
        self.editor = Phrased(words, phrases)
        self.editor.styles.height = ROWS

    def compose(self) -> ComposeResult:
        view = LinesView(self._theme_name)
        view.can_focus = False
        view.styles.height = "auto"
        with Vertical():
            yield view
            yield self.editor

    def on_mount(self) -> None:
        width = max(20, self.app.size.width - 1)
        rows: list[Line] = [line((fit(text(self._lang, "review.comment-title"), width).rstrip(), "title"))]
        if self._phrases:
            rows.append(line(text(self._lang, "review.comment-bank")))
            rows += [line(fit(f"  {n} {safe_text(p, 500)}", width).rstrip()) for n, p in enumerate(self._phrases, 1)]
        self.query_one(LinesView).show(rows)
        self.editor.move_cursor(self.editor.document.end)
        self.editor.focus()

    @on(TextArea.Changed)
    def _changed(self) -> None:
        self._typed(self.editor.text)

    def action_close(self) -> None:
        self.dismiss(self.editor.text)
