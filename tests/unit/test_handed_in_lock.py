"""Two hand-ins of one learner at once: the second one is refused, and takes no number."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from tutor.exchange import ExchangeError
from tutor.handed_in import _alone


def test_a_second_hand_in_is_refused_while_one_is_under_way(tmp_path: Path) -> None:
    with _alone(tmp_path):
        with pytest.raises(ExchangeError) as refused, _alone(tmp_path):
            pass
        assert refused.value.message.key == "handin.busy"
    with _alone(tmp_path):
        assert (tmp_path / "lock").exists()


def test_without_locks_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with _alone(tmp_path), _alone(tmp_path):
        assert (tmp_path / "lock").exists()
