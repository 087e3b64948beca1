"""`$EDITOR` on the blank or on an answer: the screen steps aside, the file comes back, nothing is lost."""

from __future__ import annotations

import shlex
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from tutor.literals import safe_text
from tutor.strings import text
from tutor.ui.panes.answer import AnswerPane
from tutor.ui.panes.base import Pane
from tutor.ui.panes.code import CodePane
from tutor.ui.panes.lab_exercise import ExerciseView

if TYPE_CHECKING:
    from tutor.ui.app import TutorApp

#: Tried in this order when neither VISUAL nor EDITOR is set.
USUAL = ("nano", "vim", "vi")


def edit(app: TutorApp, pane: Pane) -> None:
    """Open what `pane` edits; what comes back is checked as if it had been typed."""
    import shutil

    lang = app.store.lang
    command = app.context.env.get("VISUAL") or app.context.env.get("EDITOR")
    argv = shlex.split(command) if command else [next((name for name in USUAL if shutil.which(name)), "")]
    if not argv or not argv[0]:
        app.learner.say(text(lang, "ui.no_editor"), "caution")
        return
    if isinstance(pane, ExerciseView):
        # The file itself: what the editor saved is kept whatever becomes of the editor, of the line or of us.
        if _away(app, argv, pane.own.path):
            app.learner.say(text(lang, "ui.editor_taken"))
        pane.look()
        return
    if isinstance(pane, CodePane):
        name, before = "guard_key.py", pane.blank.fill(pane.area.blank_text)
    elif isinstance(pane, AnswerPane):
        name, before = f"{pane.question.id}.md", pane.area.text
    else:
        return
    with tempfile.TemporaryDirectory(prefix="tutor-") as folder:
        path = Path(folder) / name
        path.write_text(before, encoding="utf-8")
        if not _away(app, argv, path):
            return
        raw = path.read_bytes()
    _take(app, pane, before, raw)


def _away(app: TutorApp, argv: list[str], path: Path) -> bool:
    """The screen steps aside while the editor has the file; False after saying that it failed."""
    lang = app.store.lang
    try:
        with app.suspend():
            # Textual's screen does not come back from an exception in here.
            code = _run([*argv, str(path)])
    except SuspendNotSupported:
        app.learner.say(text(lang, "ui.no_suspend"), "caution")
        return False
    if isinstance(code, OSError):
        app.learner.say(text(lang, "ui.editor_failed", editor=argv[0], why=code.strerror or ""), "caution")
        return False
    if code:
        app.learner.say(text(lang, "ui.editor_code", editor=argv[0], code=code), "caution")
    return not code


def _run(argv: list[str]) -> int | OSError:
    """The exit code of a command that has the terminal, or why it did not start. ^C is the command's alone."""
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        return subprocess.run(argv, check=False).returncode
    except OSError as error:
        return error
    finally:
        signal.signal(signal.SIGINT, before)


def _take(app: TutorApp, pane: Pane, before: str, raw: bytes) -> None:
    lang = app.store.lang
    if isinstance(pane, CodePane):
        found = pane.blank.read_file(raw)
        if isinstance(found, str):
            if found != pane.area.blank_text:
                pane.put_blank(found)
                pane.keep()
            app.store.flush()
            app.learner.say(text(lang, "ui.editor_taken"))
            return
        kept = _keep(app, "guard_key.py", raw)
        app.learner.say(found, "caution")
        if kept is not None:
            app.learner.say(text(lang, "ui.editor_kept", path=str(kept)), "caution")
        return
    assert isinstance(pane, AnswerPane)
    try:
        words = raw.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        kept = _keep(app, f"{pane.question.id}.md", raw)
        app.learner.say(text(lang, "ui.editor_not_utf8", path=str(kept or "")), "caution")
        return
    # Editors end a file with a newline that nobody typed.
    words = words.removesuffix("\n") if not before.endswith("\n") else words
    if words != pane.area.text:
        pane.replace_all(words)
        pane.keep()
        app.store.flush()
    app.learner.say(text(lang, "ui.editor_taken"))


def _keep(app: TutorApp, name: str, raw: bytes) -> Path | None:
    """What could not be taken is kept beside the journal, so that no work is lost."""
    path = app.store.journal.folder / f"refused-{name}"
    try:
        path.write_bytes(raw)
        path.chmod(0o600)
    except OSError as error:
        app.learner.say(safe_text(f"{path}: {error.strerror}"), "bad")
        return None
    return path
