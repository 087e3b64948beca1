"""Reads a lesson's `rubric.toml`. What is wrong in it is said with the file, the line and the field."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tutor.language import LANGS, Bilingual
from tutor.rubric.model import Change, Doubt, Evidence, Kind, Need, Rubric, RubricQuestion, Slot
from tutor.rubric.pattern import Pattern, PatternError, compile_pattern

SCHEMA = 1
#: At most so many prompts a slot.
PROMPTS = 2

_TOP = {"schema", "version", "common", "ladder", "subjects", "concepts", "question", "veto", "change"}
_QUESTION = {"id", "points", "slot", "misconception"}
_SLOT = {"id", "kind", "core", "shared", "about", "evidence", "label", "prompts", "claim"}
_DOUBT = {"id", "about", "evidence", "silences", "question"}


class RubricError(Exception):
    """The rubric cannot be used; the text is `file:line: field: what`."""


def load(path: Path) -> Rubric:
    """The rubric in `path`. Raises RubricError."""
    try:
        source = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise RubricError(f"{path}: the file is missing") from error
    except (OSError, UnicodeDecodeError) as error:
        raise RubricError(f"{path}: {error}") from error
    try:
        table = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise RubricError(f"{path}: {error}") from error
    return _Reader(path, source).rubric(table)


class _Reader:
    """Reads tables; `_line` finds the line of the value that is wrong, as near as TOML lets one."""

    def __init__(self, path: Path, source: str) -> None:
        self._path = path
        self._lines = source.split("\n")

    def rubric(self, table: Mapping[str, Any]) -> Rubric:
        self._known(table, _TOP, "")
        if table.get("schema") != SCHEMA:
            raise self._error("schema", f"is {table.get('schema')!r}; this tutor reads {SCHEMA}", "schema")
        concepts = self._patterns(table, "concepts")
        subjects = self._patterns(table, "subjects")
        common = frozenset(self._list(table, "common", "", str))
        for name in sorted(common - concepts.keys()):
            raise self._error("common", f"there is no concept {name!r}", name)
        self._concepts, self._subjects = concepts, subjects
        questions = [self._question(one) for one in self._list(table, "question", "", dict)]
        self._unique("question", [question.id for question in questions])
        vetoes = tuple(self._doubt(one, "veto", ()) for one in self._list(table, "veto", "", dict))
        self._unique("veto", [veto.id for veto in vetoes])
        changes = tuple(
            Change(self._text(one, "id", "change"), self._both(one, "text", "change"), one.get("demo"))
            for one in self._list(table, "change", "", dict)
        )
        self._unique("change", [change.id for change in changes])
        return Rubric(
            version=self._text(table, "version", ""),
            ladder=tuple(self._bilingual(one, "ladder") for one in self._list(table, "ladder", "", dict)),
            questions={question.id: question for question in questions},
            vetoes=vetoes,
            subjects=subjects,
            concepts=concepts,
            common=common,
            changes=changes,
        )

    def _question(self, table: Mapping[str, Any]) -> RubricQuestion:
        name = self._text(table, "id", "question")
        where = f"question {name}"
        self._known(table, _QUESTION, where)
        slots = tuple(self._slot(one, where) for one in self._list(table, "slot", where, dict))
        names = [slot.id for slot in slots]
        self._unique(f"{where}, slot", names)
        doubts = tuple(self._doubt(one, f"{where}, misconception", names) for one in table.get("misconception", ()))
        self._unique(f"{where}, misconception", [doubt.id for doubt in doubts])
        points = {}
        for text, needs in self._table(table, "points", where).items():
            if not text.isdecimal():
                raise self._error(f"{where}, points", f"{text!r} is no number of points", text)
            points[int(text)] = tuple(self._need(one, where, names) for one in needs)
        return RubricQuestion(name, slots, doubts, points)

    def _need(self, table: Any, where: str, names: Sequence[str]) -> Need:
        where = f"{where}, points"
        if not isinstance(table, dict):
            raise self._error(where, "each is a table of every, some, least", "points")
        self._known(table, {"every", "some", "least"}, where)
        need = Need(tuple(table.get("every", ())), tuple(table.get("some", ())), int(table.get("least", 0)))
        for name in (*need.every, *need.some):
            if name not in names:
                raise self._error(where, f"there is no slot {name!r}", name)
        return need

    def _slot(self, table: Mapping[str, Any], where: str) -> Slot:
        name = self._text(table, "id", f"{where}, slot")
        where = f"{where}, slot {name}"
        self._known(table, _SLOT, where)
        kind = self._text(table, "kind", where)
        if kind not in tuple(Kind):
            raise self._error(f"{where}, kind", f"{kind!r} is not one of {', '.join(Kind)}", f'"{kind}"')
        prompts = tuple(self._bilingual(one, f"{where}, prompts") for one in self._list(table, "prompts", where, dict))
        if not 1 <= len(prompts) <= PROMPTS:
            raise self._error(f"{where}, prompts", f"has {len(prompts)}; one or {PROMPTS}", f'"{name}"')
        return Slot(
            id=name,
            kind=Kind(kind),
            core=self._flag(table, "core", where),
            shared=self._flag(table, "shared", where),
            about=self._about(table, where),
            label=self._both(table, "label", where),
            prompts=prompts,
            evidence=self._evidence(table, where),
            claim=table.get("claim"),
        )

    def _doubt(self, table: Mapping[str, Any], where: str, names: Sequence[str]) -> Doubt:
        name = self._text(table, "id", where)
        where = f"{where} {name}"
        self._known(table, _DOUBT, where)
        silences = tuple(table.get("silences", ()))
        for slot in silences:
            if slot not in names:
                raise self._error(f"{where}, silences", f"there is no slot {slot!r}", slot)
        return Doubt(name, self._about(table, where), self._both(table, "question", where),
                     self._evidence(table, where), silences)  # fmt: skip

    def _about(self, table: Mapping[str, Any], where: str) -> str | None:
        about: str | None = table.get("about")
        if about is not None and about not in self._subjects:
            raise self._error(f"{where}, about", f"there is no subject {about!r}", f'"{about}"')
        return about

    def _evidence(self, table: Mapping[str, Any], where: str) -> tuple[Evidence, ...]:
        where = f"{where}, evidence"
        found = []
        for one in self._list(table, "evidence", where, (list, dict)):
            if isinstance(one, dict):
                self._known(one, {"all", "sentence", "bare"}, where)
            names = one if isinstance(one, list) else self._list(one, "all", where, str)
            for name in names:
                if name not in self._concepts:
                    raise self._error(where, f"there is no concept {name!r}", f'"{name}"')
            more = one if isinstance(one, dict) else {}
            found.append(Evidence(tuple(names), self._flag(more, "sentence", where), self._flag(more, "bare", where)))
        return tuple(found)

    def _patterns(self, table: Mapping[str, Any], field: str) -> dict[str, tuple[Pattern, ...]]:
        out = {}
        for name, sources in self._table(table, field, "").items():
            compiled = []
            for source in sources if isinstance(sources, list) else [None]:
                if not isinstance(source, str):
                    raise self._error(f"{field}.{name}", "is a list of patterns", name)
                try:
                    compiled.append(compile_pattern(source))
                except PatternError as error:
                    raise self._error(f"{field}.{name}", f"{source!r}: {error}", source) from error
            if not compiled:
                raise self._error(f"{field}.{name}", "has no pattern", name)
            out[name] = tuple(compiled)
        return out

    # --- values -------------------------------------------------------------------------------------------------------

    def _known(self, table: Mapping[str, Any], names: set[str], where: str) -> None:
        for name in table:
            if name not in names:
                raise self._error(where or "top", f"the field {name!r} is not known", name)

    def _text(self, table: Mapping[str, Any], field: str, where: str) -> str:
        value = table.get(field)
        if not isinstance(value, str) or not value.strip():
            raise self._error(f"{where}, {field}".lstrip(", "), "a text is missing", self._near(table))
        return value

    def _flag(self, table: Mapping[str, Any], field: str, where: str) -> bool:
        value = table.get(field, False)
        if not isinstance(value, bool):
            raise self._error(f"{where}, {field}", "is true or false", self._near(table))
        return value

    def _table(self, table: Mapping[str, Any], field: str, where: str) -> Mapping[str, Any]:
        value = table.get(field)
        if not isinstance(value, dict):
            raise self._error(f"{where}, {field}".lstrip(", "), "a table is missing", self._near(table))
        return value

    def _list(self, table: Mapping[str, Any], field: str, where: str, of: Any) -> list[Any]:
        value = table.get(field)
        if not isinstance(value, list) or not all(isinstance(one, of) for one in value):
            raise self._error(f"{where}, {field}".lstrip(", "), "a list is missing", self._near(table))
        return value

    def _both(self, table: Mapping[str, Any], field: str, where: str) -> Bilingual:
        return self._bilingual(self._table(table, field, where), f"{where}, {field}")

    def _bilingual(self, table: Mapping[str, Any], where: str) -> Bilingual:
        for lang in LANGS:
            if not isinstance(table.get(lang), str) or not table[lang].strip():
                other = next((str(text) for text in table.values()), "")
                raise self._error(where, f"the language {lang} is missing", other)
        return Bilingual(zh=table["zh"], en=table["en"])

    def _unique(self, where: str, names: Sequence[str]) -> None:
        for name in names:
            if list(names).count(name) > 1:
                raise self._error(f"{where}, id", f"{name!r} stands there twice", f'id = "{name}"', last=True)

    def _near(self, table: Mapping[str, Any]) -> str:
        """A text of the table that can be searched for in the file."""
        return next(_texts(table), "")

    def _error(self, field: str, what: str, near: str, *, last: bool = False) -> RubricError:
        rows = [n for n, row in enumerate(self._lines, 1) if near and near in row.replace("\\\\", "\\")]
        where = f"{self._path}:{rows[-1 if last else 0]}" if rows else str(self._path)
        return RubricError(f"{where}: {re.sub('^top$', 'the file', field)}: {what}")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
