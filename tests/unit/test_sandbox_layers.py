"""The walls: each is shown to hold or is named missing with a reason, and what is missing stops nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tutor.language import LANGS
from tutor.model import Raised
from tutor.sandbox import (
    EXTRA,
    MINIMUM,
    LayerState,
    Returned,
    Sandbox,
    SandboxUnavailable,
    Template,
    client,
    policy,
    strength,
    zygote,
)
from tutor.sandbox.layers import LAYERS
from tutor.strings import say, text

TEMPLATE = Template.of("def f(a):\n    return ______\n", "______", "f")

#: Starts the warm process after `PATCH`: how a kernel without some wall looks from inside.
BOOT = """
import importlib, sys, types
for name, path in (("tutor", []), ("tutor.sandbox", [{folder!r}])):
    shell = types.ModuleType(name)
    shell.__path__ = path
    sys.modules[name] = shell
from tutor.sandbox import kernel, layers, policy, syscall_filter
{patch}
importlib.import_module("tutor.sandbox.zygote").serve(int(sys.argv[1]))
"""


def start(patch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    boot = tmp_path / "boot.py"
    boot.write_text(BOOT.format(folder=str(Path(client.__file__).parent), patch=patch))
    monkeypatch.setattr(client, "_BOOT", boot)
    return Sandbox()


def states(sandbox: Sandbox) -> dict[str, LayerState]:
    return {layer.name: layer for layer in sandbox.layers()}


def test_every_wall_is_named_with_a_title_in_both_languages() -> None:
    with Sandbox() as sandbox:
        layers = sandbox.layers()
    assert [layer.name for layer in layers] == [layer.name for layer in LAYERS]
    for layer in layers:
        assert layer.active == (layer.why is None)
        for lang in LANGS:
            assert text(lang, f"check.layer_{layer.name}")
            assert layer.why is None or say(lang, layer.why)


RUIN = "(_ for _ in ()).throw(OSError({}, 'no'))"

#: A patch, the walls that are missing then, and the reason that is given.
REFUSALS = [
    ("kernel.landlock_abi = lambda: (_ for _ in ()).throw(OSError(38, 'none'))", {"landlock"}, "wall_not_in_kernel"),
    ("kernel.landlock_abi = lambda: (_ for _ in ()).throw(OSError(95, 'off'))", {"landlock"}, "wall_switched_off"),
    ("kernel.landlock_abi = lambda: (_ for _ in ()).throw(OSError(1, 'no'))", {"landlock"}, "wall_forbidden"),
    ("kernel.landlock_abi = lambda: (_ for _ in ()).throw(OSError(12, 'odd'))", {"landlock"}, "wall_error"),
    (f"kernel.unshare = lambda: {RUIN.format(1)}", {"namespaces"}, "wall_forbidden"),
    (f"kernel.unshare = lambda: {RUIN.format(28)}", {"namespaces"}, "wall_forbidden"),
    (f"kernel.unshare = lambda: {RUIN.format(38)}", {"namespaces"}, "wall_not_in_kernel"),
    ("kernel.unshare = lambda: None", {"namespaces"}, "wall_no_effect"),
    (f"kernel.drop_capabilities = lambda: {RUIN.format(22)}", {"capabilities"}, "wall_error"),
    ("kernel.landlock_nothing = lambda abi: None", {"landlock"}, "wall_no_effect"),
    ("kernel.seccomp = lambda *a: (_ for _ in ()).throw(OSError(22, 'none'))", {"seccomp"}, "wall_not_in_kernel"),
    ("kernel.seccomp = lambda *a: None", {"seccomp"}, "wall_no_effect"),
    ("syscall_filter.ARCHITECTURES.clear()", {"seccomp"}, "wall_no_table"),
    (
        "layers._kernel = None",
        {
            "namespaces",
            "capabilities",
            "no-new-privileges",
            "untraceable",
            "parent-death",
            "landlock",
            "seccomp",
        },
        "wall_not_linux",
    ),
    ("policy.RLIMITS = (('NO_SUCH', 0, 0),)", {"limits"}, "wall_no_limit"),
    ("layers.ProcessGroup.enter = lambda self, parent: None", {"process-group"}, "wall_no_effect"),
]


@pytest.mark.parametrize(("patch", "missing", "why"), REFUSALS, ids=lambda value: str(value)[:60])
def test_a_missing_wall_is_named_and_the_others_stand(
    patch: str, missing: set[str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start(patch, tmp_path, monkeypatch) as sandbox:
        found = states(sandbox)
        assert {name for name, layer in found.items() if not layer.active} == missing
        for name in missing:
            message = found[name].why
            assert message is not None
            assert message.key == f"check.{why}"
            assert all(say(lang, message) for lang in LANGS)
        assert sandbox.run(TEMPLATE, "a + 1", [(1,)]).results == (Returned(2),)


def test_the_code_of_others_needs_a_minimum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Sandbox(MINIMUM) as sandbox:
        assert sandbox.run(TEMPLATE, "a + 1", [(1,)]).results == (Returned(2),)
    with start("syscall_filter.ARCHITECTURES.clear()", tmp_path, monkeypatch) as own:
        missing = [name for name, layer in states(own).items() if not layer.active]
        assert (missing, strength(missing)) == (["seccomp"], "weak")
        assert own.run(TEMPLATE, "a + 1", [(1,)]).results == (Returned(2),)
    with Sandbox(MINIMUM) as others:
        for begin in (others.start, others.layers, lambda: others.run(TEMPLATE, "a", [(1,)])):
            with pytest.raises(SandboxUnavailable) as caught:
                begin()
            assert caught.value.message.args == {"missing": "seccomp"}
            assert all("seccomp" in say(lang, caught.value.message) for lang in LANGS)
        assert others._process is None


@pytest.mark.parametrize(
    ("missing", "verdict"), [((), "strong"), (("landlock", "namespaces"), "strong"), (("landlock", "limits"), "weak")]
)
def test_how_strong_a_sandbox_is(missing: tuple[str, ...], verdict: str) -> None:
    assert strength(missing) == verdict
    assert set(MINIMUM) | set(EXTRA) <= {layer.name for layer in LAYERS}


@pytest.mark.parametrize(
    "text",
    [
        "open('/etc/passwd')",
        "__import__('os').stat('/')",
        "__import__('os').kill(__import__('os').getppid(), 0)",
        "__import__('os').mkdir('/tmp/made')",
        "__import__('os').fork()",
        "__import__('os').pipe()",
    ],
)
def test_the_filter_stands_alone_on_an_old_kernel_and_in_a_container(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = f"kernel.unshare = lambda: {RUIN.format(1)}; kernel.landlock_abi = lambda: {RUIN.format(38)}"
    old += "; layers.LAYERS = tuple(wall for wall in layers.LAYERS if wall.name != 'limits')"
    with start(old, tmp_path, monkeypatch) as sandbox:
        (result,) = sandbox.run(TEMPLATE, text, [(1,)]).results
        assert result == Raised("PermissionError", result.text if isinstance(result, Raised) else "")
        assert strength([name for name, layer in states(sandbox).items() if not layer.active]) == "strong"


#: A process that leaves its group and goes on: what only a namespace of its own can end.
LEAVE = "exec('import os, time\\nif not os.fork(): os.setsid(), os.closerange(0, 9), time.sleep(60)')"
OPEN = "layers.LAYERS = tuple(wall for wall in layers.LAYERS if wall.name not in ('seccomp', 'limits'))"


def test_process_one_ends_all_that_a_check_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with start(OPEN, tmp_path, monkeypatch) as sandbox:
        if not states(sandbox)["namespaces"].active:
            pytest.skip("no namespaces here")
        assert sandbox._process is not None
        (warm,) = Path(f"/proc/{sandbox._process.pid}/task/{sandbox._process.pid}/children").read_text().split()
        outcome = sandbox.run(TEMPLATE, f"{LEAVE} or a", [(1,)])
        assert outcome.results == (Returned(1),)
        assert Path(f"/proc/{warm}/task/{warm}/children").read_text() == ""


def test_without_a_trial_that_tells_there_is_no_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with start("layers.Seccomp.prove = lambda self: layers.os.abort()", tmp_path, monkeypatch) as sandbox:
        with pytest.raises(SandboxUnavailable) as caught:
            sandbox.layers()
        assert "the trial of the walls ended without an answer" in caught.value.log


@pytest.mark.parametrize("abi", [1, 2, 3, 4, 5])
def test_older_landlocks_are_asked_for_what_they_know(
    abi: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Sandbox() as here:
        if not states(here)["landlock"].active:
            pytest.skip("this kernel has no Landlock to ask for less of")
    with start(f"kernel.landlock_abi = lambda: {abi}", tmp_path, monkeypatch) as sandbox:
        assert states(sandbox)["landlock"].active
        assert sandbox.run(TEMPLATE, "a + 1", [(1,)]).results == (Returned(2),)


def test_a_wall_that_stood_in_the_trial_and_fails_later_is_the_tools_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch = """
entered = layers.Limits.enter
def enter(self, parent):
    if layers.os.getppid() in seen:
        raise OSError(12, "no memory")
    return entered(self, parent)
seen = set()
layers.Limits.enter = enter
from tutor.sandbox import zygote
build = zygote._build_walls
zygote._build_walls = lambda: (build(), seen.add(layers.os.getpid()))[0]
"""
    with start(patch, tmp_path, monkeypatch) as sandbox:
        assert states(sandbox)["limits"].active
        outcome = sandbox.run(TEMPLATE, "a", [(1,)])
        assert outcome.ending == "broke"
        assert outcome.message is not None
        assert outcome.message.key == "check.broke_walls"


def test_the_warm_process_knows_nothing_of_the_exercise() -> None:
    names = "[n for n in __import__('sys').modules if n.startswith('tutor')]"
    with Sandbox() as sandbox:
        (result,) = sandbox.run(TEMPLATE, names, [(1,)]).results
    assert isinstance(result, Returned)
    assert sorted(result.value) == [
        "tutor",
        "tutor.sandbox",
        "tutor.sandbox.child",
        "tutor.sandbox.kernel",
        "tutor.sandbox.layers",
        "tutor.sandbox.policy",
        "tutor.sandbox.syscall_filter",
        "tutor.sandbox.values",
        "tutor.sandbox.wire",
        "tutor.sandbox.zygote",
    ]


def test_a_trickle_does_not_hold_the_wall_deadline_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A descriptor that has something to be read whenever it is asked, long after the deadline."""
    quiet, end = os.pipe()
    with Path("/dev/zero").open("rb") as trickle:
        monkeypatch.setattr(zygote, "_CONTROL_FD", quiet)
        watcher = zygote._Zygote(())
        monkeypatch.setattr(watcher, "_read_output", lambda _: 1)
        pipes = SimpleNamespace(result_fd=quiet, output_fd=trickle.fileno())
        late = time.monotonic() - policy.WALL_S - policy.GRACE_S
        assert watcher._watch(1, late, pipes) == ("wall", 0)  # type: ignore[arg-type]
    os.close(quiet)
    os.close(end)


def test_a_run_that_only_waits_is_tried_once_more_before_it_is_said_to_take_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []
    with start("policy.WALL_S = 0.1", tmp_path, monkeypatch) as sandbox:
        once = sandbox._run

        def count(*args: object) -> object:
            runs.append(1)
            return once(*args)  # type: ignore[arg-type]

        monkeypatch.setattr(sandbox, "_run", count)
        outcome = sandbox.run(TEMPLATE, "__import__('time').sleep(60)", [(1,)])
        assert (outcome.ending, len(runs)) == ("limit", 2)
        assert outcome.message is not None
        assert outcome.message.key == "check.limit_wall"
        assert sandbox.run(TEMPLATE, "a", [(1,)]).ending == "ok"
        assert len(runs) == 3
