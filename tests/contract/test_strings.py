"""What the tutor says: both languages say the same things, and everything that is said can be said."""

from __future__ import annotations

import ast
import re
import string
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tutor.language import LANGS, Lang

ROOT = Path(__file__).resolve().parents[2]
TEXT = ROOT / "tutor" / "text"
SECTIONS = sorted(path.stem for path in (TEXT / "en").glob("*.toml"))

#: Words that look like a key and are none: names of files.
NO_KEYS = {f"{section}.{ending}" for section in SECTIONS for ending in ("toml", "py", "md", "json", "jsonl", "txt")}


def section(lang: Lang, name: str) -> dict[str, str]:
    table: dict[str, str] = tomllib.loads((TEXT / lang / f"{name}.toml").read_text(encoding="utf-8"))
    return table


PATTERNS = {lang: {f"{s}.{key}": value for s in SECTIONS for key, value in section(lang, s).items()} for lang in LANGS}
KEYS = sorted(PATTERNS["en"])


def fields(pattern: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(pattern) if name is not None}


# --- the texts --------------------------------------------------------------------------------------------------------


def test_both_languages_have_the_same_sections() -> None:
    assert SECTIONS
    for lang in LANGS:
        assert sorted(path.stem for path in (TEXT / lang).iterdir()) == SECTIONS


@pytest.mark.parametrize("name", SECTIONS)
def test_both_languages_say_the_same_with_the_same_fields(name: str) -> None:
    zh, en = section("zh", name), section("en", name)
    assert list(zh) == list(en), "the same keys in the same order"
    for key in en:
        assert fields(zh[key]) == fields(en[key]), key


@pytest.mark.parametrize("lang", LANGS)
def test_every_pattern_is_one_line_of_text_with_named_fields(lang: Lang) -> None:
    for key, pattern in PATTERNS[lang].items():
        assert isinstance(pattern, str), key
        assert pattern.strip(), key
        assert all(name.isidentifier() for name in fields(pattern)), key
        if not key.startswith("cli.help-"):
            assert "\n" not in pattern, key
        assert "\t" not in pattern, key


def test_wording() -> None:
    for key, pattern in PATTERNS["zh"].items():
        if not key.startswith("cli.help-"):
            bare = re.sub(r"`[^`]*`|\{[^}]*\}", "", pattern)
            assert not re.search("[！“”‘’…您]", bare), key
            assert not re.search(r"[一-鿿](,[一-鿿]|[;?!])", bare), f"{key}: half-width punctuation in Chinese"
    for key, pattern in PATTERNS["en"].items():
        assert pattern.replace("中文", "").isascii(), key
        assert not re.search(r"\w!(\s|$)|\bOops\b", pattern), key


# --- their use --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Use:
    """A key that the code names, whole or as a pattern, and the fields it gives where they can be seen."""

    where: str
    key: str
    is_pattern: bool
    given: frozenset[str] | None


@cache
def _sources() -> tuple[tuple[str, ast.Module], ...]:
    paths = [path for top in ("tutor", "checks") for path in sorted((ROOT / top).rglob("*.py"))]
    return tuple((str(path.relative_to(ROOT)), ast.parse(path.read_bytes())) for path in paths)


_ANYTHING = "[a-z0-9_-]+"
_KEY = re.compile(rf"({'|'.join(SECTIONS)})\.[a-z0-9_-]+")


def _as_pattern(node: ast.JoinedStr) -> str:
    return "".join(
        re.escape(part.value) if isinstance(part, ast.Constant) and isinstance(part.value, str) else _ANYTHING
        for part in node.values
    )


def _named_fields(call: ast.Call) -> frozenset[str] | None:
    """The fields that a call gives to the key in it: keywords, or the dict after it; None when they are not written."""
    if any(keyword.arg is None for keyword in call.keywords):
        return None
    given = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name == "Message" and len(call.args) == 2:
        table = call.args[1]
        if not isinstance(table, ast.Dict) or not all(isinstance(key, ast.Constant) for key in table.keys):
            return None
        given |= {str(key.value) for key in table.keys if isinstance(key, ast.Constant)}
    return frozenset(given) if name in {"Message", "Stop", "text"} | ERRORS else None


def _errors() -> set[str]:
    """The exceptions that say a sentence: TutorError, and what derives from it."""
    bases = {
        node.name: {ast.unparse(base) for base in node.bases}
        for _, tree in _sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = {"TutorError"}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


ERRORS = _errors()


def _uses() -> Iterator[Use]:
    for where, tree in _sources():
        calls = {id(argument): call for call in ast.walk(tree) if isinstance(call, ast.Call) for argument in call.args}
        inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            call = calls.get(id(node))
            given = _named_fields(call) if call is not None else None
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
                if _KEY.fullmatch(node.value) and node.value not in NO_KEYS:
                    yield Use(where, node.value, False, given)
            elif isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
                start = str(node.values[0].value)
                if (
                    start.partition(".")[0] in SECTIONS
                    and "." in start
                    and re.fullmatch(r"[a-z_]+\.[a-z0-9_-]*", start)
                ):
                    yield Use(where, _as_pattern(node), True, given)


USES = list(_uses())


def test_uses_are_found() -> None:
    assert len(USES) > 100
    assert any(use.is_pattern for use in USES)
    assert any(use.given for use in USES)


def test_every_key_that_is_used_exists() -> None:
    for use in USES:
        if use.is_pattern:
            assert any(re.fullmatch(use.key, key) for key in KEYS), f"{use.where}: nothing is called {use.key}"
        else:
            assert use.key in PATTERNS["en"], f"{use.where}: {use.key}"


def test_every_field_is_given_where_a_sentence_is_made() -> None:
    for use in USES:
        if use.given is not None and not use.is_pattern:
            missing = fields(PATTERNS["en"][use.key]) - use.given
            assert not missing, f"{use.where}: {use.key} lacks {sorted(missing)}"


def test_every_key_is_used() -> None:
    whole = {use.key for use in USES if not use.is_pattern}
    endings = _endings()
    whole |= {key + ending for key in whole for ending in endings}
    patterns = {use.key.replace(_ANYTHING, f"({_ANYTHING})") for use in USES if use.is_pattern}
    compiled, shapes, words = [re.compile(each) for each in patterns], _shapes(), _words()

    def is_word(part: str) -> bool:
        """A word of the code, some of them joined, or of the shape of a text that the code puts together."""
        joined = all(piece in words for piece in part.split("-"))
        return part in words or joined or any(shape.fullmatch(part) for shape in shapes)

    def is_made(key: str) -> bool:
        """Whether the code can make `key` from a pattern."""
        return any(match and all(map(is_word, match.groups())) for match in (each.fullmatch(key) for each in compiled))

    assert [key for key in KEYS if key not in whole and not is_made(key)] == []


def _endings() -> set[str]:
    """What the code puts behind something: `f"{key}_demo"`."""
    found = {
        str(node.values[1].value)
        for _, tree in _sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr) and len(node.values) == 2 and isinstance(node.values[1], ast.Constant)
    }
    return {ending for ending in found if re.fullmatch("[_-][a-z0-9_-]+", ending)}


def _shapes() -> list[re.Pattern[str]]:
    """The patterns of all texts that the code puts together out of a word and something else."""
    found = {
        _as_pattern(node)
        for _, tree in _sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr) and len(node.values) == 2 and isinstance(node.values[0], ast.Constant)
    }
    return [re.compile(shape) for shape in found if re.match(r"[a-z][a-z0-9_\\-]+", shape)]


def _words() -> set[str]:
    """Every text constant of the code and every id of the lessons."""
    found: set[str] = set()
    for _, tree in _sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {node.value, *re.findall(r"[a-z0-9_]+", node.value)}
            elif isinstance(node, ast.Name | ast.Attribute | ast.arg | ast.FunctionDef | ast.ClassDef):
                found.add(
                    getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "arg", None) or node.name
                )
    for path in (ROOT / "lessons").rglob("lesson.toml"):
        found |= set(re.findall(r'^id = "([a-z0-9-]+)"', path.read_text(encoding="utf-8"), re.MULTILINE))
    return found
