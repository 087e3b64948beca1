"""The evidence: what every run left behind, filtered, looked at, compared, and cited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tutor.learner.progress import Evidence
from tutor.lines import BLANK, Part, line, wrap
from tutor.ui.panes.lab_view import LabView
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName
from tutor.ui.views import lab_evidence
from tutor.ui.views.lab import evidence_lines


class EvidenceView(LabView):
    """The list, and under it the chosen run's timings or a comparison."""

    place: ClassVar[str] = "evidence"

    def __init__(self, store: Store, theme: ThemeName) -> None:
        super().__init__(store, theme)
        self.demo = ""
        """Only runs of this demo are listed; empty for all."""
        self.marked = ""
        self.compared = ""

    @property
    def listed(self) -> list[Evidence]:
        every = self.store.progress.evidence.values()
        return [one for one in every if self.demo in ("", one.record["demo"])]

    @property
    def chosen(self) -> Evidence | None:
        return self.store.progress.evidence.get(self.body.item.removeprefix("evidence:"))

    # --- what is shown -----------------------------------------------------------------------------------------------

    def title(self) -> list[Part]:
        what = self.demo or self.lv("evidence-all")
        count = self.lv("evidence-count", count=len(self.listed), of=len(self.store.progress.evidence))
        return [(self.lv("tab-evidence"), "title"), (f"   {what}   {count}", "plain")]

    def refill(self) -> None:
        self.draw_title()
        lang, width = self.store.lang, max(30, self.body.size.width - 1)
        listed = self.listed
        if not listed:
            self.body.show(wrap([(self.lv("evidence-none"), "plain")], width))
            return
        lines = evidence_lines(listed, lang, width, marked=self.marked)
        item = self.body.item if any(row.item == self.body.item for row in lines) else lines[0].item
        one = self.store.progress.evidence[item.removeprefix("evidence:")]
        marked = self.store.progress.evidence.get(self.marked)
        if marked is not None and self.compared == one.id:
            lines += lab_evidence.compared_lines(marked, one, lang, width)
        else:
            lines += lab_evidence.timing_lines(one, lang, width)
            if marked is not None:
                lines += [BLANK, line((self.lv("marked", id=marked.id), "muted"))]
        self.body.show(lines, item=item)

    def choose(self, item: str) -> None:
        self.tutor.show_evidence(self.store.progress.evidence[item.removeprefix("evidence:")])

    # --- commands ----------------------------------------------------------------------------------------------------

    def can(self, command: str) -> bool:
        if command == "run":
            return False
        if command in ("act", "compare", "cite"):
            return self.chosen is not None
        if command == "value":
            return bool(self.store.progress.evidence)
        return super().can(command)

    def do_act(self) -> None:
        if self.chosen is not None:
            self.choose(self.body.item)

    def do_run(self) -> None:
        self.say(self.lv("evidence-no-run"))

    def do_value(self) -> None:
        """Only the next demo's runs; after the last one all again."""
        demos = ["", *dict.fromkeys(str(one.record["demo"]) for one in self.store.progress.evidence.values())]
        self.demo = demos[(demos.index(self.demo) + 1) % len(demos)] if self.demo in demos else ""
        self.refill()

    def do_compare(self) -> None:
        """Mark a run; pressed on another one, compare the two."""
        one = self.chosen
        if one is None:
            return
        if self.marked in ("", one.id) or self.compared == one.id:
            self.marked, self.compared = (one.id if self.marked != one.id else ""), ""
        else:
            self.compared = one.id
        self.refill()

    def cited(self) -> str | None:
        return self.chosen.id if self.chosen is not None else None

    def take(self, event: Mapping[str, Any]) -> None:
        raise NotImplementedError("nothing is run here")
