"""Where things live on disk: the one owner of every folder the tutor writes to or reads settings from."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from tutor.model import Message, TutorError

APP = "torch-compile-tutor"
PRIVATE = 0o700


class StateError(TutorError):
    """The learner's state cannot be read or kept; `message` says what happened and what to do."""


def state_folder(flag: str | None, env: Mapping[str, str] = os.environ) -> Path:
    """The learner's state folder: `--state`, else TUTOR_STATE, else the platform's own (XDG_STATE_HOME on Linux)."""
    chosen = flag or env.get("TUTOR_STATE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    from platformdirs import user_state_path

    return user_state_path(APP, appauthor=False)


def lesson_folder(state: Path, lesson: str) -> Path:
    """The folder of one lesson's journal inside the state folder."""
    return state / lesson


def config_file() -> Path:
    """The optional settings file."""
    from platformdirs import user_config_path

    return user_config_path(APP, appauthor=False) / "settings.toml"


def cache_folder() -> Path:
    """Things that may be deleted at any time, such as what is known of an interpreter's torch."""
    from platformdirs import user_cache_path

    return user_cache_path(APP, appauthor=False)


def make_private(folder: Path) -> Message | None:
    """Create `folder`, and the folder it stands in, for this user alone (mode 0700).

    A folder of ours that others may enter is closed; where the file system does not let us, the message that comes back
    says so. A folder above that existed before is the learner's own and stays as it is. Raises StateError.
    """
    try:
        for path in (folder.parent, folder):
            if not path.exists():
                path.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        info = folder.stat()
        if not stat.S_ISDIR(info.st_mode):
            raise NotADirectoryError
    except (FileExistsError, NotADirectoryError):
        raise StateError("state.not-a-folder", path=str(folder)) from None
    except OSError as error:
        raise StateError("state.folder-unusable", path=str(folder), why=why(error)) from error
    if not os.access(folder, os.R_OK | os.X_OK):
        raise StateError("state.folder-unusable", path=str(folder), why=os.strerror(13))
    return _close_to_others(folder, info)


def _close_to_others(folder: Path, info: os.stat_result) -> Message | None:
    if not info.st_mode & 0o077:
        return None
    try:
        folder.chmod(PRIVATE)
        if not folder.stat().st_mode & 0o077:
            return None
    except OSError:
        pass  # Said below, with the mode that others see.
    return Message("state.open-to-others", {"path": str(folder), "mode": f"{stat.S_IMODE(info.st_mode):04o}"})


def why(error: OSError) -> str:
    """The system's own words for an error, without the path that our sentence names already."""
    return error.strerror or type(error).__name__
