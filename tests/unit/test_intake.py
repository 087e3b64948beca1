"""The class folder and its inbox: modes, hand-ins by several users, and files that mean harm."""

from __future__ import annotations

import json
import os
import runpy
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.users import as_user, needs_root
from tutor.classroom import class_book, exchange, handed_in, intake, look_again, submission
from tutor.classroom.exchange import ClassFolder, ExchangeError
from tutor.classroom.look_again import LookAgain
from tutor.gradebook import Gradebook
from tutor.gradebook.book import Refused
from tutor.gradebook.roster import Enrolled
from tutor.gradebook.scores import Mark
from tutor.learner.progress import Progress
from tutor.lesson import catalog
from tutor.model import Lesson

MAKE = runpy.run_path(str(Path(__file__).resolve().parents[1] / "bench" / "make_class.py"))
ME = handed_in.login_of(os.geteuid())


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return catalog.load()


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user of the machine can reach; pytest's own is closed to others."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def folder(place: Path, lesson: Lesson) -> ClassFolder:
    made, _ = exchange.create(place / "class", lesson.id)
    class_book.choose_database(made, None)
    return made


@pytest.fixture
def book(folder: ClassFolder) -> Iterator[Gradebook]:
    made, _ = class_book.open_book(folder, is_new=True)
    yield made
    made.close()


def mine(lesson: Lesson, /, **changes: Any) -> bytes:
    """A hand-in of this process's own user."""
    _, raw = next(MAKE["hand_ins"](lesson, 1, 7, first_uid=os.geteuid()))
    return submission.seal({**json.loads(raw)["body"], **changes})


def drop(folder: ClassFolder, name: str | bytes, raw: bytes) -> Path:
    path = Path(os.fsdecode(os.fsencode(folder.inbox) + b"/" + os.fsencode(name)))
    path.write_bytes(raw)
    return path


def reasons(refused: list[Refused]) -> dict[str, str]:
    return {intake.shown_name(each.name): each.reason.key.removeprefix("class.refuse-") for each in refused}


# --- the folder -------------------------------------------------------------------------------------------------------


def test_modes_whatever_the_umask_is(place: Path, lesson: Lesson) -> None:
    before = os.umask(0o077)
    try:
        folder, broken = exchange.create(place / "class", lesson.id)
    finally:
        os.umask(before)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (folder.path, folder.inbox, folder.feedback)}
    assert list(modes.values()) == [0o755, 0o1733, 0o711]
    assert stat.S_IMODE(folder.private.stat().st_mode) == 0o700
    assert broken == []
    assert list(folder.inbox.iterdir()) == []


def test_init_again_mends_modes_and_keeps_the_class(folder: ClassFolder, lesson: Lesson) -> None:
    folder.inbox.chmod(0o777)
    again, broken = exchange.create(folder.path, lesson.id)
    assert (again.id, broken) == (folder.id, [])
    assert stat.S_IMODE(folder.inbox.stat().st_mode) == 0o1733


def test_a_folder_that_others_cannot_reach_is_told(place: Path, lesson: Lesson) -> None:
    place.chmod(0o700)
    _, broken = exchange.create(place / "class", lesson.id)
    assert [(each.key, each.args["path"]) for each in broken] == [("class.promise-closed", str(place))]


def test_a_file_system_that_keeps_no_modes_is_told(
    place: Path, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "chmod", lambda *_: None)
    monkeypatch.setattr(os, "fchmod", lambda *_: None)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    _, broken = exchange.create(place / "class", lesson.id)
    assert {"class.promise-mode", "class.promise-owner"} <= {each.key for each in broken}


def test_init_changes_nothing_in_a_folder_that_is_not_its_own(place: Path, lesson: Lesson) -> None:
    (place / "thesis.txt").write_text("x")
    with pytest.raises(ExchangeError) as caught:
        exchange.create(place, lesson.id)
    assert caught.value.message.key == "class.init-not-empty"
    assert [path.name for path in place.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("text", ["", "id = 1", "lesson = ["])
def test_a_class_file_that_is_damaged(folder: ClassFolder, text: str) -> None:
    (folder.path / "class.toml").write_text(text)
    with pytest.raises(ExchangeError) as caught:
        ClassFolder.open(folder.path)
    assert caught.value.message.key == "class.damaged"


# --- handing in -------------------------------------------------------------------------------------------------------


def test_a_hand_in_leaves_one_file_and_a_receipt(folder: ClassFolder, lesson: Lesson, tmp_path: Path) -> None:
    first, notices = handed_in.submit(Progress(), lesson, tmp_path, folder)
    second, _ = handed_in.submit(Progress(), lesson, tmp_path, folder)
    assert notices == []
    assert handed_in.receipts(tmp_path) == [first, second]
    assert (first.number, second.number) == (1, 2)
    names = sorted(path.name for path in folder.inbox.iterdir())
    assert names == sorted([first.file, second.file])
    assert (tmp_path / "handed-in" / "0001.json").read_bytes() == (folder.inbox / first.file).read_bytes()
    assert stat.S_IMODE((folder.inbox / first.file).stat().st_mode) == 0o644


@pytest.mark.parametrize(
    ("number", "key"),
    [(28, "full"), (122, "full"), (30, "read-only"), (13, "forbidden"), (2, "no-inbox"), (5, "failed")],
)
def test_trouble_is_told_and_nothing_stays_behind(
    folder: ClassFolder, monkeypatch: pytest.MonkeyPatch, number: int, key: str
) -> None:
    def failing(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(ExchangeError) as caught:
        exchange.drop(folder, "a.json", b"x")
    assert caught.value.message.key == f"class.submit-{key}"
    assert list(folder.inbox.iterdir()) == []


def test_a_full_disk_at_the_first_byte_leaves_nothing(
    folder: ClassFolder, lesson: Lesson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The inbox's disk is full, the learner's own is not; the next try is the first hand-in again."""
    whole = os.fchmod

    def full(fd: int, mode: int) -> None:
        if mode == exchange.FILE_MODE:
            raise OSError(28, os.strerror(28))
        whole(fd, mode)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fchmod", full)
        with pytest.raises(ExchangeError) as caught:
            handed_in.submit(Progress(), lesson, tmp_path, folder)
    assert caught.value.message.key == "class.submit-full"
    assert list(folder.inbox.iterdir()) == []
    assert handed_in.receipts(tmp_path) == []
    receipt, _ = handed_in.submit(Progress(), lesson, tmp_path, folder)
    assert (receipt.number, handed_in.receipts(tmp_path)) == (1, [receipt])


@pytest.mark.parametrize("arrived", [True, False])
def test_a_hand_in_that_was_cut_off_is_known_by_whether_it_got_there(
    folder: ClassFolder, lesson: Lesson, tmp_path: Path, arrived: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Gone(BaseException):
        pass

    def cut_off(where: ClassFolder, name: str, raw: bytes) -> None:
        if arrived:
            exchange.drop(where, name, raw)
        raise Gone

    with monkeypatch.context() as patched:
        patched.setattr(handed_in, "drop", cut_off)
        with pytest.raises(Gone):
            handed_in.submit(Progress(), lesson, tmp_path, folder)
    assert [each.number for each in handed_in.receipts(tmp_path)] == [1] * arrived
    again, _ = handed_in.submit(Progress(), lesson, tmp_path, folder)
    assert again.number == 1 + arrived
    assert [each.number for each in handed_in.receipts(tmp_path)] == list(range(1, again.number + 1))
    assert len(list(folder.inbox.iterdir())) == again.number


@needs_root
def test_other_users_drop_and_can_neither_list_read_nor_replace(
    folder: ClassFolder, book: Gradebook, lesson: Lesson
) -> None:
    ada, eve = 21001, 21002

    raw = submission.seal({**json.loads(mine(lesson))["body"], "author": {"uid": ada, "login": "ada"}})
    name, stolen = exchange.secret_name(), exchange.secret_name()
    assert as_user(ada, lambda: exchange.drop(folder, name, raw)) == "[[]]"
    assert (folder.inbox / name).stat().st_uid == ada
    assert as_user(eve, lambda: os.listdir(folder.inbox)).startswith("PermissionError")  # noqa: PTH208
    assert as_user(eve, lambda: (folder.inbox / name).unlink()).startswith("PermissionError")
    assert as_user(eve, lambda: (folder.inbox / name).write_bytes(b"")).startswith("PermissionError")
    assert as_user(eve, lambda: os.listdir(folder.feedback)).startswith("PermissionError")  # noqa: PTH208
    assert as_user(eve, lambda: os.listdir(folder.private)).startswith("PermissionError")  # noqa: PTH208
    assert as_user(eve, lambda: class_book.open_book(folder)).startswith("ExchangeError class.not-yours")
    assert as_user(eve, lambda: exchange.drop(folder, stolen, (folder.inbox / name).read_bytes())) == "[[]]"
    assert intake.take_in(folder, book, lesson) == (1, 1, 0)
    assert [row.learner.login for row in book.rows()] == [f"uid-{ada}"]
    assert reasons(book.refused()) == {stolen: "author"}


# --- files that mean harm ---------------------------------------------------------------------------------------------


def test_hostile_files_are_listed_with_a_reason_and_the_good_one_is_taken(
    folder: ClassFolder, book: Gradebook, lesson: Lesson, tmp_path: Path
) -> None:
    raw = mine(lesson)
    body = json.loads(raw)["body"]
    drop(folder, "good.json", raw)
    (folder.inbox / "link").symlink_to("/etc/shadow")
    (folder.inbox / "loop").symlink_to("loop")
    os.mkfifo(folder.inbox / "fifo")
    (folder.inbox / "folder").mkdir()
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder.inbox / "socket"))
    server.close()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(raw)
    try:
        os.link(elsewhere, folder.inbox / "hard")
    except OSError:
        os.link(drop(folder, "hard2", raw), folder.inbox / "hard")
    with drop(folder, "sparse", raw).open("r+b") as file:
        file.truncate(200 << 20)
    drop(folder, "empty", b"")
    drop(folder, "deep", b'{"body":' + b"[" * 200_000 + b"]" * 200_000 + b"}")
    drop(folder, "twice", raw[:-1] + b',"body":{}}')
    drop(folder, "nan", raw.replace(b'"number":1', b'"number":NaN'))
    drop(folder, "cut", raw[: len(raw) * 2 // 3])
    drop(folder, "utf16", raw.decode().encode("utf-16"))
    drop(folder, "keys", b"{" + b",".join(b'"k%d":%d' % (i, i) for i in range(1_000_000)) + b"}")
    drop(folder, "hash", raw.replace(b'"number":1', b'"number":2'))
    drop(folder, "other", mine(lesson, lesson={**body["lesson"], "id": "../../x\x1b[2J"}))
    drop(folder, "author", mine(lesson, author={"uid": os.geteuid() + 1, "login": "\x1b]52;c;eA==\x07"}))
    drop(folder, "reply", mine(lesson, reply="../../../../tmp/pwned-by-a-file"))
    drop(folder, ".half.json.part", raw[:100])
    hostile = "name\x1b[31m\n\u202etxt"
    drop(folder, hostile, b"x")
    drop(folder, b"\xff\xfe", b"x")

    taken = intake.take_in(folder, book, lesson)
    found = reasons(book.refused())
    expected = {
        "link": "link",
        "loop": "link",
        "fifo": "no-file",
        "folder": "no-file",
        "socket": "no-file",
        "hard": "hard-link",
        "sparse": "large",
        "keys": "large",
        "empty": "json",
        "deep": "deep",
        "twice": "canonical",
        "nan": "json",
        "cut": "json",
        "utf16": "json",
        "hash": "hash",
        "other": "lesson",
        "author": "author",
        "reply": "shape",
        "name\\x1b[31m\\n\\u202etxt": "json",
        "\\udcff\\udcfe": "json",
    }
    assert {name: found.get(name) for name in expected} == expected
    assert taken.new == 1
    assert [row.handed_in for row in book.rows()] == [1]
    assert all(str(value).isprintable() for each in book.refused() for value in each.reason.args.values())
    assert intake.take_in(folder, book, lesson) == (0, 0, taken.new + taken.refused), "nothing is looked at twice"


def test_the_newest_counts_and_history_stays(folder: ClassFolder, book: Gradebook, lesson: Lesson) -> None:
    drop(folder, "a", mine(lesson))
    intake.take_in(folder, book, lesson)
    first = book.rows()[0].submission
    drop(folder, "b", mine(lesson, number=2))
    drop(folder, "b2", mine(lesson, number=2))  # the same once more, under another name
    assert intake.take_in(folder, book, lesson).new == 1
    row = book.rows()[0]
    assert (row.handed_in, row.learner.login) == (2, ME)
    assert row.submission != first
    assert first is not None
    assert submission.read(book.raw(first)).body["number"] == 1
    assert set(book.scores.standing()) == {row.submission}


def test_a_request_to_look_again_is_read_once(
    folder: ClassFolder, book: Gradebook, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    drop(folder, "a", mine(lesson))
    intake.take_in(folder, book, lesson)
    item = book.queue.find(ME, "q1")
    assert item is not None
    score, _ = book.scores.give(item.id, "ann", Mark(1, {}, {}))
    book.scores.publish([score.id], 1.0)
    hand_in = submission.read(book.raw(item.submission))
    ask = LookAgain(hand_in.author, lesson.id, hand_in.sha256, "q1", "Please.")
    drop(folder, "ask", look_again.pack(ask))
    assert intake.take_in(folder, book, lesson) == (1, 0, 1)
    monkeypatch.setattr(intake, "read_stranger", lambda *_: pytest.fail("read again"))
    assert intake.take_in(folder, book, lesson) == (0, 0, 2)
    asked = book.queue.asked(item.id)
    assert asked is not None
    assert asked.text == "Please."


def test_a_file_that_is_replaced_under_its_name_is_a_new_one(
    folder: ClassFolder, book: Gradebook, lesson: Lesson
) -> None:
    drop(folder, "a", b"rubbish")
    assert intake.take_in(folder, book, lesson) == (0, 1, 0)
    drop(folder, "a", mine(lesson))
    assert intake.take_in(folder, book, lesson).new == 1


def test_who_is_not_on_the_roster_waits_until_they_are(folder: ClassFolder, book: Gradebook, lesson: Lesson) -> None:
    book.enroll([Enrolled("somebody", "Some Body")])
    drop(folder, "a", mine(lesson))
    assert intake.take_in(folder, book, lesson) == (0, 1, 0)
    assert reasons(book.refused()) == {"a": "roster"}
    book.enroll([Enrolled("somebody", ""), Enrolled(ME, "Me")])
    assert intake.take_in(folder, book, lesson) == (1, 0, 0)
    assert book.refused() == []
    assert {row.learner.login: row.submission is not None for row in book.rows()} == {"somebody": False, ME: True}


def test_a_roster_may_name_a_user_by_number(folder: ClassFolder, book: Gradebook, lesson: Lesson) -> None:
    me = str(os.geteuid())
    book.enroll([Enrolled(me, "Me")])
    drop(folder, "a", mine(lesson))
    assert intake.take_in(folder, book, lesson) == (1, 0, 0)
    assert [(row.learner.login, row.learner.name, row.submission is None) for row in book.rows()] == [(me, "Me", False)]


def test_a_clock_in_the_future_and_another_version_are_remarked_on(
    folder: ClassFolder, book: Gradebook, lesson: Lesson
) -> None:
    body = json.loads(mine(lesson))["body"]
    drop(folder, "a", mine(lesson, made="2999-01-01T00:00:00Z", lesson={**body["lesson"], "version": "old"}))
    intake.take_in(folder, book, lesson)
    assert [note.key for note in book.rows()[0].notes] == ["class.note-clock", "class.note-version"]
    drop(folder, "b", mine(lesson, made="2026-02-31T00:00:00Z"))
    intake.take_in(folder, book, lesson)
    assert reasons(book.refused()) == {"b": "shape"}


def test_one_owner_cannot_keep_it_busy(
    folder: ClassFolder, book: Gradebook, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "OWNER_MAX", 3)
    for number in range(1, 6):
        drop(folder, f"{number}", mine(lesson, number=number))
    assert intake.take_in(folder, book, lesson) == (3, 2, 0)
    row = book.rows()[0]
    assert row.submission is not None
    assert submission.read(book.raw(row.submission)).body["number"] == 5, "the newest is among those that are read"
