"""Files that a learner names: read up to a bound, and what is wrong with them in one sentence."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tutor.cli.exits import Stop
from tutor.paths import why


def read_bounded(path: Path, most: int) -> bytes:
    """At most `most` + 1 bytes of a file, so that the caller can tell one that is too long. Raises Stop for a file that
    is missing, a folder, or cannot be read. A pipe is read like a file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            if stat.S_ISDIR(os.fstat(fd).st_mode):
                raise IsADirectoryError
            return file.read(most + 1)
    except FileNotFoundError as error:
        raise Stop("cli.file-missing", path=str(path)) from error
    except IsADirectoryError as error:
        raise Stop("cli.file-folder", path=str(path)) from error
    except OSError as error:
        raise Stop("cli.file-unreadable", path=str(path), why=why(error)) from error
    except ValueError as error:  # A NUL in the name.
        raise Stop("cli.file-missing", path=str(path)) from error
