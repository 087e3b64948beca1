"""A class roster: a CSV file with a column `login` and, if there is one, a column `name`."""

from __future__ import annotations

import csv
import io
from typing import NamedTuple

from tutor.model import TutorError

#: The largest roster, bytes and learners.
SIZE_MAX = 4 << 20
LEARNERS_MAX = 20_000


class RosterError(TutorError):
    """The roster cannot be read; `message` names the line and says what to do."""


class Enrolled(NamedTuple):
    """One learner: the login name on the machines (or the bare number of the user), and a name for people."""

    login: str
    name: str


def parse(raw: bytes) -> list[Enrolled]:
    """The learners in the roster's order. Raises RosterError."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RosterError("class.roster-encoding", line=raw.count(b"\n", 0, error.start) + 1) from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    found: dict[str, Enrolled] = {}
    try:
        head = [cell.strip().lower() for cell in next(reader, [])]
        if "login" not in head:
            raise RosterError("class.roster-head")
        login_at, name_at = head.index("login"), head.index("name") if "name" in head else None
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            login = row[login_at].strip() if login_at < len(row) else ""
            name = row[name_at].strip() if name_at is not None and name_at < len(row) else ""
            if not login or len(login) > 256 or len(name) > 256 or "/" in login or not login.isprintable():
                raise RosterError("class.roster-line", line=reader.line_num)
            if login in found:
                raise RosterError("class.roster-twice", line=reader.line_num, login=login)
            found[login] = Enrolled(login, name)
            if len(found) > LEARNERS_MAX:
                raise RosterError("class.roster-many", most=LEARNERS_MAX)
    except csv.Error:
        raise RosterError("class.roster-line", line=reader.line_num) from None
    if not found:
        raise RosterError("class.roster-empty")
    return list(found.values())
