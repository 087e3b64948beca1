"""The gradebook that belongs to a class folder: where it is, and whether it is still the one we knew."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutor.classroom.exchange import ClassFolder, ExchangeError
from tutor.learner.line_file import write_whole
from tutor.model import Message
from tutor.paths import why

if TYPE_CHECKING:
    from tutor.gradebook import Gradebook

_SETTINGS = "gradebook.json"


def choose_database(folder: ClassFolder, url: str | None) -> None:
    """Write down where the gradebook is: `url`, or a file in the private folder. An earlier choice stays when `url` is
    None. Raises ExchangeError."""
    path = folder.private / _SETTINGS
    try:
        if url is not None or not path.exists():
            _write(folder, path, {"schema": 1, "url": url, "scores": 0})
    except OSError as error:
        raise ExchangeError("class.unusable", path=str(path), why=why(error)) from error


def open_book(folder: ClassFolder, *, is_new: bool = False) -> tuple[Gradebook, list[Message]]:
    """The gradebook, and what the instructor should know of it. A file that is gone is made again only for `is_new`.
    Raises ExchangeError, gradebook.GradebookError."""
    from tutor.doctor import NETWORK, file_system
    from tutor.gradebook import Gradebook
    from tutor.gradebook.database import Database

    path = folder.private / _SETTINGS
    try:
        settings = json.loads(path.read_bytes())
        url, known = settings["url"], int(settings["scores"])
    except PermissionError:
        raise ExchangeError("class.not-yours", path=str(folder.path)) from None
    except FileNotFoundError:
        raise ExchangeError("class.no-settings", path=str(folder.path)) from None
    except OSError as error:
        raise ExchangeError("class.unusable", path=str(path), why=why(error)) from error
    except (ValueError, KeyError, TypeError):
        raise ExchangeError("class.damaged", path=str(path)) from None
    file = folder.private / "gradebook.sqlite"
    is_remote = file_system(folder.private) in NETWORK
    if url is None and not is_new and not file.exists():
        raise ExchangeError("class.db-gone", path=str(file), folder=str(folder.path))
    book = Gradebook(Database(url or f"sqlite:///{file}", is_remote=is_remote), folder.id)
    notices: list[Message] = []
    if url is None:
        try:
            _keep_private(folder, file)
        except OSError as error:
            raise ExchangeError("class.unusable", path=str(file), why=why(error)) from error
        if is_remote:
            notices.append(Message("class.db-remote", {"path": str(file)}))
    count = book.score_count()
    if count < known:
        notices.append(Message("class.db-older", {"db": book.database.shown, "have": count, "known": known}))
    return book, notices


def close_book(folder: ClassFolder, book: Gradebook) -> None:
    """Remember how far the scores went, so that an older copy of the gradebook is noticed. Raises ExchangeError."""
    path = folder.private / _SETTINGS
    try:
        settings = json.loads(path.read_bytes())
        count = book.score_count()
        if count > int(settings["scores"]):
            _write(folder, path, {**settings, "scores": count})
    except OSError as error:
        raise ExchangeError("class.unusable", path=str(path), why=why(error)) from error
    finally:
        book.close()


def _write(folder: ClassFolder, path: Path, settings: dict[str, Any]) -> None:
    write_whole(path, json.dumps(settings).encode(), mode=folder.private_mode, owner=folder.owner)


def _keep_private(folder: ClassFolder, file: Path) -> None:
    """Whoever has put it there: a copy may come with other modes, and root's would be closed to its instructor. Raises
    OSError."""
    info, wanted = file.stat(), folder.private_mode
    if os.geteuid() == 0 and info.st_uid != folder.owner:
        os.chown(file, folder.owner, -1)
    if os.geteuid() in (0, info.st_uid) and stat.S_IMODE(info.st_mode) != wanted:
        file.chmod(wanted)
