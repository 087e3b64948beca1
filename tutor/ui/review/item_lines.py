"""What is drawn of an item under review. Every text of a learner or a grader is made safe here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from rich.cells import cell_len

from tutor.classroom.intake import EXPLANATION
from tutor.classroom.item import Loaded
from tutor.classroom.sitting import Draft, digits
from tutor.gradebook.scores import Score
from tutor.language import Lang
from tutor.learner.scoring import VETOES
from tutor.lines import BLANK, Line, Part, Role, fit, line, wrap
from tutor.literals import safe_text
from tutor.rubric.examine import citations
from tutor.rubric.model import Findings
from tutor.strings import text
from tutor.ui.review.evidence_lines import source_lines

#: The longest row of an answer that is drawn.
ROW_MAX = 16_000


def _tr(lang: Lang) -> Callable[..., str]:
    return lambda key, **args: text(lang, f"review.{key}", **args)


def question_name(question: str, lang: Lang) -> str:
    """A question, as the review calls it."""
    return text(lang, "review.explanation") if question == EXPLANATION else question.upper()


# --- the answer -------------------------------------------------------------------------------------------------------


def answer_lines(loaded: Loaded, slots: Sequence[str], lang: Lang, width: int, *, alone: bool) -> list[Line]:
    """The answer with the finder's quotes marked, each by the number of its slot; `alone`: nothing stands beside it."""
    tr = _tr(lang)
    numbers = [str(slots.index(slot) + 1) for slot in loaded.findings.slots if slot in slots]
    marks = tr("marks", slots=" ".join(sorted(numbers, key=int))) if numbers else tr("marks-none")
    title = tr("answer-title-alone" if alone else "answer-title", marks=marks)
    out = [line((fit(title, width).rstrip(), "title"))]
    if not loaded.answer.strip():
        return [*out, *wrap([(tr("answer-empty"), "caution")], width, first="  ", rest="  ")]
    answer = loaded.hand_in.body["answers"].get(loaded.question)
    if answer is not None and not answer["committed"]:
        out += wrap([(tr("not-committed"), "caution")], width, first="  ", rest="  ")
    for row in _marked(loaded.answer, loaded.findings, slots):
        out += wrap(row, width, first="  ", rest="  ") if row else [BLANK]
    if loaded.question not in loaded.hand_in.body["answers"] and loaded.hand_in.edges:
        out += [BLANK]
        for edge in loaded.hand_in.body["edges"]:
            out += wrap([(safe_text(edge["line"], ROW_MAX), "code")], width, first="  ", rest="    ")
    return out


def _marked(answer: str, findings: Findings, slots: Sequence[str]) -> Iterator[list[Part]]:
    """The rows of the answer; `{2 ` opens a quote for slot 2, `{? ` one for a veto, `}` closes the innermost."""
    quotes = [(q.start, -q.end, f"{slots.index(s) + 1}") for s, qs in findings.slots.items() if s in slots for q in qs]
    quotes += [(q.start, -q.end, "?") for qs in findings.vetoes.values() for q in qs]
    opens: dict[int, list[str]] = {}
    ends: dict[int, int] = {}
    for start, end, mark in sorted(quotes):
        opens.setdefault(start, []).append(mark)
        ends[-end] = ends.get(-end, 0) + 1
    row: list[Part] = []
    depth = at = 0
    for cut in sorted({*opens, *ends, len(answer)}):
        for n, piece in enumerate(answer[at:cut].split("\n")):
            if n:
                yield row
                row = []
            if piece:
                row.append((safe_text(piece, ROW_MAX), "strong" if depth else "plain"))
        at = cut
        for _ in range(ends.get(cut, 0)):
            row.append(("}", "caution"))
            depth -= 1
        for mark in opens.get(cut, ()):
            row.append((f"{{{mark} ", "caution"))
            depth += 1
    yield row


# --- what stands beside it --------------------------------------------------------------------------------------------


def side_lines(loaded: Loaded, lang: Lang, width: int, *, alone: bool) -> list[Line]:
    """What needs an answer first, then what is known of the hand-in, and the reference, which is long; `alone`, it was
    opened for the reference, which comes before the rest."""
    tr = _tr(lang)
    out: list[Line] = []

    def add(title: str, rows: Sequence[Line]) -> None:
        out.extend([*([BLANK] if out else []), line((title, "title")), *rows])

    def said(words: str) -> list[Line]:
        return [
            one
            for row in words.strip().split("\n")
            for one in wrap([(safe_text(row, ROW_MAX), "plain")], width, first="  ", rest="  ")
        ]

    if loaded.standing.other is not None:
        add(tr("conflict-title"), _conflict(loaded, lang))
    if loaded.standing.asks and loaded.asks is not None:
        add(tr("asks-title"), said(loaded.asks.text))
    if loaded.memos:
        rows = [one for memo in loaded.memos for one in said(f"{_clock(memo.at)} {memo.grader}: {memo.text}")]
        add(tr("memos-title"), rows)
    reference = loaded.references.get(lang) or next(iter(loaded.references.values()), None)
    shown = said(reference if reference is not None else tr("reference-none"))
    if alone:
        add(tr("reference"), shown)
    body = loaded.hand_in.body
    cited = [one for one in citations(loaded.answer) if one in body["evidence"]]
    counts = {"cited": len(cited), "all": len(body["evidence"]), "predictions": len(body["predictions"])}
    out += [*([BLANK] if out else []), *wrap([(tr("evidence-short", **counts), "plain")], width)]
    for name in cited:
        out += source_lines(body["evidence"][name], name, lang, width)
    add(tr("after-title"), _after(loaded, lang, said))
    add(tr("code-title"), [one for words in _code(loaded, lang) for one in said(words)])
    own = body["self_scores"].get(loaded.question)
    if own is None:
        words = tr("self-none")
    else:
        words = tr("self-score", points=own["points"], most=loaded.most, rubric=safe_text(own["rubric"], 20))
    out += wrap([(words, "plain")], width)
    add(tr("history-title"), [one for words in _history(loaded.history, lang) for one in said(words)])
    if not alone:
        add(tr("reference"), shown)
    return out


def conflict_words(loaded: Loaded, lang: Lang) -> str:
    """Who gave what, when two graders differ."""
    last, other = loaded.standing, loaded.standing.other
    assert other is not None
    tr = _tr(lang)
    both = [(last.by, last.points or 0, last.veto), (*other, "none")]
    for score in loaded.history:
        if score.grader == other[0] and score.points == other[1]:
            both[1] = (*other, score.veto)
    return "; ".join(
        tr("conflict", grader=safe_text(who, 40), points=points, veto=_veto(veto, lang)) for who, points, veto in both
    )


def _conflict(loaded: Loaded, lang: Lang) -> list[Line]:
    return [line("  " + words) for words in (*conflict_words(loaded, lang).split("; "), _tr(lang)("conflict-then"))]


def _veto(veto: str, lang: Lang) -> str:
    if veto == "none":
        return ""
    names = ", ".join(text(lang, f"review.veto-{one}") for one in veto.split() if one in VETOES)
    return text(lang, "review.history-veto", veto=names)


def _after(loaded: Loaded, lang: Lang, said: Callable[[str], list[Line]]) -> list[Line]:
    tr = _tr(lang)
    answer = loaded.hand_in.body["answers"].get(loaded.question)
    changes = answer["after_reference"] if answer is not None else []
    if not changes:
        return said(tr("after-none"))
    return [*said(tr("after-some", count=len(changes))), *said(tr("after-first")), *said(answer["first_committed"])]


def _code(loaded: Loaded, lang: Lang) -> list[str]:
    tr, points = _tr(lang), loaded.hand_in.body["points"]
    told = tr("code-said", normal=points["normal"], edge=points["edge"])
    if loaded.result is None:
        return [tr("code-none"), told]
    result = loaded.result
    words = tr("code", normal=result.normal, edge=result.edge, ending=ending(result.ending, lang))
    same = (points["normal"], points["edge"]) == (result.normal, result.edge)
    return [words] if same else [words, told]


def ending(name: str, lang: Lang) -> str:
    """The word for how a check ended."""
    return text(lang, f"ui.word_{name}")


def _history(history: Sequence[Score], lang: Lang) -> list[str]:
    tr = _tr(lang)
    if not history:
        return [tr("history-none")]
    return [
        tr(
            "history",
            at=_clock(one.at),
            grader=one.grader,
            before="-" if one.before is None else one.before,
            points=one.points,
            veto=_veto(one.veto, lang),
            why=tr(f"why-{one.why}") if one.why in ("command", "criteria") else "",
        )
        for one in history
    ]


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at).astimezone():%m-%d %H:%M}"


# --- what the grader gives --------------------------------------------------------------------------------------------


def panel_lines(draft: Draft, page: int, asked: str, lang: Lang, width: int) -> list[Line]:
    """Slots with their digits, points and where they come from, vetoes, comment."""
    tr = _tr(lang)
    slots = list(draft.criteria.slots)
    shown = digits(len(slots), page)
    cells = [_slot(draft, slots[n], (n - shown.start + 1) % 10, lang) for n in shown]
    columns = 1 if not cells else max(1, min(3, (width + 2) // (max(cell_len(cell) for cell in cells) + 2)))
    columns = max(columns, 2 if len(cells) > 4 else 1)
    room = (width + 2) // columns - 2
    rows = -(-len(cells) // columns)
    out = []
    for row in range(rows):
        out.append(line("  ".join(fit(cell, room) for cell in cells[row::rows]).rstrip()))
    if len(slots) > len(shown):
        out.append(line((tr("page", first=shown.start + 1, last=shown.stop, all=len(slots)), "muted")))
    by = "points-ticks" if draft.given.by_hand is None else "points-hand"
    out.append(line((tr(by, points=draft.points, most=draft.most), "strong")))
    parts: list[Part] = [(tr("vetoes") + "  ", "plain")]
    for n, veto in enumerate(VETOES):
        said = draft.vetoes.get(veto)
        key = "veto-open" if said is None else "veto-yes" if said else "veto-no"
        flagged = said is None and veto in draft.flagged
        word = tr("veto-flagged") if flagged else tr(key)
        role: Role = "caution" if flagged else "bad" if said else "plain"
        parts += [(" | " if n else "", "plain"), (tr(f"veto-{veto}"), "focus" if veto == asked else "plain")]
        parts += [(" ", "plain"), (word, role)]
    out += wrap([part for part in parts if part[0]], width, rest="  ")
    comment = draft.given.comment
    shown_comment = safe_text(comment.replace("\n", " / "), ROW_MAX) if comment else tr("comment-none")
    out += _shorten(wrap([(tr("comment") + "  ", "plain"), (shown_comment, "plain")], width, rest="  "), width)
    return out


def _slot(draft: Draft, slot: str, digit: int, lang: Lang) -> str:
    mark = "[x]" if slot in draft.given.ticks else "[ ]"
    return f"{digit} {mark} {safe_text(draft.criteria.slots[slot].get(lang), 200)}"


def _shorten(rows: list[Line], width: int) -> list[Line]:
    """Two rows of a long comment: it is read whole where it is written."""
    if len(rows) <= 2:
        return rows
    return [rows[0], line(fit(rows[1].text + "....", width).rstrip(), item="")]
