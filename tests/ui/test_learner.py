"""The learner's screen, by keys only."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual import events
from textual.widgets import Input, TextArea

from tests.ui.learner_app import RIGHT, Box80, FakeLab, FakeRun, Learner, box
from tutor.model import Message
from tutor.paths import StateError
from tutor.ui import commands
from tutor.ui import learner as learner_module
from tutor.ui.panes.code import CodePane
from tutor.ui.panes.lab import LabPane
from tutor.ui.panes.lab_tab import VIEWS, LabTab
from tutor.ui.views.lab import KEPT

__all__ = ["box"]


async def in_blank(learner: Learner) -> CodePane:
    await learner.press("1", "enter")
    pane = learner.app.learner.panes["code"]
    assert isinstance(pane, CodePane)
    assert learner.app.focused is pane.area
    return pane


# --- first start, places, language ------------------------------------------------------------------------------------


async def test_the_first_start_says_where_one_is_and_three_keys(box: Box80) -> None:
    async with box.open(welcomed=False) as learner:
        await learner.until(lambda: "CPU only, torch 2.13" in learner.text)
        for words in ("Enter go in", "Esc come out", "? help"):
            assert words in learner.text
        await learner.press("enter")
        assert learner.rows[0].startswith("Lesson 2")
        assert learner.store.progress.settings["welcomed"] is True
    async with box.open(welcomed=False) as learner:
        assert learner.rows[0].startswith("Lesson 2")


async def test_the_welcome_can_be_read_in_the_other_language(box: Box80) -> None:
    async with box.open(welcomed=False, lang="zh") as learner:
        assert "欢迎" in learner.text
        await learner.press("f9")
        assert "Welcome" in learner.text
        await learner.press("enter")
        assert learner.store.lang == "en"


async def test_a_start_comes_back_to_the_same_line(box: Box80) -> None:
    async with box.open() as learner:
        await learner.press("n", "n", "n", "j", "j", "j")
        pane = learner.app.learner.lesson
        step, row, shown = pane.step_id, pane.body.top, learner.rows[3]
        assert row == 3
    async with box.open() as learner:
        pane = learner.app.learner.lesson
        assert (pane.step_id, pane.body.top, learner.rows[3]) == (step, row, shown)


async def test_the_language_changes_live_and_keeps_place_draft_and_cursor(box: Box80) -> None:
    async with box.open() as learner:
        await learner.press("n", "n")
        step = learner.app.learner.lesson.step_id
        pane = await in_blank(learner)
        await learner.type("guarded_shape, dt")
        await learner.press("left", "left")
        before = (pane.area.blank_text, pane.area.cursor_location)
        await learner.press("f9")
        assert "已锁定" in learner.text
        assert (pane.area.blank_text, pane.area.cursor_location) == before
        assert learner.app.focused is pane.area
        assert learner.app.learner.lesson.step_id == step
    async with box.open(lang="zh") as learner:
        assert learner.store.progress.settings["lang"] == "zh"


async def test_every_step_can_be_read_to_its_end_with_the_space_bar(box: Box80) -> None:
    async with box.open() as learner:
        pane = learner.app.learner.lesson
        seen = {pane.step_id}
        for _ in range(80):
            await learner.press("space")
            seen.add(pane.step_id)
        assert seen == {step.id for step in learner.store.lesson.steps}
        assert "last step" in learner.text


async def test_the_search_goes_through_all_steps_and_repeats(box: Box80) -> None:
    async with box.open() as learner:
        pane, found = learner.app.learner.lesson, set()
        for keys in (["/", *"stride"], ["/"]):
            await learner.press(*keys, "enter")
            shown = pane.body.lines[pane.body.at].text
            assert "stride" in shown.casefold()
            assert shown in learner.text
            found.add((pane.step_id, pane.body.at))
        assert len(found) == 2
        await learner.press("/", *"no such words", "enter")
        assert "Not found" in learner.text


async def test_the_figure_lights_one_way_after_the_other(box: Box80) -> None:
    async with box.open() as learner:
        pane = learner.app.learner.lesson
        while not any(row.item.startswith("figure:") for row in pane.body.lines):
            await learner.press("n")
        steps = next(iter(learner.store.lesson.figures.values())).steps
        for n, step in enumerate(steps, 1):
            await learner.press("f")
            assert f"{n}/{len(steps)}" in learner.text
            lit = {text for row in pane.body.lines for text, role in row.parts if role == "lit"}
            assert lit == set(step.lit)
        await learner.press("f")
        assert not any(role == "lit" for row in pane.body.lines for _, role in row.parts)


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


# --- keys -------------------------------------------------------------------------------------------------------------


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
        await learner.pilot.pause()
        assert "Press i first" in learner.text


async def test_every_command_has_words_in_both_languages_and_a_handler(box: Box80) -> None:
    async with box.open() as learner:
        for tab in commands.TABS:
            await learner.app.learner.show_tab(tab)
            await learner.pilot.pause()
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


# --- the lab ----------------------------------------------------------------------------------------------------------


def observation(ask: str | None, answer: int | None, series: str = "default") -> dict[str, Any]:
    return {
        "event": "observation", "at": 0.1, "series": series, "call": "f32[2, 128]", "values": {"new_graphs": answer},
        "said": ["tensor 'x' [size] mismatch"], "why": None, "plain": {"zh": "说明句", "en": "a plain sentence"},
        "ask": ask, "answer": answer, "predicted": None, "agrees": None,
    }  # fmt: skip


def ended(outcome: str, key: str = "lab.ok") -> dict[str, Any]:
    message = {"key": key, "args": {}}
    return {"event": "ended", "at": 1.0, "demo": "automatic-dynamic", "outcome": outcome, "message": message}


def result(verdict: str) -> dict[str, Any]:
    return {
        "event": "result", "at": 0.9, "demo": "automatic-dynamic", "claims": {"automatic-dynamic": verdict},
        "because": {"automatic-dynamic": {"key": "lab.ok", "args": {}}},
        "observed": {"default": {"new_graphs": [1, 1]}},
        "units": {"new_graphs": "graphs"}, "predicted": {"call-1": 1}, "answers": {"call-1": 1}, "agreed": 1,
        "environment": {"torch": "2.13.0", "contended": False},
        "source": "measured", "when": "2026-11-30T00:00:00+00:00", "where": None,
    }  # fmt: skip


async def test_predict_then_run_then_the_mark_in_the_lesson_changes(box: Box80) -> None:
    lab = FakeLab([observation("call-1", 1), observation("call-2", 0), result("holds"), ended("ok")])
    async with box.open(lab=lab) as learner:
        lesson = learner.app.learner.lesson
        while lesson.body.item != "claim:automatic-dynamic":
            await learner.press("m")
        assert "[ ] automatic-dynamic" in learner.text
        await learner.press("enter")
        pane = learner.app.learner.panes["lab"].front
        assert isinstance(pane, LabPane)
        await learner.until(lambda: pane.demo is not None)
        await learner.press("space", "space", "down", "space")
        assert learner.store.progress.predictions["automatic-dynamic"] == {"call-1": 1, "call-2": 0}
        await learner.press("r")
        assert "no prediction yet" in learner.text
        await learner.press("r")
        await learner.until(lambda: pane.view.ended == "ok")
        assert lab.predicted == {"call-1": 1, "call-2": 0}
        assert "[E1 here]" in learner.text
        assert "[size]" in learner.text, "torch's words are never markup"
        await learner.press("0")
        assert "[=] automatic-dynamic: holds [E1 here]" in learner.text
        await learner.press("4", "enter", "f8", "enter")
        assert learner.store.draft("q1") == "[E1]"
    async with box.open(lab=lab) as learner:
        assert learner.store.progress.claims["automatic-dynamic"].evidence == "E1"


async def test_a_run_can_be_stopped_and_its_lines_stay(box: Box80) -> None:
    import queue

    events: queue.Queue[dict[str, Any]] = queue.Queue()
    lab = FakeLab([])
    run = FakeRun([])
    run._events = iter(events.get, None)  # type: ignore[arg-type]
    lab.start = lambda *_a, **_k: run  # type: ignore[assignment, return-value]
    async with box.open(lab=lab) as learner:
        await learner.press("3", "enter", "r", "r")
        events.put(observation("call-1", 1))
        await learner.until(lambda: "a plain sentence" in learner.text)
        await learner.press("x")
        assert run.cancelled
        events.put(ended("cancelled", "lab.cancelled"))
        events.put(None)  # type: ignore[arg-type]
        pane = learner.app.learner.panes["lab"].front
        assert isinstance(pane, LabPane)
        await learner.until(lambda: pane.view.ended == "cancelled")
        assert "a plain sentence" in learner.text


async def test_a_flood_of_output_is_bounded_and_escaped(box: Box80) -> None:
    flood = [
        {"event": "output", "at": 0.1, "text": f"line {n} \x1b[2J[b]x[/b]\n", "stream": "demo"} for n in range(3000)
    ]
    async with box.open(lab=FakeLab([*flood, ended("ok")])) as learner:
        await learner.press("3", "enter", "r", "r")
        pane = learner.app.learner.panes["lab"].front
        assert isinstance(pane, LabPane)
        await learner.until(lambda: pane.view.ended == "ok")
        assert len(pane.view.output) == KEPT
        assert "printed by the demo, 3000 lines" in learner.text
        await learner.press("G")
        assert "line 2999 \\x1b[2J[b]x[/b]" in learner.text


# --- saving -----------------------------------------------------------------------------------------------------------


async def test_a_full_disk_is_said_and_what_was_typed_is_written_later(
    box: Box80, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with box.open() as learner:
        await in_blank(learner)
        journal = learner.store.journal

        def full(*_: object, **__: object) -> None:
            raise StateError(Message("state.disk-full", {"path": "/x", "why": "No space left on device"}))

        with monkeypatch.context() as patched:
            patched.setattr(journal, "append", full)
            await learner.type("abc")
            await learner.until(lambda: "NOT SAVED" in learner.rows[0])
            assert "No space left" in learner.text
        await learner.type("d")  # which is written before the next try of what the disk refused
        await learner.until(lambda: learner.store.saved and "NOT SAVED" not in learner.rows[0])
        assert learner.store.progress.text("code") == "abcd"
        assert "No space left" not in learner.text
        assert "everything that was waiting is saved" in learner.text


async def test_a_second_window_is_told_and_only_reads_unless_it_takes_over(
    box: Box80, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learner_module, "RETRY", 0.1)
    async with box.open() as first:
        pane = await in_blank(first)
        await first.type("abc")
        await first.until(lambda: first.store.saved)
        async with box.open() as second:
            assert "still has this progress open" in second.text
            await second.press("n")
            assert "read-only" in second.rows[0]
            await second.press("1", "enter")
            assert not isinstance(second.app.focused, TextArea | Input)
        assert pane.area.blank_text == "abc"
        async with box.open() as third:
            await third.press("y")
            await third.press("1", "enter", "end", "x")
            await third.until(lambda: third.store.saved)
            await first.until(lambda: first.store.journal.lost_session)
            assert "read-only" in first.rows[0]


async def test_what_was_typed_when_another_took_over_is_set_aside(box: Box80) -> None:
    async with box.open() as first:
        await in_blank(first)
        await first.type("mine")
        async with box.open() as second:
            await second.press("y")
            first.store.keep_draft("code", "mine, unsaved", (0, 0))
            await first.until(lambda: first.store.journal.lost_session)
            folder: Path = first.store.journal.folder
            await first.until(lambda: list(folder.glob("unsaved-code-*.txt")))
            assert next(folder.glob("unsaved-code-*.txt")).read_text() == "mine, unsaved"


# --- sizes, themes, every screen --------------------------------------------------------------------------------------


async def test_a_screen_too_small_only_leaves_and_nothing_is_lost(box: Box80) -> None:
    async with box.open() as learner:
        pane = await in_blank(learner)
        await learner.type("abc")
        await learner.pilot.resize_terminal(79, 24)
        await learner.pilot.pause()
        assert "too small" in learner.text
        await learner.press("x", "f5", "0")
        await learner.pilot.resize_terminal(100, 30)
        await learner.pilot.pause()
        assert pane.area.blank_text == "abc"
        assert "too small" not in learner.text
        assert "return abc" in learner.text


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_every_screen_fits_and_keeps_to_plain_marks(box: Box80, lang: str, size: tuple[int, int]) -> None:
    """No key is cut off, no row is too wide, and no character is one cell here and two cells there."""
    async with box.open(lang=lang, size=size) as learner:
        for keys in (["0"], ["1"], ["1", "enter"], ["escape", "2"], ["a"], ["escape", "3"], ["enter"], ["4"], ["enter"],
                     ["escape", "7"], ["?"], ["escape"]):  # fmt: skip
            await learner.press(*keys)
            for row in learner.rows:
                assert cell_len(row) == size[0]
                odd = [c for c in row if unicodedata.east_asian_width(c) == "A" or 0x2500 <= ord(c) < 0x2600]
                assert not odd, (keys, row)
            line = learner.app.learner.keys
            if learner.app.screen is learner.app.learner:
                assert line._shown == len(line._keys), (keys, learner.rows[-1])


async def test_wide_shows_lesson_and_work_and_z_folds(box: Box80) -> None:
    async with box.open(size=(120, 40)) as learner:
        assert "def guard_key" in learner.text
        title = learner.store.lesson.steps[0].title.en
        assert title in learner.text
        await learner.press("1", "z")
        await learner.until(lambda: title not in learner.text)
        await learner.press("0")
        await learner.until(lambda: title in learner.text)


@pytest.mark.parametrize("theme", ["dark", "light", "ansi-dark", "ansi-light", "mono"])
async def test_themes_change_live(box: Box80, theme: str) -> None:
    async with box.open() as learner:
        seen = {**result("differs"), "claims": {"fusion-speedup": "differs"}}
        learner.store.add_evidence(seen)
        await learner.press("n", "n", "n", "n")
        while learner.app.theme_name != theme:
            learner.app.learner.do_theme()
        await learner.pilot.pause()
        assert "[!] fusion-speedup" in learner.text
        colours = {
            segment.style.color
            for strip in learner.app.screen._compositor.render_strips()
            for segment in strip
            if segment.style is not None and segment.style.color is not None and not segment.style.color.is_default
        }
        assert bool(colours) == (theme != "mono")
