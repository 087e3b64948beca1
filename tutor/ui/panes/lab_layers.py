"""Three layers, seen: what Dynamo, AOTAutograd and Inductor make of one small function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tutor.lab import layers, protocol
from tutor.lab.task import task
from tutor.lines import Part
from tutor.model import Message
from tutor.paths import why
from tutor.ui.panes.lab_view import LabView
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName
from tutor.ui.views.lab_layers import LayerRun, layer_lines, safe


class LayersView(LabView):
    """The layers, each folded to a line until it is opened."""

    place: ClassVar[str] = "layers"

    def __init__(self, store: Store, theme: ThemeName) -> None:
        super().__init__(store, theme)
        self.ran: LayerRun | None = None
        self.unfolded: set[str] = set()
        self._looked_for = ""

    # --- what is shown -----------------------------------------------------------------------------------------------

    def title(self) -> list[Part]:
        parts: list[Part] = [(self.lv("layers-title"), "title")]
        if self.ran is not None and self.ran.evidence is not None:
            parts.append((" " + self.lv("evidence-here", id=self.ran.evidence), "measured"))
        return parts

    def refill(self) -> None:
        self.draw_title()
        width = max(30, self.body.size.width - 1)
        self.body.show(layer_lines(self.ran, self.unfolded, self.store.lang, width), first=True)

    def choose(self, item: str) -> None:
        self.unfolded ^= {item.removeprefix("layer:")}
        self.refill()

    # --- commands ----------------------------------------------------------------------------------------------------

    def can(self, command: str) -> bool:
        if command in ("act", "files"):
            return self.ran is not None and bool(self.ran.layers)
        return super().can(command)

    def act_words(self) -> str:
        return self.lv("do-unfold")

    def do_act(self) -> None:
        if self.body.item:
            self.choose(self.body.item)

    def do_tick(self) -> bool:
        """Space unfolds on a heading, and pages elsewhere."""
        if not self.body.item:
            return False
        self.choose(self.body.item)
        return True

    def do_run(self) -> bool:
        if self.running:
            self.say(self.tr("lab_busy"))
        elif self.start(task("layers")):
            self.ran = LayerRun()
            self.refill()
        return True

    def search(self, wanted: str) -> None:
        """The next line with these words, in folded layers too: the one that has them is unfolded. Empty repeats."""
        self._looked_for = wanted = wanted or self._looked_for
        found = wanted.casefold()
        below = self.body.lines[self.body.at + 1 :]
        if found and not any(found in row.text.casefold() for row in below) and self.ran is not None:
            hidden = [layer for layer in self.ran.layers if layer.name not in self.unfolded]
            hits = [layer.name for layer in hidden if any(found in safe(row).casefold() for row in layer.lines)]
            self.unfolded |= set(hits[:1])
            self.refill()
        super().search(wanted)

    def do_files(self) -> bool:
        """Every layer's whole text as a file of its own, beside the journal."""
        run = self.ran
        if run is None or not run.layers:
            self.say(self.lv("not-run"))
            return True
        folder = self.store.journal.folder / f"layers-{run.evidence or 'unsaved'}"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            for number, layer in enumerate(run.layers, 1):
                (folder / f"{number}-{layer.name}.txt").write_text(layer.text, encoding="utf-8")
        except OSError as error:
            self.say(Message("state.unusable", {"path": str(folder), "why": why(error)}), "bad")
            return True
        self.say(self.lv("layers-saved", files=len(run.layers), path=str(folder)), "good")
        return True

    # --- a run -------------------------------------------------------------------------------------------------------

    def take(self, event: Mapping[str, Any]) -> None:
        run = self.ran
        if run is None:
            return
        match event["event"]:
            case "progress":
                run.phase = protocol.message(event["message"])
            case "result":
                seen = event["observed"]
                run.source = str(seen["source"]["text"][0])
                run.layers, run.stopped = layers.gather(seen), layers.stopped(seen)
                sizes = {"name": [one.name for one in run.layers], "lines": [len(one.lines) for one in run.layers]}
                run.evidence = self.keep_evidence(event, layer=sizes)
            case "ended":
                run.ended, run.message = event["outcome"], protocol.message(event["message"])
