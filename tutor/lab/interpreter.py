"""Which Python has a torch for the demos, found without importing torch."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tutor.model import TutorError

Why = Literal["setting", "own", "virtual-env", "conda-prefix"]

#: Seconds that another interpreter may take to start and say whether it has torch; home on a slow NFS counts.
PATIENCE_S = 20.0

# An installed package has a file of its own; a folder that is merely called torch has none.
_ASK = """\
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import importlib.util
spec = importlib.util.find_spec("torch")
if spec is not None and spec.origin is not None:
    import importlib.metadata
    try:
        print(importlib.metadata.version("torch"))
    except importlib.metadata.PackageNotFoundError:
        print("unknown")
"""


class InterpreterError(TutorError):
    """What was named as an interpreter does not run as one; `message` says so and what to do."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The Python that demos run under and why this one; `torch_version` is None when it has no torch."""

    path: str
    why: Why
    torch_version: str | None


def find(setting: str | None = None, environ: Mapping[str, str] = os.environ) -> Interpreter:
    """The interpreter of the setting, else the tutor's own, else the active virtual or conda environment's.

    The setting is taken as it is, with torch or without. Of the others the first that has torch is taken, and the
    tutor's own when none has. Asking another interpreter takes some 50 ms, PATIENCE_S at most. Raises InterpreterError.
    """
    if setting is not None:
        return Interpreter(setting, "setting", _ask(setting))
    own = Interpreter(sys.executable, "own", _own_version())
    if own.torch_version is not None:
        return own
    places: tuple[tuple[str, Why], ...] = (("VIRTUAL_ENV", "virtual-env"), ("CONDA_PREFIX", "conda-prefix"))
    for variable, why in places:
        path = Path(environ.get(variable, ""), "bin", "python")
        if environ.get(variable) and path.is_file():
            try:
                version = _ask(str(path))
            except InterpreterError:
                continue  # An environment that was not named by the learner and is broken is no reason to stop.
            if version is not None:
                return Interpreter(str(path), why, version)
    return own


def _own_version() -> str | None:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    from importlib import metadata

    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return "unknown"


def _ask(path: str) -> str | None:
    try:
        asked = subprocess.run(
            [path, "-c", _ASK],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_S,
            text=True,
            errors="backslashreplace",
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        why = f"no answer in {PATIENCE_S:.0f} s" if isinstance(error, subprocess.TimeoutExpired) else str(error)
        raise InterpreterError("lab.python-unusable", path=path, why=why) from error
    if asked.returncode != 0:
        last = (asked.stderr.strip().splitlines() or [f"exit status {asked.returncode}"])[-1]
        raise InterpreterError("lab.python-unusable", path=path, why=last[:200])
    return asked.stdout.strip() or None
