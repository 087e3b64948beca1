"""The settings file and the choice of a language."""

from __future__ import annotations

from pathlib import Path

import pytest

from tutor import language, settings
from tutor.language import LANGS
from tutor.settings import Settings, SettingsError
from tutor.strings import say


def test_no_file_means_defaults(tmp_path: Path) -> None:
    assert settings.load(tmp_path / "none.toml") == Settings()


def test_every_setting(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(
        'lang = "en"\ntheme = "mono"\npython = "/opt/python"\nlauncher = "srun --gpus=1 -J \'a b\'"\nmouse = false\n'
        'device = "cuda:1"\n'
    )
    launcher = ("srun", "--gpus=1", "-J", "a b")
    assert settings.load(path) == Settings("en", "mono", "/opt/python", launcher, False, "cuda:1")
    path.write_text('python = ""\nlauncher = ""\n')
    assert settings.load(path) == Settings()


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        (b'lang = "en"\ntheme = \n', "state.settings-toml", 2),
        (b'lang = "en"\n\n[theme\n', "state.settings-toml", 3),
        (b'lang = "en', "state.settings-toml", 1),
        (b'theme = "dark"\nlang = "fr"\n', "state.settings-choice", 2),
        (b"lang = 1\n", "state.settings-choice", 1),
        (b"theme = ['dark']\n", "state.settings-choice", 1),
        (b'\n# a note\ncolour = "red"\n', "state.settings-unknown", 3),
        (b"[python]\nx = 1\n", "state.settings-text", 1),
        (b'mouse = "no"\n', "state.settings-choice", 1),
        (b"launcher = ['srun']\n", "state.settings-text", 1),
        (b"python = true\n", "state.settings-text", 1),
        (b'launcher = "srun \'x"\n', "state.settings-quotes", 1),
        (b'lang = "en"\n# \xff\n', "state.settings-encoding", 2),
    ],
)
def test_a_broken_file_is_one_sentence_that_names_the_line(tmp_path: Path, text: bytes, key: str, line: int) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(text)
    with pytest.raises(SettingsError) as caught:
        settings.load(path)
    message = caught.value.message
    assert (message.key, message.args["line"]) == (key, line)
    for lang in LANGS:
        said = say(lang, message)
        assert str(path) in said
        assert "\n" not in said


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        settings.load(tmp_path)
    assert caught.value.message.key == "state.settings-unreadable"


@pytest.mark.parametrize(
    ("flag", "chosen", "file", "env", "lang"),
    [
        ("en", "zh", "zh", {"TUTOR_LANG": "zh", "LANG": "zh_CN.UTF-8"}, "en"),
        (None, "en", "zh", {"TUTOR_LANG": "zh"}, "en"),
        (None, None, "zh", {"TUTOR_LANG": "en"}, "en"),
        (None, None, "en", {"LANG": "zh_CN.UTF-8"}, "en"),
        (None, None, None, {"LANG": "en_GB.UTF-8"}, "en"),
        (None, None, None, {"LANG": "en_US.UTF-8", "LC_ALL": "zh_CN.UTF-8"}, "zh"),
        (None, None, None, {"LANG": "zh_TW.UTF-8", "LC_MESSAGES": "en_US"}, "en"),
        (None, None, None, {"LANG": "C.UTF-8"}, "zh"),
        (None, None, None, {"LANG": "de_DE.UTF-8"}, "zh"),
        (None, None, None, {}, "zh"),
        (None, "fr", None, {"TUTOR_LANG": "xx", "LANG": "en_US"}, "en"),
    ],
)
def test_the_language(flag: str | None, chosen: str | None, file: str | None, env: dict[str, str], lang: str) -> None:
    assert language.choose(flag, chosen, file, env) == lang
