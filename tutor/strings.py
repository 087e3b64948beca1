"""Every sentence the tutor itself says, looked up by key in `tutor/text/<lang>/<section>.toml`.

A key is `section.name`. Values are `str.format` patterns with named fields only.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tutor.language import Lang
    from tutor.model import Message

_FOLDER = Path(__file__).with_name("text")


@cache
def section(lang: Lang, name: str) -> dict[str, str]:
    """All patterns of one section, read at its first use."""
    with (_FOLDER / lang / f"{name}.toml").open("rb") as file:
        table = tomllib.load(file)
    return {key: str(value) for key, value in table.items()}


def text(lang: Lang, key: str, /, **args: str | int | float) -> str:
    """The sentence `key` in `lang`. Raises KeyError for an unknown key or a field that was not given."""
    name, _, rest = key.partition(".")
    return section(lang, name)[rest].format(**args)


def say(lang: Lang, message: Message) -> str:
    """A message in the language that is wanted now."""
    return text(lang, message.key, **message.args)
