"""Which folder is used, and that it is for its user alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tutor import paths


def test_the_flag_comes_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    env = {"TUTOR_STATE": str(tmp_path / "env")}
    assert paths.state_folder(str(tmp_path / "flag"), env) == tmp_path / "flag"
    assert paths.state_folder(None, env) == tmp_path / "env"
    assert paths.state_folder(None, {"TUTOR_STATE": ""}) == tmp_path / "xdg" / "torch-compile-tutor"


def test_home_and_relative_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert paths.state_folder("~/x", {}) == tmp_path / "x"
    assert paths.state_folder("y", {}) == tmp_path / "y"


def test_the_platform_s_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert paths.config_file() == tmp_path / "config" / "torch-compile-tutor" / "settings.toml"
    assert paths.cache_folder() == tmp_path / "cache" / "torch-compile-tutor"


def test_a_new_folder_is_private_all_the_way(tmp_path: Path) -> None:
    folder = paths.lesson_folder(tmp_path / "a" / "state", "lesson")
    assert paths.make_private(folder) is None
    assert folder.stat().st_mode & 0o777 == 0o700
    assert folder.parent.stat().st_mode & 0o777 == 0o700


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(paths.StateError) as caught:
        paths.make_private(tmp_path / ("x" * 300))
    assert caught.value.message.key == "state.folder-unusable"


def test_a_link_to_nowhere(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(paths.StateError) as caught:
        paths.make_private(tmp_path / "link")
    assert caught.value.message.key == "state.not-a-folder"
