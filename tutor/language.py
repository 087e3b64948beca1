"""The two languages, and which one to speak. Imports nothing of ours, so that help comes at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal, NamedTuple

Lang = Literal["zh", "en"]
LANGS: tuple[Lang, ...] = ("zh", "en")


class Bilingual(NamedTuple):
    """One text in both languages, each written for its readers."""

    zh: str
    en: str

    def get(self, lang: Lang) -> str:
        return self.zh if lang == "zh" else self.en


def choose(
    flag: str | None, chosen: str | None = None, file: str | None = None, env: Mapping[str, str] = os.environ
) -> Lang:
    """`--lang`, what was chosen on the screen before, TUTOR_LANG, the settings file, the locale, else zh."""
    for wanted in (flag, chosen, env.get("TUTOR_LANG"), file):
        if wanted in ("zh", "en"):
            return "zh" if wanted == "zh" else "en"
    locale = env.get("LC_ALL") or env.get("LC_MESSAGES") or env.get("LANG") or ""
    return "en" if locale.startswith("en") else "zh"
