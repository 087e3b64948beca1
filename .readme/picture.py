"""Makes `screen.svg`, the picture in the README: the learner's screen at 120x34, drawn by the program itself.

    python .readme/picture.py [zh|en]
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tutor.cli.context import context_of
from tutor.cli.parser import parse
from tutor.ui.app import TutorApp
from tutor.ui.box import Box
from tutor.ui.store import Store

KEYS = ("1", "enter", *"guarded_shape, dtype", "f5")


async def draw(lang: str, state: str) -> str:
    """The screen after KEYS, as SVG without fonts from elsewhere."""
    context = replace(context_of(parse(["--lang", lang, "--state", state, "--theme", "dark"]), {}), env={})
    store = Store(context.lesson, context.journal, context.lang)
    context.journal.claim_session()
    store.record("setting", name="welcomed", value=True)
    store.record("place", step="example", line=0, tab="code")
    app = TutorApp(context, store)
    async with app.run_test(size=(120, 34)) as pilot:
        await pilot.pause()
        await pilot.press(*KEYS)
        while store.progress.last_check is None:
            await pilot.pause(0.05)
        await app.workers.wait_for_complete()
        app.box_known(Box("2.13.0", None))
        await pilot.pause()
        svg = app.export_screenshot(title="python -m tutor")
        app.leave()
    context.journal.close()
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)


def main() -> None:
    lang = sys.argv[1] if len(sys.argv) > 1 else "en"
    with tempfile.TemporaryDirectory() as state:
        svg = asyncio.run(draw(lang, state))
    path = Path(__file__).with_name(f"screen-{lang}.svg")
    path.write_text(svg, encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
