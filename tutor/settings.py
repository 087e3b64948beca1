"""What a learner may set once for all lessons: one typed object, read from `settings.toml`."""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from tutor.language import LANGS, Lang
from tutor.model import TutorError

Theme = Literal["auto", "dark", "light", "ansi", "mono"]
THEMES: tuple[Theme, ...] = get_args(Theme)


class SettingsError(TutorError):
    """The settings file cannot be used; `message` names the file, the line and what is wrong there."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of `settings.toml`, each with its default."""

    lang: Lang | None = None
    """`zh` or `en`; None leaves it to what was chosen before, TUTOR_LANG and the locale."""

    theme: Theme = "auto"
    """`auto` looks at the terminal; `ansi` keeps to the terminal's own 16 colours, `mono` to none."""

    python: str | None = None
    """The interpreter whose torch the demos use; None lets the tutor look for one."""

    launcher: tuple[str, ...] = ()
    """What stands before a demo's command line, as one string in the file: `launcher = "srun --gres=gpu:1"`."""

    mouse: bool = True
    """False leaves the mouse to the terminal, so that it can select text."""

    device: str = "auto"
    """Where demos run: `auto` (the least busy GPU, else the CPU), `cpu`, `cuda`, or one GPU, as `cuda:1`."""


_DEVICE = re.compile(r"auto|cpu|cuda(:([0-9]{1,4}|(GPU|MIG)-[0-9A-Za-z/-]{1,100}))?")


def is_device(text: str) -> bool:
    """Whether a run can be asked for on this device: `auto`, `cpu`, `cuda`, `cuda:1`, `cuda:GPU-...`, `cuda:MIG-...`.
    Whether the machine has it is seen when it runs."""
    return _DEVICE.fullmatch(text) is not None


def load(path: Path) -> Settings:
    """The settings in `path`, all defaults when there is no such file. Raises SettingsError."""
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return Settings()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SettingsError("state.settings-encoding", path=str(path), line=line) from error
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise SettingsError("state.settings-unreadable", path=str(path), why=why) from error
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError("state.settings-toml", path=str(path), **_place(error, text)) from error
    return Settings(**{name: _value(path, text, name, value) for name, value in table.items()})


def _place(error: tomllib.TOMLDecodeError, text: str) -> dict[str, str | int]:
    said = str(error)
    at = re.search(r" \(at line (\d+), column \d+\)\Z", said)
    if at is None:
        return {"line": text.rstrip("\n").count("\n") + 1, "why": said.removesuffix(" (at end of document)")}
    return {"line": int(at[1]), "why": said[: at.start()]}


def _value(path: Path, text: str, name: str, value: Any) -> Any:
    def refuse(key: str, **more: str) -> SettingsError:
        line = re.search(rf"(?m)^\s*[\[\"']*{re.escape(name)}\b", text)
        at = text.count("\n", 0, line.start(0) + 1) + 1 if line else 1
        return SettingsError(key, path=str(path), line=at, name=name, **more)

    if name in ("lang", "theme"):
        allowed = LANGS if name == "lang" else THEMES
        if value not in allowed:
            raise refuse("state.settings-choice", allowed=", ".join(allowed))
        return value
    if name == "mouse":
        if not isinstance(value, bool):
            raise refuse("state.settings-choice", allowed="true, false")
        return value
    if name not in ("python", "launcher", "device"):
        raise refuse("state.settings-unknown", allowed="lang, theme, python, launcher, device, mouse")
    if not isinstance(value, str):
        raise refuse("state.settings-text")
    if name == "python":
        return value or None
    if name == "device":
        if not is_device(value):
            raise refuse("state.settings-choice", allowed="auto, cpu, cuda, cuda:0, cuda:GPU-..., cuda:MIG-...")
        return value
    try:
        return tuple(shlex.split(value))
    except ValueError as error:
        raise refuse("state.settings-quotes") from error
