"""The lab: choose a demo, predict, run it in another process, compare; what it left behind is evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tutor.lines import Part
from tutor.model import Demo, Message, Source
from tutor.strings import text
from tutor.ui.panes.lab_view import LabView
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName
from tutor.ui.views.lab import PRINTED, RunView, demo_lines, list_lines, printed_lines
from tutor.ui.views.lesson import MARKS

#: The largest count that a key cycles to before it starts again at 0.
COUNT_MAX = 5


class LabPane(LabView):
    """A list of demos, or the one demo that is open."""

    place: ClassVar[str] = "demos"

    def __init__(self, store: Store, theme: ThemeName) -> None:
        super().__init__(store, theme)
        self.demo: Demo | None = None
        self.draft: dict[str, int] = {}
        self.view = RunView()
        self._warned = False
        self._on_printed = False
        self._begin = f"demo:{next(iter(store.lesson.demos), '')}"
        """Where the cursor goes at the next paint, empty to leave it: it was let go by whoever scrolls."""

    # --- what is shown -----------------------------------------------------------------------------------------------

    def title(self) -> list[Part]:
        if self.demo is None:
            return [(self.tr("lab_title"), "title")]
        title: list[Part] = [(self.tr("lab_demo", name=self.demo.name), "title")]
        if not self.demo.claims:
            return title
        known = self.store.progress.claims.get(self.demo.claims[0])
        mark, role = MARKS[known.verdict if known else None]
        return [*title, (" ", "plain"), (mark, role)]

    def refill(self) -> None:
        self.draw_title()
        width = max(30, self.body.size.width - 1)
        if self.demo is None:
            claims = {name: state.verdict for name, state in self.store.progress.claims.items()}
            evidence = list(self.store.progress.evidence.values())
            lines = list_lines(list(self.store.lesson.demos.values()), claims, evidence, self.store.lang, width)
        else:
            chosen = (self._begin or self.body.item).removeprefix("ask:")
            lines = demo_lines(
                self.demo, self.view, self.draft, self.store.lang, width, running=self.running, chosen=chosen
            )
        self.body.show(lines, item=self._begin or None)
        if self.body.size.height:
            self._begin = ""

    def _anew(self, item: str) -> None:
        """Show something else from its top, the cursor on `item`."""
        self.body.at, self.body.top, self._begin = -1, 0, item
        self.refill()

    def open_demo(self, name: str) -> None:
        """Show a demo with the predictions made so far; a run that goes on stays where it is."""
        demo = self.store.lesson.demos[name]
        if self.demo is not demo:
            if self.running:
                self.say(self.tr("lab_busy"))
                return
            self.demo, self.view, self._warned = demo, RunView(), False
            self.draft = dict(self.store.progress.predictions.get(name, {}))
            self._anew(f"ask:{demo.asks[0].id}")
            return
        self.refill()

    def choose(self, item: str) -> None:
        kind, _, name = item.partition(":")
        if kind == "demo":
            self.open_demo(name)
        elif kind == "evidence":
            self.tutor.show_evidence(self.store.progress.evidence[name])
        elif kind == PRINTED and self.demo is not None:
            name, run = self.demo.name, self.view
            self.tutor.show_lines(
                lambda lang: text(lang, "ui.lab_printed_title", name=name),
                lambda lang, width: printed_lines(run, lang, width),
            )

    def act_words(self) -> str:
        return super().act_words() if self.demo is None or self.body.item == PRINTED else self.tr("do_value")

    # --- commands ----------------------------------------------------------------------------------------------------

    def can(self, command: str) -> bool:
        if command in ("value", "back"):
            return self.demo is not None and not self.running
        return super().can(command)

    def follow(self) -> None:
        super().follow()
        printed = self.body.item == PRINTED
        if printed != self._on_printed:  # Enter does another thing there, and the key line says so.
            self._on_printed = printed
            self.changed()

    def do_act(self) -> None:
        if self.demo is None or self.body.item == PRINTED:
            self.choose(self.body.item)
        else:
            self.do_value()

    def do_back(self) -> bool:
        if self.demo is None or self.running:
            return False
        name, self.demo = self.demo.name, None
        self._anew(f"demo:{name}")
        return True

    def do_value(self) -> bool:
        return self._turn(1)

    @property
    def _asks(self) -> bool:
        """Whether keys that also page or turn change a prediction: not once there is something of a run to read."""
        return not (self.running or self.view.ended)

    def do_tick(self) -> bool:
        return self._asks and self._turn(1)

    async def do_right(self) -> bool:
        return (self._asks and self._turn(1)) or await super().do_right()

    async def do_left(self) -> bool:
        return (self._asks and self._turn(-1)) or await super().do_left()

    def _turn(self, step: int) -> bool:
        """The next answer of the row under the cursor; False when there is none to turn."""
        if self.demo is None or not self.body.item.startswith("ask:"):
            return False
        if self.running:
            self.say(self.tr("lab_locked"))
            return True
        if self.view.ended:
            # A new prediction is for a new run; the old one stays in its evidence.
            self.view = RunView()
        ask = next(a for a in self.demo.asks if f"ask:{a.id}" == self.body.item)
        choices = len(ask.choices) or COUNT_MAX + 1
        now = self.draft.get(ask.id)
        self.draft[ask.id] = (0 if step > 0 else choices - 1) if now is None else (now + step) % choices
        self.store.record("prediction", demo=self.demo.name, answers=dict(self.draft))
        self.refill()
        self.changed()
        return True

    def do_run(self) -> bool:
        if self.running:
            self.say(self.tr("lab_busy"))
            return True
        if self.demo is None:
            if not self.body.item.startswith("demo:"):
                self.say(self.tr("lab_choose"))
                return True
            self.open_demo(self.body.item.removeprefix("demo:"))
        assert self.demo is not None
        missing = [ask for ask in self.demo.asks if ask.id not in self.draft]
        if missing and not self._warned:
            self._warned = True
            self.body.select(f"ask:{missing[0].id}")
            self.say(self.tr("lab_predict_first", count=len(missing)))
            return True
        self._start(self.demo)
        return True

    def cited(self) -> str | None:
        return self.view.evidence or next(reversed(self.store.progress.evidence), None)

    # --- a run -------------------------------------------------------------------------------------------------------

    def _start(self, demo: Demo) -> None:
        self._warned = False
        predicted = {ask.id: self.draft[ask.id] for ask in demo.asks if ask.id in self.draft}
        if self.start(demo, predicted=predicted):
            self.view = RunView(predicted=predicted)
            self.say("")
            if self.body.at < 0:
                self._begin = f"ask:{demo.asks[0].id}"
            self.refill()

    def take(self, event: Mapping[str, Any]) -> None:
        self.view.take(event)
        if event["event"] == "result":
            self.view.evidence = self.keep_evidence(event)
        elif event["event"] == "ended" and event["outcome"] == "unavailable" and self.demo is not None:
            self._replay(self.demo)

    def _replay(self, demo: Demo) -> None:
        """It cannot run here: what was recorded elsewhere, labelled as such."""
        from tutor.lab import transcripts
        from tutor.lab.verdicts import RuleError

        if not demo.recorded:
            return
        ended, message = self.view.ended, self.view.message
        try:
            for event in transcripts.replay(demo, transcripts.newest(demo), predicted=self.view.predicted):
                self.view.take(event)
                if event["event"] == "result":
                    self.view.source = Source.RECORDED
                    self.view.where = f"{event['where']}, {str(event['when'])[:7]}"
                    self.view.evidence = self.keep_evidence(event)
        except transcripts.TranscriptError as error:
            self.say(error.message, "caution")
        except RuleError as error:
            self.say(Message("lab.rules", {"why": str(error)}), "caution")
        self.view.ended, self.view.message = ended, message
