"""What came back from the class: the learner's own feedback, read as if it could be anything."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tutor import submission
from tutor.criteria import LABEL_MAX
from tutor.exchange import ClassFolder, ExchangeError, Receipt, Unreadable, read_stranger
from tutor.model import LANGS, Lang
from tutor.progress import Progress
from tutor.scoring import INSTRUCTOR
from tutor.submission import Unacceptable, unseal

KIND = "torch-compile-tutor/feedback"


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
    text. `machine` is what the class's own judging gave: normal inputs, edge input."""

    receipt: Receipt
    newest: int
    final: bool
    total: int | None
    machine: tuple[int, int] | None
    questions: Mapping[str, Marked]

    @property
    def is_old(self) -> bool:
        return self.receipt.number < self.newest


def find(receipts: Sequence[Receipt]) -> Feedback | None:
    """The feedback to the newest hand-in that has any, None as long as none has. Raises ExchangeError: the class folder
    is gone or another one, or what is there is no feedback of the instructor's to that hand-in."""
    for receipt in reversed(receipts):
        folder = ClassFolder.open(Path(receipt.folder))
        if folder.id != receipt.class_id:
            raise ExchangeError("handin.other-class", path=receipt.folder)
        body = _fetch(folder, receipt)
        if body is not None:
            try:
                return _read(body, receipt, receipts[-1].number)
            except (KeyError, TypeError, ValueError):
                raise ExchangeError("class.feedback-damaged", path=str(_path(folder, receipt))) from None
    return None


def _path(folder: ClassFolder, receipt: Receipt) -> Path:
    return folder.feedback / f"{receipt.reply}.json"


def _fetch(folder: ClassFolder, receipt: Receipt) -> dict[str, Any] | None:
    path = _path(folder, receipt)
    if not os.path.lexists(path):
        return None
    try:
        raw, info = read_stranger(os.fsencode(path), submission.SIZE_MAX)
        body: dict[str, Any] = unseal(raw)["body"]
    except (Unreadable, Unacceptable):
        raise ExchangeError("class.feedback-damaged", path=str(path)) from None
    is_ours = body.get("kind") == KIND and body.get("submission") == receipt.sha256
    if info.st_uid != folder.owner or not is_ours or body.get("class") != folder.id:
        raise ExchangeError("class.feedback-damaged", path=str(path))
    return body


def _read(body: Mapping[str, Any], receipt: Receipt, newest: int) -> Feedback:
    """Fields that a later tutor adds are not looked at. Raises KeyError, TypeError, ValueError."""
    machine, total = body["machine"], body["total"]
    return Feedback(
        receipt,
        newest,
        _flag(body["final"]),
        None if total is None else _count(total, 100),
        None if machine is None else (_count(machine["normal"], 2), _count(machine["edge"], 1)),
        {_words(name, 40): _marked(one) for name, one in dict(body["questions"]).items()},
    )


def _marked(one: Mapping[str, Any]) -> Marked:
    of = _count(one["of"], 100)
    if one["points"] is None:
        return Marked(None, of, {}, (), "", "", False, False, False, {})
    points = _count(one["points"], of)
    slots = {_words(slot, 100): _flag(yes) for slot, yes in dict(one.get("slots", {})).items()}
    vetoes = tuple(veto for veto in _words(one["veto"], 400).split() if veto != "none")
    chain, boundary, tradeoff = (_flag(one.get(name, False)) for name in ("chain", "boundary", "tradeoff"))
    comment, at = _words(one["comment"], 20_000), _words(one["at"], 40)
    labels = {
        _words(slot, 100): {lang: _words(label[lang], LABEL_MAX) for lang in LANGS}
        for slot, label in dict(one.get("labels", {})).items()
    }
    return Marked(points, of, slots, vetoes, comment, at, chain, boundary, tradeoff, labels)


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
