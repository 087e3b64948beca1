"""The result: nothing that is not earned, and for each part what it still needs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

from textual import on
from textual.worker import Worker, WorkerState

from tutor.line_file import write_whole
from tutor.literals import safe_text
from tutor.model import Message
from tutor.paths import why
from tutor.strings import say, text
from tutor.ui.commands import Context
from tutor.ui.lines import Line, Part, Role
from tutor.ui.panes.base import ListPane
from tutor.ui.views.result import TABS, result_lines

if TYPE_CHECKING:
    from tutor.exchange import ClassFolder, Receipt
    from tutor.handed_in import Parcel
    from tutor.returned import Feedback
    from tutor.ui.app import TutorApp
    from tutor.ui.store import Store
    from tutor.ui.theme import ThemeName


class _CameBack(NamedTuple):
    """The feedback, and the questions that the learner has asked to look at again."""

    found: Feedback
    asked: set[str]


class ResultPane(ListPane):
    """A row per part; Enter goes to the tab where it is mended."""

    context: ClassVar[Context] = "result"

    def __init__(self, store: Store, theme: ThemeName, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(store, theme, id=id)
        self._came_back: _CameBack | None = None
        self._fetching: Worker[_CameBack | Message | None] | None = None

    def title(self) -> list[Part]:
        score = self.store.score
        return [(self.tr(f"result_title_{score.state.replace('-', '_')}", got=score.points, of=score.of), "title")]

    def refill(self) -> None:
        self.draw_title()
        width = max(30, self.body.size.width - 1)
        back: list[Line] = []
        if self._came_back is not None:
            from tutor.ui.views.feedback import feedback_lines

            found, asked = self._came_back
            back = feedback_lines(self.store.lesson, found, asked, self.store.lang, width)
        lines = result_lines(self.store.lesson, self.store.progress, self.store.lang, width, back)
        first = next(row.item for row in lines if row.item)
        self.body.show(lines, item=self.body.item or first)

    def do_act(self) -> None:
        self.choose(self.body.item)

    def choose(self, item: str) -> None:
        name = item.removeprefix("part:")
        if name in TABS:
            self.post_message(self.Go(TABS[name]))

    def do_report(self) -> None:
        """Write the report as Markdown and as HTML beside the journal, over those of an earlier time."""
        from tutor import report_text
        from tutor.report import report

        store = self.store
        store.flush()
        at = datetime.now().astimezone().isoformat(timespec="seconds")
        data = report(store.progress, store.lesson, store.lang, at)
        for kind in report_text.KINDS:
            path = store.journal.folder / f"report.{kind}"
            try:
                write_whole(path, report_text.as_file(data, kind, store.lang))
            except OSError as error:
                self.say(text(store.lang, "report.unwritable", path=str(path), why=why(error)), "caution")
                return
        self.say(self.tr("result_written", folder=str(store.journal.folder)), "good")

    # --- what came back -----------------------------------------------------------------------------------------------

    def set_active(self, active: bool) -> None:
        """Whoever opens the page is shown what has come back by now."""
        opened = active and not self.active
        super().set_active(active)
        # A class folder that does not answer holds one thread, not one for each time the page is opened.
        if opened and (self._fetching is None or self._fetching.is_finished):
            self._fetch()

    def _fetch(self) -> None:
        self._fetching = self.run_worker(
            self._fetched, thread=True, group="feedback", exclusive=True, exit_on_error=False
        )

    def _fetched(self) -> _CameBack | Message | None:
        """In a thread: what has come back, or why that cannot be told."""
        from tutor import handed_in, returned
        from tutor.exchange import ExchangeError

        folder = self.store.journal.folder
        try:
            found = returned.find(handed_in.receipts(folder))
            return _CameBack(found, handed_in.asked(folder, found.receipt)) if found is not None else None
        except ExchangeError as error:
            return error.message
        except OSError as error:
            return Message("class.unusable", {"path": str(folder), "why": why(error)})

    @on(Worker.StateChanged)
    def _came(self, event: Worker.StateChanged) -> None:
        if event.worker is not self._fetching or event.state is not WorkerState.SUCCESS:
            return  # a worker of the hand-in, or one that looked before it
        came = event.worker.result
        if isinstance(came, Message):
            if self.display:
                self.say(came, "caution")
            return
        self._came_back = came
        if came is None:
            return
        from tutor import returned

        if self.store.journal.read_only is None:
            for kind, data in returned.events(came.found, self.store.progress):
                self.store.record(kind, **data)
        if self.display:
            self.refill()
        self.changed()

    # --- handing in ---------------------------------------------------------------------------------------------------

    def do_hand_in(self) -> None:
        """Ask where to, the first time; then say what goes and ask."""
        folder = self.store.progress.settings.get("class")
        if isinstance(folder, str):
            self._look(folder)
        else:
            self._ask_where("")

    def _ask_where(self, before: str) -> None:
        label = text(self.store.lang, "handin.where")
        self._app.ask_line(label, lambda path: self._look(path.strip()) if path.strip() else None, before, 1000)

    def _look(self, path: str) -> None:
        """The class folder may be on a file system that does not answer: only a thread waits for it."""
        self.store.flush()
        self.say(Message("handin.looking"))
        self.run_worker(lambda: self._looked(path), thread=True, group="hand-in", exclusive=True, exit_on_error=False)

    def _looked(self, path: str) -> None:
        from tutor import handed_in
        from tutor.exchange import ClassFolder, ExchangeError
        from tutor.submission import Unacceptable

        try:
            folder = ClassFolder.open(Path(path).expanduser())
            handed_in.is_for(folder, self.store.lesson)
            goes = handed_in.parcel(self.store.progress, self.store.lesson)
        except ExchangeError as error:
            self._app.call_from_thread(self._refused, error.message, path)
            return
        except Unacceptable as error:
            self._app.call_from_thread(self.say, error.message, "caution")
            return
        self._app.call_from_thread(self._ask, folder, goes)

    def _refused(self, message: Message, path: str) -> None:
        self.say(message, "caution")
        self._ask_where(path)

    def _ask(self, folder: ClassFolder, goes: Parcel) -> None:
        self.say("")
        self.store.record("setting", name="class", value=str(folder.path))
        question = text(
            self.store.lang,
            "handin.sure",
            path=safe_text(str(folder.path)),
            answers=goes.answers,
            evidence=goes.evidence,
            size=max(1, goes.size // 1024),
        )

        def yes() -> None:
            self.run_worker(lambda: self._send(folder), thread=True, group="hand-in", exit_on_error=False)

        self._app.ask(question, yes)

    def _send(self, folder: ClassFolder) -> None:
        from tutor import handed_in
        from tutor.exchange import ExchangeError
        from tutor.paths import StateError
        from tutor.submission import Unacceptable

        store = self.store
        try:
            receipt, notices = handed_in.submit(store.progress, store.lesson, store.journal.folder, folder)
        except (ExchangeError, Unacceptable, StateError) as error:
            self._app.call_from_thread(self.say, error.message, "caution")
            return
        kept = str(store.journal.folder / "handed-in")
        done = say(store.lang, Message("handin.done", {"number": receipt.number, "path": safe_text(kept)}))
        words = " ".join([done, *(say(store.lang, notice) for notice in notices)])
        self._app.call_from_thread(self._sent, receipt, words, "caution" if notices else "good")

    def _sent(self, receipt: Receipt, words: str, role: Role) -> None:
        self.store.record("handed_in", number=receipt.number, sha256=receipt.sha256)
        self._came_back = None
        self._fetch()
        self.refill()
        self.say(words, role)

    # --- please look again --------------------------------------------------------------------------------------------

    def do_look_again(self) -> None:
        """Of the question under the cursor: say why not, or ask for the reason, then whether it is to be sent."""
        back, question = self._came_back, self.body.item.removeprefix("part:")
        marked = back.found.questions.get(question) if back is not None else None
        if back is None or marked is None or marked.points is None:
            self.say(Message("handin.ask-no-score", {"question": safe_text(question)}), "caution")
        elif back.found.is_old:
            self.say(Message("handin.ask-old"), "caution")
        elif question in back.asked:
            self.say(Message("handin.ask-twice", {"question": question}), "caution")
        else:
            receipt = back.found.receipt
            label = text(self.store.lang, "handin.ask-why", question=question)
            self._app.ask_line(label, lambda why_again: self._sure_again(receipt, question, why_again), "", 2000)

    def _sure_again(self, receipt: Receipt, question: str, reason: str) -> None:
        if not reason.strip():
            self.say(Message("handin.ask-empty"), "caution")
            return
        asking = text(self.store.lang, "handin.ask-sure", question=question, why=safe_text(reason, 200))

        def yes() -> None:
            self.run_worker(
                lambda: self._ask_again(receipt, question, reason), thread=True, group="hand-in", exit_on_error=False
            )

        self._app.ask(asking, yes)

    def _ask_again(self, receipt: Receipt, question: str, reason: str) -> None:
        from tutor import handed_in
        from tutor.exchange import ExchangeError
        from tutor.submission import Unacceptable

        store = self.store
        try:
            notices = handed_in.ask(store.journal.folder, receipt, store.lesson, question, reason)
        except (ExchangeError, Unacceptable) as error:
            self._app.call_from_thread(self.say, error.message, "caution")
            return
        done = say(store.lang, Message("handin.asked-now", {"question": question}))
        words = " ".join([done, *(say(store.lang, notice) for notice in notices)])
        self._app.call_from_thread(self._asked, words, "caution" if notices else "good")

    def _asked(self, words: str, role: Role) -> None:
        self._fetch()
        self.say(words, role)

    @property
    def _app(self) -> TutorApp:
        return cast("TutorApp", self.app)
