"""A hand-in as bytes: canonical JSON over what a learner has done, and a reader that believes nothing (pure).

Canonical means: keys sorted, no space, UTF-8, no NaN, one line. The file is `{"body": ..., "sha256": ...}`, the hash
over the canonical body. A reader writes what it has read again and compares: a key given twice, another encoding, a
number of another shape or a byte behind the end all show there.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tutor.learner.answers import NAMES, fingerprint
from tutor.learner.progress import Draft, Progress
from tutor.model import Lesson, TutorError

SCHEMA = 1
KIND = "torch-compile-tutor/submission"

#: The largest file, bytes: five drafts of 64 KB, and evidence.
SIZE_MAX = 4 << 20
#: Containers in containers; ours have at most half of it.
DEPTH_MAX = 24

#: The drafts that are answers, and the free texts among them.
ANSWERS = ("code", "edge", "q1", "q2", "q3")

_TOKEN = re.compile(r"[0-9a-f]{32}\Z")
_CITED = re.compile(r"\bE\d+\b")


class Unacceptable(TutorError):
    """These bytes are no hand-in; `message` says why."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who the file says it is from: the system's number and name. The file's owner decides, not this."""

    uid: int
    login: str


@dataclass(frozen=True, slots=True)
class Submission:
    """A hand-in that was read. `body` is plain data of the right shape, its texts still anybody's."""

    body: Mapping[str, Any]
    sha256: str

    @property
    def author(self) -> Author:
        return Author(self.body["author"]["uid"], self.body["author"]["login"])

    @property
    def lesson(self) -> str:
        return str(self.body["lesson"]["id"])

    @property
    def checks(self) -> str:
        """The version of the checks that the learner had."""
        return str(self.body["lesson"]["checks_version"])

    @property
    def made(self) -> str:
        """When the learner's own clock says that it was made: UTC, ISO 8601."""
        return str(self.body["made"])

    @property
    def reply(self) -> str:
        """The name under which the learner will look for feedback: nobody else knows it."""
        return str(self.body["reply"])

    @property
    def blank(self) -> str:
        return str(self.body["answers"]["code"]["text"]) if "code" in self.body["answers"] else ""

    @property
    def edges(self) -> tuple[str, ...]:
        return tuple(edge["line"] for edge in self.body["edges"])

    def answer(self, name: str) -> str:
        """The text of an answer; for `explanation` the reasons given for the edge inputs, one a line."""
        if name == "explanation":
            return "\n".join(edge["why"] for edge in self.body["edges"] if edge["why"].strip())
        answer = self.body["answers"].get(name)
        return str(answer["text"]) if answer else ""


def body_of(
    progress: Progress, lesson: Lesson, author: Author, *, made: str, number: int, reply: str, tutor: str
) -> dict[str, Any]:
    """What is handed in. `made` is now (UTC, ISO 8601), `number` counts this learner's hand-ins from 1, `reply` is a
    fresh secret of 32 hex digits, `tutor` its version."""
    evidence = _evidence(progress)
    lesson_version, checks_version = lesson.versions
    return {
        "kind": KIND,
        "schema": SCHEMA,
        "author": {"uid": author.uid, "login": author.login},
        "made": made,
        "number": number,
        "reply": reply,
        "tutor": tutor,
        "lesson": {
            "id": lesson.id,
            "version": lesson_version,
            "checks_version": checks_version,
            "rubric_version": lesson.rubric.version,
        },
        "answers": {name: _answer(progress, name) for name in ANSWERS if _is_begun(progress, name)},
        "edges": [{"id": edge.id, "line": edge.line, "why": edge.why} for edge in progress.edges.values()],
        "caught": list(progress.caught),
        "points": {"normal": progress.normal_points(), "edge": progress.edge_points()},
        "predictions": {name: dict(answers) for name, answers in progress.predictions.items()},
        "claims": {name: state._asdict() for name, state in progress.claims.items()},
        "evidence": {name: progress.evidence[name]._asdict() for name in evidence},
        "evidence_left_out": len(progress.evidence) - len(evidence),
        "self_scores": {
            name: {**score._asdict(), "ticks": dict(score.ticks)}
            for name in NAMES
            if (score := progress.answer(name).score) is not None
        },
    }


def seal(body: Mapping[str, Any]) -> bytes:
    """The file for a body. Raises Unacceptable when it is too large, ValueError when it is not JSON."""
    inner = canonical(body)
    raw = canonical({"body": body, "sha256": hashlib.sha256(inner).hexdigest()})
    if len(raw) > SIZE_MAX:
        raise Unacceptable("class.refuse-large", size=len(raw), most=SIZE_MAX)
    return raw


def canonical(data: object) -> bytes:
    """The one way to write this as JSON. Half a surrogate pair is written as its escape. Raises ValueError."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return _LONE.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode("utf-8")


def read(raw: bytes) -> Submission:
    """A hand-in out of bytes that nobody vouches for. Raises Unacceptable; nothing else, whatever the bytes are."""
    return hand_in_of(unseal(raw))


def hand_in_of(document: Mapping[str, Any]) -> Submission:
    """A hand-in out of what `unseal` gave. Raises Unacceptable."""
    body = document["body"]
    try:
        _shape(body)
    except (KeyError, TypeError, ValueError) as error:
        raise Unacceptable("class.refuse-shape", where=_place(error)) from None
    return Submission(body, document["sha256"])


def unseal(raw: bytes) -> dict[str, Any]:
    """A sealed document `{"body": {...}, "sha256": ...}` whose hash is right. Raises Unacceptable."""
    if len(raw) > SIZE_MAX:
        raise Unacceptable("class.refuse-large", size=len(raw), most=SIZE_MAX)
    try:
        text = raw.decode("utf-8")
        _measure(text)
        document = json.loads(text, parse_constant=_no_constant)
        again = canonical(document)
    except (ValueError, RecursionError):
        raise Unacceptable("class.refuse-json") from None
    if again != raw:
        raise Unacceptable("class.refuse-canonical")
    if not isinstance(document, dict) or not isinstance(document.get("body"), dict) or len(document) != 2:
        raise Unacceptable("class.refuse-shape", where="body")
    # Canonical as it is, the body is what stands between its key and the other one.
    rest = b',"sha256":' + canonical(document.get("sha256")) + b"}"
    if document.get("sha256") != hashlib.sha256(raw[len(b'{"body":') : -len(rest)]).hexdigest():
        raise Unacceptable("class.refuse-hash")
    return document


_LONE = re.compile("[\ud800-\udfff]")
#: A string, also one that is never closed: otherwise every quote in it would be tried as a start again.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")


def _measure(text: str) -> None:
    """Refuses what is nested deeper than any hand-in of ours, before a reader recurses into it. Raises Unacceptable."""
    depth = 0
    for match in _BRACKET.finditer(_STRING.sub("", text)):
        depth += 1 if match[0] in "[{" else -1
        if depth > DEPTH_MAX:
            raise Unacceptable("class.refuse-deep", most=DEPTH_MAX)


def _no_constant(name: str) -> None:
    raise ValueError(name)


# --- building ---------------------------------------------------------------------------------------------------------


def _is_begun(progress: Progress, name: str) -> bool:
    return name in progress.drafts or progress.answer(name).seen


def _answer(progress: Progress, name: str) -> dict[str, Any]:
    """The text that is committed, else the draft; with it when and under which rubric it was committed each time, what
    was committed before the reference was seen, and what was written after."""
    draft, answer = progress.drafts.get(name, Draft()), progress.answer(name)
    commit = answer.commit
    text = commit.text if commit is not None else draft.text
    first = answer.commits[0] if answer.commits else None
    return {
        "text": text,
        "at": commit.at if commit is not None else draft.at,
        "versions": draft.versions,
        "sha256": text_hash(text),
        "committed": commit is not None,
        "commits": [{"hash": each.hash, "at": each.at, "rubric": each.rubric} for each in answer.commits],
        "first_committed": first.text if first is not None else None,
        "after_reference": [
            {"hash": fingerprint(each.text), "at": each.at, "why": each.why}
            for each in answer.versions
            if first is not None and each.at > first.at and each.text != first.text
        ],
    }


def text_hash(text: str) -> str:
    """The hash of an answer's text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _evidence(progress: Progress) -> list[str]:
    """What is worth carrying: evidence that stands behind a claim, that an answer cites, or the last of its demo."""
    cited = {name for answer in ANSWERS for name in _CITED.findall(progress.text(answer))}
    behind = {state.evidence for state in progress.claims.values()}
    last = {str(evidence.record.get("demo")): name for name, evidence in progress.evidence.items()}
    wanted = cited | behind | set(last.values())
    return [name for name in progress.evidence if name in wanted]


# --- the shape --------------------------------------------------------------------------------------------------------


class _Misshapen(ValueError):
    """Something is not of the right kind; the text names where."""


def _place(error: Exception) -> str:
    """Where it is, of our own words only: what the file says itself may be anything."""
    return str(error) if isinstance(error, _Misshapen) else type(error).__name__


def _need(holds: bool, where: str) -> None:
    if not holds:
        raise _Misshapen(where)


def _text(table: Any, key: str, most: int = 64 << 10) -> str:
    value = table.get(key) if isinstance(table, dict) else None
    _need(isinstance(value, str), key)
    assert isinstance(value, str)
    _need(len(value) <= most, key)
    return value


def _number(table: Any, key: str, least: int, most: int) -> int:
    value = table.get(key) if isinstance(table, dict) else None
    _need(type(value) is int, key)
    assert isinstance(value, int)
    _need(least <= value <= most, key)
    return value


def _shape(body: dict[str, Any]) -> None:
    _need(_text(body, "kind", 100) == KIND, "kind")
    _number(body, "schema", SCHEMA, SCHEMA)
    author = body.get("author")
    _number(author, "uid", 0, 2**32 - 1)
    _text(author, "login", 256)
    _need(_TIME.match(_text(body, "made", 40)) is not None, "made")
    _number(body, "number", 1, 10**6)
    _need(_TOKEN.match(_text(body, "reply", 32)) is not None, "reply")
    _text(body, "tutor", 40)
    for key in ("id", "version", "checks_version", "rubric_version"):
        _text(body.get("lesson"), key, 100)
    answers = body.get("answers")
    _need(isinstance(answers, dict) and set(answers) <= set(ANSWERS), "answers")
    assert isinstance(answers, dict)
    for answer in answers.values():
        text = _text(answer, "text")
        _need(_text(answer, "sha256", 64) == text_hash(text), "answers.sha256")
        _text(answer, "at", 40)
        _number(answer, "versions", 0, 10**7)
        _commits(answer)
    _need(isinstance(body.get("edges"), list) and len(body["edges"]) <= 256, "edges")
    for edge in body["edges"]:
        for key in ("id", "line", "why"):
            _text(edge, key)
    _need(isinstance(body.get("caught"), list) and len(body["caught"]) <= 1000, "caught")
    _need(all(isinstance(each, str) for each in body["caught"]), "caught")
    _number(body.get("points"), "normal", 0, 2)
    _number(body.get("points"), "edge", 0, 1)
    for key in ("predictions", "claims", "evidence"):
        _need(isinstance(body.get(key), dict) and len(body[key]) <= 4096, key)
        _need(all(isinstance(each, dict) for each in body[key].values()), key)
    _number(body, "evidence_left_out", 0, 10**6)
    scores = body.get("self_scores")
    _need(isinstance(scores, dict) and set(scores) <= set(NAMES), "self_scores")
    assert isinstance(scores, dict)
    for score in scores.values():
        _self_score(score)


def _commits(answer: dict[str, Any]) -> None:
    _need(type(answer.get("committed")) is bool, "committed")
    _need("first_committed" in answer, "first_committed")
    if answer["first_committed"] is not None:
        _text(answer, "first_committed")
    for key, last in (("commits", "rubric"), ("after_reference", "why")):
        _need(isinstance(answer.get(key), list), key)
        for each in answer[key]:
            for field in ("hash", "at", last):
                _text(each, field, 100)
    # What was written after the reference is shown beside what was committed before it.
    _need(answer["first_committed"] is not None or not answer["after_reference"], "first_committed")


def _self_score(score: Any) -> None:
    _number(score, "points", 0, 2)
    for key in ("rubric", "at"):
        _text(score, key, 100)
    _need(all(type(score.get(key)) is bool for key in ("chain", "boundary", "tradeoff")), "self_scores")
    _need(isinstance(score.get("ticks"), dict), "ticks")
    for slot in score["ticks"]:
        _text(score["ticks"], slot)


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\Z")
