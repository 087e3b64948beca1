"""Keys of the learner's screen: where they are text, where they act, and in which order."""

from __future__ import annotations

import pytest
from textual import events

from tests.ui.learner_app import Box80, box, in_blank
from tutor.ui import commands
from tutor.ui.panes.lab_tab import VIEWS, LabTab

__all__ = ["box"]


async def test_letters_and_digits_are_text_in_an_editor(box: Box80) -> None:
    async with box.open() as learner:
        pane = await in_blank(learner)
        typed = "0123456789rxtqRmf?:/u"
        await learner.type(typed)
        assert pane.area.blank_text == typed
        assert learner.app.screen is learner.app.learner


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_keys_that_come_bunched_go_where_they_would_have_gone_one_by_one(
    box: Box80, size: tuple[int, int]
) -> None:
    async with box.open(size=size) as learner:
        keys = [("1", "1"), ("enter", "\r"), *((c, c) for c in "abc"), ("escape", None), ("2", "2"), ("a", "a"),
                *((c, c) for c in "xyz"), ("escape", None), ("7", "7")]  # fmt: skip
        for key, character in keys:
            learner.app.post_message(events.Key(key, character))
        await learner.until(lambda: "[7 Result]" in learner.text)
        assert learner.store.draft("code") == "abc"
        await learner.until(lambda: learner.store.saved)
        assert [edge.line for edge in learner.store.progress.edges.values()] == ["guard_key(xyz"]


async def test_esc_leads_to_the_key_line_and_back(box: Box80) -> None:
    async with box.open() as learner:
        pane = await in_blank(learner)
        await learner.press("escape")
        assert learner.app.focused is learner.app.learner.keys
        await learner.press("enter")
        assert learner.app.focused is pane.area, "the first item goes back in"
        await learner.press("escape", "escape")
        assert learner.app.focused is pane.home()
        await learner.press("escape", "right", "right")
        assert learner.app.is_running


async def test_full_width_marks_of_an_input_method_count_as_plain_ones(box: Box80) -> None:
    found = [command.id for command in commands.outside("？", "？", "code")]
    assert found == ["help"]
    async with box.open() as learner:
        learner.app.screen.post_message(events.Key("fullwidth_question_mark", "？"))
        await learner.until(lambda: "Help" in learner.rows[0])


async def test_q_alone_only_hints(box: Box80) -> None:
    async with box.open() as learner:
        await learner.press("q")
        assert "does not quit" in learner.text
        assert learner.app.is_running


async def test_a_paste_outside_an_editor_says_where_to_paste(box: Box80) -> None:
    async with box.open() as learner:
        learner.app.screen.post_message(events.Paste("guarded"))
        await learner.settle()
        assert "Press i first" in learner.text


async def test_every_command_has_words_in_both_languages_and_a_handler(box: Box80) -> None:
    async with box.open() as learner:
        for tab in commands.TABS:
            await learner.app.learner.show_tab(tab)
            await learner.settle()
        lab = learner.app.learner.panes["lab"]
        assert isinstance(lab, LabTab)
        for name in VIEWS:
            await lab.show(name)
        panes = [
            learner.app.learner,
            learner.app.learner.lesson,
            *(p.front for p in learner.app.learner.panes.values()),
            *lab.views.values(),
        ]
        for command in commands.COMMANDS:
            assert any(hasattr(pane, f"do_{command.id}") for pane in panes), command.id


async def test_no_two_commands_want_the_same_key_in_one_place() -> None:
    for context in ("lesson", "code", "edge", "lab", "answer", "result"):
        taken: dict[tuple[str, bool], str] = {}
        for command in commands.COMMANDS:
            if not commands.usable(command, context):
                continue
            for key in (*command.keys, *command.hot):
                # A command of one place may shadow one of everywhere.
                place = (key, bool(command.where))
                assert place not in taken, f"{key} in {context}: {taken.get(place)} and {command.id}"
                taken[place] = command.id
