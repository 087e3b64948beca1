"""A report for people: Markdown, and one HTML file that needs nothing else. Learners' texts are shown, never run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Literal, NamedTuple

from tutor.language import Lang
from tutor.learner.scoring import who_words
from tutor.literals import safe_text
from tutor.strings import text

FileKind = Literal["md", "html"]
KINDS: tuple[FileKind, ...] = ("md", "html")
Kind = Literal["title", "heading", "line", "text"]
#: The longest line that is shown, in characters.
LINE = 16_000

_STYLE = (
    "body{max-width:46rem;margin:2rem auto;padding:0 1rem;font:16px/1.6 system-ui,sans-serif;color:#14181d}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f4f4ef;padding:.8rem;border-left:3px solid #5a6370}"
    "@media(prefers-color-scheme:dark){body{background:#14181d;color:#e8ecf0}pre{background:#1f252c}}"
)


class Piece(NamedTuple):
    """One piece of the report; `text` is a block of somebody's own words."""

    kind: Kind
    words: str


def markdown(data: Mapping[str, Any], lang: Lang) -> str:
    """The report as Markdown; a block of a learner's words is fenced longer than any fence in it."""
    out = []
    for kind, words in pieces(data, lang):
        if kind == "text":
            fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", words)), default=2))
            out.append(f"{fence}text\n{words}\n{fence}")
        else:
            mark = {"title": "# ", "heading": "## ", "line": "- "}[kind]
            out.append(mark + re.sub(r"([\\`*_<>\[\]#|])", r"\\\1", words))
    return "\n\n".join(out) + "\n"


def html(data: Mapping[str, Any], lang: Lang) -> str:
    """The report as one HTML file without scripts or links."""
    tags = {"title": "h1", "heading": "h2", "line": "p", "text": "pre"}
    body = "\n".join(f"<{tags[kind]}>{escape(words)}</{tags[kind]}>" for kind, words in pieces(data, lang))
    title = escape(text(lang, "report.title", title=data["title"], lesson=data["lesson"]))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html>\n<html lang="{lang}">\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n{body}\n</html>\n"
    )


def as_file(data: Mapping[str, Any], kind: FileKind, lang: Lang) -> bytes:
    """The report as a file has it; a lone surrogate in a learner's text is written as an escape."""
    make = html if kind == "html" else markdown
    return make(data, lang).encode("utf-8", "backslashreplace")


def pieces(data: Mapping[str, Any], lang: Lang) -> Iterator[Piece]:
    """The report's pieces in order, with nothing in them that a screen could take for a command."""

    def say(key: str, **args: Any) -> str:
        return text(lang, f"report.{key}", **{name: safe_text(str(value), LINE) for name, value in args.items()})

    yield Piece("title", say("title", title=data["title"], lesson=data["lesson"]))
    points = data["points"]
    if points["final"] is not None:
        yield Piece(
            "line", say("head-final", points=points["final"], of=points["of"], state=say(f"state-{data['state']}"))
        )
    else:
        yield Piece("line", say("head-self", points=points["self"], of=points["of"]))
    yield Piece("line", say("made", at=data["made"]))
    for part in data["parts"]:
        giver = text(lang, f"scoring.giver-{part['giver']}")
        who = f" ({part['who']}, {part['when']})" if part["who"] else ""
        name = text(lang, f"scoring.part-{part['id']}")
        row = say("part", name=name, points=part["points"], of=part["of"], giver=giver + who)
        yield Piece("line", row + (f" - {part['needs']}" if part["needs"] else ""))
    for rule in data["rules"]:
        yield Piece("line", f"({'x' if rule['met'] else ' '}) {rule['text']}")
    yield Piece("heading", say("code"))
    yield _block(data["code"]["text"])
    if data["edges"]:
        yield Piece("heading", say("edges"))
    for edge in data["edges"]:
        yield _block("\n".join(part for part in (edge["line"], edge["why"]) if part))
    for answer in data["answers"]:
        if answer["text"].strip():
            yield from _answer(answer, say, lang)
    if data["evidence"]:
        yield Piece("heading", say("evidence"))
    for one in data["evidence"]:
        source = say(f"source-{one['source']}")
        claims = ", ".join(f"{claim}: {verdict}" for claim, verdict in one["record"].get("claims", {}).items())
        row = say(
            "evidence-row", id=one["id"], demo=one["record"].get("demo", ""), at=one["at"], source=source, claims=claims
        )
        yield Piece("line", row)


def _answer(answer: Mapping[str, Any], say: Any, lang: Lang) -> Iterator[Piece]:
    name = answer["id"].upper() if answer["question"] else say("explanation")
    yield Piece("heading", f"{name} {safe_text(answer['question'] or '', LINE)}".strip())
    yield _block(answer["text"])
    committed = answer["committed"]
    if committed is None:
        yield Piece("line", say("not-committed"))
    else:
        yield Piece("line", say("committed", at=committed["at"], hash=committed["hash"], rubric=committed["rubric"]))
    if answer["unlocked"]:
        yield Piece("line", say("unlocked", count=len(answer["unlocked"])))
    if answer["changed_after_reference"]:
        yield Piece("line", say("changed-after"))
        yield _block(answer["first_committed"]["text"])
    own = answer["self_score"]
    if own is not None:
        yield Piece("line", say("self-score", points=own["points"], at=own["at"]))
        for slot, words in own["ticks"].items():
            yield Piece("line", say("tick", slot=slot, words=words))
    final = answer["final"]
    if final is not None:
        who = who_words(final["who"], lang)
        yield Piece("line", say("final-score", points=final["points"], who=who, when=final["when"]))
    for veto, yes in answer["vetoes"].items():
        yield Piece("line", say("veto-yes" if yes else "veto-no", veto=veto))
    for claim in answer["doubts"]:
        yield Piece("line", say("doubt", claim=claim))
    for cited in answer["cites"]:
        yield Piece("line", say("cites" if cited["known"] else "cites-nothing", id=cited["id"]))
    if answer["again"] is not None:
        yield Piece("line", say("again", change=answer["again"]["change"]))
        yield _block(answer["again"]["text"])


def _block(words: str) -> Piece:
    return Piece("text", "\n".join(safe_text(row, LINE) for row in words.strip("\n").split("\n")))
