"""The class as rows of the review's list: who is blind, where each question stands, what needs somebody (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, overload

from rich.cells import cell_len

from tutor.classroom.grades import Grade
from tutor.classroom.intake import folded, shown_name
from tutor.gradebook.book import Refused
from tutor.gradebook.scores import Standing
from tutor.language import Lang
from tutor.lines import Line, Part, Role, crop, fit
from tutor.literals import safe_text
from tutor.model import Message
from tutor.strings import say, text

#: Cells of the columns: the blind name, a machine's result, a question.
NAME, RESULT = 8, 5
_ASKED = ("open", "second", "conflict")


class ClassRow(NamedTuple):
    """One learner, or files of one owner that were refused (`refused` says why; there is nothing to review then)."""

    id: str
    blind: str
    result: tuple[int, int] | None
    items: Mapping[str, Standing]
    handed_in: int
    notes: tuple[Message, ...]
    refused: Message | None = None
    file: str = ""
    files: int = 0
    """How many files were refused for this reason; `file` is the first of them."""
    begun: tuple[str, ...] = ()
    """Questions of which this grader has begun something that is not saved."""

    def needs(self, grader: str) -> bool:
        """Whether something waits for a person beyond a first reading: a conflict, a second look, a learner who asks,
        something handed to `grader` or begun and not saved; or a file that was refused."""
        return bool(self.refused is not None or self.begun) or any(
            each.state in ("conflict", "second") or each.asks or each.for_whom == grader for each in self.items.values()
        )

    def question(self, questions: Iterable[str]) -> str | None:
        """The first question that is begun, else that has no settled points, else the first one; None without a
        hand-in."""
        if not self.items:
            return None
        names = [name for name in questions if name in self.items]
        if self.begun:
            return next(name for name in names if name in self.begun)
        return next((name for name in names if self.items[name].state in _ASKED), names[0])


def class_rows(
    grades: Iterable[Grade], refused: Iterable[Refused], begun: Collection[int] = frozenset()
) -> list[ClassRow]:
    """The learners by blind name, whose order tells nothing; then the refused files. `begun` are numbers of items."""
    rows, blind = [], {}
    for grade in grades:
        row = grade.row
        blind[row.learner.login] = row.learner.blind
        result = (grade.result.normal, grade.result.edge) if grade.result else None
        mine = tuple(name for name, each in grade.items.items() if each.item in begun) if begun else ()
        blind_name, notes = row.learner.blind, (*row.notes,)
        rows.append(ClassRow(blind_name, blind_name, result, grade.items, row.handed_in, notes, begun=mine))
    rows.sort(key=lambda row: (len(row.blind), row.blind))
    for number, (each, many) in enumerate(folded(refused)):
        name = blind.get(each.owner, safe_text(each.owner, NAME))
        reason = _blinded(each.reason, each.owner, name)
        file = shown_name(each.name) + (f" +{many - 1}" if many > 1 else "")
        rows.append(ClassRow(f"refused {number}", name, None, {}, 0, (), reason, file, many))
    return rows


def _blinded(reason: Message, owner: str, name: str) -> Message:
    """A reason that names its file's owner by the name that the list has for them."""
    return Message(reason.key, {field: name if value == owner else value for field, value in reason.args.items()})


class Counts(NamedTuple):
    """What the head of the list says. `done` is by question, of how many."""

    handed_in: int
    done: dict[str, tuple[int, int]]
    refused: int
    conflicts: int
    asks: int
    second: int


def counted(rows: Sequence[ClassRow], questions: Iterable[str]) -> Counts:
    """The figures of the head."""
    items = [each for row in rows for each in row.items.values()]
    done = {name: [0, 0] for name in questions}
    for each in items:
        if each.question in done:
            done[each.question][0] += each.state == "done"
            done[each.question][1] += 1
    return Counts(
        sum(bool(row.items) for row in rows),
        {name: (ready, of) for name, (ready, of) in done.items()},
        sum(row.files for row in rows),
        sum(each.state == "conflict" for each in items),
        sum(each.asks for each in items),
        sum(each.state == "second" for each in items),
    )


def question_label(question: str, lang: Lang) -> str:
    """A question in few cells: Q1, or the short word for the explanation."""
    return text(lang, "class_screens.explanation") if question == "explanation" else question.upper()


def cell(standing: Standing | None, lang: Lang) -> tuple[str, Role]:
    """A question's state in few cells: open, points, both of a conflict, final for what the learner was told."""
    if standing is None:
        return "-", "muted"
    if standing.state == "conflict" and standing.other is not None:
        return f"{standing.other[1]} | {standing.points}", "caution"
    if standing.points is None:
        return text(lang, "class_screens.open"), "plain"
    if standing.state == "second":
        return f"{standing.points} ?", "caution"
    if standing.is_published:
        return text(lang, "class_screens.final", points=standing.points), "good"
    return str(standing.points), "good"


def notes_of(row: ClassRow, questions: Sequence[str], grader: str, lang: Lang) -> list[str]:
    """What is to be known of a row, most pressing first. Names of graders are shown; of learners none."""
    if row.refused is not None:
        return [text(lang, "class_screens.refused", why=say(lang, row.refused), file=row.file)]
    if not row.items:
        return [text(lang, "class_screens.missing")]
    said = []
    for name in questions:
        standing = row.items.get(name)
        if standing is not None:
            said += [
                text(lang, key, question=question_label(name, lang), **args) for key, args in _states(standing, grader)
            ]
    said.sort(key=lambda each: each[0])
    if row.begun:
        names = " ".join(question_label(name, lang) for name in questions if name in row.begun)
        said.insert(0, text(lang, "class_screens.begun", questions=names))
    if row.handed_in > 1:
        said.append(text(lang, "class_screens.versions", count=row.handed_in))
    return said + [say(lang, note) for note in row.notes]


def _states(standing: Standing, grader: str) -> Iterator[tuple[str, dict[str, str]]]:
    if standing.asks:
        yield "class_screens.asks", {}
    if standing.state == "conflict" and standing.other is not None:
        yield "class_screens.conflict", {"one": safe_text(standing.other[0], 20), "two": safe_text(standing.by, 20)}
    if standing.state == "second":
        yield "class_screens.second", {"grader": safe_text(standing.by, 20)}
    if standing.holder is not None:
        mine = standing.holder == grader
        yield "class_screens.held-by-you" if mine else "class_screens.held", {"grader": safe_text(standing.holder, 20)}
    if standing.for_whom is not None:
        mine = standing.for_whom == grader
        yield "class_screens.for-you" if mine else "class_screens.for", {"grader": safe_text(standing.for_whom, 20)}
    if standing.veto != "none" and standing.state != "conflict":
        yield "class_screens.veto", {}


class ListLines(Sequence[Line]):
    """The rows as screen lines, each made when it is drawn: ten thousand cost no more than a screenful."""

    def __init__(self, rows: Sequence[ClassRow], questions: Sequence[str], grader: str, lang: Lang, width: int) -> None:
        self.rows, self._questions, self._grader, self._lang, self._width = rows, questions, grader, lang, width
        self._column = column_width(questions, lang)

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> list[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | list[Line]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        row = self.rows[index]
        normal, edge = (f"{row.result[0]}/2", f"{row.result[1]}/1") if row.result else ("-", "-")
        parts: list[Part] = [(f"  {fit(row.blind, NAME)}{normal:<{RESULT}}{edge:<{RESULT}}", "plain")]
        for name in self._questions:
            shown, role = cell(row.items.get(name), self._lang)
            parts.append((fit(shown, self._column - 1) + " ", role))
        parts.append((" ; ".join(notes_of(row, self._questions, self._grader, self._lang)), "plain"))
        return Line(crop(parts, self._width), row.id)


def column_width(questions: Sequence[str], lang: Lang) -> int:
    """Cells of a question's column, with the gap behind it."""
    words = [text(lang, "class_screens.open"), text(lang, "class_screens.final", points=2), "1 | 2"]
    return max(cell_len(word) for word in (*words, *(f"[{question_label(each, lang)}]" for each in questions))) + 1


def column_head(questions: Sequence[str], chosen: str | None, lang: Lang) -> list[Part]:
    """The names of the columns; the chosen question stands in brackets."""
    names = ("learner", "code", "edge")
    widths = (NAME, RESULT, RESULT)
    parts = [fit(text(lang, f"class_screens.column-{name}"), width) for name, width in zip(names, widths, strict=True)]
    column = column_width(questions, lang)
    for name in questions:
        label = question_label(name, lang)
        parts.append(fit(f"[{label}]" if name == chosen else label, column))
    return [("  " + "".join(parts) + text(lang, "class_screens.column-note"), "strong")]
