"""After the commit: the reference is beside the answer; slots are ticked, doubts recorded, the answer unlocked."""

from __future__ import annotations

from tutor.strings import text
from tutor.ui.panes.answer_page import AnswerPage
from tutor.ui.self_score import record_score
from tutor.ui.views import answer as check_view
from tutor.ui.views import committed as committed_view


class AnswerCommitted(AnswerPage):
    """What a learner does with a committed answer; each command passes its key on in another mode."""

    def do_act(self) -> bool:
        if self.mode != "committed":
            return False
        kind, _, name = self.page.item.partition(":")
        if kind == "slot":
            self._pick(name)
        elif kind == "cite":
            self.tutor.show_evidence(self.store.progress.evidence[name])
        elif kind == "demo":
            self.post_message(self.OpenDemo(name))
        elif kind == "again":
            self.arguing = True
            self._show("")
            self.screen.set_focus(self.again)
        return True

    def _pick(self, slot: str) -> None:
        commit = self.answer.commit
        assert commit is not None

        def picked(item: str | None) -> None:
            if item:
                lines = committed_view.sentences(commit.text)
                self._tick(slot, lines[int(item.removeprefix("line:"))])

        self.tutor.show_lines(
            lambda lang: text(lang, "answer.pick-title"),
            lambda lang, width: committed_view.line_picks(commit.text, lang, width),
            picked,
            keys="answer.pick-foot",
        )

    def do_tick(self) -> bool:
        """Tick a slot, with the quote that was confirmed before where there is one; else a line has to be chosen."""
        if self.mode != "committed" or not self.page.item.startswith("slot:"):
            return False
        slot = self.page.item.removeprefix("slot:")
        answer = self.answer
        assert answer.commit is not None
        ticks = answer.score.ticks if answer.score is not None else {}
        quote = check_view.confirmed(answer, slot, answer.commit.text)
        if slot in ticks:
            self._tick(slot, None)
        elif quote is not None:
            self._tick(slot, quote)
        else:
            self._pick(slot)
        return True

    def _tick(self, slot: str, words: str | None) -> None:
        own = self.answer.score
        ticks = dict(own.ticks) if own is not None else {}
        if words is None:
            ticks.pop(slot, None)
        else:
            ticks[slot] = words
        record_score(self.store, self.question.id, ticks)
        self.refill()
        self.changed()

    def do_doubt(self) -> None:
        name = committed_view.doubt_row(self.rubric, self.page.item)
        if not self.page.item.startswith("slot:"):
            self.say(self.at("doubt-slot"))
        elif name is None:
            self.say(self.at("doubt-none"))
        else:
            self.store.record("doubted", name=self.question.id, claim=name)
            self.say(self.at("doubted", claim=name))
            self.post_message(self.OpenClaim(name))

    def do_unlock(self) -> bool:
        if self.mode != "committed":
            return False
        self.tutor.ask(self.at("unlock-ask"), self._unlock)
        return True

    def _unlock(self) -> None:
        self.store.record("unlocked", name=self.question.id)
        self._show(self.at("unlocked"))

    def answer_veto(self, yes: bool) -> bool:
        """Record what the learner says to the veto under the cursor; False when there is none."""
        item = self.page.item
        if not item.startswith("veto:"):
            return False
        self.store.record("veto_answered", name=self.question.id, veto=item.removeprefix("veto:"), yes=yes)
        self.refill()
        self.page.move(1)
        return True
