"""Pages that lie over the screen: the welcome, the help, what is known of a claim."""

from __future__ import annotations

from rich.cells import cell_len

from tutor.lab import findings
from tutor.language import Lang
from tutor.learner.progress import Evidence
from tutor.lines import BLANK, Line, line, wrap
from tutor.literals import safe_text
from tutor.model import Claim, Lesson, Source, Verdict
from tutor.strings import text
from tutor.ui import commands
from tutor.ui.views.lesson import MARKS, LessonState, claim_state, prose, verdict_word


def welcome(lesson: Lesson, lang: Lang, width: int, box: str) -> list[Line]:
    """Where one is, and the three keys that matter."""
    out = [line((text(lang, "ui.welcome_lesson", title=lesson.title.get(lang), about=lesson.about.get(lang)), "title"))]
    out.append(BLANK)
    for key in ("welcome_what", "welcome_box", "welcome_saved"):
        out += wrap([(text(lang, f"ui.{key}", box=box), "plain")], width)
    out += [BLANK, line((text(lang, "ui.welcome_keys"), "strong")), BLANK]
    return [*out, line((text(lang, "ui.welcome_start"), "focus"), "    ", text(lang, "ui.welcome_language"))]


def help_lines(lang: Lang, width: int, context: commands.Context, theme: str) -> list[Line]:
    """The keys of this context first, then those of everywhere, then the notation."""
    here = [c for c in commands.COMMANDS if context in c.where]
    everywhere = [c for c in commands.COMMANDS if not c.where and c.id != "hint_quit" and not c.id.startswith("tab_")]
    out: list[Line] = []
    for title, found in (("help_here", here), ("help_everywhere", everywhere)):
        out.append(line((text(lang, f"ui.{title}", where=text(lang, f"ui.context_{context}")), "title")))
        if title == "help_everywhere":
            out += _row("Esc", text(lang, "ui.about_escape"), width)
            names = " ".join(text(lang, f"ui.tab_{tab}") for tab in commands.TABS)
            out += _row(f"0-{len(commands.TABS) - 1}", names, width)
        for command in found:
            label = commands.all_labels(command)
            if label:
                out += _row(label, text(lang, f"ui.about_{command.id}"), width)
        out.append(BLANK)
    out.append(line((text(lang, "ui.help_notation"), "title")))
    for key in ("marks", "sources", "words", "keys", "theme"):
        out += wrap([(text(lang, f"ui.help_{key}", theme=theme), "plain")], width, first="  ", rest="  ")
    return out


def _row(keys: str, words: str, width: int) -> list[Line]:
    column = 22
    if cell_len(keys) > column - 2:
        return [line(f"  {keys}"), *wrap([(words, "plain")], width, first=" " * column, rest=" " * column)]
    return wrap([(words, "plain")], width, first=f"  {keys}".ljust(column), rest=" " * column)


def claim_page(claim: Claim, lang: Lang, width: int, state: LessonState) -> list[Line]:
    """What the lesson says of a claim, what this machine said, what was recorded elsewhere."""
    verdict, words, label = claim_state(claim, lang, state)
    mark, role = MARKS[verdict]
    out = [line((mark, role), (f" {claim.id}", "title")), BLANK]
    out += wrap(prose(claim.text.get(lang)), width)
    out.append(BLANK)
    out += wrap([(text(lang, "ui.claim_says", verdict=verdict_word(claim.says, lang)), "plain")], width)
    if claim.condition is not None:
        out += wrap(prose(claim.condition.get(lang)), width, first="  ", rest="  ")
    out += wrap([(text(lang, "ui.claim_here", words=words), "plain"), (" ", "plain"), label], width)
    if claim.demo is None:
        out += wrap([(text(lang, "ui.claim_no_experiment"), "muted")], width)
    out.append(BLANK)
    for record in claim.records:
        head = text(lang, "ui.recorded_long", where=record.where, when=record.when)
        out += wrap([(head, "recorded"), (" " + verdict_word(record.verdict, lang), "strong")], width)
        out += wrap(prose(record.text.get(lang)), width, first="  ", rest="  ")
    return out


def evidence_page(evidence: Evidence, lang: Lang, width: int) -> list[Line]:
    """One run: verdicts, what was predicted and observed, and on what machine."""
    record = evidence.record
    here = record["source"] == Source.MEASURED
    label = "ui.evidence_here" if here else "ui.evidence_recorded"
    where = "" if here else f"  {record.get('where') or ''}"
    out = [line((text(lang, label, id=evidence.id), "measured" if here else "recorded"), f"  {record['demo']}{where}")]
    out.append(line((safe_text(str(record["when"])), "muted")))
    for claim, verdict in record["claims"].items():
        mark, role = MARKS[Verdict(verdict)]
        out.append(line((mark, role), f" {claim}: {verdict_word(Verdict(verdict), lang)}"))
    out.append(BLANK)
    for series, table in record["observed"].items():
        out.append(line((safe_text(series), "title")))
        for name, values in table.items():
            shown = safe_text(f"{name}: {', '.join(str(findings.without_bins(value)) for value in values)}", 2000)
            out += wrap([(shown, "plain")], width, first="  ", rest="    ")
    out += [BLANK, line((text(lang, "ui.environment"), "title"))]
    for name, value in record["environment"].items():
        out += wrap([(safe_text(f"{name}: {value}"), "plain")], width, first="  ", rest="    ")
    return out
