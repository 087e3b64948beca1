"""One line of progress on stderr: drawn in place on a terminal, whole lines elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from tutor.cli.output import Output


class ProgressLine:
    """As a context manager it clears the line behind itself."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._live: Any = None

    def __enter__(self) -> ProgressLine:
        if sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True, markup=False, highlight=False, emoji=False)
            self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False)
            self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.__exit__(kind, error, trace)
            self._live = None

    def show(self, text: str) -> None:
        """Show `text` in place of what stood there; "" clears it."""
        if self._live is not None:
            from rich.text import Text

            self._live.update(Text(text), refresh=True)
        elif text:
            self._out.hint(text)
