"""A small app of the kind the tutor is, on Textual's own output or on the frame diff.

    python -m tests.ui.frame_diff_app plain|diff [theme]

F2 a modal screen, F3 suspend (a child prints), F4 the next theme, F5 bell, clipboard and title, F8 a notice, Ctrl+L
redraw, F12 sets the window title to "frame N" once everything pressed so far has been painted (it is
no priority binding: it takes the way of the other keys, behind them).
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer, Label, Static, TextArea

from tutor.ui.frame_diff import FrameDiffApp

LESSON = "\n".join(
    f"{n}. 第 {n} 步：`torch.compile` 会给这段代码装上 guard，形状变了就要重新编译。\n"
    f"   A guard is checked at every call; when it fails, frame {n} is compiled again — “automatic dynamic”.\n"
    for n in range(40)
)
CODE = "".join(
    f"def guard_key_{n}(shape, 动态=None):\n"
    f'    """第 {n} 个"""\n'
    f"    return tuple(-1 if d in 动态 else size for d, size in enumerate(shape))  # {n * n}\n\n"
    for n in range(60)
)
THEMES = ["textual-dark", "textual-light", "ansi-dark", "ansi-light", "dracula"]


class Question(ModalScreen[None]):
    """A box over the dimmed screen below."""

    CSS = """
    Question { align: center middle; }
    Question Vertical { width: 31; height: 7; border: thick $accent; background: $surface; }
    """
    BINDINGS = [Binding("escape", "dismiss"), Binding("f12", "app.mark")]

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Label("重新开始吗？")
            yield Label("Nothing is lost.", markup=False)


def app_class(base: type[App[None]]) -> type[App[None]]:
    """The app on either base."""

    class Small(base):  # type: ignore[misc,valid-type]
        CSS = """
        #lesson { width: 1fr; } #editor { width: 1fr; border: none; padding: 0; }
        .alone #lesson { display: none; }
        """
        BINDINGS = [
            Binding("f2", "ask", "Ask"),
            Binding("f3", "leave", "Shell"),
            Binding("f4", "next_theme", "Theme", priority=True),
            Binding("f5", "noise", show=False),
            Binding("f8", "tell", show=False),
            Binding("f9", "alone", show=False),
            Binding("f12", "mark", show=False),
            Binding("ctrl+l", "redraw", show=False, priority=True),
        ]
        marks = 0

        def compose(self) -> ComposeResult:
            with Horizontal():
                with VerticalScroll(id="lesson"):
                    yield Static(LESSON, markup=False)
                editor = TextArea.code_editor(CODE, language="python", id="editor")
                editor.cursor_blink = False
                yield editor
            yield Footer()

        def on_mount(self) -> None:
            self.query_one(TextArea).focus()

        def action_ask(self) -> None:
            self.push_screen(Question())

        def action_leave(self) -> None:
            with self.suspend():
                subprocess.run(["printf", r"\033[31mshell\033[10;10Hwas here"], stdout=sys.__stdout__, check=True)

        def action_next_theme(self) -> None:
            self.theme = THEMES[(THEMES.index(self.theme) + 1) % len(THEMES)]  # type: ignore[has-type]

        def action_noise(self) -> None:
            self.bell()
            self.copy_to_clipboard("你好")
            self.write_title("noise")

        def action_tell(self) -> None:
            self.notify("已保存", timeout=3600)

        def action_alone(self) -> None:
            self.screen.toggle_class("alone")

        def action_mark(self) -> None:
            self.marks += 1
            self.call_after_refresh(self.call_after_refresh, self.write_title, f"frame {self.marks}")

        def write_title(self, title: str) -> None:
            driver: Any = self._driver
            driver.write(f"\x1b]2;{title}\x07")

    return Small


if __name__ == "__main__":
    app = app_class(FrameDiffApp if sys.argv[1] == "diff" else App)()
    if sys.argv[2:]:
        app.theme = sys.argv[2]
    app.run()
