"""Every attack in `attacks.jsonl`, as an ordinary user and, where the tests run as root, as root too.

Each kind has a twin that is harmless and must pass, so that "everything was refused" cannot look safe.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
NOBODY = 65534

ATTACKS = [json.loads(line) for line in (HERE / "attacks.jsonl").read_text(encoding="utf-8").splitlines()]
HERE_ONLY = [attack for attack in ATTACKS if attack.get("machine", platform.machine()) == platform.machine()]
#: What an attack's line says without a sentence of its own: the assertions, or why the text was not even run.
PLAIN: dict[str, list[str]] = {
    "passed": ["passed"],
    "failed": ["failed_one", "failed_alike", "failed_both", "failed_hidden"],
    "refused": [
        f"refused_{why}"
        for why in ("unfilled", "empty", "syntax", "statement", "more", "generator", "characters", "deep", "long")
    ],
}
USERS = ("ordinary", "root") if os.getuid() == 0 else ("ordinary",)


def _runner() -> ModuleType:
    spec = importlib.util.spec_from_file_location("attack_runner", HERE / "runner.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def _as_nobody() -> tuple[str, dict[str, Any]] | None:
    """A Python that an ordinary user can run when the tests run as root, and how to become that user."""
    how: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    probe = "import sys; assert sys.version_info >= (3, 11); sys.path.insert(0, sys.argv[1])"
    probe += "; import tutor.exercise.judging"
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            subprocess.run([python, "-B", "-c", probe, ROOT], check=True, capture_output=True, cwd="/", **how)
        except (OSError, subprocess.CalledProcessError):
            continue
        return python, how
    return None


def _start(user: str) -> subprocess.Popen[str] | None:
    python, how = sys.executable, {}
    if user == "ordinary" and os.getuid() == 0:
        found = _as_nobody()
        if found is None:
            return None
        python, how = found
    with tempfile.TemporaryFile("w+") as attacks:  # a pipe would hold the second runner back until the first has read
        attacks.writelines(json.dumps(attack) + "\n" for attack in HERE_ONLY)
        attacks.seek(0)
        return subprocess.Popen(
            [python, "-B", HERE / "runner.py", ROOT],
            stdin=attacks,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
            **how,
        )


@functools.cache
def _processes() -> dict[str, subprocess.Popen[str] | None]:
    return {user: _start(user) for user in USERS}


@functools.cache
def answers(user: str) -> dict[str, dict[str, Any]]:
    process = _processes()[user]
    if process is None:
        pytest.skip("no Python here that an ordinary user can run: these attacks were tried as root only")
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    return {answer["id"]: answer for answer in map(json.loads, out.splitlines())}


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["id"])
def test_attack(attack: dict[str, Any], user: str) -> None:
    if attack not in HERE_ONLY:
        pytest.skip(f"its numbers are those of {attack['machine']}")
    answer = answers(user)[attack["id"]]
    assert answer["ending"] in attack["ending"], answer
    assert answer["bites"] == []
    assert answer["unprintable"] == []
    assert answer["log"] == ""
    assert (answer["points"][0] == 2) == (answer["ending"] == "passed")
    assert answer["points"][1] == ("edge" in attack)
    assert answer["says"].removeprefix("check.") in attack.get("says", PLAIN.get(answer["ending"], []))


@pytest.mark.parametrize("user", USERS)
def test_what_the_whole_batch_left_behind(user: str) -> None:
    batch = answers(user)["batch"]
    assert (batch["uid"] == 0) == (user == "root")
    assert batch["descriptors"] == batch["processes"] == batch["alive"] == batch["shared"] == []
    assert batch["rss_mb"] < min(a["canary"]["max_rss_mb"] for a in ATTACKS if "max_rss_mb" in a.get("canary", {}))


def test_every_end_is_among_the_attacks() -> None:
    said = {key for attack in ATTACKS for key in attack.get("says", ())}
    assert said >= {"limit_time", "limit_wall", "limit_memory", "flood_output", "flood_result"}
    assert said >= {"died_call", "died_signal", "ended_early", "unusable", "refused_nul", "refused_long"}


def test_every_kind_has_a_harmless_twin() -> None:
    kinds = {attack["kind"] for attack in ATTACKS}
    harmless = {attack["kind"] for attack in ATTACKS if attack["ending"] == ["passed"]}
    assert kinds - harmless == {"control-fail", "control-refuse"}


def test_the_canaries_see_what_they_are_for() -> None:
    """Each canary is touched here by hand, and says so: a canary that is blind would make every attack look beaten."""
    runner = _runner()
    ground = runner.Ground("a secret", calls=2)

    def bitten(**canary: Any) -> list[str]:
        return list(runner.bites(canary, ground, "shown: a secret", 2.0))

    try:
        tcp = f"tcp:{ground.port}"
        assert bitten(file_unchanged=f"{ground.folder}/keep", file_absent=f"{ground.folder}/new") == []
        assert bitten(no_connection_on=tcp, no_process=ground.mark, output_lacks="other", max_seconds=3) == []
        assert bitten(output_lacks="a secret", max_seconds=1, max_output_bytes=3) == [
            "output_lacks",
            "max_seconds",
            "max_output_bytes",
        ]
        (ground.folder / "new").touch()
        (ground.folder / "keep").chmod(0o600)
        assert bitten(file_absent=f"{ground.folder}/new") == ["file_absent"]
        assert bitten(file_unchanged=f"{ground.folder}/keep") == ["file_unchanged"]
        for name, listener in ground.listeners.items():
            with socket.socket(listener.family, listener.type) as caller:
                caller.connect(listener.getsockname())
                if listener.type == socket.SOCK_DGRAM:
                    caller.send(b"x")
            assert bitten(no_connection_on=name) == ["no_connection_on"], name
        with subprocess.Popen(["sleep", "60"], executable="/bin/sleep") as sleeper:
            assert bitten(no_process=ground.mark) == []
            sleeper.kill()
        with subprocess.Popen([ground.mark, "60"], executable="/bin/sleep") as sleeper:
            try:
                until = time.monotonic() + 20  # its name is there a moment after its start
                while bitten(no_process=ground.mark) != ["no_process"]:
                    assert time.monotonic() < until
            finally:
                sleeper.kill()
    finally:
        ground.close()
