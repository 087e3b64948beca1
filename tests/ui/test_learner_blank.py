"""The blank and its verdict on the screen: only the blank changes, and every ending is told apart."""

from __future__ import annotations

import pytest
from textual import events

from tests.ui.learner_app import RIGHT, Box80, box, in_blank

__all__ = ["box"]


# --- the blank --------------------------------------------------------------------------------------------------------


async def test_typing_replaces_the_placeholder_and_is_saved(box: Box80) -> None:
    async with box.open() as learner:
        pane = await in_blank(learner)
        await learner.type(RIGHT)
        assert pane.area.blank_text == RIGHT
        await learner.until(lambda: learner.store.saved)
    async with box.open() as learner:
        assert learner.store.draft("code") == RIGHT
        await learner.press("1")
        assert RIGHT in learner.text


KEYS = (
    "a", "enter", "backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k", "ctrl+d", "ctrl+x", "ctrl+f",
    "ctrl+shift+k", "tab", "f6", "f7", "shift+end", "shift+home", "ctrl+v",
)  # fmt: skip


@pytest.mark.parametrize("place", [(0, 0), (11, 10), (11, 11), (11, 17), (19, 1)])
async def test_no_key_changes_locked_text_wherever_the_cursor_is(box: Box80, place: tuple[int, int]) -> None:
    async with box.open() as learner:
        pane = await in_blank(learner)
        for key in KEYS:
            pane.area.focus()
            pane.area.move_cursor(place)
            await learner.press(key)
            assert pane.blank.matches(pane.area.text), key
            pane.area.focus()
            pane.area.select_all()
            await learner.press(key)
            assert pane.blank.matches(pane.area.text), f"select all, {key}"
        for _ in range(60):
            pane.area.action_undo()
            assert pane.blank.matches(pane.area.text)
        for _ in range(60):
            pane.area.action_redo()
            assert pane.blank.matches(pane.area.text)


async def test_a_key_on_locked_text_says_so(box: Box80) -> None:
    async with box.open() as learner:
        pane = await in_blank(learner)
        pane.area.move_cursor((0, 0))
        await learner.press("x")
        assert "only the underlined part" in learner.text


async def test_select_all_and_typing_replaces_the_blank_alone(box: Box80) -> None:
    async with box.open() as learner:
        pane = await in_blank(learner)
        await learner.type("one, two")
        await learner.press("f7", "x")
        assert pane.area.blank_text == "x"


async def test_a_paste_may_span_lines_and_undo_takes_it_back(box: Box80) -> None:
    async with box.open() as learner:
        pane = await in_blank(learner)
        pane.area.replace("(\n    guarded_shape,\n    dtype,\n    device,\n)", *pane.area.blank_range)
        assert pane.area.blank_text.count("\n") == 4
        await learner.check()
        assert "PASS" in learner.text
        pane.area.action_undo()
        assert pane.area.blank_text == "______"


async def test_chinese_is_text_like_any_other(box: Box80) -> None:
    async with box.open() as learner:
        pane = await in_blank(learner)
        await learner.type("守卫")
        assert pane.area.blank_text == "守卫"


async def test_reset_asks_and_can_be_undone(box: Box80) -> None:
    async with box.open() as learner:
        pane = await in_blank(learner)
        await learner.type(RIGHT)
        await learner.press("escape", "R")
        await learner.press("n")
        assert pane.area.blank_text == RIGHT
        await learner.press("R", "enter")
        assert pane.area.blank_text == RIGHT, "a stray Enter is no yes"
        await learner.press("R", "y")
        assert pane.area.blank_text == "______"
        await learner.press("u")
        assert pane.area.blank_text == RIGHT


# --- judging ----------------------------------------------------------------------------------------------------------


async def test_from_wrong_to_right(box: Box80) -> None:
    async with box.open() as learner:
        await in_blank(learner)
        await learner.type("guarded_shape, dtype")
        text = await learner.check()
        assert "FAIL" in text
        rows = learner.rows
        expected = next(row for row in rows if row.lstrip().startswith("expected"))
        arrows = rows[rows.index(expected) + 1]
        at = arrows.index("^")
        assert expected[at:].startswith('"cuda"')
        await learner.type(", device")
        assert "earlier text" in learner.text
        await learner.check()
        assert "PASS" in learner.text
        assert "earlier text" not in learner.text
        assert learner.rows[0].split(" | ")[1] == "2/10 self"


async def test_x_stops_a_check_and_the_old_verdict_stays(box: Box80) -> None:
    async with box.open() as learner:
        pane = await in_blank(learner)
        await learner.type(RIGHT)
        await learner.check()
        before = learner.store.progress.last_check
        pane.put_blank("__import__('time').sleep(60)")
        await learner.press("f5")
        await learner.until(lambda: "judging" in learner.text)
        await learner.press("escape")
        assert "x stop" in learner.text
        await learner.press("x")
        await learner.until(lambda: "Stopped by you" in learner.text)
        assert learner.store.progress.last_check is before
        assert not learner.app.checker.running
        assert "x stop" not in learner.text
        pane.put_blank(RIGHT)
        assert "PASS" in await learner.check()


async def test_a_second_check_does_not_wait_for_the_first(box: Box80) -> None:
    async with box.open() as learner:
        pane = await in_blank(learner)
        pane.put_blank("__import__('time').sleep(60)")
        await learner.press("f5")
        await learner.until(lambda: "judging" in learner.text)
        pane.put_blank(RIGHT)
        assert "PASS" in await learner.check()
        assert not learner.app.checker.running


async def test_a_syntax_error_is_shown_as_refused(box: Box80) -> None:
    async with box.open() as learner:
        await in_blank(learner)
        await learner.type("guarded_shape, (dtype")
        assert "REFUSED" in await learner.check()


async def test_what_the_code_prints_is_shown_apart_and_harmless(box: Box80) -> None:
    async with box.open() as learner:
        await in_blank(learner)
        await learner.type('(print("[red]PASS[/] \\x1b[2J"), guarded_shape)[1], dtype, device')
        text = await learner.check()
        assert "printed by the code" in text
        assert "[red]PASS[/]" in text
        assert "\x1b" not in text


async def test_an_edge_input_that_catches_wrong_versions_earns_its_point(box: Box80) -> None:
    async with box.open() as learner:
        await in_blank(learner)
        await learner.type(RIGHT)
        await learner.press("escape", "2", "a")
        await learner.type('(2, 128), {-1}, "bf16", "cuda")')
        await learner.press("enter", *"ValueError", "enter", *"rank 2 has dims 0 and 1", "enter")
        await learner.check()
        assert "point earned" in learner.text
        assert learner.rows[0].split(" | ")[1] == "3/10 self"
        assert "rank 2 has dims 0 and 1" in learner.text
    async with box.open() as learner:
        await learner.press("2")
        assert "point earned" in learner.text


async def test_a_bad_edge_line_costs_nothing_and_says_what_to_write(box: Box80) -> None:
    async with box.open() as learner:
        await learner.press("2", "a")
        await learner.type('range(3), {0}, "bf16", "cuda")')
        await learner.press("enter", *"1", "enter", "enter")
        await learner.check()
        assert "REFUSED" in learner.text
        assert "point not earned yet" in learner.text


async def test_a_deleted_edge_input_comes_back(box: Box80) -> None:
    async with box.open() as learner:
        await learner.press("2", "a", *"1)", "enter", "enter", "enter", "d")
        assert not learner.store.progress.edges
        await learner.press("u")
        assert [edge.line for edge in learner.store.progress.edges.values()] == ["guard_key(1)"]


async def test_an_edit_takes_the_verdict_of_the_text_before_off_the_message_row(box: Box80) -> None:
    async with box.open() as learner:
        await in_blank(learner)
        await learner.type("shape")
        await learner.check()
        assert learner.rows[-2].startswith("FAIL")
        await learner.type("s")
        assert not learner.rows[-2].strip()


async def test_a_whole_call_in_the_field_that_begins_with_it_is_that_call(box: Box80) -> None:
    call = 'guard_key((), set(), "bf16", "cuda")'
    async with box.open() as learner:
        await learner.press("2", "a")
        await learner.type(call)
        await learner.press("escape")
        assert [edge.line for edge in learner.store.progress.edges.values()] == [call]


async def test_a_paste_into_a_field_of_an_edge_input_is_whole_or_refused_aloud(box: Box80) -> None:
    async with box.open() as learner:
        await learner.press("2", "a")
        learner.app.post_message(events.Paste('(2, 128),\n    {0}, "bf16", "cuda")'))
        await learner.settle()
        learner.app.post_message(events.Paste("x" * 3000))
        await learner.settle()
        assert "3000" in learner.rows[-2]
        await learner.press("escape")
        (edge,) = learner.store.progress.edges.values()
        assert edge.line == 'guard_key((2, 128), {0}, "bf16", "cuda")'
