"""The palette's list: every command that works now, and vi's `q`, `w`, `wq` for fingers that know them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider

from tutor.strings import text
from tutor.ui import commands

if TYPE_CHECKING:
    from tutor.ui.app import TutorApp

_VI = {"q": ("leave",), "w": ("save",), "wq": ("save", "leave")}


class Palette(CommandPalette):
    """Textual's palette without box drawing and icons, which are two cells wide on some Chinese terminals."""

    CSS = """
    Palette { background: $background; }
    Palette > Vertical { margin: 0; }
    Palette #--container { background: $background; }
    Palette #--input { border: none; height: 2; padding: 0; }
    Palette SearchIcon { display: none; }
    Palette #--results, Palette CommandList { border: none; padding: 0; scrollbar-size: 0 0; }
    Palette CommandList:focus, Palette CommandList { background: $background; border: none; }
    Palette CommandList > .option-list--option-highlighted { text-style: reverse; background: $background; }
    Palette LoadingIndicator { display: none; }
    """


class Commands(Provider):
    """Finds commands by their words in the learner's language, their ids and their keys."""

    async def discover(self) -> Hits:
        for name, words, ids in self._all():
            yield DiscoveryHit(words, partial(self._run, ids), name)

    async def search(self, query: str) -> Hits:
        wanted = query.strip().removeprefix(":")
        if wanted in _VI:
            yield Hit(2.0, f":{wanted}", partial(self._run, _VI[wanted]), wanted)
            return
        matcher = self.matcher(query)
        for name, words, ids in self._all():
            score = max(matcher.match(words), matcher.match(name))
            if score > 0:
                yield Hit(score, words, partial(self._run, ids), name)

    def _all(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        app = cast("TutorApp", self.app)
        learner = app.learner
        for command in commands.COMMANDS:
            if command.palette and learner.can(command):
                keys = commands.all_labels(command)
                about = text(app.store.lang, f"ui.about_{command.id}")
                yield command.id, f"{about}  {keys}".rstrip(), (command.id,)

    async def _run(self, ids: tuple[str, ...]) -> None:
        learner = cast("TutorApp", self.app).learner
        for name in ids:
            await learner.perform(commands.by_id(name))
