"""The learner's edge inputs as a table, with what is known of the chosen one below it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tutor.language import Lang
from tutor.lines import BLANK, Line, fit, line, wrap
from tutor.literals import safe_text
from tutor.model import EdgeResult, Ending, Lesson
from tutor.strings import say, text
from tutor.ui.views.verdict import word

_RAISES = re.compile(r"(raises\s+)?[A-Za-z_]\w*(Error|Exception|Iteration|Exit|Interrupt)\Z")


def halves(row: str) -> tuple[str, str]:
    """The call and the prediction of a line as typed; the prediction is empty when there is none."""
    for sign, keep in ((") raises ", 2), (") == ", 5), (")==", 3)):
        at = row.rfind(sign)
        if at >= 0:
            return row[: at + 1], row[at + keep :].strip()
    return row, ""


def joined(call: str, prediction: str, function: str) -> str:
    """A line in the lesson's notation from what stands in the two fields. A whole call that was written behind the
    `function(` that the field begins with is that call."""
    call, prediction = call.strip(), prediction.strip()
    if call.startswith(f"{function}({function}("):
        call = call.removeprefix(f"{function}(")
    if not prediction:
        return call
    if prediction.startswith("raises "):
        return f"{call} {prediction}"
    if _RAISES.match(prediction):
        return f"{call} raises {prediction}"
    return f"{call} == {prediction.removeprefix('==').strip()}"


def shown_prediction(prediction: str) -> str:
    return prediction.removeprefix("raises ").strip()


def table(rows: Sequence[Mapping[str, Any]], lang: Lang, width: int) -> list[Line]:
    """`rows` hold id, line and result (an EdgeResult or None). Each is an item `edge:ID`."""
    if not rows:
        return wrap([(text(lang, "ui.edges_empty"), "plain")], width)
    outcome, caught = 9, 6
    predicted = 15 if width < 100 else 26
    call = width - 4 - predicted - outcome - caught - 3
    head = "  # " + " ".join(
        (
            fit(text(lang, "ui.edge_input"), call),
            fit(text(lang, "ui.edge_predicted"), predicted),
            fit(text(lang, "ui.edge_outcome"), outcome),
            text(lang, "ui.edge_caught"),
        )
    )
    out = [line((head, "muted"))]
    for n, row in enumerate(rows, 1):
        asked, prediction = halves(row["line"])
        result: EdgeResult | None = row["result"]
        out.append(
            line(
                f"{n:>3} {fit(safe_text(asked), call)} {fit(safe_text(shown_prediction(prediction)), predicted)} ",
                (fit(_outcome(result, lang), outcome), _role(result)),
                f" {len(result.caught) if result else '-'}",
                item=f"edge:{row['id']}",
            )
        )
    return out


def _outcome(result: EdgeResult | None, lang: Lang) -> str:
    if result is None:
        return text(lang, "ui.edge_not_run")
    if result.ending in (Ending.PASSED, Ending.FAILED) and result.prediction != "unread":
        key = "right" if result.ending is Ending.PASSED else "wrong" if result.prediction == "wrong" else "code"
        return text(lang, f"ui.edge_{key}")
    return word(result.ending, lang)[0]


def _role(result: EdgeResult | None) -> Any:
    if result is None:
        return "plain"
    return word(result.ending, lang="en")[1]


def detail(lesson: Lesson, row: Mapping[str, Any], lang: Lang, width: int) -> list[Line]:
    """What was seen of the chosen input, whom it caught, and the learner's own explanation."""
    out: list[Line] = [BLANK]
    result: EdgeResult | None = row["result"]
    if result is None:
        out += wrap([(text(lang, "ui.edge_run_it"), "plain")], width)
    else:
        out += wrap([word(result.ending, lang), ("  " + say(lang, result.message), "plain")], width, rest="  ")
        if result.got is not None:
            out += wrap([(text(lang, "ui.edge_got", got=result.got), "plain")], width, rest="  ")
        if result.caught:
            names = {wrong.id: wrong.text.get(lang) for wrong in lesson.exercise.wrong}
            listed = text(lang, "ui.list_join").join(names.get(name, name) for name in result.caught)
            out += wrap([(text(lang, "ui.edge_caught_list", names=listed), "plain")], width, rest="  ")
    why = row["why"]
    shown = safe_text(why) if why else text(lang, "ui.edge_why_empty")
    return out + wrap([(text(lang, "ui.edge_why", why=shown), "plain")], width, rest="  ")
