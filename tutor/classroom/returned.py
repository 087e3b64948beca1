"""What came back from the class: the learner's own feedback, read as if it could be anything."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tutor.classroom import handed_in, submission
from tutor.classroom.criteria import LABEL_MAX
from tutor.classroom.exchange import ClassFolder, ExchangeError, Receipt, Unreadable, read_stranger
from tutor.classroom.submission import Unacceptable, unseal
from tutor.language import LANGS, Lang
from tutor.learner.progress import Progress
from tutor.learner.scoring import INSTRUCTOR
from tutor.paths import why

KIND = "torch-compile-tutor/feedback"
SCHEMA = 1

#: The most questions, and slots of one, that are read.
QUESTIONS_MAX, SLOTS_MAX = 64, 256
#: A question's name becomes part of a file's name when the learner asks to look again.
_QUESTION = re.compile(r"[a-z][a-z0-9_-]{0,39}\Z")


class Marked(NamedTuple):
    """One question as it was scored; `points` is None while it is open. `vetoes` are those that stand;
    `labels` names, by language, the slots that are an instructor's own."""

    points: int | None
    of: int
    slots: Mapping[str, bool]
    vetoes: tuple[str, ...]
    comment: str
    at: str
    chain: bool
    boundary: bool
    tradeoff: bool
    labels: Mapping[str, Mapping[Lang, str]]


class Feedback(NamedTuple):
    """The feedback to one hand-in. `newest` is the number of the last hand-in: with a larger one this is of an older
    text. `machine` is what the class's own judging gave: normal inputs, edge input. `asked` are the questions that the
    learner has asked to look at again."""

    receipt: Receipt
    newest: int
    final: bool
    total: int | None
    machine: tuple[int, int] | None
    questions: Mapping[str, Marked]
    asked: frozenset[str] = frozenset()

    @property
    def is_old(self) -> bool:
        return self.receipt.number < self.newest

    def check_again(self, question: str) -> None:
        """Whether the learner may ask to look again at a question. Raises ExchangeError where they may not."""
        if self.is_old:
            raise ExchangeError("handin.ask-old")
        if question not in self.questions or self.questions[question].points is None:
            raise ExchangeError("handin.ask-no-score", question=question)
        if question in self.asked:
            raise ExchangeError("handin.ask-twice", question=question)


class CameBack(NamedTuple):
    """What a learner has of their hand-ins: the receipts, and the feedback to the newest one that has any."""

    kept: handed_in.Kept
    found: Feedback | None

    def events(self, progress: Progress) -> Iterator[tuple[str, dict[str, Any]]]:
        """What the journal does not know of it yet."""
        yield from handed_in.unnoted(self.kept.receipts, progress)
        if self.found is not None:
            yield from events(self.found, progress)

    def to_ask(self, question: str) -> Feedback:
        """The feedback, where the learner may ask to look again at a question of it. Raises ExchangeError."""
        if self.found is None:
            raise ExchangeError("handin.ask-no-score", question=question)
        self.found.check_again(question)
        return self.found


def look(state: Path) -> CameBack:
    """What has come back to the hand-ins that the lesson's folder `state` has receipts of. Raises ExchangeError."""
    kept = handed_in.kept_in(state)
    found = find(kept.receipts)
    if found is not None:
        found = found._replace(asked=frozenset(handed_in.asked(state, found.receipt)))
    return CameBack(kept, found)


def find(receipts: Sequence[Receipt]) -> Feedback | None:
    """The feedback to the newest hand-in that has any, None as long as none has. It is looked for where its class was
    last handed in to: folders are moved. Raises ExchangeError: the folder of the newest hand-in is gone or another one,
    or what is there is no feedback of the instructor's to that hand-in."""
    newest, opened = receipts[-1:], dict[str, ClassFolder | None]()
    for receipt in reversed(receipts):
        if receipt.class_id not in opened:
            try:
                opened[receipt.class_id] = _open(receipt)
            except ExchangeError:
                if receipt in newest:
                    raise
                opened[receipt.class_id] = None  # an older class than the one that counts: nothing comes from there
        folder = opened[receipt.class_id]
        if folder is None:
            continue
        receipt = receipt._replace(folder=str(folder.path))
        body = _fetch(folder, receipt)
        if body is not None:
            try:
                return _read(body, receipt, receipts[-1].number)
            except (KeyError, TypeError, ValueError):
                raise ExchangeError("class.feedback-damaged", path=str(_path(folder, receipt))) from None
    return None


def _open(receipt: Receipt) -> ClassFolder:
    """Raises ExchangeError, in a learner's words."""
    try:
        folder = ClassFolder.open(Path(receipt.folder))
    except ExchangeError as error:
        if error.message.key == "class.no-class":
            raise ExchangeError("handin.class-gone", path=receipt.folder) from None
        raise
    if folder.id != receipt.class_id:
        raise ExchangeError("handin.other-class", path=receipt.folder)
    return folder


def _path(folder: ClassFolder, receipt: Receipt) -> Path:
    return folder.feedback / f"{receipt.reply}.json"


def _fetch(folder: ClassFolder, receipt: Receipt) -> dict[str, Any] | None:
    path = _path(folder, receipt)
    try:
        path.lstat()
    except FileNotFoundError:
        if not folder.feedback.is_dir():
            raise ExchangeError("handin.no-feedback-folder", path=str(folder.feedback)) from None
        return None
    except OSError as error:
        raise ExchangeError("handin.unreachable", path=str(path), why=why(error)) from error
    try:
        raw, info = read_stranger(os.fsencode(path), submission.SIZE_MAX)
        body: dict[str, Any] = unseal(raw)["body"]
    except Unreadable as refused:
        if refused.message.key == "class.refuse-unreadable":
            reason = str(refused.message.args["why"])
            raise ExchangeError("handin.unreachable", path=str(path), why=reason) from None
        raise ExchangeError("class.feedback-damaged", path=str(path)) from None
    except Unacceptable:
        raise ExchangeError("class.feedback-damaged", path=str(path)) from None
    is_ours = body.get("kind") == KIND and body.get("submission") == receipt.sha256
    if info.st_uid != folder.owner or not is_ours or body.get("class") != folder.id:
        raise ExchangeError("class.feedback-damaged", path=str(path))
    schema = body.get("schema")
    if type(schema) is int and schema > SCHEMA:
        raise ExchangeError("handin.feedback-newer", path=str(path))
    return body


def _read(body: Mapping[str, Any], receipt: Receipt, newest: int) -> Feedback:
    """Fields that a later tutor adds are not looked at. Raises KeyError, TypeError, ValueError."""
    machine, total = body["machine"], body["total"]
    questions = _table(body["questions"], QUESTIONS_MAX)
    if not all(map(_QUESTION.match, questions)):
        raise ValueError("questions")
    return Feedback(
        receipt,
        newest,
        _flag(body["final"]),
        None if total is None else _count(total, 100),
        None if machine is None else (_count(machine["normal"], 2), _count(machine["edge"], 1)),
        {name: _marked(one) for name, one in questions.items()},
    )


def _marked(one: Any) -> Marked:
    one = _table(one, 64)
    of = _count(one["of"], 100)
    if one["points"] is None:
        return Marked(None, of, {}, (), "", "", False, False, False, {})
    points = _count(one["points"], of)
    slots = {_words(slot, 100): _flag(yes) for slot, yes in _table(one.get("slots", {}), SLOTS_MAX).items()}
    vetoes = tuple(veto for veto in _words(one["veto"], 400).split() if veto != "none")
    chain, boundary, tradeoff = (_flag(one.get(name, False)) for name in ("chain", "boundary", "tradeoff"))
    comment, at = _words(one["comment"], 20_000), _words(one["at"], 40)
    labels = {
        _words(slot, 100): {lang: _words(label[lang], LABEL_MAX) for lang in LANGS}
        for slot, label in _table(one.get("labels", {}), SLOTS_MAX).items()
    }
    return Marked(points, of, slots, vetoes, comment, at, chain, boundary, tradeoff, labels)


def _table(value: object, most: int) -> dict[str, Any]:
    if not isinstance(value, dict) or len(value) > most:
        raise TypeError(value)
    return value


def _count(value: object, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(value)
    return value


def _flag(value: object) -> bool:
    if type(value) is not bool:
        raise TypeError(value)
    return value


def _words(value: object, most: int) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise TypeError(value)
    return value


def events(found: Feedback, progress: Progress) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the journal does not know yet of a feedback, as events; nothing of one to an older hand-in."""
    if found.is_old:
        return
    if found.machine != progress.regraded:
        normal, edge = found.machine or (None, None)
        yield "regraded", {"normal": normal, "edge": edge}
    for question, one in found.questions.items():
        name = "edge" if question == "explanation" else question
        now = progress.answer(name).final
        if one.points is None:
            if now is not None:
                yield "final", {"name": name, "points": None}
            continue
        given = (one.points, INSTRUCTOR, one.at, one.chain, one.boundary, one.tradeoff, one.vetoes)
        if now is None or tuple(now) != given:
            fields = ("points", "who", "when", "chain", "boundary", "tradeoff", "vetoes")
            yield "final", {"name": name, **dict(zip(fields, given, strict=True)), "vetoes": list(one.vetoes)}
