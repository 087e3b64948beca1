"""A fault of the tool's own that nobody caught: the screen closes, and `run` raises it for the command line to tell.

Textual would print its traceback with the local variables in it, a screenful that may hold what the learner wrote, and
end with the exit code 1, which here means a wrong answer. The command line says one sentence and keeps the whole story
in a file.

Private parts of Textual used: `App._fatal_error`, which it calls for such a fault; `App._exception`, the first one.
"""

from __future__ import annotations

from textual.app import App, ReturnType


class FaultApp(App[ReturnType]):
    """An application that ends quietly at a fault of its own; `raise_fault` is called when it has ended."""

    def _fatal_error(self) -> None:
        self.panic()

    def raise_fault(self) -> None:
        """Raise what ended the application, if it was a fault."""
        if self._exception is not None:
            raise self._exception
