"""The page on which the GPU for demos is chosen. nvidia-smi is asked in a thread: on a sick driver it takes seconds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from tutor.lab import gpus
from tutor.lab.gpus import Gpu, Trouble
from tutor.language import Lang
from tutor.lines import Line
from tutor.model import Message
from tutor.strings import text
from tutor.ui.views.gpus import ITEM, choice_lines, device_words

if TYPE_CHECKING:
    from tutor.ui.app import TutorApp
    from tutor.ui.overlays import Overlays


def open_choice(overlays: Overlays) -> None:
    """Show the page; what is taken there holds for every run that comes, and is remembered for this machine."""
    app = cast("TutorApp", overlays)
    listed: Sequence[Gpu] | Trouble | None = None
    launcher = bool(app.context.settings.launcher)

    def look() -> None:
        """In a thread."""
        nonlocal listed
        try:
            listed = gpus.look()
        except Trouble as trouble:
            listed = trouble
        app.call_from_thread(app.refill_overlay)

    def lines(lang: Lang, width: int) -> list[Line]:
        return choice_lines(listed, app.context.device, lang, width, env=os.environ, launcher=launcher)

    def done(item: str | None) -> None:
        if item and item.startswith(ITEM):
            device = item.removeprefix(ITEM)
            app.use_device(device)
            there = [] if listed is None or isinstance(listed, Trouble) else listed
            app.learner.say(Message("gpus.taken", {"device": device_words(device, there)}), "good")

    app.show_lines(lambda lang: text(lang, "gpus.title"), lines, done, keys="gpus.keys", item=ITEM + app.context.device)
    if not launcher:
        app.run_worker(look, thread=True, group="gpus", exclusive=True, exit_on_error=False)
