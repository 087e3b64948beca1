"""Which pane belongs to which tab."""

from __future__ import annotations

from tutor.ui.panes.base import Pane
from tutor.ui.store import Store
from tutor.ui.theme import ThemeName


def make(tab: str, store: Store, theme: ThemeName) -> Pane:
    """The pane of a tab. Each is imported when it is opened: a start that shows the lesson pays for none of them."""
    if tab == "code":
        from tutor.ui.panes.code import CodePane

        return CodePane(store, theme)
    if tab == "edge":
        from tutor.ui.panes.edges import EdgePane

        return EdgePane(store, theme)
    if tab == "lab":
        from tutor.ui.panes.lab_tab import LabTab

        return LabTab(store, theme)
    if tab == "result":
        from tutor.ui.panes.result import ResultPane

        return ResultPane(store, theme)
    from tutor.ui.panes.answer import AnswerPane

    question = next(q for q in store.lesson.questions if q.id == tab)
    return AnswerPane(store, theme, question)
