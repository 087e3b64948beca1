"""Colours of the roles in five themes (contrast 5.9 or more on our own grounds), and which fits a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from rich.style import Style
from textual.theme import Theme as Ground

from tutor.settings import Theme

ThemeName = Literal["dark", "light", "ansi-dark", "ansi-light", "mono"]
THEMES: tuple[ThemeName, ...] = ("dark", "light", "ansi-dark", "ansi-light", "mono")

_PLAIN = {
    "plain": "",
    "title": "bold",
    "strong": "bold",
    "muted": "",
    "code": "",
    "blank": "underline",
    "good": "",
    "bad": "reverse",
    "caution": "",
    "measured": "",
    "recorded": "",
    "focus": "reverse",
    "lit": "bold reverse",
    "keyword": "bold",
    "string": "",
    "number": "",
    "comment": "",
}

_ROLES: dict[ThemeName, dict[str, str]] = {
    "dark": {
        "title": "bold #ffffff",
        "strong": "bold",
        "muted": "#9aa5b1",
        "code": "#c9d4a8",
        "blank": "underline #ffd37a",
        "good": "#7ee2a8",
        "bad": "#ff8f8f",
        "caution": "#f5c469",
        "measured": "#7fd4ff",
        "recorded": "#d7a8ff",
        "lit": "bold reverse",
        "keyword": "#b8c4ff",
        "string": "#a8d8a0",
        "number": "#e8c07d",
        "comment": "#9aa5b1",
    },
    "light": {
        "title": "bold #000000",
        "strong": "bold",
        "muted": "#5a6370",
        "code": "#3f4d12",
        "blank": "underline #7a4a00",
        "good": "#0b6b3a",
        "bad": "#b3161b",
        "caution": "#7a5200",
        "measured": "#00568f",
        "recorded": "#6b2fa0",
        "lit": "bold reverse",
        "keyword": "#3a3fa8",
        "string": "#2b6320",
        "number": "#7a4a00",
        "comment": "#5a6370",
    },
    # Sixteen colours: words keep the terminal's own colour, only marks take one, and nothing is dim.
    "ansi-dark": {"good": "bright_green", "caution": "bright_yellow", "measured": "bright_cyan"},
    "ansi-light": {"good": "bold", "bad": "red", "caution": "magenta", "measured": "blue"},
    "mono": {},
}


def roles(name: ThemeName) -> Mapping[str, Style]:
    """The style of each role, without its background."""
    return {role: Style.parse(_ROLES[name].get(role, plain) or "none") for role, plain in _PLAIN.items()}


def textual_themes() -> tuple[Ground, ...]:
    """The grounds and the few colours that Textual's own widgets need."""
    own = {
        "dark": Ground(
            "tutor-dark",
            primary="#7fd4ff",
            foreground="#d7dde4",
            background="#14181d",
            surface="#14181d",
            panel="#14181d",
            dark=True,
        ),
        "light": Ground(
            "tutor-light",
            primary="#00568f",
            foreground="#1b1f24",
            background="#fbfbf8",
            surface="#fbfbf8",
            panel="#fbfbf8",
            dark=False,
        ),
    }
    return (*own.values(), *(_ansi(name) for name in ("ansi-dark", "ansi-light", "mono")))


def _ansi(name: str) -> Ground:
    return Ground(
        f"tutor-{name}",
        ansi=True,
        primary="ansi_default",
        secondary="ansi_default",
        warning="ansi_default",
        error="ansi_default",
        success="ansi_default",
        accent="ansi_default",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        dark=name != "ansi-light",
        variables={"ansi-background": "ansi_black", "ansi-foreground": "ansi_white"},
    )


def fitting(env: Mapping[str, str]) -> ThemeName:
    """The theme for a terminal that says no more of itself than its environment does."""
    if env.get("NO_COLOR"):
        return "mono"
    # rxvt, Konsole and some others name their palette's ground: 7 and 15 are light.
    light = env.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
    if env.get("COLORTERM") in ("truecolor", "24bit") or "256color" in env.get("TERM", ""):
        return "light" if light else "dark"
    return "ansi-light" if light else "ansi-dark"


def chosen(wanted: Theme, env: Mapping[str, str]) -> ThemeName:
    """The theme to use: what the learner asked for, else the one that fits the terminal."""
    fits = fitting(env)
    if wanted == "auto":
        return fits
    if wanted == "ansi":
        return "ansi-light" if fits.endswith("light") else "ansi-dark"
    return wanted


def setting(name: ThemeName) -> Theme:
    """The setting that brings a theme back at the next start."""
    if name == "ansi-dark" or name == "ansi-light":
        return "ansi"
    return name
