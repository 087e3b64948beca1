"""The result: nothing that is not earned, and for each part what it still needs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from tutor.line_file import write_whole
from tutor.literals import safe_text
from tutor.model import Message
from tutor.paths import why
from tutor.strings import say, text
from tutor.ui.commands import Context
from tutor.ui.lines import Part, Role
from tutor.ui.panes.base import ListPane
from tutor.ui.views.result import TABS, result_lines

if TYPE_CHECKING:
    from tutor.exchange import ClassFolder, Receipt
    from tutor.handed_in import Parcel
    from tutor.ui.app import TutorApp


class ResultPane(ListPane):
    """A row per part; Enter goes to the tab where it is mended."""

    context: ClassVar[Context] = "result"

    def title(self) -> list[Part]:
        score = self.store.score
        return [(self.tr(f"result_title_{score.state.replace('-', '_')}", got=score.points, of=score.of), "title")]

    def refill(self) -> None:
        self.draw_title()
        width = max(30, self.body.size.width - 1)
        lines = result_lines(self.store.lesson, self.store.progress, self.store.lang, width)
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
        self.refill()
        self.say(words, role)

    @property
    def _app(self) -> TutorApp:
        return cast("TutorApp", self.app)
