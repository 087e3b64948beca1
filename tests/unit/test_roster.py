"""The roster: what is read, and what is said of one that cannot be."""

from __future__ import annotations

import pytest

from tutor.gradebook.roster import Enrolled, RosterError, parse


def test_logins_and_names_in_order() -> None:
    raw = '\ufeffName,LOGIN\r\n李雷,lei\r\n\r\n"Ada, B",ada\r\n,20001\r\n'.encode()
    assert parse(raw) == [Enrolled("lei", "李雷"), Enrolled("ada", "Ada, B"), Enrolled("20001", "")]


@pytest.mark.parametrize(
    ("raw", "key", "line"),
    [
        (b"", "head", None),
        (b"name\nada\n", "head", None),
        (b"login\n", "empty", None),
        (b"login\nada\nada\n", "twice", 3),
        (b"login,name\n,Ada\n", "line", 2),
        (b"login\n../x\n", "line", 2),
        (b"login\na\x1b[31m\n", "line", 2),
        (b"login\nada\n\xff\n", "encoding", 3),
        (b'login\n"ada\n', "line", 2),
        (b"login\n" + b"x" * 300 + b"\n", "line", 2),
    ],
)
def test_what_cannot_be_read_names_its_line(raw: bytes, key: str, line: int | None) -> None:
    with pytest.raises(RosterError) as caught:
        parse(raw)
    assert caught.value.message.key == f"class.roster-{key}"
    assert caught.value.message.args.get("line") == line
