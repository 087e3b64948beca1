"""A learner's evidence as it is drawn, and theirs beside ours. Records may have any shape: they are their learner's."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from rich.cells import cell_len

from tutor.classroom.item import Loaded
from tutor.classroom.item_demo import Pair, Wanted, pairs, table
from tutor.lab.findings import without_bins
from tutor.language import Lang
from tutor.lines import BLANK, Line, Part, Role, fit, line, wrap
from tutor.literals import safe_text
from tutor.model import Source, Verdict
from tutor.rubric.examine import citations
from tutor.strings import say, text
from tutor.ui.views.lab import RunView
from tutor.ui.views.lesson import verdict_word

#: The longest of other people's words that is drawn.
SAID_MAX = 4_000


def _tr(lang: Lang) -> Callable[..., str]:
    return lambda key, **args: text(lang, f"review.{key}", **args)


def evidence_lines(loaded: Loaded, lang: Lang, width: int) -> list[Line]:
    """What was predicted and measured, where and when; what the answer cites comes first. An item for each entry."""
    tr, body = _tr(lang), loaded.hand_in.body
    cited = citations(loaded.answer)
    out = [line((tr("prediction-title"), "title"))]
    for demo, answers in body["predictions"].items():
        out += wrap([(safe_text(f"{demo}: {_plain(answers)}", SAID_MAX), "plain")], width, first="  ", rest="    ")
    if not body["predictions"]:
        out.append(line("  " + tr("prediction-none")))
    for name in sorted(body["evidence"], key=lambda each: each not in cited):
        entry = body["evidence"][name]
        record = table(entry, "record")
        mark = "  " + tr("evidence-cited") if name in cited else ""
        title = f"{name}  {record.get('demo', '')}"
        out += [BLANK, line((safe_text(title, 80), "title"), (mark, "plain"), item=name)]
        out += source_lines(entry, "", lang, width)
        for claim, verdict in table(record, "claims").items():
            out += wrap([(safe_text(f"{claim}: {_plain(verdict)}", SAID_MAX), "plain")], width, first="  ", rest="    ")
        predicted, answers = table(record, "predicted"), table(record, "answers")
        for key in predicted:
            both = {"predicted": _safe(predicted[key]), "observed": _safe(answers.get(key, "-"))}
            words = f"{safe_text(str(key), 100)}: {tr('predicted', **both)}"
            out += wrap([(words, "plain")], width, first="  ", rest="    ")
        for series, values in table(record, "observed").items():
            named = values.items() if isinstance(values, Mapping) else [("", values)]
            for name_of, many in named:
                words = f"{series}.{name_of}: {_values(many)}"
                out += wrap([(safe_text(words, SAID_MAX), "plain")], width, first="  ", rest="    ")
        environment = _plain(table(record, "environment"))
        out += wrap([(safe_text(environment, SAID_MAX), "muted")], width, first="  ", rest="  ")
    if not body["evidence"]:
        out += [BLANK, line(tr("evidence-none"))]
    if body["evidence_left_out"]:
        out += wrap([(tr("evidence-left", count=body["evidence_left_out"]), "plain")], width)
    return out


def source_lines(entry: object, name: str, lang: Lang, width: int) -> list[Line]:
    """Where an entry comes from; `name` stands before it."""
    (words, role), *more = _source(entry, lang)
    out = wrap([(f"{safe_text(name, 20)} {words}".strip(), role)], width, first="  ", rest="    ")
    return out + [one for part in more for one in wrap([part], width, first="    ", rest="    ")]


def _source(entry: object, lang: Lang) -> list[Part]:
    """Measured on the learner's box or recorded elsewhere; what is neither is told as recorded."""
    tr, record = _tr(lang), table(entry, "record")
    environment = table(record, "environment")
    here = record.get("source") == "measured"
    where = _safe(f"{record.get('where', '?')}, {record.get('when', '?')}")
    at = _safe(record.get("when", "?")) + ", " + _safe(environment.get("gpu") or environment.get("platform") or "?")
    words = tr("evidence-here", at=at) if here else tr("evidence-recorded", where=where)
    source: Part = (words, "measured" if here else "recorded")
    return [source, (tr("evidence-contended"), "caution")] if environment.get("contended") else [source]


def _values(many: object) -> str:
    """The values of one name, in order; of a spread its five numbers."""
    return ", ".join(_plain(without_bins(each)) for each in (many if isinstance(many, list) else [many]))


def _safe(value: object) -> str:
    return safe_text(value if isinstance(value, str) else _plain(value), 200)


def _plain(value: object) -> str:
    """Any data in one line, without the quotes of JSON where none are needed."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False).replace('"', "").strip("{}")


# --- theirs beside ours -----------------------------------------------------------------------------------------------


def beside_lines(name: str, entry: object, asked: Wanted, run: RunView, lang: Lang, width: int) -> list[Line]:
    """A learner's run of a demo and the one made here, told apart by their words: where each was measured."""
    tr, demo = _tr(lang), asked.demo
    device = tr("demo-on", device=asked.device)
    out = wrap(
        [(f"{safe_text(name, 20)} {demo.name}: {demo.title.get(lang)}", "title"), (f"  {device}", "plain")], width
    )
    theirs, ours = tr("theirs"), tr("ours")
    label = max(cell_len(theirs), cell_len(ours)) + 2
    for who, parts in ((theirs, _spaced(_source(entry, lang))), (ours, _state(asked, run, lang))):
        out += wrap([(fit(who, label), "strong"), *parts], width, first="  ", rest=" " * (label + 2))
    if run.result is None:
        return out
    here: Role = "measured" if run.source is Source.MEASURED else "recorded"
    there: Role = "measured" if table(entry, "record").get("source") == "measured" else "recorded"
    found = [_in_words(pair, lang) for pair in pairs(demo, table(entry, "record"), run.result, lang)]
    same = sum(pair.theirs == pair.ours for pair in found)
    out += [*wrap([(tr("beside-count", same=same, all=len(found)), "plain")], width), BLANK]
    for pair in found:
        out += _pair(pair, (theirs, there), (ours, here), tr("both"), width)
    return out


def _spaced(parts: list[Part]) -> list[Part]:
    return [(("  " if n else "") + words, role) for n, (words, role) in enumerate(parts)]


def _state(asked: Wanted, run: RunView, lang: Lang) -> list[Part]:
    """Where ours comes from, or how far it is."""
    tr = _tr(lang)
    if not run.ended:
        low, high = asked.demo.usual_s
        starts = tr("demo-starts", low=f"{low:g}", high=f"{high:g}")
        return [(say(lang, run.phase) if run.phase else starts, "plain")]
    why = "  " + say(lang, run.message) if run.message is not None and run.ended != "ok" else ""
    if run.result is None:
        return [(text(lang, f"ui.lab_{run.ended}") + why, "caution")]
    if run.source is Source.RECORDED:
        return [(tr("demo-replayed", where=safe_text(run.where)), "recorded"), (why, "plain")]
    environment = run.result["environment"]
    where = f"{environment['gpu'] or environment['platform']}, torch {environment['torch']}"
    at = f"{str(run.result['when'])[:16]}Z, {where}"
    parts: list[Part] = [(tr("demo-here", at=safe_text(at)), "measured")]
    if environment["contended"]:
        parts.append(("  " + tr("evidence-contended"), "caution"))
    return parts


def _in_words(pair: Pair, lang: Lang) -> Pair:
    """Verdicts as the lesson calls them."""
    if pair.kind != "claim":
        return pair
    known = {verdict.value: verdict_word(verdict, lang) for verdict in Verdict}
    return pair._replace(theirs=known.get(pair.theirs or "", pair.theirs), ours=known.get(pair.ours or "", pair.ours))


def _pair(pair: Pair, theirs: tuple[str, Role], ours: tuple[str, Role], both: str, width: int) -> list[Line]:
    """On one row where there is room for three columns, else a row for each side."""
    mark: Part = ("[=] ", "good") if pair.theirs == pair.ours else ("[~] ", "caution")
    name = safe_text(pair.name, 100)
    left, right = (safe_text(value, 600) if value is not None else "-" for value in (pair.theirs, pair.ours))
    column = (width - 4) // 3
    cells = [name, f"{theirs[0]}  {left}", f"{ours[0]}  {right}"]
    if max(map(cell_len, cells)) < column:
        roles: list[Role] = ["plain", theirs[1], ours[1]]
        return [line(mark, *((fit(cell, column), role) for cell, role in zip(cells, roles, strict=True)))]
    out = wrap([mark, (name, "plain")], width, rest="    ")
    label = max(cell_len(theirs[0]), cell_len(ours[0])) + 2
    if left == right:
        return out + wrap([(fit(both, label), "plain"), (left, "plain")], width, first="    ", rest=" " * (label + 4))
    for (who, role), value in ((theirs, left), (ours, right)):
        out += wrap([(fit(who, label), "plain"), (value, role)], width, first="    ", rest=" " * (label + 4))
    return out
