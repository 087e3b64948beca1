"""The learner's screen, by keys only: starts, places, languages, sizes and themes."""

from __future__ import annotations

import unicodedata

import pytest
from rich.cells import cell_len

from tests.ui.learner_app import Box80, box, in_blank, result

__all__ = ["box"]


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
            learner.app.learner.refill()  # a verdict came, or what this machine can run is known
            assert pane.body.lines[pane.body.at].text == shown
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


# --- sizes, themes, every screen --------------------------------------------------------------------------------------


async def test_a_screen_too_small_only_leaves_and_nothing_is_lost(box: Box80) -> None:
    async with box.open() as learner:
        pane = await in_blank(learner)
        await learner.type("abc")
        await learner.pilot.resize_terminal(79, 24)
        await learner.settle()
        assert "too small" in learner.text
        learner.app.learner.draw_bars()  # as when what was typed is on the disk
        await learner.settle()
        assert "79x24 is too small" in learner.text
        await learner.press("x", "f5", "0")
        await learner.pilot.resize_terminal(100, 30)
        await learner.settle()
        assert pane.area.blank_text == "abc"
        assert learner.app.focused is pane.area  # Where one wrote: the next letter is no command.
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
                assert line._shown == line._keys, (keys, learner.rows[-1])


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
        await learner.settle()
        assert "[!] fusion-speedup" in learner.text
        colours = {
            segment.style.color
            for strip in learner.app.screen._compositor.render_strips()
            for segment in strip
            if segment.style is not None and segment.style.color is not None and not segment.style.color.is_default
        }
        assert bool(colours) == (theme != "mono")


# --- what the rows around the pane say --------------------------------------------------------------------------------


async def test_the_title_says_how_much_of_a_step_is_below(box: Box80) -> None:
    async with box.open() as learner:
        body = learner.app.learner.lesson.body
        below = len(body.lines) - body.size.height
        assert below > 1
        assert f"{below} more rows below" in learner.rows[2]
        assert f"{below - 1} more rows below" in (await learner.press("j")).split("\n")[2]
        await learner.press("G")
        assert "below" not in learner.rows[2]
        await learner.press("t", "g")
        assert "下面还有" in learner.rows[2]


async def test_the_key_line_offers_enter_where_a_claim_is_chosen(box: Box80) -> None:
    async with box.open() as learner:
        await learner.press("n", "n")
        assert not learner.rows[-1].startswith("Enter")
        await learner.press("m")
        assert learner.rows[-1].startswith("Enter open")


async def test_a_hint_goes_with_the_next_command(box: Box80) -> None:
    async with box.open() as learner:
        await learner.press("enter")
        assert "Press m" in learner.rows[-2]
        await learner.press("j")
        assert "Press m" in learner.rows[-2]
        await learner.press("n")
        assert not learner.rows[-2].strip()


async def test_code_in_questions_and_claims_is_shown_without_its_marks(box: Box80) -> None:
    async with box.open() as learner:
        await learner.press("5")
        assert "You set dynamic=True." in learner.text
        for claim in learner.store.lesson.claims.values():
            learner.app.show_claim(claim, learner.app.learner.lesson.state())
            await learner.settle()
            assert claim.id in learner.text
            assert "`" not in learner.text
            await learner.press("escape")


async def test_f9_on_a_page_is_for_what_lies_under_it_too(box: Box80) -> None:
    async with box.open() as learner:
        for keys in (("?",), ("3", "D")):
            before = learner.store.lang
            await learner.press(*keys, "f9", "escape")
            assert learner.store.lang != before
            assert ("课文" in learner.rows[1]) is (learner.store.lang == "zh")


@pytest.mark.parametrize("lang", ["zh", "en"])
async def test_a_key_line_without_room_for_all_keeps_the_help(box: Box80, lang: str) -> None:
    async with box.open(lang=lang) as learner:
        await learner.press("4", "enter")
        await learner.type(
            "print 进不了图，于是断图。" if lang == "zh" else "A print cannot enter the graph: it breaks."
        )
        await learner.press("f5", "tab", "tab")
        for keys in ((), ("escape",)):
            await learner.press(*keys)
            assert learner.rows[-1].rstrip().endswith("帮助" if lang == "zh" else "help")
            assert cell_len(learner.rows[-1].rstrip()) <= 80
