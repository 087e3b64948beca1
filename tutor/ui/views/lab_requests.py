"""The request lab as lines: the learner's key on the left, Dynamo on the right, what parts them below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.cells import cell_len

from tutor import literals
from tutor.lab import protocol, reasons, requests
from tutor.lab.reasons import Reason
from tutor.lab.requests import Dynamic, Dynamo, Graphs, Key, KeyCache, Request, Row, Served
from tutor.language import Lang
from tutor.lines import BLANK, Line, Part, Role, fit, line, wrap
from tutor.model import Figure, Message
from tutor.sandbox.outcome import Result
from tutor.strings import say, text
from tutor.ui.views.lesson import drawing_lines

#: From this width on there is room for torch's whole words beside the row.
ROOMY = 100
_NUMBER, _KEY, _DYNAMO = 5, 11, 10


@dataclass(slots=True)
class RequestRun:
    """One run of the list, folded from its events and from the sandbox's. `ended` is empty while it runs."""

    asked: tuple[Request, ...]
    dynamic: Dynamic
    device: str = ""
    limit: int | None = None
    graphs: Graphs = field(default_factory=Graphs)
    answers: list[Dynamo] = field(default_factory=list)
    results: Sequence[Result | None] | None = None
    no_key: Message | None = None
    phase: Message | None = None
    ended: str = ""
    message: Message | None = None
    evidence: str | None = None

    def take(self, event: Mapping[str, Any]) -> None:
        """Fold one of the lab's events in."""
        match event["event"]:
            case "progress":
                self.phase = protocol.message(event["message"])
            case "observation" if event["series"] == "limit":
                self.limit, self.device = event["values"]["entries"], event["values"]["device"]
            case "observation":
                self.answers.append(requests.dynamo(event["values"], event["said"], self.graphs))
            case "ended":
                self.ended, self.message = event["outcome"], protocol.message(event["message"])

    def rows(self) -> tuple[list[Row], tuple[Key, ...]]:
        """Each request with both answers as far as they came, and the keys of the learner's cache."""
        cache = KeyCache()
        rows = []
        for n, request in enumerate(self.asked):
            result = self.results[n] if self.results is not None and n < len(self.results) else None
            answer = self.answers[n] if n < len(self.answers) else None
            rows.append(requests.row(request, cache.look(result), answer, self.graphs))
        return rows, cache.keys

    def observed(self) -> dict[str, Any]:
        """What the learner's own key did, as a series of the evidence."""
        rows, keys = self.rows()
        served = [f"{row.key.how} k{row.key.entry}" if row.key.entry else row.key.how for row in rows]
        return {
            "guard_key": {
                "request": [row.request.words for row in rows],
                "served": served,
                "differs": [row.differs for row in rows],
                "keys": [literals.show(key.key) for key in keys],
                "dynamic": [self.dynamic],
            }
        }


def request_lines(
    lines: Sequence[str],
    run: RequestRun | None,
    lang: Lang,
    width: int,
    chosen: int,
    *,
    figure: Figure | None = None,
    height: int = 0,
) -> list[Line]:
    """A row per request as item `request:N` (N from 0), then the chosen row in full, then the learner's keys.

    Where all that leaves room in `height` rows, the figure of a call's life follows, the chosen request's path lit.
    """
    if not lines:
        return wrap([(text(lang, "lab_views.requests-none"), "plain")], width)
    rows, keys = run.rows() if run is not None else ([], ())
    room = _NUMBER + _KEY + _DYNAMO
    first = min(max(cell_len(each) for each in lines) + 2, max(18, width - room - 14))
    head = fit("    " + text(lang, "lab_views.head-request"), first + _NUMBER - 1)
    head += fit(text(lang, "lab_views.head-key"), _KEY) + fit(text(lang, "lab_views.head-dynamo"), _DYNAMO)
    out = [line((fit(head + text(lang, "lab_views.head-why"), width).rstrip(), "muted"))]
    for n, words in enumerate(lines):
        row = rows[n] if n < len(rows) else None
        out.append(_row(n, words, row, lang, first, width))
    out += _state(run, lang, width)
    if run is not None and 0 <= chosen < len(rows):
        out += _detail(chosen, rows[chosen], run, lang, width)
    if keys and run is not None:
        out.append(BLANK)
        for key in keys:
            words = text(lang, "lab_views.key-line", n=key.number, key=literals.show(key.key, 200), calls=key.calls)
            out += wrap([(words, "plain")], width, rest="   ")
    if figure is not None and run is not None and 0 <= chosen < len(rows):
        lit = requests.figure_path(rows[chosen], run.dynamic)
        drawing = drawing_lines(figure, width, lit)
        if lit and len(out) + 1 + len(drawing) <= height and all(cell_len(row.text) <= width for row in drawing):
            out += [BLANK, *drawing]
    return out


def path_page(row: Row, run: RequestRun, figure: Figure, lang: Lang, width: int) -> list[Line]:
    """The way of one request: in words, in the figure, and why."""
    out = wrap([(row.request.words, "strong"), ("   " + _path(row, lang), "lit")], width)
    out += [BLANK, *drawing_lines(figure, width, requests.figure_path(row, run.dynamic)), BLANK]
    return out + wrap([(say(lang, requests.explain(row, run.dynamic, limit=run.limit)), "plain")], width)


def _row(n: int, words: str, row: Row | None, lang: Lang, first: int, width: int) -> Line:
    differs = row is not None and row.differs
    parts: list[Part] = [
        (f"{'!' if differs else ' '} {n + 1:>2} ", "caution" if differs else "plain"),
        (fit(literals.safe_text(words), first - 1) + " ", "plain"),
    ]
    if row is not None:
        key, dynamo = key_words(row.key, lang), dynamo_words(row.dynamo, lang)
        role: Role = "measured" if row.dynamo is not None else "muted"
        parts += [(fit(key, _KEY - 1) + " ", "plain"), (fit(dynamo, _DYNAMO - 1) + " ", role)]
        left = width - sum(cell_len(part) for part, _ in parts)
        parts.append((fit(why_words(row, lang, roomy=width >= ROOMY), left).rstrip(), "plain"))
    return line(*parts, item=f"request:{n}")


def key_words(served: Served, lang: Lang) -> str:
    """`hit k1`, `new k2`, `error`, or a dash when there is no key to ask."""
    if served.how == "none":
        return "-"
    return text(lang, f"lab_views.key-{served.how}", n=served.entry or 0)


def dynamo_words(answer: Dynamo | None, lang: Lang) -> str:
    """`new g1`, `hit g0`, `eager`, or a dash when there was no call."""
    if answer is None:
        return "-"
    return text(lang, f"lab_views.dynamo-{answer.how}", graph=answer.graphs)


def why_words(row: Row, lang: Lang, *, roomy: bool) -> str:
    """The guard that failed, in a few words."""
    answer = row.dynamo
    if answer is None:
        return ""
    if answer.how in ("unavailable", "error"):
        return literals.safe_text(answer.text)
    nearest = reasons.nearest(answer.reasons)
    if nearest is None:
        word = {"new": "why-first", "eager": "why-limit"}.get(answer.how)
        return text(lang, f"lab_views.{word}") if word else ""
    if roomy or not nearest.was:
        return literals.safe_text(nearest.text if roomy else _short(nearest))
    return f"{_short(nearest)} {literals.safe_text(nearest.was)} -> {literals.safe_text(nearest.now)}"


def _short(reason: Reason) -> str:
    return literals.safe_text(reason.about.removeprefix("x."))


def _state(run: RequestRun | None, lang: Lang, width: int) -> list[Line]:
    """Where the run stands, and why a side is empty."""
    if run is None:
        return [BLANK, line((text(lang, "lab_views.not-run"), "muted"))]
    out: list[Line] = []
    if not run.ended:
        words = say(lang, run.phase) if run.phase is not None else text(lang, "lab_views.running-now")
        out += wrap([(words, "plain")], width)
    elif run.ended != "ok" and run.message is not None:
        role: Role = "caution"
        out += wrap(
            [(text(lang, f"ui.lab_{run.ended}"), role), ("  " + say(lang, run.message), "plain")], width, rest="  "
        )
    if run.no_key is not None:
        out += wrap([(text(lang, "lab_views.key-missing", why=say(lang, run.no_key)), "caution")], width, rest="  ")
    return [BLANK, *out] if out else []


def _detail(n: int, row: Row, run: RequestRun, lang: Lang, width: int) -> list[Line]:
    """One row in full: its way, torch's own words, one plain sentence, the learner's key."""
    out: list[Line] = [BLANK]
    lead = f"{n + 1:>3} "
    size = max(cell_len(text(lang, f"lab_views.{name}")) for name in _DETAILS) + 1

    def say_of(name: str, words: str, role: Role = "plain") -> None:
        nonlocal lead
        head = lead + fit(text(lang, f"lab_views.{name}"), size)
        out.extend(wrap([(words, role)], width, first=head, rest=" " * cell_len(head)))
        lead = " " * len(lead)

    answer = row.dynamo
    path = _path(row, lang)
    if path:
        say_of("detail-path", path, "lit")
    nearest = reasons.nearest(answer.reasons) if answer is not None else None
    if nearest is not None:
        entry = f"{run.graphs.known(nearest.entry)}: " if nearest.entry else ""
        say_of("detail-torch", entry + literals.safe_text(nearest.text), "code")
    say_of("detail-plain", say(lang, requests.explain(row, run.dynamic, limit=run.limit)))
    if row.key.why is not None:
        say_of("detail-key", say(lang, row.key.why), "caution")
    if answer is not None and answer.same_as_eager is not None:
        same = "detail-same" if answer.same_as_eager else "detail-other"
        out.append(
            line(
                " " * (len(lead) + size), (text(lang, f"lab_views.{same}"), "plain" if answer.same_as_eager else "bad")
            )
        )
    return out


_DETAILS = ("detail-path", "detail-torch", "detail-plain", "detail-key")


def _path(row: Row, lang: Lang) -> str:
    """The way that a call took through the cache, as the lesson's figure of a call's life draws it."""
    answer = row.dynamo
    if answer is None or answer.how in ("unavailable", "error"):
        return ""
    if answer.how == "eager":
        return text(lang, "lab_views.path-eager")
    if answer.how == "served":
        return text(lang, "lab_views.path-hit", graph=answer.graphs)
    if not row.tried:
        return text(lang, "lab_views.path-first", graph=answer.graphs)
    return text(lang, "lab_views.path-new", tried=" ".join(row.tried), graph=answer.graphs)
