"""Points so far by part, who gave them, what each still needs, and how well the learner predicted."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from tutor.lab import findings
from tutor.language import Lang
from tutor.learner import scoring
from tutor.learner.progress import Evidence, Progress
from tutor.learner.scoring import Giver, Part
from tutor.lines import BLANK, Line, Role, fit, line, wrap
from tutor.lines import Part as UiPart
from tutor.literals import safe_text
from tutor.model import Lesson
from tutor.strings import say, text
from tutor.ui.views.lab_evidence import evidence_label

#: Which tab mends which part.
TABS = {"normal": "code", "edge": "edge", "explanation": "edge", "q1": "q1", "q2": "q2", "q3": "q3"}


def result_lines(
    lesson: Lesson, progress: Progress, lang: Lang, width: int, came_back: Sequence[Line] = ()
) -> list[Line]:
    """Each part is an item `part:ID`; Enter goes where it is mended. What came back from the class stands below."""
    score = scoring.score(progress, lesson)
    out = wrap([(text(lang, "ui.result_self"), "plain")], width)
    out.append(BLANK)
    names = {part.id: text(lang, f"scoring.part-{part.id}") for part in score.parts}
    column = max(cell_len(name) for name in names.values()) + 2
    for part in score.parts:
        role: Role = "good" if part.points == part.of else "plain"
        head = f"  {fit(names[part.id], column)}{part.points}/{part.of}  "
        giver = wrap([(_giver(part, lesson, progress, lang), role)], width, first=head, rest=" " * cell_len(head))
        out += [giver[0]._replace(item=f"part:{part.id}"), *giver[1:]]
        if part.needs is not None:
            indent = " " * (column + 4)
            out += wrap([(say(lang, part.needs), "muted")], width, first=indent, rest=indent)
    if came_back:
        out += [BLANK, *came_back]
    out += [BLANK, line((text(lang, "ui.result_rules"), "title"))]
    for rule in score.rules:
        mark: UiPart = ("[x]", "good") if rule.met else ("[ ]", "plain")
        out += wrap([mark, (" " + say(lang, rule.says), "plain")], width, first="  ", rest="      ")
    return out + _predictions(lesson, list(progress.evidence.values()), lang, width)


def _predictions(lesson: Lesson, evidence: Sequence[Evidence], lang: Lang, width: int) -> list[Line]:
    """How many predictions came out, in all and by topic; a demo is one topic, and its newest predicted run counts."""
    found = findings.hits([one.record for one in evidence])
    if not found:
        return []
    right, of = sum(hits.right for hits in found), sum(hits.of for hits in found)
    out = [BLANK, *wrap([(text(lang, "ui.result_predictions", right=right, of=of), "title")], width)]
    for hits in found:
        one, demo = evidence[hits.place], lesson.demos.get(hits.demo)
        topic = demo.title.get(lang) if demo is not None else safe_text(hits.demo, 80)
        head = f"  {hits.right}/{hits.of}  "
        parts: list[UiPart] = [(topic + " ", "plain"), evidence_label(one, lang)]
        out += wrap(parts, width, first=head, rest=" " * len(head))
    return out


def _giver(part: Part, lesson: Lesson, progress: Progress, lang: Lang) -> str:
    giver = text(lang, f"scoring.giver-{part.giver}")
    if part.who:
        return safe_text(f"{giver} ({scoring.who_words(part.who, lang)}, {scoring.when_words(part.when)})", 200)
    if part.id == "edge" and part.giver is Giver.MACHINE:
        caught = text(lang, "ui.edge_score", caught=len(progress.caught), of=len(lesson.exercise.wrong))
        return f"{giver} | {caught}"
    return giver
