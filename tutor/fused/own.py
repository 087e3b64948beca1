"""The learner's kernel file: where it lives, how it begins, and what was there before it was put back."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tutor.fused.source import FILE_MAX
from tutor.model import TutorError
from tutor.paths import why

NAME, BEFORE = "fused_kernel.py", "fused_kernel.before-reset.py"
#: Bytes that are read of a file: FILE_MAX characters of any width are fewer.
BYTES_MAX = 4 * FILE_MAX + 1


class OwnError(TutorError):
    """The file cannot be read or written; `message` says why and what to do."""


@dataclass(frozen=True, slots=True)
class Own:
    """`path` is the file, in the state folder of the lesson; `shipped` the draft that it begins as."""

    path: Path
    shipped: Path

    @classmethod
    def of(cls, lesson: Path, state: Path) -> Own:
        """`lesson` is the lesson's folder, `state` the learner's folder for this lesson."""
        return cls(state / NAME, lesson / "exercise" / NAME)

    @property
    def exists(self) -> bool:
        """Whether the lesson has this exercise."""
        return self.shipped.is_file()

    def ensure(self) -> None:
        """Write the draft where there is no file yet. Raises OwnError."""
        if not self.path.exists():
            self._write(self.path, self._draft())

    def read(self) -> str:
        """The text as it stands; the draft while there is no file. Raises OwnError."""
        try:
            with self.path.open("rb") as file:
                raw = file.read(BYTES_MAX)
        except FileNotFoundError:
            return self._draft()
        except OSError as error:
            raise OwnError("kernel.own-unreadable", path=str(self.path), why=why(error)) from error
        return text_of(self.path, raw)

    def is_draft(self, text: str) -> bool:
        """Whether nothing was changed yet."""
        return text == self._draft()

    def stamp(self) -> tuple[int, int, int] | None:
        """What is another one when the file was written to; None where there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None  # Whoever reads it is told why.
        return found.st_ino, found.st_mtime_ns, found.st_size

    def reset(self) -> None:
        """The draft again; what was there is kept beside it. Raises OwnError."""
        draft = self._draft()
        try:
            if self.path.exists() and self.path.read_bytes() != draft.encode():
                self.path.replace(self._before)
        except OSError as error:
            raise self._unwritable(error) from error
        self._write(self.path, draft)

    def undo(self) -> bool:
        """What is here changes places with what was there before the last reset; False when nothing was. Raises
        OwnError."""
        if not self._before.exists():
            return False
        aside = self._before.with_suffix(".swap")
        try:
            if self.path.exists():
                self.path.replace(aside)
            self._before.replace(self.path)
            if aside.exists():
                aside.replace(self._before)
        except OSError as error:
            raise self._unwritable(error) from error
        return True

    @property
    def _before(self) -> Path:
        return self.path.with_name(BEFORE)

    def _draft(self) -> str:
        return self.shipped.read_text(encoding="utf-8")

    def _write(self, path: Path, text: str) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{NAME}-")
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(path)
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> OwnError:
        return OwnError("kernel.own-unwritable", path=str(self.path), why=why(error))


def text_of(path: Path, raw: bytes) -> str:
    """The text of a file's first BYTES_MAX bytes. Raises OwnError for what is not UTF-8 or goes on beyond them."""
    if len(raw) >= BYTES_MAX:
        raise OwnError("kernel.long", most=FILE_MAX)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise OwnError("kernel.not-utf8", path=str(path)) from error
