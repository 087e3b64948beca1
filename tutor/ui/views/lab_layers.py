"""The layers of one function as lines: a heading each, with its text below when it is unfolded."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from tutor import literals
from tutor.lab import layers
from tutor.lab.layers import Layer
from tutor.language import Lang
from tutor.lines import BLANK, Line, fit, line, wrap
from tutor.model import Message
from tutor.strings import say, text


@dataclass(slots=True)
class LayerRun:
    """One run. `ended` is empty while it runs."""

    source: str = ""
    layers: list[Layer] = field(default_factory=list)
    stopped: str = ""
    phase: Message | None = None
    ended: str = ""
    message: Message | None = None
    evidence: str | None = None


def layer_lines(run: LayerRun | None, unfolded: Collection[str], lang: Lang, width: int) -> list[Line]:
    """Each layer as item `layer:NAME`, an unfolded one with its lines below."""
    out = wrap([(text(lang, "lab_views.layers-intro"), "plain")], width)
    if run is None:
        return [*out, BLANK, line((text(lang, "lab_views.not-run"), "muted"))]
    if not run.ended:
        words = say(lang, run.phase) if run.phase is not None else text(lang, "lab_views.running-now")
        return [*out, BLANK, *wrap([(words, "plain")], width)]
    if run.ended != "ok":
        message = say(lang, run.message) if run.message is not None else ""
        out += [
            BLANK,
            *wrap([(text(lang, f"ui.lab_{run.ended}"), "caution"), ("  " + message, "plain")], width, rest="  "),
        ]
    if run.stopped:
        key = "layers-no-compiler" if layers.no_compiler(run.stopped) else "layers-stopped"
        out += [BLANK, *wrap([(text(lang, f"lab_views.{key}", why=literals.safe_text(run.stopped)), "caution")], width)]
    for row in run.source.splitlines():
        out.append(line((fit("  " + literals.safe_text(row), width).rstrip(), "code")))
    for layer in run.layers:
        out += _layer(layer, layer.name in unfolded, lang, width)
    return out


def _layer(layer: Layer, unfolded: bool, lang: Lang, width: int) -> list[Line]:
    title = text(lang, f"lab_views.layer-{layer.name}")
    count = text(lang, "lab_views.layers-lines", lines=len(layer.lines))
    head = line(
        (f"{'-' if unfolded else '+'} ", "strong"),
        (title, "title"),
        (f"  {count}", "muted"),
        item=f"layer:{layer.name}",
    )
    if not unfolded:
        return [head]
    about = wrap([(text(lang, f"lab_views.about-{layer.name}"), "plain")], width, first="    ", rest="    ")
    rows = [line((fit("    " + safe(row), width).rstrip(), "code")) for row in layer.lines]
    if layer.hidden:
        rows.append(line(("    " + text(lang, "lab_views.layers-hidden", lines=layer.hidden), "muted")))
    return [head, *about, *rows]


def safe(row: str) -> str:
    """A line of code for the screen, its indent kept."""
    indent = len(row) - len(row.lstrip())
    return " " * indent + literals.safe_text(row.strip(), 400)
