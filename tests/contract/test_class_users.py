"""A class of several ordinary users of one machine: what each may do, and that nobody can do more."""

from __future__ import annotations

import grp
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.users import as_user, needs_root
from tutor.classroom import exchange, handed_in
from tutor.classroom.exchange import ClassFolder
from tutor.cli.main import run

TEACHER, *LEARNERS = (20001, 20002, 20003, 20004)
pytestmark = needs_root  # test_feedback_cli goes the same way as one user


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o1777)
        yield Path(name)


Tutor = Callable[..., str]


@pytest.fixture
def tutor(place: Path, capfd: pytest.CaptureFixture[str]) -> Tutor:
    """A command of another user of the machine."""
    # Python's own modules may be closed to other users: what they run is imported by going the same way once before.
    warm = ["--lang", "en", "--state", str(place / "warm")]
    ask = ("look-again", "--question", "q1", "--why", "x")
    me = ("--learner", handed_in.login_of(os.geteuid()), "--question", "q1", "--points", "1")
    for argv in (("init",), (), ("score", *me), ("feedback",), ("list", "--json")):
        to = str(place / "warm-class")
        where = ("class", argv[0], to, *argv[1:]) if argv else ("submit", "--to", to)
        assert run([*warm, *where]) == 0
    assert [run([*warm, *argv]) for argv in (("feedback",), ask)] == [0, 0]

    def call(uid: int, *argv: str, groups: Sequence[int] = ()) -> str:
        with capfd.disabled():
            command = ["--lang", "en", "--state", str(place / f"state-{uid}"), *argv]
            return as_user(uid, lambda: os.environ.update(HOME=str(place)) or run(command), groups)

    return call


def test_several_users_from_init_to_look_again(place: Path, tutor: Tutor) -> None:
    folder = place / "class"

    assert tutor(TEACHER, "class", "init", str(folder)).endswith("[0]")
    for uid in LEARNERS:
        assert tutor(uid, "submit", "--to", str(folder)).endswith("[0]")
    ada, eve, _ = LEARNERS
    opened = ClassFolder.open(folder)
    (receipt,) = handed_in.receipts(place / f"state-{ada}" / opened.lesson)
    mine, back = opened.inbox / receipt.file, opened.feedback / f"{receipt.reply}.json"
    for shut in (opened.inbox, opened.feedback, opened.private, place / f"state-{ada}"):
        assert as_user(eve, lambda shut=shut: os.listdir(shut)).startswith("PermissionError")  # noqa: PTH208
    for forbidden in (mine.unlink, lambda: mine.write_bytes(b""), lambda: mine.rename(opened.inbox / "x")):
        assert as_user(eve, forbidden).startswith("PermissionError")
    assert as_user(eve, lambda: back.write_bytes(b"{}")).startswith("PermissionError")
    assert as_user(eve, lambda: back.symlink_to("/etc/passwd")).startswith("PermissionError")

    for uid in LEARNERS:
        score = ("--learner", f"uid-{uid}", "--question", "q1", "--points", "1")
        assert tutor(TEACHER, "class", "score", str(folder), *score).endswith("[0]")
    assert tutor(TEACHER, "class", "feedback", str(folder)).endswith("[0]")
    assert "Q1: 1/2, by an instructor" in tutor(ada, "feedback")

    why = ("look-again", "--question", "q1", "--why", "line 2 names the log")
    assert tutor(ada, *why).endswith("[0]")
    sent = (place / f"state-{ada}" / opened.lesson / "handed-in" / "0001.q1.text").read_bytes()
    stolen = exchange.secret_name()
    assert as_user(eve, lambda: exchange.drop(opened, stolen, sent)) == "[[]]"
    listed = tutor(TEACHER, "class", "list", str(folder), "--json")
    assert stolen in listed
    assert listed.count('"reason": "author"') == 1
    assert listed.count('"state": "open"') == 1 + 3 * len(LEARNERS), "one question is in the queue again"


def test_a_group_grades_and_the_instructor_publishes(place: Path, tutor: Tutor) -> None:
    folder, (learner, ann, bo) = str(place / "class"), LEARNERS
    group = next(each for each in grp.getgrall() if each.gr_gid != 0)
    team = [group.gr_gid]
    score = ("class", "score", folder, "--learner", f"uid-{learner}", "--question", "q1", "--points")

    assert "knows no group no-such-group" in tutor(TEACHER, "class", "init", folder, "--graders", "no-such-group")
    assert "not in the group" in tutor(TEACHER, "class", "init", folder, "--graders", group.gr_name)
    assert tutor(TEACHER, "class", "init", folder, "--graders", group.gr_name, groups=team).endswith("[0]")
    assert tutor(learner, "submit", "--to", folder).endswith("[0]")
    assert "belongs to its instructor" in tutor(ann, *score, "1")
    assert tutor(ann, *score, "1", groups=team).endswith("[0]")
    told = tutor(bo, *score, "2", groups=team)
    assert f"uid-{ann} gave 1, you gave 2." in told
    assert "can publish" in tutor(bo, "class", "feedback", folder, groups=team)
    assert tutor(bo, *score, "2", groups=team).endswith("[0]")
    assert tutor(TEACHER, "class", "feedback", folder, groups=team).endswith("[0]")
    assert "Q1: 2/2, by an instructor" in tutor(learner, "feedback")

    opened = ClassFolder.open(Path(folder))
    for shut in (opened.inbox, opened.private):
        assert as_user(learner, lambda shut=shut: os.listdir(shut)).startswith("PermissionError")  # noqa: PTH208
    assert as_user(learner, (opened.private / "gradebook.sqlite").read_bytes).startswith("PermissionError")
    assert tutor(TEACHER, "class", "init", folder, groups=team).endswith("[0]"), "the group stays"
    assert tutor(ann, "class", "list", folder, groups=team).endswith("[0]")


def test_what_root_does_for_an_instructor_stays_the_instructors(place: Path, tutor: Tutor) -> None:
    folder, learner = str(place / "class"), LEARNERS[0]
    root = ["--lang", "en", "--state", str(place / "state-root"), "class"]
    assert tutor(TEACHER, "class", "init", folder).endswith("[0]")
    assert tutor(learner, "submit", "--to", folder).endswith("[0]")
    score = ("--learner", f"uid-{learner}", "--question", "q1", "--points", "1")
    for argv in (("score", folder, *score), ("feedback", folder), ("init", folder)):
        assert run([*root, *argv]) == 0
    assert "Q1: 1/2, by an instructor" in tutor(learner, "feedback")
    assert tutor(TEACHER, "class", "list", folder).endswith("[0]")
