"""Edge inputs: the learner writes an input, predicts, runs it, then explains. A good one catches wrong versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Input

from tutor.exercise.judging import edge_from_data
from tutor.lines import Line, Part
from tutor.strings import text
from tutor.ui.commands import Context
from tutor.ui.panes.base import ListPane
from tutor.ui.self_score import record_score
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName
from tutor.ui.views.committed import explanation_lines
from tutor.ui.views.edges import detail, halves, joined, shown_prediction, table
from tutor.ui.widgets.bars import Bar
from tutor.ui.widgets.fields import Field

if TYPE_CHECKING:
    from tutor.ui.app import TutorApp

FIELDS = ("call", "predict", "why")
#: The longest text of one field, in characters.
FIELD_MAX = 2000


class EdgePane(ListPane):
    """The table, the chosen row's detail, and three fields that open for a row."""

    context: ClassVar[Context] = "edge"

    def __init__(self, store: Store, theme: ThemeName) -> None:
        super().__init__(store, theme, id="edge")
        self.chosen = next(iter(store.progress.edges), "")
        self.labels = {name: Bar(theme, classes="label") for name in FIELDS}
        self.fields = {
            name: Field(id=f"edge-{name}", max_length=FIELD_MAX, compact=True, select_on_focus=False) for name in FIELDS
        }
        self.form = Vertical()
        self._undone: list[tuple[str, str, str]] = []
        self._filling = False

    def content(self) -> ComposeResult:
        yield self.body
        self.form.styles.height, self.form.display = 2 * len(FIELDS), False
        with self.form:
            for name in FIELDS:
                yield self.labels[name]
                yield self.fields[name]

    # --- what is shown -----------------------------------------------------------------------------------------------

    def title(self) -> list[Part]:
        caught, wrong = len(self.store.progress.caught), len(self.store.lesson.exercise.wrong)
        earned = "edge_point_earned" if self.store.progress.edge_points() else "edge_point_open"
        return [
            (self.tr("edge_title"), "title"),
            ("   " + self.tr("edge_score", caught=caught, of=wrong), "plain"),
            (" | " + self.tr(earned), "good" if earned == "edge_point_earned" else "plain"),
        ]

    def editor(self) -> Widget | None:
        return None

    @property
    def tutor(self) -> TutorApp:
        return cast("TutorApp", self.app)

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "id": edge.id,
                "line": edge.line,
                "why": edge.why,
                "result": edge_from_data(edge.current) if edge.current is not None else None,
            }
            for edge in self.store.progress.edges.values()
        ]

    def refill(self) -> None:
        self.draw_title()
        width = max(30, self.body.size.width - 1)
        rows = self.rows()
        lines: list[Line] = table(rows, self.store.lang, width)
        row = next((row for row in rows if row["id"] == self.chosen), None)
        if row is not None:
            lines += detail(self.store.lesson, row, self.store.lang, width)
        self.body.show(lines, item=f"edge:{self.chosen}" if row else "")
        for name in FIELDS:
            self.labels[name].set_parts([(self.tr(f"field_{name}"), "muted")])

    # --- the fields --------------------------------------------------------------------------------------------------

    def edit(self, name: str) -> None:
        """Open the fields for one input."""
        if self.store.journal.read_only is not None:
            self.say(self.store.journal.read_only, "caution")
            return
        edge = self.store.progress.edges.get(name)
        call, prediction = halves(edge.line) if edge else ("", "")
        self.chosen = name
        self._filling = True
        self.fields["call"].value = call or f"{self.store.lesson.exercise.function}("
        self.fields["predict"].value = shown_prediction(prediction)
        self.fields["why"].value = edge.why if edge else ""
        self._filling = False
        self.form.display = True
        self.screen.set_focus(self.fields["call"])
        self.fields["call"].cursor_position = len(self.fields["call"].value)
        self.refill()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self._filling or not self.form.display:
            return
        self.keep()

    def keep(self) -> None:
        if not self.form.display:
            return
        function = self.store.lesson.exercise.function
        line = joined(self.fields["call"].value, self.fields["predict"].value, function)
        reason = self.fields["why"].value
        edge = self.store.progress.edges.get(self.chosen)
        if edge is None and line == f"{function}(" and not reason:
            return
        if edge is None or (edge.line, edge.why) != (line, reason):
            self.store.keep_edge(self.chosen, line, reason)
            self.changed()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        names = list(FIELDS)
        at = next(n for n, name in enumerate(names) if self.fields[name] is event.input)
        if at + 1 < len(names):
            self.screen.set_focus(self.fields[names[at + 1]])
        else:
            self.close_form()

    def leave_editor(self) -> None:
        if self.form.display:
            self.close_form()

    def close_form(self) -> None:
        """Keep what stands in the fields and go back to the table."""
        self.keep()
        self.store.flush()
        self.form.display = False
        self.screen.set_focus(self.body)
        self.refill()

    # --- commands ----------------------------------------------------------------------------------------------------

    def can(self, command: str) -> bool:
        if command in ("commit", "unlock"):
            locked = self.store.progress.answer("edge").commit is not None
            edge = self.store.progress.edges.get(self.chosen)
            return locked or (command == "commit" and edge is not None and bool(edge.why.strip()))
        if command in ("delete", "act"):
            return bool(self.store.progress.edges)
        return super().can(command)

    def do_down(self) -> None:
        super().do_down()
        self._follow()

    def do_up(self) -> None:
        super().do_up()
        self._follow()

    def _follow(self) -> None:
        if self.body.item.startswith("edge:") and self.body.item != f"edge:{self.chosen}":
            self.chosen = self.body.item.removeprefix("edge:")
            self.refill()

    def choose(self, item: str) -> None:
        """A click on a row."""
        self.chosen = item.removeprefix("edge:")
        self.refill()

    def do_act(self) -> None:
        if self.chosen in self.store.progress.edges:
            self.edit(self.chosen)
        else:
            self.do_add()

    def do_add(self) -> None:
        self.store.flush()
        self.edit(self.store.progress.next_edge_id())

    def do_delete(self) -> None:
        edge = self.store.progress.edges.get(self.chosen)
        if edge is None:
            self.say(self.tr("edges_empty"))
            return
        self._undone.append((edge.id, edge.line, edge.why))
        names = list(self.store.progress.edges)
        at = names.index(edge.id)
        self.store.record("edge_gone", id=edge.id)
        names.remove(edge.id)
        self.chosen = names[min(at, len(names) - 1)] if names else ""
        self.refill()
        self.say(self.tr("edge_deleted"))
        self.changed()

    # --- the explanation ----------------------------------------------------------------------------------------------

    def do_commit(self) -> None:
        """Lock the chosen explanation, then tick what it earns; once it is locked, only tick."""
        edge = self.store.progress.edges.get(self.chosen)
        if self.store.progress.answer("edge").commit is not None:
            self._explain()
        elif edge is None or not edge.why.strip():
            self.say(text(self.store.lang, "answer.explain-none"))
        else:
            self.tutor.ask(text(self.store.lang, "answer.explain-ask"), self._lock)

    def _lock(self) -> None:
        edge = self.store.progress.edges[self.chosen]
        words = f"{edge.line}\n{edge.why}"
        self.store.record("committed", name="edge", text=words, rubric=self.store.lesson.rubric.version)
        self.refill()
        self.changed()
        self._explain()

    def _explain(self, item: str = "") -> None:
        """Slots to tick: Enter ticks and stays, Esc closes."""
        answer = self.store.progress.answer("edge")
        assert answer.commit is not None

        def ticked(chosen: str | None) -> None:
            if chosen:
                ticks = dict(answer.score.ticks) if answer.score is not None else {}
                slot = chosen.removeprefix("slot:")
                if ticks.pop(slot, None) is None:
                    ticks[slot] = answer.commit.text.partition("\n")[2] if answer.commit else ""
                record_score(self.store, "edge", ticks)
                self._explain(chosen)
            self.refill()
            self.changed()

        points = answer.score.points if answer.score is not None else 0
        chars = len(answer.commit.text)
        self.tutor.show_lines(
            lambda lang: text(lang, "answer.explain-title", chars=chars, points=points),
            lambda lang, width: explanation_lines(self.store.lesson.rubric, answer, lang, width),
            ticked,
            keys="answer.explain-foot",
            item=item,
        )

    def do_unlock(self) -> bool:
        if self.store.progress.answer("edge").commit is None:
            return False
        self.tutor.ask(text(self.store.lang, "answer.unlock-ask"), self._unlock)
        return True

    def _unlock(self) -> None:
        self.store.record("unlocked", name="edge")
        self.say(text(self.store.lang, "answer.unlocked"))
        self.refill()
        self.changed()

    def do_undo(self) -> None:
        if not self._undone:
            self.say(self.tr("nothing_to_undo"))
            return
        name, line, reason = self._undone.pop()
        self.store.record("edge", id=name, line=line, why=reason)
        self.chosen = name
        self.refill()
        self.changed()
