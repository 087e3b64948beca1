"""The words of the domain as frozen values: no input, no output, no front end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tutor.language import Bilingual, Lang

if TYPE_CHECKING:
    from tutor.rubric.model import Rubric

#: A value that is made of plain literals only: None, bool, int, float, str and tuple, list, set, frozenset of them.
Plain = Any


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence for a learner, named by its key in `tutor/text/`: its language may change after it was made."""

    key: str
    args: Mapping[str, str | int | float] = field(default_factory=dict)


class TutorError(Exception):
    """Something cannot be done: `message` is the one sentence, for whoever can act, that says why and what to do."""

    def __init__(self, key: str, /, **fields: str | int | float) -> None:
        super().__init__(key)  # alone, so that it goes from process to process; the rest goes with it
        self.message = Message(key, fields)

    def __str__(self) -> str:
        return f"{self.message.key} {dict(self.message.args)}"


class Ending(StrEnum):
    """How a judged run ended. BROKE is the tool's own fault: it costs the learner nothing and never passes."""

    PASSED = "passed"
    FAILED = "failed"
    LIMIT = "limit"
    REFUSED = "refused"
    BROKE = "broke"


class Verdict(StrEnum):
    """What an experiment said of a claim, or why it could not."""

    HOLDS = "holds"
    CONDITIONAL = "conditional"
    DIFFERS = "differs"
    UNAVAILABLE = "unavailable"
    BROKE = "broke"


class Source(StrEnum):
    """Where a number comes from. Every number that is shown says one of these."""

    MEASURED = "measured"
    RECORDED = "recorded"
    QUOTED = "quoted"


# --- the lesson -------------------------------------------------------------------------------------------------------


class Step(NamedTuple):
    """One step of the lesson, at most two screens long; `text` is in the notation of `lesson_text.py`."""

    id: str
    title: Bilingual
    text: Bilingual


class Record(NamedTuple):
    """What was observed of a claim elsewhere: where (GPU or CPU, versions), when (YYYY-MM), and the finding."""

    where: str
    when: str
    verdict: Verdict
    text: Bilingual


class Claim(NamedTuple):
    """A sentence of the lesson that a machine can test.

    `says` is what the lesson itself says of it and `condition` on what that depends. `demo` names the experiment,
    None while there is none.
    """

    id: str
    text: Bilingual
    says: Verdict
    condition: Bilingual | None
    demo: str | None
    records: tuple[Record, ...]

    def agrees(self, verdict: Verdict) -> bool:
        """Whether an observed verdict is what the lesson says.

        A conditional claim may come out either way where the condition lies outside the run, such as the device: then a
        verdict agrees that one of the claim's own records gives too.
        """
        if verdict is self.says:
            return True
        return self.says is Verdict.CONDITIONAL and any(verdict is record.verdict for record in self.records)


class FigureStep(NamedTuple):
    """One way through a figure: the labels that light up and the sentence that says why."""

    lit: tuple[str, ...]
    text: Bilingual


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure drawn in ASCII, once for each width; every label in `lit` stands in both drawings."""

    id: str
    narrow: tuple[str, ...]
    wide: tuple[str, ...]
    steps: tuple[FigureStep, ...]


class Question(NamedTuple):
    """A free-text question; `rule` is the name of its rubric (q1, q2, q3)."""

    id: str
    text: Bilingual
    points: int


class Ask(NamedTuple):
    """One thing to predict before a demo runs: a whole number, or one of `choices`."""

    id: str
    label: str
    choices: tuple[Bilingual, ...]


@dataclass(frozen=True, slots=True)
class Demo:
    """An experiment: `script` runs in a child that imports torch; everything here is known without torch.

    `usual_s` is how long it usually takes in seconds, (low, high), on a two-core CPU. `verdicts` maps a claim's id to
    an ordered mapping of verdict name to the observation that earns it (see `tutor/lab/verdicts.py`). `why` holds the
    plain sentences that an observation may name, `units` the units of observed quantities.
    """

    name: str
    title: Bilingual
    shows: Bilingual
    question: Bilingual
    asks: tuple[Ask, ...]
    claims: tuple[str, ...]
    verdicts: Mapping[str, Mapping[str, Any]]
    script: Path
    recorded: tuple[Path, ...]
    usual_s: tuple[float, float]
    needs: tuple[str, ...]
    why: Mapping[str, Bilingual] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)


# --- the exercise -----------------------------------------------------------------------------------------------------


class Call(NamedTuple):
    """One call of the exercise's function with plain literals."""

    args: tuple[Plain, ...]


class Raised(NamedTuple):
    """An exception as data: the name of its built-in type, and its text."""

    kind: str
    text: str = ""


class Assertion(NamedTuple):
    """A given assertion: the call and the value that a right function returns."""

    id: str
    args: tuple[Plain, ...]
    expected: Plain
    hint: Bilingual


class WrongVersion(NamedTuple):
    """A mistake that somebody makes, as a whole function; shown only after an edge input has caught it.

    `given_catches` says why the given assertions catch it already, None when they let it live.
    """

    id: str
    text: Bilingual
    run: Callable[..., Plain]
    given_catches: Bilingual | None = None


@dataclass(frozen=True, slots=True)
class Exercise:
    """The one blank of a lesson and everything its trusted judge knows.

    `template` is the exercise file as shipped, with `blank` standing exactly once in it. `reference` is the right
    function, `probes(random)` draws inputs that the learner cannot foresee, and `malformed(args)` says as a message why
    an edge input's arguments are not of the function's kind (None when they are). None of these three, nor the wrong
    versions, ever enter the learner's process.
    """

    function: str
    template: str
    blank: str
    given: tuple[Assertion, ...]
    reference: Callable[..., Plain]
    wrong: tuple[WrongVersion, ...]
    probes: Callable[..., tuple[Call, ...]]
    malformed: Callable[[tuple[Plain, ...]], Message | None]


@dataclass(frozen=True)
class Lesson:
    """A lesson as a whole. What the first screen does not show is read when it is first asked for."""

    id: str
    number: int
    title: Bilingual
    about: Bilingual
    folder: Path
    steps: tuple[Step, ...]
    claims: Mapping[str, Claim]
    figures: Mapping[str, Figure]
    questions: tuple[Question, ...]
    read_demos: Callable[[], Mapping[str, Demo]]
    read_exercise: Callable[[], Exercise]
    read_versions: Callable[[], tuple[str, str]]
    read_rubric: Callable[[], Rubric]

    @cached_property
    def demos(self) -> Mapping[str, Demo]:
        """Every experiment by its name. Raises `catalog.CatalogError`."""
        return self.read_demos()

    @cached_property
    def exercise(self) -> Exercise:
        """The blank and its judge's knowledge. Raises `catalog.CatalogError`."""
        return self.read_exercise()

    @cached_property
    def rubric(self) -> Rubric:
        """What the free texts are read for. Raises `catalog.CatalogError`."""
        return self.read_rubric()

    def reference(self, question: str, lang: Lang) -> str | None:
        """The reference answer, None where the installation has none. Raises OSError, UnicodeDecodeError."""
        path = self.folder / "reference" / lang / f"{question}.md"
        return path.read_text(encoding="utf-8") if path.is_file() else None

    @cached_property
    def versions(self) -> tuple[str, str]:
        """A hash over the lesson's files and one over its checks."""
        return self.read_versions()


# --- judging ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One assertion judged. `got` and `expected` are literals as text; `at` is where they first differ, as
    (start, end) columns of `expected`, None when there is no place to point at. `same_as` names an earlier case that
    failed for the same reason."""

    id: str
    call: str
    ending: Ending
    got: str | None
    expected: str | None
    message: Message
    at: tuple[int, int] | None = None
    same_as: str | None = None


@dataclass(frozen=True, slots=True)
class EdgeResult:
    """One edge input judged: was the prediction what a right function does, and whom did it catch?"""

    call: str
    ending: Ending
    prediction: Literal["right", "wrong", "unread"]
    got: str | None
    caught: tuple[str, ...]
    wrong_versions: int
    point: bool
    message: Message


@dataclass(frozen=True, slots=True)
class CheckReport:
    """A whole check. `place` is a syntax error's (line, column) in the learner's own text, both from 1. `output` is
    what the code printed, bounded and exact: for display only, and through `literals.safe_text`. `seconds` is wall time
    in the parent."""

    ending: Ending
    message: Message
    normal: int
    edge: int
    cases: tuple[CaseResult, ...]
    edges: tuple[EdgeResult, ...]
    layers: tuple[str, ...]
    missing: tuple[str, ...]
    seconds: float
    place: tuple[int, int] | None = None
    output: str = ""
    log: str = ""

    def to_data(self) -> dict[str, Any]:
        """The report as plain data for JSON, in no language; `judging.report_from_data` reads it again."""
        return asdict(self)
